-- Headings of events that share a name: what tells them apart.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"
local run = require "spec.cli.run"

-- A recording with a sample of each event.
local function recording(...)
  local b = builder.new()
  for i, members in ipairs { ... } do
    local event = { name = "cycles", type = 0, config = 0, ids = { i }, inherit = true,
      enable_on_exec = true, sample_period = not members.freq and 1000 or nil }
    for name, value in pairs(members) do event[name] = value end
    event.sample_type = { "ip", "tid", "time", "id", "period" }
    table.move(members.sample_type or {}, 1, #(members.sample_type or {}), 6, event.sample_type)
    b:sample(b:event(event), { ip = 4096, pid = 1, tid = 1, time = 10 + i, id = i,
      period = i, callchain = { 4096 }, branch_stack = { entries = {} } })
  end
  return b:write()
end

local function headings(text)
  local list = {}
  for heading in text:gmatch "# %d+ samples? of event ([^\n]-), [^,\n]-lost" do
    list[#list + 1] = heading
  end
  return list
end

-- The headings of the report of recordings.
local function reported(...)
  local got = run.perflua { "report", "--sort", "comm", ... }
  assert.equal(0, got.status, got.err)
  return headings(got.out)
end

-- Returns what tells the events of two recordings apart.
local function of_two(a, b)
  local said = {}
  for i, heading in ipairs(reported(recording(a), recording(b))) do
    said[i] = heading:match "^'cycles' %((.*)%)$" or heading
  end
  return said
end

describe("headings of events that were recorded differently", function()
  local system_wide = { sample_type = { "cpu" }, enable_on_exec = false, freq = true,
    sample_freq = 999 }
  local with_chains = { sample_type = { "callchain" }, freq = true, sample_freq = 2000 }

  it("name the options that differ, as perf record has them", function()
    assert.same({ "'cycles' (-F 2000 -g)", "'cycles' (-a -F 999)" },
      reported(recording(with_chains), recording(system_wide)))
  end)

  for _, one in ipairs {
    { "periods", { sample_period = 7 }, "-c 7", "-c 1000" },
    { "call chains", { sample_type = { "callchain" } }, "-g", "without -g" },
    { "stacks", { sample_type = { "callchain", "stack_user" }, sample_stack_user = 8192,
      exclude_callchain_user = true }, "--call-graph dwarf", "without --call-graph dwarf" },
    { "sizes of stacks", { sample_type = { "stack_user" }, sample_stack_user = 64 },
      "--call-graph dwarf,64", "without --call-graph dwarf,64" },
    { "chains of the kernel", { sample_type = { "callchain" }, exclude_callchain_user = true },
      "-g --kernel-callchains", "without -g --kernel-callchains" },
    { "branches", { sample_type = { "branch_stack" }, branch_sample_type = { "any" } }, "-b",
      "without -b" },
    { "kinds of branches", { sample_type = { "branch_stack" },
      branch_sample_type = { "user", "any_return", "ind_jump" } }, "-j u,any_ret,ind_jmp",
      "without -j u,any_ret,ind_jmp" },
    { "chains of the processor", { sample_type = { "callchain", "branch_stack" },
      branch_sample_type = { "user", "call_stack" } }, "--call-graph lbr",
      "without --call-graph lbr" },
    { "modes by an option", { exclude_kernel = true }, "--all-user", "without --all-user" },
    { "modes by a modifier", { exclude_user = true, exclude_hv = true }, ":k", "without :k" },
    { "skids", { precise_ip = 2 }, ":pp", "without :pp" },
    { "processors", { sample_type = { "cpu" } }, "--sample-cpu", "without --sample-cpu" },
    { "children", { inherit = false }, "-i", "without -i" },
    { "switches", { context_switch = true }, "--switch-events", "without --switch-events" },
  } do
    it("name " .. one[1], function()
      assert.same({ one[3], one[4] }, of_two(one[2], {}))
    end)
  end

  it("name the recordings where no option tells them apart", function()
    local a, b = recording { watermark = true }, recording {}
    assert.same({ ("'cycles' (%s)"):format(a), ("'cycles' (%s and 1 more)"):format(
      table.concat({ b, b, b }, ", ")) }, reported(a, b, b, b, b))
    local c = recording { sample_period = 7 }
    assert.same({ ("'cycles' (-c 1000, %s)"):format(a), ("'cycles' (-c 1000, %s)"):format(b),
      "'cycles' (-c 7)" }, reported(a, b, c))
  end)

  it("do not say more than the name where it is the only one", function()
    assert.same({ "'cycles'", "'faults'" },
      reported(recording { sample_period = 7 }, recording { name = "faults" }))
    assert.same({ "'cycles'" }, reported(recording {}, recording {}))
  end)

  it("tell events of one recording apart, by their number if need be", function()
    assert.same({ "'cycles' (-c 7)", "'cycles' (-c 1000)" },
      reported(recording({ sample_period = 7 }, {})))
    assert.same({ "'cycles' (event 1)", "'cycles' (event 2)" }, reported(recording({}, {})))
    local twice = recording({}, {})
    assert.same({ "'cycles' (event 1)", "'cycles' (event 2)" }, reported(twice, twice))
  end)

  it("stand above the sections of a Table, also of one that was saved or merged", function()
    local file <close> = assert(perflua.open { recording(with_chains), recording(system_wide) })
    local made = file:samples():group_by("pid"):sum("period"):table()
    local function expected(n)
      return ("# cycles (-F 2000 -g)\npid  period\n  1       %d\n\n"
        .. "# cycles (-a -F 999)\npid  period\n  1       %d"):format(n, n)
    end
    assert.equal(expected(1), tostring(made))
    local path = files.temporary ""
    assert(made:save(path))
    local loaded = assert(perflua.load(path))
    assert.equal(expected(1), tostring(loaded))
    assert.equal(expected(2), tostring(made:merge(loaded)))
    local other <close> = assert(perflua.open { recording(system_wide), recording {} })
    local merged = made:merge(other:samples():group_by("pid"):sum("period"):table())
    assert.same({ "# cycles", "# cycles" }, { tostring(merged):match "(# %w+)\n.*(# %w+)\n" })
    assert.equal("cycles", made[1].event)
  end)

  it("are safe for a terminal", function()
    local a, b = recording { watermark = true }, recording {}
    local path = a .. "\27[2J"
    assert(os.rename(a, path))
    local said = reported(path, b)
    os.remove(path)
    assert.equal(("'cycles' (%s\\x1b[2J)"):format(a), said[1])
  end)
end)

describe("event.sources", function()
  it("are the recordings that have an event", function()
    local a, b = recording { sample_period = 7 }, recording {}
    local file <close> = assert(perflua.open { a, b, a })
    assert.same({ 1, 3 }, file.events[1].sources)
    assert.same({ 2 }, file.events[2].sources)
    local only <close> = assert(perflua.open(a))
    assert.is_nil(only.events[1].sources)
  end)
end)

needs.describe("cpus", "headings of recordings that perf made now", function()
  it("name the options that were given", function()
    local work = "lua5.4 -e 'for i = 1, 3e7 do local _ = i * i end'"
    local a = assert(oracle.record("-F 2000 -g -e cpu-clock", work))
    local b = assert(oracle.record("-a -F 999 -e cpu-clock", work))
    local c = assert(oracle.record("-F 2000 -e cpu-clock --all-user", work))
    assert.same({ "'cpu-clock' (-F 2000 -g)", "'cpu-clock' (-a -F 999)",
      "'cpu-clock' (-F 2000 --all-user)" }, reported(a, b, c))
  end)
end)
