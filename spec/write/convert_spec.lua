-- write() of whole recordings: the same to a script, whatever they lie in.
local builder = require "spec.support.builder"
local busy = require "spec.support.busy"
local containers = require "spec.support.containers"
local everything = require "spec.support.everything"
local files = require "spec.support.files"
local perflua = require "perflua"
local reading = require "spec.support.reading"
local rewritten = require "spec.support.rewritten"
local run = require "spec.cli.run"
local seen = require "spec.support.seen"

local recordings = { [false] = busy.recording(false), [true] = busy.recording(true) }

--- The events of a File, as text.
local function events_of(file)
  local list = {}
  for i, event in ipairs(file.events) do
    list[i] = seen.of(event)
  end
  return list
end

local names = { "file", "pipe", "compressed", "compressed2", "compressed pipe", "sorted" }

--- Two of the forms, others for each container.
local function forms_of(container)
  for i, other in ipairs(containers.list) do
    if other == container then return { names[i % #names + 1], names[(i + 2) % #names + 1] } end
  end
end

describe("a recording that write() wrote", function()
  for _, container in ipairs(containers.list) do
    if not container.name:find "pieces" then
      it("has the records, events and features of a " .. container.name, function()
        local recording = recordings[container.old or false]
        local path = container.write(recording)
        local sorted = container.name:find "directory"
        for _, name in ipairs(forms_of(container)) do
          local form = rewritten.forms[name]
          local order = (sorted or form.sort) and "time" or "file"
          local file <close> = assert(perflua.open(path))
          local through <close> = assert(perflua.open(containers.through(container, path)))
          local copy <close>, summary = rewritten.open(through, form)
          local expected, found = rewritten.both(file, copy, form, order)
          assert.is_nil(seen.difference(expected, found), name)
          assert.are.same(events_of(file), events_of(copy))
          assert.are.equal(file.features.hostname, copy.features.hostname)
          assert.are.equal(0, #copy.damage)
          assert.are.equal(file.byte_order, copy.byte_order)
          assert.are.equal(form.pipe and "pipe" or "file", copy.mode)
          assert.are.equal(file:samples { expand = false }:count(), summary.samples)
        end
      end)
    end
  end

  reading.either_order(describe, function(endian)
    it("has one of everything, byte by byte", function()
      local b = everything.builder(endian)
      local file <close> = assert(perflua.open(b:write()))
      for name, form in pairs(rewritten.forms) do
        local copy <close> = rewritten.open(file, form)
        local expected, found = rewritten.both(file, copy, form, form.sort and "time")
        assert.is_nil(seen.difference(expected, found), name)
        assert.is_true(copy:records("build_id"):count() >= file:records("build_id"):count())
      end
    end)

    it("has the features that it is written with", function()
      local file <close> = assert(perflua.open(everything.builder(endian):write()))
      local copy <close>, summary = rewritten.open(file)
      for name in pairs(everything.features) do
        local is_of_file = name ~= "dir_format" and name ~= "compressed" and name ~= "auxtrace"
        if type(name) == "string" and is_of_file then
          assert.are.equal(seen.of(file.features[name]), seen.of(copy.features[name]), name)
        end
      end
      assert.is_nil(copy.features.dir_format)
      assert.is_nil(copy.features.compressed)
      assert.are.same({}, summary.unreadable)
      local pipe <close>, of_pipe = rewritten.open(file, { pipe = true })
      assert.are.equal(seen.of(file.features.cpu_topology),
        seen.of(pipe.features.cpu_topology))
      assert.are.same({ "branch_stack", "stat", "cache", "hybrid_topology", "feature 200" },
        of_pipe.unfit)
    end)
  end)

  it("has the features that a file's data begin with, as perf inject writes a pipe to a file",
    function()
      local b = builder.new {}
      b:feature("osrelease", "6.1")
      local event = b:event { sample_type = { "ip", "time" } }
      local w = b.w
      b:record("header_feature", { feature = 7, data = w:u32(4) .. w:u32(8) }) -- nrcpus
      b:record("header_feature", { feature = 3, data = w:u32(8) .. "machine\0" }) -- hostname
      b:sample(event, { ip = 1, time = 1 })
      b:record("header_feature", { feature = 6, data = w:u32(4) .. "arm\0" }) -- arch, late
      local file <close> = assert(perflua.open(b:write()))
      assert.are.equal("machine", file.features.hostname)
      for name, form in pairs { file = {}, pipe = { pipe = true } } do
        local copy <close> = rewritten.open(file, form)
        assert.are.same({ 4, 8 },
          { copy.features.nrcpus.available, copy.features.nrcpus.online }, name)
        assert.are.equal("machine", copy.features.hostname, name)
        assert.are.equal("6.1", copy.features.osrelease, name)
        for _ in copy:records() do end
        assert.are.equal("arm", copy.features.arch, name)
      end
    end)

  it("ends the features of a pipe by no mark, which another version of perf refuses", function()
    local file <close> = assert(perflua.open(run.demo))
    local copy <close> = rewritten.open(file, { pipe = true })
    local is_empty = {}
    for r in copy:records { type = "header_feature", container = true } do
      if r.size <= 16 then is_empty[#is_empty + 1] = r.feature end
    end
    assert.are.same({}, is_empty)
  end)

  it("has the index of AUX areas at their new places", function()
    local b = builder.new {}
    b:event { sample_type = { "ip", "tid", "time" } }
    b:record "finished_round"
    b:record "finished_round" -- an empty one, which is not written again
    b:record("auxtrace", { data = ("trace!!!"):rep(100), idx = 3 })
    local at = b:offsets()[3]
    b:feature("auxtrace", { { offset = at, size = 48 }, { offset = 1, size = 2 } })
    local file <close> = assert(perflua.open(b:write()))
    local copy <close> = rewritten.open(file)
    local record = copy:records("auxtrace"):first()
    assert.are.equal(("trace!!!"):rep(100), record:data())
    assert.are_not.equal(at, record.offset)
    local index = copy.features.auxtrace
    assert.are.equal(1, #index)
    assert.are.same({ record.offset, 48 }, { index[1].offset, index[1].size })
  end)

  it("has events that come late", function()
    local b = builder.new { container = "pipe" }
    local first = b:event { name = "one", sample_type = { "identifier", "ip", "time" },
      ids = { 11 } }
    b:sample(first, { identifier = 11, ip = 1, time = 1 })
    local late = b:event { name = "two", type = 1, sample_type = { "identifier", "ip", "time" },
      ids = { 12 } }
    table.remove(b.events)
    b:record("header_attr", { event = late })
    b:sample(late, { identifier = 12, ip = 2, time = 2 })
    for _, form in ipairs { {}, { pipe = true } } do
      local file <close> = assert(perflua.open(b:write()))
      local copy <close> = rewritten.open(file, form)
      local ids = {}
      for s in copy:samples() do ids[#ids + 1] = s.event.index .. " " .. s.ip end
      assert.are.same({ "1 1", "2 2" }, ids)
    end
  end)

  it("can be opened if an attr in the pipe is larger than a file may have", function()
    warn "@off"
    local b = builder.new { container = "pipe" }
    local event = b:event { sample_type = { "ip", "time" } }
    b:sample(event, { ip = 1, time = 1 })
    local size = 4088
    b:record("header_attr", { event = b:event { sample_type = { "ip", "time" },
      attr_size = size } })
    table.remove(b.events)
    local file <close> = assert(perflua.open(b:write()))
    local copy <close> = rewritten.open(file)
    assert.are.equal(1, #copy.events)
    assert.are.equal(1, copy:samples():count())
  end)

  --- The bytes that a file has for each attr, and the size that the attr says.
  local function attr_sizes(path)
    local bytes, sizes = files.read(path), {}
    local stride, at, n = string.unpack("<I8I8I8", bytes, 17)
    for offset = at, at + n - 1, stride do
      sizes[#sizes + 1] = { stride - 16, (string.unpack("<I4", bytes, offset + 5)) }
    end
    return sizes
  end

  it("gives attrs of a pipe the size that older perf opens, if the rest is zero", function()
    for _, case in ipairs { { { 144, 144 }, 128 }, { { 136 }, 128 }, { { 112, 128 }, 128 },
      { { 64, 64 }, 64 }, { { 144 }, 144, config4 = true } } do
      local b = builder.new { container = "pipe" }
      for i, size in ipairs(case[1]) do
        b:event { config = i, ids = { i }, sample_type = { "identifier", "tid", "time" },
          attr_size = size }
      end
      b:sample(b.events[1], { identifier = 1, pid = 1, tid = 1, time = 1 })
      local bytes = b:bytes()
      if case.config4 then -- the last member of an attr of 144 bytes
        bytes = bytes:sub(1, 16 + 8 + 136) .. "\1" .. bytes:sub(16 + 8 + 136 + 2)
      end
      local file <close> = assert(perflua.open(files.temporary(bytes)))
      local path = rewritten.path()
      assert(file:records { container = true }:write(path))
      local expected = {}
      for i in ipairs(case[1]) do expected[i] = { case[2], case[2] } end
      assert.are.same(expected, attr_sizes(path))
      local copy <close> = assert(perflua.open(path))
      assert.are.same({ 1, #case[1] }, { copy:samples():count(), #copy.events })
      local function described(from)
        return (events_of(from)[1]:gsub(" size=%d+", ""):gsub("attr_size=%d+", ""))
      end
      assert.are.equal(described(file), described(copy))
    end
  end)

  it("gives attrs of several recordings one size, as perf reads their ids after it", function()
    local paths = {}
    for i, size in ipairs { 144, 128 } do
      local b = builder.new { attr_size = size }
      b:event { config = i, ids = { i }, sample_type = { "identifier", "tid", "time" } }
      b:sample(b.events[1], { identifier = i, pid = 1, tid = 1, time = i })
      paths[i] = b:write()
      local single <close> = assert(perflua.open(paths[i]))
      local copy = rewritten.path()
      assert(single:records { container = true }:write(copy))
      assert.are.same({ { size, size } }, attr_sizes(copy))
    end
    local file <close> = assert(perflua.open(paths))
    local path = rewritten.path()
    assert(file:records { container = true }:write(path))
    assert.are.same({ { 128, 128 }, { 128, 128 } }, attr_sizes(path))
  end)

  it("says why records of AUX areas are left out", function()
    local b = builder.new()
    b:event {}
    b:record("auxtrace", { data = ("x"):rep(64), idx = 1 })
    local bytes = b:bytes()
    for order, reason in pairs { little = "the data is not all there",
      big = "they have the byte order of their processor" } do
      local path = files.temporary(order == "big" and bytes or bytes:sub(1, -17))
      local out = run.perflua({ "convert", "--byte-order", order, path, "-o",
        rewritten.path() }).out
      assert.matches("1 record of AUX areas .* left out: " .. reason, out)
    end
  end)

  it("keeps the names that records of old pipes tell", function()
    for _, endian in ipairs { "little", "big" } do
      local b = builder.new { container = "pipe", endian = endian, event_desc = false }
      for i = 1, 2 do
        b:event { type = 2, config = 300 + i, sample_type = { "id", "ip", "time" },
          ids = { i } }
      end
      b:record("event_type", { event_id = 301, name = "sched:sched_switch" })
      b:record("event_type", { event_id = 302, name = "irq:irq_handler_entry" })
      b:sample(b.events[2], { id = 2, ip = 1, time = 1 })
      for _, form in ipairs { {}, { pipe = true }, { compress = 1 } } do
        local file <close> = assert(perflua.open(b:write()))
        local copy <close> = rewritten.open(file, form)
        assert.are.same({ "sched:sched_switch", "irq:irq_handler_entry" },
          { copy.events[1].name, copy.events[2].name })
        assert.are.equal("irq:irq_handler_entry", copy:samples():first().event.name)
      end
    end
  end)

  it("is written again the same", function()
    for name, form in pairs(rewritten.forms) do
      local file <close> = assert(perflua.open(run.demo))
      local path, again = rewritten.path(), rewritten.path()
      assert(file:records { container = true }:write(path, form))
      local copy <close> = assert(perflua.open(path))
      assert(copy:records { container = true }:write(again, form))
      assert.is_true(files.read(path) == files.read(again), name)
    end
  end)
end)

describe("write()", function()
  local function demo() return assert(perflua.open(run.demo)) end

  it("overwrites nothing unless forced, and never what is read", function()
    local file <close> = demo()
    local path = files.temporary "old"
    local all = file:records { container = true }
    warn "@off"
    local ok, message, code = all:write(path)
    assert.are.same({ nil, path .. ": the file exists", "EEXIST" }, { ok, message, code })
    assert.are.equal("old", files.read(path))
    assert.is_truthy(all:write(path, { force = true }))
    local link = rewritten.path()
    assert(os.execute(("cp %s %s.data && ln -s %s.data %s.link && ln %s.data %s.hard"):format(
      files.quote(run.demo), link, link, link, link, link)))
    local copy <close> = assert(perflua.open(link .. ".data"))
    for _, name in ipairs { ".data", ".link", ".hard" } do
      ok, message, code = copy:records():write(link .. name, { force = true })
      assert.are.same({ nil, "EBUSY" }, { ok, code })
      assert.matches("this is the recording that is read", message)
    end
    assert.is_true(files.read(run.demo) == files.read(link .. ".data"))
  end)

  it("says what cannot be written", function()
    local file <close> = demo()
    warn "@off"
    local ok, message, code = file:records():write "/nonexist/x"
    assert.are.same({ nil, "/nonexist/x: No such file or directory", "ENOENT" },
      { ok, message, code })
    ok, message, code = file:samples():where("comm == 'nobody'"):write(rewritten.path())
    assert.are.same({ nil, "ENODATA" }, { ok, code })
    assert.matches("no sample is chosen: nothing is written", message)
    assert.has_error(function() file:samples():write(rewritten.path(), { sorted = true }) end)
    assert.has_error(function() file:samples():write(rewritten.path(), { level = 0 }) end)
    assert.has_error(function() file:samples():write(rewritten.path(), { compress = true }) end)
    assert.has_error(function() file:records("comm"):write(rewritten.path()) end)
    assert.has_error(function() file:samples():unnest("callchain"):write(rewritten.path()) end)
    assert.has_error(function() file:samples():write(7) end)
    assert.has_error(function() file:samples():group_by("comm"):write(rewritten.path()) end)
  end)

  it("says what a pipe has no room for", function()
    local ids = {}
    for i = 1, 9000 do ids[i] = i end
    local b = builder.new {}
    b:event { name = "x", sample_type = { "identifier" }, ids = ids }
    b:feature("cmdline", { ("x"):rep(70000) })
    local file <close> = assert(perflua.open(b:write()))
    warn "@off"
    local ok, message, code = file:records():write(rewritten.path(), { pipe = true })
    assert.are.same({ nil, "FORMAT" }, { ok, code })
    assert.matches("event 1: found an attr of %d+ bytes and 9000 ids, expected 65520 bytes",
      message)
    local copy <close> = rewritten.open(file)
    assert.are.equal(9000, #copy.events[1].ids)
  end)

  it("refuses attrs whose sizes a pipe has no room for", function()
    local b = builder.new {}
    b:event { name = "x", size = 0xffffffff }
    b:record("comm", { comm = "x" })
    local file <close> = assert(perflua.open(b:write()))
    warn "@off"
    local ok, message = file:records():write(rewritten.path(), { pipe = true })
    assert.is_nil(ok)
    assert.matches("event 1: found an attr of 4294967295 bytes and 1 ids", message)
    local copy <close> = rewritten.open(file)
    assert.are.equal(1, #copy.events)
  end)

  it("leaves out features that cannot be read, or that would end those of a pipe", function()
    local b = builder.new {}
    b:event {}
    b:record("comm", { comm = "x" })
    b:feature("hostname", "here")
    b:feature("cpuid", "y")
    b:feature("auxtrace", { { offset = 1, size = 2 } })
    local bytes = b:bytes()
    local at = string.unpack("<I8", bytes, 41) + string.unpack("<I8", bytes, 49)
    -- sections in the order of bits: the host's name gets no bytes, AUX areas too many
    local path = files.temporary(bytes:sub(1, at + 8) .. string.pack("<I8", 0)
      .. bytes:sub(at + 17))
    warn "@off"
    local file <close> = assert(perflua.open(path))
    local copy <close>, summary = rewritten.open(file, { pipe = true })
    assert.are.equal("y", copy.features.cpuid)
    assert.are.equal("hostname", summary.unfit[1])
    local last = at + 16 * 2
    local huge = files.temporary(bytes:sub(1, last + 8) .. string.pack("<I8", 1 << 40)
      .. bytes:sub(last + 17))
    local damaged <close> = assert(perflua.open(huge))
    local _, of_damaged = rewritten.open(damaged)
    assert.are.equal("auxtrace", of_damaged.unreadable[1])
  end)

  it("writes to an open file as a pipe", function()
    local file <close> = demo()
    local path = rewritten.path()
    local out = assert(io.open(path, "wb"))
    assert(file:records { container = true }:write(out))
    out:close()
    local copy <close> = assert(perflua.open(path))
    assert.are.equal("pipe", copy.mode)
    assert.is_nil(seen.difference(rewritten.both(file, copy, { pipe = true })))
  end)

  --- A recording in pipe mode with three pieces of AUX areas, of which the last may be cut.
  local function with_aux()
    local b = builder.new { container = "pipe" }
    local event = b:event { sample_type = { "ip", "tid", "time" } }
    b:record("auxtrace_info", { auxtrace_type = 1, priv = { 1, 2 } })
    for i, size in ipairs { 8, 200000, 64 } do
      b:sample(event, { ip = i, pid = 7, tid = 7, time = 4 - i })
      b:record("auxtrace", { data = string.char(64 + i):rep(size), idx = i })
    end
    return b:write()
  end

  for name, form in pairs { file = {}, pipe = { pipe = true }, sorted = { sort = true } } do
    it("copies data of AUX areas from a stream, and makes their index: " .. name, function()
      local path = with_aux()
      local file <close> = assert(perflua.open(containers.through({}, path)))
      local copy <close>, summary = rewritten.open(file, form)
      assert.are.equal(0, summary.aux_records)
      local index = copy.features.auxtrace or {}
      local n = 0
      for r in copy:records { type = "auxtrace", order = "file" } do
        n = n + 1
        assert.is_true(r:data() == string.char(64 + r.idx):rep(({ 8, 200000, 64 })[r.idx]))
        if not form.pipe then
          assert.are.same({ r.offset, 48 }, { index[n].offset, index[n].size })
        end
      end
      assert.are.equal(3, n)
      assert.are.equal(form.pipe and 0 or 3, #index)
    end)
  end

  it("leaves out the data of an AUX area that a stream has only a part of", function()
    local path = files.temporary(files.read(with_aux()):sub(1, -17))
    warn "@off"
    local file <close> = assert(perflua.open(containers.through({}, path)))
    local copy <close>, summary = rewritten.open(file)
    assert.are.equal(1, summary.aux_records)
    assert.are.equal(2, copy:records("auxtrace"):count())
    assert.are.equal(2, #copy.features.auxtrace)
  end)
end)
