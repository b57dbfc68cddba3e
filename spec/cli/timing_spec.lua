-- --timing: the stages of each pass, of tools and scripts, whatever the recording lies in.
local builder = require "spec.support.builder"
local corpus = require "spec.support.corpus"
local dkjson = require "dkjson"
local many_records = require "spec.support.many_records"
local run = require "spec.cli.run"

-- Runs the interpreter and returns what --timing=json says, and the run.
local function timed(words, options)
  local got = run.perflua(words, options)
  local told = dkjson.decode(got.err:match "{\"files\".*")
  assert.is_table(told, got.err)
  return told, got
end

-- Returns the stages of passes of a kind, added up, and the number of the passes.
local function stages_of(file, what)
  local found, n = {}, 0
  for _, pass in ipairs(file.passes) do
    if pass.what == what then
      n = n + pass.times
      for _, stage in ipairs(pass.stages) do
        local sum = found[stage.name] or { processor = 0, records = 0, bytes = 0 }
        for key in pairs(sum) do sum[key] = sum[key] + (stage[key] or 0) end
        found[stage.name] = sum
      end
    end
  end
  return found, n
end

local function processor_of_stages(told)
  local sum = told.start + told.unmeasured
  local function add(stages)
    for _, stage in ipairs(stages) do sum = sum + stage.processor end
  end
  add(told.stages)
  for _, file in ipairs(told.files) do
    for _, pass in ipairs(file.passes) do add(pass.stages) end
  end
  return sum
end

