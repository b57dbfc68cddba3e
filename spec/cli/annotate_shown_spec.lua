-- perflua annotate where it is used: on a terminal, in an editor, in scripts.
local binaries = require "spec.support.binaries"
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local run = require "spec.cli.run"

local WORDS <const> = "spec/fixtures/words"
local SHOWN <const> = { "annotate", "--symfs", WORDS, "--prefix", WORDS, WORDS .. "/perf.data" }

local function command(...)
  local words = table.move(SHOWN, 1, #SHOWN, 1, {})
  return table.move({ ... }, 1, select("#", ...), #words + 1, words)
end

-- A recording of two events of one name: one sample of the first, three of the second.
local function of_two_events()
  local b = binaries.of_here(builder.new())
  local events = {}
  for i = 1, 2 do
    events[i] = b:event { name = "cycles", type = 0, config = 0,
      sample_period = 1000 * i, sample_type = { "ip", "tid", "identifier", "period" } }
  end
  b:record("mmap2", { pid = 7, tid = 7, addr = 0x401000, len = 0x1000, pgoff = 0x1000,
    prot = 5, flags = 2, misc = 2, filename = "/usr/local/bin/words",
    build_id = "2166e090d498ad2b806ad2cf2b7ff2cf61fd7d23" }, { pid = 7, tid = 7 })
  for i, event in ipairs { events[1], events[2], events[2], events[2] } do
    b:sample(event, { ip = 0x4010ff + (i > 2 and 3 or 0), pid = 7, tid = 7, misc = 2,
      period = i })
  end
  return b:write()
end

needs.describe("capstone", "the lines of a listing", function()
  it("tell two events of one name apart", function()
    local file <close> = assert(perflua.open(of_two_events(), { symfs = WORDS }))
    local first, second = file:annotate("compare")[1], file:annotate("compare")[2]
    assert.are.same({ 1, 1, 100.0 }, { first.samples[1], first.period[1], first.percent[1] })
    assert.are.same({ 1, 2 }, { first.samples[2], first.period[2] })
    assert.are.equal(100 * 2 / 9, first.percent[2])
    assert.are.same({ 2, 7 }, { second.samples[2], second.period[2] })
    assert.is_nil(second.samples[1])
  end)

  it("have the samples of the first event of a name", function()
    local file <close> = assert(perflua.open(of_two_events(), { symfs = WORDS }))
    local first, second = file:annotate("compare")[1], file:annotate("compare")[2]
    assert.are.same({ 1, 1, 100.0 },
      { first.samples.cycles, first.period.cycles, first.percent.cycles })
    assert.is_nil(second.samples.cycles)
    assert.is_nil(first.samples.instructions)
  end)

  it("have both events in JSON", function()
    local got = run.perflua { "annotate", "--symfs", WORDS, "--json", of_two_events() }
    local first = {}
    for events in got.out:gmatch '"lines":%[{[^[]+(%b[])' do first[#first + 1] = events end
    assert.are.same({
      '[{"event":"cycles","index":1,"period":1,"samples":1,"share":100.0}]',
      ('[{"event":"cycles","index":2,"period":2,"samples":1,"share":%.16g}]'):format(200 / 9),
    }, first)
  end)
end)

needs.describe("capstone,terminal", "perflua annotate on a terminal", function()
  local terminal = require "spec.support.terminal"

  -- Returns the terminal at the end of a run.
  local function shown(...)
    local words = { run.binary, "--quiet", table.unpack(command(...)) }
    local t = terminal.start(words, { columns = 120, rows = 40, env = { PERFLUA_PAGER = "" } })
    assert.are.equal(0, t:finish())
    return t
  end

  it("colours shares and headings", function()
    for _, layout in ipairs { "--stdio2", "--stdio" } do
      local t = shown("compare", layout, "-l")
      local plain = run.perflua(command("compare", layout, "-l")).out
      assert.are.equal(plain, (t.output:gsub("\27%[[%d;]*m", ""):gsub("\r", "")))
      assert.matches("\27%[31m +23%.16", t.output)
      assert.matches("\27%[32m +1%.69", t.output)
      assert.matches("\27%[31m +59%.60", t.output)
      local heading = layout == "--stdio" and "Disassembly" or "compare%(%)"
      assert.matches("\27%[1m[^\27]*" .. heading, t.output)
    end
  end)

  it("leaves colours out of files, and of the text of a script's listing", function()
    local path = files.temporary ""
    shown("compare", "-o", path)
    assert.is_nil(files.read(path):find "\27")
    local script = files.temporary(([[
      local file <close> = assert(perflua.open("%s/perf.data", { symfs = "%s" }))
      io.write(tostring(file:annotate "compare"))]]):format(WORDS, WORDS))
    local t = terminal.start({ run.binary, script },
      { columns = 120, rows = 60, env = { PERFLUA_PAGER = "" } })
    assert.are.equal(0, t:finish())
    assert.matches("23%.16", t.output)
    assert.is_nil(t.output:find "\27%[[%d;]+m")
  end)
end)

needs.describe("capstone,vim", "perflua annotate --quickfix in vim", function()
  -- Returns what vim lists after it was started with a file of errors: "FILE:LINE:TEXT".
  local function listed(list)
    local out = files.temporary ""
    files.write(list .. ".vim", ("set nocp\ncfile %s\nlet all = map(getqflist(), "
      .. "'bufname(v:val.bufnr) . \":\" . v:val.lnum . \":\" . v:val.text')\n"
      .. "let all += [bufname('%%') . ':' . line('.')]\ncall writefile(all, '%s')\nqa!\n")
      :format(list, out))
    local command_of_vim = "vim -es -u NONE -i NONE -S %s.vim </dev/null 2>&1"
    local _, ok = files.output(command_of_vim:format(list))
    assert(ok, "vim failed")
    local lines = {}
    for line in io.lines(out) do lines[#lines + 1] = line end
    return lines
  end

  it("is a list of places, of which vim opens the hottest", function()
    local list = files.temporary(run.perflua(command("compare", "--quickfix")).out)
    assert.are.same({
      WORDS .. "/words.c:70: 59.60% of compare: while (*a && *a == *b)",
      WORDS .. "/words.c:72: 18.36% of compare: return *a - *b;",
      WORDS .. "/words.c:71: 16.95% of compare: a++, b++;",
      WORDS .. "/words.c:73: 5.08% of compare: }",
      WORDS .. "/words.c:70",
    }, listed(list))
  end)
end)
