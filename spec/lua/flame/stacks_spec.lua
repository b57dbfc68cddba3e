local builder = require "spec.support.builder"
local folded = require "perflua.flame.folded"
local files = require "spec.support.files"
local mapped = require "spec.support.mapped"
local perflua = require "perflua"
local stacks = require "perflua.flame.stacks"

local KERNEL, USER = -128, -512

local maps = {
  "- kernel ffffffff81000000-ffffffff81001000@ffffffff81000000 [kernel.kallsyms]_text",
  "- map 7 1000-2000 /bin/sh", "- map 7 2000-3000 /lib/a\xff.so",
  "- map 7 3000-4000 /opt/a\xfe.so",
  "- map 7 4000-5000 /tmp/perf-77.map", "- map 7 5000-6000 [JIT] tid 7",
  "- map 7 6000-7000 /x/jitted-7-12.so",
  "- map 7 7000-8000 /x/jitted-7-.so", "- map 7 8000-9000 /x/perf-.map",
}

-- Samples { event = 1 or 2, pid, tid, comm, chain = {…}, period }.
local function query(samples)
  local b, events, named = builder.new(), {}, {}
  for i, name in ipairs { "cycles", "faults" } do
    events[i] = b:event {
      name = name, ids = { i }, sample_type = { "ip", "tid", "time", "id", "period",
        "callchain" },
    }
  end
  mapped.add(b, maps)
  for i, s in ipairs(samples) do
    local pid, tid = s.pid or 7, s.tid or 7
    if s.comm and not named[tid] then
      b:record("comm", { pid = pid, tid = tid, comm = s.comm },
        { pid = pid, tid = tid, time = 1, id = 1 })
      named[tid] = true
    end
    local event = events[s.event or 1]
    local in_kernel = s.chain and s.chain[1] == KERNEL
    b:sample(event, {
      ip = s.ip or s.chain and s.chain[2] or 0, pid = pid, tid = tid, time = 10 + i,
      id = event.ids[1],
      callchain = s.chain or {}, period = s.period or 1, misc = in_kernel and 1 or 2,
    })
  end
  local file = perflua.open(b:write(),
    { symfs = "spec/fixtures/empty", kallsyms = "/dev/null" })
  return file:samples { order = "file" }
end

local function text(set, annotate)
  local out = files.temporary()
  local file <close> = assert(io.open(out, "w"))
  assert(set:fold(file, annotate))
  file:close()
  return files.read(out)
end

-- Returns the names of a frame's function and of those inlined in it, from the outermost on.
local function names_of(frame)
  local binary = (frame.dso or "[unknown]"):match "[^/]+$"
  if binary:sub(1, 1) ~= "[" then binary = "[" .. binary .. "]" end
  local names = { frame.symbol or binary }
  for i = #(frame.inlined or {}), 1, -1 do names[#names + 1] = frame.inlined[i].symbol end
  return names
end

