local folded = require "perflua.flame.folded"
local stacks = require "perflua.flame.stacks"

local user, kernel = "user", "kernel"

-- A loop over tables with the fields of samples, as over a query.
local function query(records)
  local i = 0
  return function()
    i = i + 1
    return records[i]
  end
end

local function collect(records, options)
  options = options or {}
  options.by = options.by or "comm"
  return stacks.collect(query(records), options)
end

local function text(set, annotate)
  local parts = {}
  folded.write(function(line) parts[#parts + 1] = line end, set.list, annotate)
  return table.concat(parts)
end

local main = { comm = "sh", pid = 7, tid = 8, stack = "main;run", period = 10 }

describe("stacks of samples", function()
  it("are added up by command and call chain", function()
    local sets = collect { main, { comm = "cc", stack = "main", period = 3 }, main }
    assert.are.equal("cc;main 3\nsh;main;run 20\n", text(sets[1]))
    assert.are.equal(23, sets[1].total)
    assert.are.equal(3, sets[1].samples)
  end)

  it("are counted when that is asked for", function()
    assert.are.equal("sh;main;run 2\n", text(collect({ main, main }, { count = true })[1]))
  end)

  it("begin with process or thread when that is asked for, or with neither", function()
    assert.are.equal("sh-7;main;run 10\n", text(collect({ main }, { by = "pid" })[1]))
    assert.are.equal("sh-7/8;main;run 10\n", text(collect({ main }, { by = "tid" })[1]))
    assert.are.equal("main;run 10\n", text(collect({ main }, { by = "none" })[1]))
  end)

  it("of several events are never added together", function()
    local cycles, faults = { name = "cycles", index = 1 }, { name = "faults", index = 2 }
    local sets = collect({
      { event = faults, comm = "sh", stack = "a", period = 1 },
      { event = cycles, comm = "sh", stack = "a", period = 500 },
      { event = faults, comm = "sh", stack = "a", period = 1 },
    }, { split = true })
    assert.are.same({ "cycles", "faults" }, { sets[1].event.name, sets[2].event.name })
    assert.are.equal("sh;a 500\n", text(sets[1]))
    assert.are.same({ 1, 2 }, { sets[1].samples, sets[2].samples })
  end)

  it("whose names are the same once they are cleaned become one", function()
    local sets = collect {
      { comm = "a;b", stack = "f\xff", period = 1 }, { comm = "a:b", stack = "f\xfe", period = 2 },
    }
    assert.are.equal("a:b;f? 3\n", text(sets[1]))
  end)

  it("without a call chain are the command alone", function()
    assert.are.equal("[unknown] 4\nsh 1\n", text(collect { { comm = "sh", period = 1 }, { period = 4 } }[1]))
  end)

  it("know kernel frames and those made at run time", function()
    local record = {
      comm = "node", period = 1, stack = "main;~f x.js;read;sys_read", callchain = {
        { cpumode = kernel, dso = "[kernel.kallsyms]" }, { cpumode = user, dso = "/lib/libc.so.6" },
        { cpumode = user, dso = "/tmp/perf-77.map" }, { cpumode = user, dso = "/usr/bin/node" },
      },
    }
    local alone = { comm = "sh", period = 1, stack = "idle", cpumode = kernel }
    local sets = collect({ record, alone }, { kinds = true })
    assert.are.equal("node;main;~f x.js_[j];read;sys_read_[k] 1\nsh;idle_[k] 1\n", text(sets[1], true))
  end)

  it("have inlined functions below the one whose code they are", function()
    local inside = { { symbol = "inner;1" }, { symbol = "outer" } }
    local record = {
      comm = "sh", period = 1, stack = "main;work", callchain = {
        { cpumode = user, dso = "/bin/sh", symbol = "work", inlined = inside },
        { cpumode = user, dso = "/lib/lib\n.so" }, { cpumode = user, dso = "[vdso]" },
      },
    }
    local alone = { comm = "sh", period = 1, stack = "idle", cpumode = kernel }
    local sets = collect({ record, alone }, { kinds = true, inline = true })
    assert.are.equal("sh;[vdso];[lib?.so];work;outer_[i];inner:1_[i] 1\nsh;idle_[k] 1\n", text(sets[1], true))
  end)

  it("whose weights pass what an integer holds are refused", function()
    local huge = { comm = "sh", stack = "a", period = math.maxinteger }
    for _, records in ipairs { { huge, huge }, { { comm = "sh", stack = "a", period = -1 } } } do
      local sets, message = collect(records)
      assert.is_nil(sets)
      assert.matches("2^63", message, 1, true)
    end
  end)
end)