describe("--timing", function()
  local many
  setup(function() many = many_records.write() end)

  it("counts the records and bytes that a pass of a tool reads", function()
    for _, workers in ipairs { "1", "2" } do
      local told = timed { "-j", workers, "report", "--timing=json", "--no-children", many }
      local file = told.files[1]
      local groups, n = stages_of(file, "groups")
      local stat = run.perflua { "stat", "--json", many }
      local samples = 0
      for _, event in ipairs(dkjson.decode(stat.out).events) do
        samples = samples + event.samples
      end
      assert.equal(many, file.path)
      assert.equal(1, n)
      assert.equal(samples, groups.groups.records, "with " .. workers)
      -- workers look for the borders of their parts, of which small files have many
      local share = groups.read.bytes / file.size
      assert.is_true(share > 0.99 and share < 1.3, ("%g of the file"):format(share))
      assert.is_true(groups.names.records > 0)
    end
  end)

  -- Returns how often a tool reads a recording.
  local function times_read(words)
    local file, bytes = timed(words).files[1], 0
    for _, pass in ipairs(file.passes) do
      for _, stage in ipairs(pass.stages) do
        if stage.name == "read" then bytes = bytes + stage.bytes end
      end
    end
    return bytes / file.size
  end

  it("shows that a tool that counts first finds names on the way", function()
    for _, workers in ipairs { "1", "2" } do
      for _, words in ipairs { { "report", "--no-children" }, { "fold" }, { "doctor" },
        { "flame", "-o", "/dev/null" } } do
        local line = { "-j", workers, words[1], "--timing=json", table.unpack(words, 2) }
        line[#line + 1] = many
        local n = times_read(line)
        -- see above for the borders
        assert.is_true(n > 1.99 and n < 2.5, ("%s: %g times"):format(words[1], n))
      end
    end
  end)

  it("shows that a comparison finds names while it adds up clocks", function()
    local clock = many_records.write(1, 0)
    local told = timed { "-j", "2", "diff", "--timing=json", clock, clock }
    for _, file in ipairs(told.files) do
      local _, n = stages_of(file, "groups")
      local _, n_others = stages_of(file, "recorded system")
      assert.are.same({ 2, 0 }, { n, n_others })
    end
  end)

  it("adds up to the processor time of the process", function()
    for _, words in ipairs {
      { "report", "--timing=json", many }, { "script", "--timing=json", many },
      { "--timing=json", "-e", "for s in file:samples() do local _ = s.comm end", many },
    } do
      local told = timed(words)
      local process, sum = told.user + told.system, processor_of_stages(told)
      -- the kernel rounds the two clocks that are compared
      assert.is_true(math.abs(process - sum) <= 0.05 * process + 5e6,
        ("%s: %d of %d ns"):format(words[1], sum, process))
      assert.is_true(told.peak_memory > 1 << 20, "memory")
    end
  end)

  it("gives a second pass its own entry", function()
    local told = timed { "--timing=json", "-e",
      "for s in file:samples() do end; for s in file:samples() do end", many }
    local loops, n = stages_of(told.files[1], "loop")
    assert.equal(2, n)
    assert.equal(2 * 20000, loops.order.records)
    local _, n_indexes = stages_of(told.files[1], "index of times")
    assert.equal(1, n_indexes)
  end)

  it("says it for people, with the script's own output first", function()
    local got = run.perflua { "--timing", run.script [[
      local file = perflua.open(arg[1])
      print(file:samples():count())]], many }
    assert.equal("20000\n", got.out)
    assert.matches("wall +processors +records +read\n", got.err)
    assert.matches("\n  groups +[%d.]+%a+ +[%d.]+%a+\n    read ", got.err)
    assert.matches("× the file\n", got.err)
    assert.matches("\nall +[%d.]+%a?s +[%d.]+%a?s +at most [%d.]+MiB of memory\n$", got.err)
    assert.equal("", run.perflua({ "-e", "print(file:samples():count())", many }).err)
  end)

  it("names the binaries whose symbols took time", function()
    local text = run.perflua { "-e", [[
      local file = perflua.open(arg[1], { timing = true })
      print(file:samples():group_by("dso", "symbol"):count():sort():rows()().dso)
      for _, one in ipairs(file:timing().binaries) do print(one.name, one.wall >= 0) end]],
      run.demo }
    assert.equal(0, text.status, text.err)
    assert.matches("%[kernel.kallsyms%]\ttrue\n", text.out)
  end)

  it("knows bytes of a stream, whose size is not known", function()
    local b = builder.new { container = "pipe" }
    local e = b:event { name = "cycles", sample_type = { "ip", "tid", "time" } }
    for i = 1, 300 do b:sample(e, { ip = i, pid = 7, tid = 7, time = i }) end
    local path = b:write()
    local got = run.shell_with('cat "$1" | "$perflua" report --timing=json -', path)
    local told = dkjson.decode(got.err:match "{\"files\".*")
    local groups = stages_of(told.files[1], "groups")
    assert.is_nil(told.files[1].size)
    assert.equal(300, groups.groups.records)
    assert.is_true(groups.read.bytes > 0)
  end)

  it("measures the time of threads as that of the stage that they work for", function()
    local told = timed { "-j", "2", "--timing=json", "-e", [[
      local n = 0
      for time in file:samples():select("time") do n = n + 1 end
      print(n)]], many }
    local loop = stages_of(told.files[1], "loop")
    assert.equal(20000, loop.rows.records)
    assert.is_true(loop.rows.processor > 0)
  end)

  it("tells what was measured before an error, and leaves its traceback whole", function()
    local got = run.perflua { "--timing", run.script [[
      local function wrong() error "mistaken" end
      perflua.open(arg[1]):samples():where(function() wrong() end):count()]], many }
    assert.equal(1, got.status)
    assert.matches("mistaken", got.err)
    assert.matches("in upvalue 'wrong'", got.err)
    assert.matches("\nall ", got.err)
  end)

  it("ends a stage that an error ended", function()
    local got = run.perflua { "-e", [[
      local file = perflua.open(arg[1], { timing = true })
      local samples = file:samples()
      print(pcall(function() samples:where(function() error "x" end):count() end))
      local function groups() return file:timing().passes[2].processor end
      local before, until_then = groups(), os.clock() + 0.1
      while os.clock() < until_then do end
      print(groups() == before)]], many }
    assert.matches("false\t.*x\ntrue\n$", got.out, got.err)
  end)

  it("tells it of an interrupt, too", function()
    local got = run.perflua { "--timing", run.script [[
      local n = 0
      for _ in perflua.open(arg[1]):samples() do
        n = n + 1
        if n == 100 then io.popen("kill -INT $PPID"):close() end
      end]], many }
    assert.equal(130, got.status)
    assert.matches("\n  loop ", got.err)
    assert.matches("\nall ", got.err)
  end)

  it("tells it of a script that ends by os.exit(), once", function()
    local got = run.perflua { "--timing", "-e", "print(file:samples():count()) os.exit(3)",
      many }
    assert.same({ 3, "20000\n" }, { got.status, got.out })
    local _, n = got.err:gsub("\nall ", "")
    assert.equal(1, n)
  end)

  it("is an option of every tool, also of those that read no recording", function()
    local got = run.perflua { "list", "--timing" }
    assert.matches("\nall ", got.err)
    got = run.perflua { "report", "--timing=xml", many }
    assert.equal(2, got.status)
    assert.matches("timing: 'xml' is none of json", got.err)
    assert.matches("%-%-timing%[=json%]", run.perflua({ "help", "sched" }).out)
  end)

  -- Returns how many samples a report counted, and how many stat says there are.
  local function counted(paths, ...)
    local words = { "report", "--timing=json", "--no-children", ... }
    for _, path in ipairs(paths) do words[#words + 1] = path end
    local told = timed(words)
    local samples, groups = 0, stages_of(told.files[1], "groups")
    local stat = dkjson.decode(run.perflua({ "stat", "--json", table.unpack(paths) }).out)
    for _, event in ipairs(stat.events) do samples = samples + event.samples end
    assert.equal(1, #told.files)
    return groups.groups.records, samples, groups
  end

  it("counts what several recordings have that are read as one", function()
    local records, samples = counted { many, many_records.write() }
    assert.equal(40000, samples)
    assert.equal(samples, records)
  end)

  it("reads the switches that a key of reports counts once", function()
    local b = builder.new()
    local event = b:event { name = "cycles", sample_type = { "tid", "time" },
      sample_id_all = true, context_switch = true }
    b:record("switch", { misc = 0 }, { pid = 7, tid = 7, time = 1 })
    b:sample(event, { pid = 7, tid = 7, time = 2 })
    local told = timed { "report", "--timing=json", "--sort", "parallelism", b:write() }
    local _, n_loops = stages_of(told.files[1], "loop")
    assert.equal(1, n_loops)
  end)

  it("reads names in the pass that makes the index, before a loop in time order", function()
    local b = builder.new()
    local e = b:event { name = "cycles", sample_type = { "ip", "tid", "time" } }
    for i = 1, 40000 do
      if i % 19000 == 1 then
        b:record("comm", { pid = 7, tid = 7, comm = "name" .. i }, { time = i, event = e })
      end
      b:sample(e, { ip = i, pid = 7, tid = 7, time = i })
    end
    local path = b:write()
    for _, workers in ipairs { "1", "2" } do
      local told, got = timed { "-j", workers, "--timing=json", "-e", [[
        local list, n = {}, {}
        for comm in file:samples():select("comm") do
          if not n[comm] then list[#list + 1] = comm end
          n[comm] = (n[comm] or 0) + 1
        end
        for _, comm in ipairs(list) do print(comm, n[comm]) end]], path }
      local file = told.files[1]
      assert.equal("name1\t19000\nname19001\t19000\nname38001\t2000\n", got.out)
      -- the samples hold bytes that look like records, where workers look for borders
      assert.is_true(stages_of(file, "index of times").read.bytes < 1.3 * file.size)
      assert.is_nil(stages_of(file, "recorded system").read)
      assert.equal(3, stages_of(file, "recorded system").names.records)
      assert.is_true(stages_of(file, "index of times").read.bytes >= 0.99 * file.size)
    end
  end)

  local it_with_corpus = corpus.root and it or pending

  it_with_corpus("counts the records of a directory", function()
    local records, samples = counted { corpus.root .. "/recorded/armhf/threads.dir" }
    assert.equal(samples, records)
  end)

  it_with_corpus("tells reading from decompressing", function()
    for _, workers in ipairs { "1", "2" } do
      local told = timed { "-j", workers, "report", "--timing=json", "--no-children",
        corpus.root .. "/recorded/amd64-7.2/z.data" }
      local groups = stages_of(told.files[1], "groups")
      assert.is_true(groups.decompress.bytes > groups.read.bytes)
      assert.is_true(groups.decompress.processor > 0)
      assert.is_true(groups.names.records > 0) -- read in the same pass
    end
  end)
end)
