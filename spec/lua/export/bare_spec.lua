-- Exports of samples without threads and times, and of names that are nearly the same.
local builder = require "spec.support.builder"
local chains = require "spec.support.chains"
local exported = require "spec.support.exported"
local files = require "spec.support.files"
local mapped = require "spec.support.mapped"
local perflua = require "perflua"
local profiles = require "spec.support.profiles"
local run = require "spec.cli.run"

-- Returns the stacks of a file of speedscope, "caller;callee weight", of its first profile.
local function speedscope(path)
  local got, list = profiles.json(files.read(path)), {}
  for i, stack in ipairs(got.profiles[1].samples) do
    local names = {}
    for k, frame in ipairs(stack) do names[k] = got.shared.frames[frame + 1].name end
    list[i] = table.concat(names, ";") .. " " .. got.profiles[1].weights[i]
  end
  return list
end

local function read_stack() return { chains.KERNEL, chains.READ, chains.TWICE } end

describe("samples without threads and times", function()
  local b = builder.new()
  local clock = b:event { name = "cpu-clock", type = 1, config = 0,
    sample_type = { "ip", "callchain", "period" } }
  mapped.add(b, { chains.kernel })
  for period = 1, 30 do
    b:sample(clock, { ip = chains.READ, misc = 1, period = period, callchain = read_stack() })
  end
  local path = b:write()

  it("keep stacks and weights in formats that are not over time", function()
    local function text_of(format)
      return files.read((exported.samples(path, format)))
    end
    assert.equal("[unknown];twice;read 465\n", text_of "folded")
    assert.matches("\nsummary: 465\n", text_of "callgrind", 1, true)
    assert.same({ "twice;read 465" }, speedscope((exported.samples(path, "speedscope"))))
    assert.equal(31, select(2, text_of("csv"):gsub("\n", "")))
    assert.equal(30, select(2, text_of("jsonl"):gsub('"period":%d+', "")))
    local file <close> = perflua.open(path, chains.options())
    local tree = file:samples():group_by("callchain"):sum("period"):table():tree()
    assert.same({ 465, 465 }, { tree[1].total, tree[1][1].self })
    assert.error_matches(function() file:samples():group_by("tid"):table() end,
      "no record of this query has a field 'tid'")
  end)

  it("are refused by formats over time, and by tools that need times or threads", function()
    local out = files.temporary()
    for message, words in pairs {
      ["export: these samples have no times, which chrome needs"] = { "export", "--to",
        "chrome", "-o", out, path },
      ["export: firefox needs times, and samples have none: record with -T"] = { "export",
        "--to", "firefox", "-o", out, path },
      ["export: perfetto needs times, and samples have none: record with -T"] = { "export",
        "--to", "perfetto", "-o", out, path },
      ["diff: before has no times, which intervals are made of"] = { "diff", path, path },
      [path .. ": this recording has no field 'time'; record it with: "] = { "timeline", path },
    } do
      local got = run.perflua(words)
      assert.is_true(got.status ~= 0)
      assert.matches("perflua: " .. message, got.err, 1, true)
    end
  end)
end)

describe("names that are nearly the same", function()
  -- One function in each of these threads, whose names differ in case, blanks and controls.
  local names = { "sh", "Sh", "sh ", " sh", "s\1h", "s\2h" }
  local shown = { "sh", "Sh", "sh ", " sh", "s?h" }
  local b, sample = chains.recording { chains.kernel }
  for i, name in ipairs(names) do
    b:record("comm", { pid = i, tid = i, comm = name }, { pid = i, tid = i, time = 0 })
    sample(1 << i, i, read_stack())
  end
  local path = b:write()
  local weights = { 2, 4, 8, 16, 32 + 64 } -- names of control characters are shown alike

  it("are rows of their own in tables and folded stacks", function()
    local file <close> = perflua.open(path, chains.options())
    local by_comm = {}
    for row in file:samples():group_by("comm"):sum("period"):table():rows() do
      by_comm[row.comm] = row.period
    end
    for i, name in ipairs(names) do assert.equal(1 << i, by_comm[name]) end
    local lines = {}
    for i, name in ipairs(shown) do
      lines[i] = ("%s;twice;read %d\n"):format(name, weights[i])
    end
    table.sort(lines)
    assert.equal(table.concat(lines), files.read((exported.samples(path, "folded"))))
  end)

  it("are functions of their own, told apart by case", function()
    local kallsyms = files.temporary((chains.KALLSYMS:gsub("T twice", "T Read")
      :gsub("t twice", "t READ")))
    local file <close> = perflua.open(path, { kallsyms = kallsyms,
      symfs = "spec/fixtures/empty" })
    local out = exported.query(file:samples(), "speedscope")
    assert.same({ "Read;read 126" }, speedscope(out))
    local tree = file:samples():group_by("callchain"):sum("period"):table():tree()
    assert.same({ "Read", 126 }, { tree[1].symbol, tree[1].total })
    assert.is_nil(tree:find("READ"))
  end)
end)
