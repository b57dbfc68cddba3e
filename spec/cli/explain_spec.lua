-- --explain of tools: what they would read. That they do is shown by --timing, which names the
-- passes that were made.
local builder = require "spec.support.builder"
local corpus = require "spec.support.corpus"
local dkjson = require "dkjson"
local files = require "spec.support.files"
local many_records = require "spec.support.many_records"
local run = require "spec.cli.run"
local switches = require "spec.support.switches"

local commands = {
  { "report" }, { "report", "--no-children" }, { "report", "--sort", "tgid,tid" },
  { "report", "--where", "pid > 1", "--time", "10%-90%" }, { "report", "--sort", "srcline" },
  { "flame", "-o", "/dev/null" }, { "flame", "--by", "tid", "--count", "-o", "/dev/null" },
  { "fold" }, { "fold", "--inline", "--annotate" },
  { "export", "--to", "csv" }, { "export", "--to", "jsonl", "--fields", "time,period" },
  { "export", "--to", "pprof", "--count" }, { "export", "--to", "callgrind" },
  { "export", "--to", "folded" }, { "export", "--to", "speedscope", "--timeline" },
  { "export", "--to", "firefox" }, { "export", "--to", "chrome" },
  { "export", "--to", "perfetto" },
}

-- Runs a tool with an option, over paths.
local function run_with(option, workers, command, paths)
  local words = { "-j", workers, command[1], option }
  table.move(command, 2, #command, #words + 1, words)
  table.move(paths, 1, #paths, #words + 1, words)
  return run.perflua(words)
end

-- Returns the passes that an explanation names, sorted.
local function explained_passes(text)
  local names, n = {}, 0
  for count, list in ("\n" .. text):gmatch "\npasses +(%d+): ([^\n]+)" do
    n = n + count
    list = list:gsub(", and with them .*", ""):gsub(" %(made now.*", "")
    for name in list:gmatch "[^,]+" do names[#names + 1] = name:match "^%s*(.*)$" end
  end
  table.sort(names)
  assert.equal(n, #names, text)
  return names
end

-- Returns the passes that a run made, sorted.
local function made_passes(err)
  local told, names = dkjson.decode(err:match "{\"files\".*"), {}
  assert.is_table(told, err)
  for _, file in ipairs(told.files) do
    for _, pass in ipairs(file.passes) do names[#names + 1] = pass.what end
  end
  table.sort(names)
  return names
end

local function check_passes(paths, only)
  for _, command in ipairs(commands) do
    for _, workers in ipairs(paths[1] == run.demo and { "1", "2" } or { "2" }) do
      local line = table.concat(command, " ") .. " " .. table.concat(paths, " ")
      local got = run_with("--timing=json", workers, command, paths)
      if not only or got.status == 0 then
        local explanation = run_with("--explain", workers, command, paths)
        assert.equal(0, explanation.status, line .. ": " .. explanation.err)
        local made = made_passes(got.err)
        local may_be_read_again = explanation.out:find ", and with them "
        for i = #made, 1, -1 do
          if may_be_read_again and made[i] == "recorded system" then table.remove(made, i) end
        end
        assert.same(made, explained_passes(explanation.out), line)
      end
    end
  end
end

-- A recording of tracepoints beside samples with call chains.
local function scheduled()
  local b = builder.new()
  local parts = { "ip", "tid", "time", "cpu", "period", "callchain" }
  local e = b:event { name = "cycles", sample_type = parts }
  b:record("comm", { pid = 7, tid = 7, comm = "sh" }, { time = 1 })
  for i = 1, 200 do
    b:sample(e, { ip = i, pid = 7, tid = 7, time = 10 * i, cpu = i % 2, period = 1,
      callchain = { i } })
  end
  return b:write()
end

describe("--explain", function()
  it("names the passes that are made", function()
    check_passes { run.demo }
    check_passes { scheduled() }
  end)

  -- Checks which passes an export of a recording makes, and that they are explained.
  local function check_export(path, format, passes)
    local paths, command = { path }, { "export", "--to", format, "-o", "/dev/null" }
    local made = made_passes(run_with("--timing=json", "2", command, paths).err)
    assert.same(passes, made)
    assert.same(made, explained_passes(run_with("--explain", "2", command, paths).out))
  end

  it("names no pass for times and names where the one that counts finds them", function()
    local list = {}
    for i = 1, 100 do list[i] = { 10 * i, 0, "switch", i % 2, 0, (i + 1) % 2 } end
    check_export(switches.recording(list), "chrome", { "counts of records", "loop" })
    if corpus.root then
      check_export(corpus.root .. "/recorded/amd64-7.2/tp.data", "perfetto",
        { "counts of records", "groups", "loop" })
    end
  end)

  it("names the pass for the last names of threads", function()
    local paths, command = { run.demo }, { "report", "--sort", "pid,tid" }
    local made = made_passes(run_with("--timing=json", "1", command, paths).err)
    assert.same(made, explained_passes(run_with("--explain", "1", command, paths).out))
  end)

  it("names those of recordings that workers share, and of several", function()
    check_passes { many_records.write() }
    check_passes { many_records.write(), many_records.write() }
  end)

  local it_with_corpus = corpus.root and it or pending

  it_with_corpus("names those of compressed recordings, and of directories", function()
    check_passes({ corpus.root .. "/recorded/amd64-7.2/z-g.data" }, true)
    check_passes({ corpus.root .. "/recorded/armhf/threads.dir" }, true)
  end)

  it("says what is read, in which order, and where each part runs", function()
    local got = run.perflua { "report", "--explain", "--sort", "comm,symbol", "--event",
      "cpu-clock", "--where", "tid > 1", "--no-children", run.demo }
    local reads = ("reads    %%s in %s, 83040 bytes\n"):format(run.demo)
    assert.equal(reads:format "all records" .. [[
order    file: the answer is the same in any order
workers  1: the input is small
passes   1: counts for doctor, and with them the recorded system
  1  C    count samples, losses and damage

]] .. reads:format "samples of cpu-clock" .. [[
order    file: as requested
workers  1: the input is small
passes   1: groups
  1  C    where tid > 1
  2  C    group by event, cpumode, comm, symbol
  3  C    count(), sum(period)
  4  C    rows, sorted by their shares

]] .. reads:format "samples of cpu-clock" .. [[
order    file: as requested
workers  1: the input is small
passes   1: groups
  1  C    group by event, event
  2  C    count(), sum(period)

3 passes together
]], got.out)
  end)

  it("writes nothing", function()
    local out = files.temporary()
    os.remove(out)
    local got = run.perflua { "flame", "--explain", run.demo, "-o", out }
    assert.equal(0, got.status)
    assert.matches("\n  %d  Lua  the graph", got.out)
    assert.is_nil(io.open(out))
  end)

  it("reads nothing, also of what takes two passes", function()
    for _, command in ipairs { { "report", "--sort", "parallelism" }, { "fold" } } do
      local words = { "--timing=json", command[1], "--explain", run.demo }
      table.move(command, 2, #command, 4, words)
      words[#words + 1] = run.demo
      local got = run.perflua(words)
      if command[1] == "fold" then words[#words] = nil; got = run.perflua(words) end
      local told = dkjson.decode(got.err:match "{\"files\".*")
      assert.same({}, told.files[1] and told.files[1].passes or {}, got.err)
    end
  end)

  it("says what is wrong with the options", function()
    local got = run.perflua { "report", "--explain", "--sort", "nothing", run.demo }
    assert.equal(2, got.status)
    assert.matches("unknown field 'nothing'", got.err)
    got = run.perflua { "flame", "--explain", "--folded", run.demo, "-o", "-" }
    assert.equal(2, got.status)
    assert.matches("works for recordings", got.err)
  end)
end)