-- Folds the samples of a query one by one.
local function fold_each(records, head, inline)
  local weights, lines = {}, {}
  for record in records do
    local parts = { head(record) }
    for i = inline and #record.callchain or 0, 1, -1 do
      for _, name in ipairs(names_of(record.callchain[i])) do
        parts[#parts + 1] = folded.clean_name(name)
      end
    end
    if not inline then parts[#parts + 1] = record.stack end
    local stack = table.concat(parts, ";")
    weights[stack] = (weights[stack] or 0) + record.period
  end
  for stack, weight in pairs(weights) do lines[#lines + 1] = { stack, weight } end
  table.sort(lines, function(x, y) return x[1] < y[1] end)
  for i, line in ipairs(lines) do lines[i] = ("%s %d\n"):format(line[1], line[2]) end
  return table.concat(lines)
end

local function collect(samples, options)
  options = options or {}
  options.by = options.by or "comm"
  return stacks.collect(query(samples), options)
end

local sample = { comm = "sh", pid = 7, tid = 8, chain = { USER, 0x1000, 0x1100 }, period = 10 }

describe("stacks of samples", function()
  it("tell the binary of each function, unless several have one of that name", function()
    local set = collect {
      { comm = "sh", chain = { USER, 0x1010, 0x2010, 0x6010 } },
      { comm = "sh", chain = { USER, 0x3010, 0x9010 } },
      { comm = "sh", chain = { KERNEL, 0xffffffff81000010, USER, 0x1020 } },
    }
    assert.same({ ["[sh]"] = "/bin/sh", ["[jitted-7-12.so]"] = "/x/jitted-7-12.so",
      ["[kernel.kallsyms]"] = "[kernel.kallsyms]" }, set:tree().binaries)
  end)

  it("are added up by command and call chain", function()
    local set = collect { sample, { comm = "cc", chain = { USER, 0x1000 }, period = 3 },
      sample }
    assert.are.equal("cc;[sh] 3\nsh;[sh];[sh] 20\n", text(set))
    assert.are.equal(23, set.total)
    assert.are.equal(3, set.samples)
  end)

  it("are counted when that is asked for", function()
    assert.are.equal("sh;[sh];[sh] 2\n", text(collect({ sample, sample }, { count = true })))
  end)

  it("begin with process or thread when that is asked for, or with neither", function()
    assert.are.equal("sh-7;[sh];[sh] 10\n", text(collect({ sample }, { by = "pid" })))
    assert.are.equal("sh-7/8;[sh];[sh] 10\n", text(collect({ sample }, { by = "tid" })))
    assert.are.equal("[sh];[sh] 10\n", text(collect({ sample }, { by = "none" })))
  end)

  it("are of one event when that is asked for", function()
    local samples = {
      { event = 2, comm = "sh", period = 1 }, { event = 1, comm = "sh", period = 500 },
      { event = 2, period = 1 },
    }
    local set = collect(samples, { split = true })
    assert.are.same({ "cycles", 1, 1, "faults" },
      { set.event.name, set.samples, #set.others, set.others[1].name })
    assert.are.equal("sh;[unknown] 500\n", text(set))
    assert.are.equal("sh;[unknown] 502\n", text(collect(samples)))
  end)

  it("become one if their cleaned names are the same", function()
    local set = collect {
      { comm = "a;b", tid = 8, chain = { USER, 0x2000 }, period = 1 },
      { comm = "a:b", tid = 9, chain = { USER, 0x3000 }, period = 2 },
    }
    assert.are.equal("a:b;[a?.so] 3\n", text(set))
  end)

  it("are the command alone where no record has a call chain or an address", function()
    local b = builder.new()
    local event = b:event { name = "cycles", sample_type = { "time" }, sample_period = 4 }
    b:sample(event, { time = 1 })
    local file = perflua.open(b:write())
    for by, line in pairs { none = "[unknown] 4\n", comm = "[unknown] 4\n",
      pid = "[unknown]-? 4\n", tid = "[unknown]-?/? 4\n" } do
      assert.are.equal(line, text(stacks.collect(file:samples(), { by = by })))
    end
  end)

  it("know kernel frames and those made at run time", function()
    local chain = { KERNEL, 0xffffffff81000100, USER, 0x1000, 0x4000, 0x5000, 0x6000, 0x7000,
      0x8000, 0x9000 }
    local set = collect { { comm = "node", chain = chain },
      { comm = "sh", tid = 8, chain = { KERNEL } } }
    assert.are.equal(
      "node;[unknown];[perf-.map];[jitted-7-.so];[jitted-7-12.so]_[j];[JIT] tid "
        .. "7_[j];[perf-77.map]_[j];"
      .. "[sh];[kernel.kallsyms]_[k] 1\nsh;[unknown]_[k] 1\n", text(set, true))
  end)

  it("are those of the samples one by one", function()
    local file <close> = assert(perflua.open("spec/fixtures/words/perf.data",
      { symfs = "spec/fixtures/words" }))
    for by, head in pairs(stacks.heads) do
      local function name(record)
        return by ~= "none" and folded.clean_name(head.text(record)) or nil
      end
      for _, inline in ipairs { false, true } do
        local expected = fold_each(file:samples(), name, inline)
        for _, names in ipairs { false, true } do
          assert.are.equal(expected, text(stacks.collect(file:samples(),
            { by = by, inline = inline, names = names })))
        end
      end
    end
  end)

  it("have inlined functions below the one whose code they are", function()
    local b = builder.new()
    local event = b:event { name = "cycles",
      sample_type = { "ip", "tid", "time", "callchain", "period" } }
    mapped.add(b, { "- map 7 400000-402000@0 /inlined" })
    -- in leaf(), which is inlined in middle(), which is inlined in outer()
    b:sample(event, { ip = 0x400144, pid = 7, tid = 7, time = 10, period = 3, misc = 2,
      callchain = { USER, 0x400144, 0x40018a } })
    local file <close> = assert(perflua.open(b:write(), { symfs = "spec/fixtures/inlined" }))
    local set = stacks.collect(file:samples(), { by = "none", inline = true })
    assert.are.equal("_start;outer;middle_[i];leaf_[i] 3\n", text(set, true))
  end)

  it("are refused if their weights exceed an integer", function()
    local samples = {}
    for i = 1, 129 do samples[i] = { comm = "sh", tid = i % 2, period = (1 << 56) - 1 } end
    for _, by in ipairs { "comm", "tid" } do
      assert.has_error(function() collect(samples, { by = by }) end,
        "the periods add up to more than 2^63: count samples (--count) instead")
    end
    assert.are.equal(#samples, collect(samples, { count = true }).total)
  end)

  it("are without samples whose period is damage, unless samples are counted", function()
    for _, huge in ipairs { 1 << 56, math.maxinteger, math.mininteger, -1 } do
      local samples = { { comm = "sh", period = 7 }, { comm = "sh", period = huge },
        { comm = "sh", period = huge } }
      local set, n_aside = collect(samples)
      assert.are.same({ 7, 1, 2 }, { set.total, set.samples, n_aside })
      set, n_aside = collect(samples, { count = true })
      assert.are.same({ 3, 0 }, { set.total, n_aside })
    end
  end)
end)

describe("the tree of stacks", function()
  -- Frames as "name kind total own samples", indented by their depth.
  local function lines(t)
    local list = {}
    for i, name in ipairs(t.name) do
      list[i] = ("%s%s %s %d %d %d"):format((" "):rep(t.depth[i]), t.names[name], t.kind[i],
        t.total[i], t.own[i], t.samples[i])
    end
    return list
  end
  local samples = {
    { comm = "sh", chain = { USER, 0x1010, 0x2010 }, period = 10 },
    { comm = "sh", chain = { USER, 0x3010, 0x1010, 0x2010 }, period = 1 },
    { comm = "sh", chain = { USER, 0x9010, 0x2010 }, period = 5 },
  }

  it("has their common callers once", function()
    local t = collect(samples):tree()
    assert.same({ "all n 16 0 3", " sh n 16 0 3", "  [a?.so] u 16 0 3", "   [sh] u 11 10 2",
      "    [a?.so] u 1 1 1", "   [unknown] u 5 5 1" }, lines(t))
    assert.equal(16, t.unresolved)
  end)

  it("begins with the callees in reverse", function()
    assert.same({ "all n 16 0 3", " [a?.so] u 1 0 1", "  [sh] u 1 0 1", "   [a?.so] u 1 0 1",
      "    sh n 1 1 1", " [sh] u 10 0 1", "  [a?.so] u 10 0 1", "   sh n 10 10 1",
      " [unknown] u 5 0 1", "  [a?.so] u 5 0 1", "   sh n 5 5 1" },
      lines(collect(samples):tree { reverse = true }))
  end)

  it("is cut off, and knows what is missing", function()
    local t = collect(samples):tree { max_depth = 2 }
    assert.same({ "all n 16 0 3", " sh n 16 0 3", "  [a?.so] u 16 16 3" }, lines(t))
    assert.same({ 3, 0, 0 }, { t.deep, t.small, t.small_total })
    t = collect(samples):tree { min_share = 100 * 5 / 16 }
    assert.same({ "all n 16 0 3", " sh n 16 0 3", "  [a?.so] u 16 0 3", "   [sh] u 11 10 2",
      "   [unknown] u 5 5 1" }, lines(t))
    assert.same({ 0, 1, 1 }, { t.deep, t.small, t.small_total })
  end)

  it("knows the line of each frame that weighs most", function()
    local b = builder.new()
    local event = b:event { name = "cycles",
      sample_type = { "ip", "tid", "time", "callchain", "period" } }
    mapped.add(b, { "- map 7 400000-402000@0 /inlined" })
    for i, ip in ipairs { 0x400144, 0x400163, 0x40016d } do
      b:sample(event, { ip = ip, pid = 7, tid = 7, time = 10 + i, period = i, misc = 2,
        callchain = { USER, ip, 0x40018a } })
    end
    local path = b:write()
    local function srclines(options)
      local file <close> = assert(perflua.open(path, { symfs = "spec/fixtures/inlined" }))
      options.by = "comm"
      local t, list = stacks.collect(file:samples(), options):tree(), {}
      for node, name in ipairs(t.name) do
        list[node] = t.names[name] .. " " .. (t.srclines[node] or "-"):match "[^/]*$"
      end
      return list
    end
    -- outer() spends 1 + 2 in line 17, which calls middle(), and 3 in line 18; middle() 1 in
    -- line 11, which calls leaf(), and 2 in line 12
    assert.same({ "all -", ":7 -", "_start inlined.c:24", "outer inlined.c:17" },
      srclines { lines = true })
    assert.same({ "all -", ":7 -", "_start inlined.c:24", "outer inlined.c:17",
      "middle inlined.c:12", "leaf inlined.c:6" }, srclines { lines = true, inline = true })
    assert.same({ "all -", ":7 -", "_start -", "outer -" }, srclines {})
  end)

  it("marks a frame as the kernel's if it is so in one of the stacks", function()
    local t = collect({ { comm = "sh", chain = { USER, 0xa010 } },
      { comm = "sh", chain = { KERNEL, 0x10 } } }):tree()
    assert.same({ "all n 2 0 2", " sh n 2 0 2", "  [unknown] k 2 2 2" }, lines(t))
  end)

  it("is that of the folded text, for samples of no call chain, too", function()
    local t = stacks.collect(query {}, { by = "comm" }):tree()
    assert.same({ 0, 1 }, { t.total[1], #t.name })
  end)
end)
