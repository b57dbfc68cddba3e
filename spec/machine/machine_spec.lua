-- The recorded system in all that a recording can lie in, and in all ways to ask for names.
local builder = require "spec.support.builder"
local containers = require "spec.support.containers"
local perflua = require "perflua"
local system = require "spec.support.system"
local zstd = require "spec.support.builder_zstd"

local UNTIMED = { "ip", "tid" }

local pipeline = {
  "- comm 7/7 sh",
  "10 sample 7/7 is sh",
  "20 fork 8/8 from 7/7",
  "30 sample 8/8 is sh",
  "40 exec 8/8 cat",
  "50 sample 8/8 is cat",
  "60 exit 8/8",
  "70 fork 8/8 from 7/7",
  "80 sample 8/8 is sh",
}

local function opened(lines, options)
  local path, names = system.written(lines, options)
  return assert(perflua.open(path)), names
end

describe("names of threads", function()
  it("are right where records are compressed, with times or without", function()
    for _, sample_type in ipairs { false, UNTIMED } do
      local b, names = system.builder({}, sample_type or nil), nil
      local bytes, payload = b:apart(function()
        names = system.add(b, pipeline)
      end), zstd.frame()
      b:record("compressed2", { data = payload(bytes:sub(1, 150)) })
      b:record("compressed", { data = payload(bytes:sub(151)) })
      local file <close> = assert(perflua.open(b:write()))
      assert.are.same(names, system.names(file))
    end
  end)

  it("are right in a directory, whatever file they are in", function()
    local b = system.builder { container = "directory" }
    local names = system.add(b, { "- comm 7/7 sh", "30 sample 8/8 is cat" })
    b:beside(0, function() system.add(b, { "20 exec 8/8 cat", "25 exec 7/7 dog" }) end)
    b:beside(1, function()
      local lines = { "10 fork 8/8 from 7/7", "12 sample 8/8 is sh", "26 sample 7/7 is dog" }
      table.move(system.add(b, lines), 1, 2, 2, names)
    end)
    local file <close> = assert(perflua.open(b:write()))
    assert.are.same(names, system.names(file))
  end)

  it("are those of the files before in a directory without times", function()
    local b = system.builder({ container = "directory" }, UNTIMED)
    for i = 1, 200 do
      system.add(b, { "- comm 9/9 number " .. i })
    end
    system.add(b, { "- comm 7/7 sh" })
    b:beside(0, function()
      system.add(b, { "- sample 7/7", "- comm 7/7 cat", "- sample 7/7" })
    end)
    b:beside(1, function()
      system.add(b, { "- sample 7/7", "- comm 7/7 dog", "- sample 7/7" })
    end)
    local file <close> = assert(perflua.open(b:write()))
    assert.are.same({ "sh", "cat", "cat", "dog" }, system.names(file))
  end)

  it("are the last ones of samples whose event has no times where others have", function()
    local b = system.builder()
    local other = b:event { name = "other", sample_type = { "ip", "tid" }, ids = { 8 } }
    local apart = builder.new()
    apart:event { sample_type = { "ip", "tid", "identifier", "time" } }
    b.events[1].sample_type, other.sample_type = apart.events[1].sample_type,
      apart.events[1].sample_type & ~4
    b:sample(other, { identifier = 8, pid = 7 })
    b:record("comm", { pid = 7, tid = 7, comm = "sh" }, { identifier = 7, time = 10 })
    b:record("comm", { pid = 7, tid = 7, comm = "cat" }, { identifier = 7, time = 20 })
    b:sample(b.events[1], { identifier = 7, pid = 7, time = 15 })
    local file <close> = assert(perflua.open(b:write()))
    assert.are.same({ "cat", "sh" }, system.names(file))
  end)

  it("are also those of perf's own records at the end", function()
    local b = system.builder()
    b:record("mmap2", { pid = 9, tid = 9, filename = "/a" })
    system.add(b, { "- comm 9/9 sh", "10 exec 9/9 make", "20 fork 8/8 from 9/9",
      "30 exec 8/8 cat" })
    b:record("mmap2", { pid = 8, tid = 8, filename = "/b" })
    local file <close> = assert(perflua.open(b:write()))
    assert.are.same({ "sh", "cat" }, file:records("mmap2"):select("comm"):collect())
  end)
end)

describe("names of threads in several recordings", function()
  local one = { "- comm 7/7 sh", "10 sample 7/7", "20 exec 7/7 cat", "30 sample 7/7" }
  local other = { "- fork 7/7 from 1/1", "- comm 7/7 dog", "105 exec 7/7 cow", "110 sample 7/7",
    "- comm 6/6 end" }

  local function names(...)
    local paths = {}
    for i, lines in ipairs { ... } do
      paths[i] = system.written(lines)
    end
    local file <close> = assert(perflua.open(paths))
    return system.names(file), system.plain(file:threads())
  end

  it("hold from one recording to the next, and what perf found then does not hold "
    .. "before", function()
    assert.are.same({ "sh", "cat", "cow" }, (names(one, other)))
    assert.are.same({ "cow", "sh", "cat" }, (names(other, one)))
    assert.are.same({ "sh", "cat", "dog" },
      (names(one, { "- comm 7/7 dog", "110 sample 7/7" })))
    assert.are.same({ "sh", "cat", "cat" }, (names(one, { "110 sample 7/7" })))
  end)

  it("are of lives that go on", function()
    local _, threads = names(one, other)
    assert.are.same({ { pid = 7, tid = 7, comm = "cow" }, { pid = 6, tid = 6, comm = "end" } },
      threads)
  end)

  it("are each recording's own if their clocks differ", function()
    warn "@off"
    local paths = {}
    for i, name in ipairs { "sh", "cat" } do
      local b = system.builder()
      b:feature("hostname", "host " .. i)
      system.add(b, { "10 fork 7/7 from 1/1", "11 comm 7/7 " .. name, "20 sample 7/7",
        "30 sample 9/9" })
      paths[i] = b:write()
    end
    local file <close> = assert(perflua.open(paths))
    assert.are.same({ "sh", ":9", "cat", ":9" }, system.names(file))
    assert.are.same({
      { pid = 7, tid = 7, comm = "sh", start = 10, source = 1 },
      { pid = 7, tid = 7, comm = "cat", start = 10, source = 2 },
    }, system.plain(file:threads()))
    assert.are.equal("sh", file:thread(7).comm)
  end)

  it("are each recording's own if they have no times", function()
    local paths = {}
    for i, lines in ipairs {
      { "- comm 7/7 sh", "- sample 7/7", "- sample 8/8", "- sample 7/7" },
      { "- comm 7/7 cat", "- sample 7/7", "- comm 8/8 dog", "- sample 8/8" },
    } do
      local b = system.builder({}, UNTIMED)
      system.add(b, lines)
      paths[i] = b:write()
    end
    paths[3] = system.written(one)
    local file <close> = assert(perflua.open(paths))
    assert.are.same({ "sh", ":8", "sh", "cat", "dog", "sh", "cat" }, system.names(file))
    assert.are.same({ 1, 2, 2, 3 }, (function()
      local sources = {}
      for i, thread in ipairs(file:threads()) do
        sources[i] = thread.source
      end
      table.sort(sources)
      return sources
    end)())
  end)
end)

describe("the name of a record's thread", function()
  it("is the same however it is asked for", function()
    local file <close>, names = opened(pipeline)
    local by_record, by_pairs, in_run, by_reuse, nested = {}, {}, {}, {}, {}
    for r in file:samples():each() do
      by_record[#by_record + 1] = r.comm
      for name, value in pairs(r) do
        by_pairs[#by_pairs + 1] = name == "comm" and value or nil
      end
      nested[#nested + 1] = file:samples():select("comm"):collect()[#nested + 1]
    end
    for r in file:samples { reuse = true } do
      by_reuse[#by_reuse + 1] = r.comm
    end
    file:run { sample = function(r) in_run[#in_run + 1] = r.comm end }
    assert.are.same({ names, names, names, names, names },
      { by_record, by_pairs, by_reuse, in_run, nested })
    assert.are.same({ { "sh", 7 }, { "sh", 8 }, { "cat", 8 }, { "sh", 8 } },
      file:samples():select("comm", "tid"):collect())
  end)

  it("is given to handlers of fields", function()
    local file <close>, names = opened(pipeline)
    local found = {}
    file:run { sample = { "comm", "tid", function(comm, tid)
      assert.is_true(tid == 7 or tid == 8)
      found[#found + 1] = comm
    end } }
    assert.are.same(names, found)
  end)

  it("is the new one on a COMM record, and the inherited one on a FORK", function()
    local file <close> = opened(pipeline)
    assert.are.same({
      { "comm", "sh" }, { "fork", "sh" }, { "comm", "cat" }, { "exit", "cat" },
      { "fork", "sh" },
    }, file:records { type = { "comm", "fork", "exit" } }:select("type", "comm"):collect())
  end)

  it("is none where there is no thread", function()
    local b = system.builder({}, { "ip" })
    b:record "switch"
    b:sample(b.events[1], { ip = 4096 })
    local file <close> = assert(perflua.open(b:write()))
    assert.are.same({ false, false }, file:records():select("comm"):collect())
    for r in file:records() do
      assert.is_nil(r.comm)
      for name in pairs(r) do
        assert.are_not.equal("comm", name)
      end
    end
  end)

  it("can be filtered by and grouped by, in any order", function()
    local file <close> = opened(pipeline)
    assert.are.equal(3, file:samples():where("comm == 'sh'"):count())
    assert.are.equal(1, file:samples():where({ comm = { "cat", "dog" } }):count())
    assert.are.equal(3, file:samples():where(function(s) return s.comm ~= "cat" end):count())
    local expected = "comm  count\nsh        3\ncat       1"
    for _, group in ipairs {
      file:samples():group_by("comm"),
      file:samples({ order = "file" }):group_by("comm"),
      file:samples({ order = "time" }):group_by("comm"),
      file:samples():group_by { comm = function(s) return s.comm end },
    } do
      assert.are.equal(expected, tostring(group:count():sort()))
    end
  end)

  it("is that of a copy after the file was closed, too", function()
    local path = system.written(pipeline)
    for _, stream in ipairs { false, true } do
      local file = assert(perflua.open(stream and containers.stream(path) or path))
      local copies = {}
      for r in file:samples { reuse = true } do
        copies[#copies + 1] = r:copy()
      end
      file:close()
      for i, comm in ipairs { "sh", "sh", "cat", "sh" } do
        assert.are.equal(comm, copies[i].comm)
      end
      assert.error_matches(function() return file:threads() end, "the file is closed")
    end
  end)
end)

describe("a stream's names", function()
  it("are known as it passes, in the order of time and in that of the file", function()
    local path, names = system.written(pipeline, { container = "pipe" })
    for _, order in ipairs { "time", "file" } do
      for _, fields in ipairs { { "comm" }, { "comm", "tid" } } do
        local file <close> = assert(perflua.open(containers.stream(path)))
        local found = {}
        for comm in file:samples({ order = order }):select(table.unpack(fields)) do
          found[#found + 1] = comm
        end
        assert.are.same(names, found)
      end
    end
  end)

  it("are grouped by as those of a file are", function()
    local path = system.written(pipeline, { container = "pipe" })
    local file <close> = assert(perflua.open(containers.stream(path)))
    assert.are.equal("comm  count\nsh        3\ncat       1",
      tostring(file:samples():group_by("comm"):count():sort()))
  end)

  it("are all that its records said so far", function()
    local path = system.written(pipeline, { container = "pipe" })
    local file <close> = assert(perflua.open(containers.stream(path)))
    assert.are.same({}, file:threads())
    assert.is_nil(file:thread(7))
    local seen = {}
    for s in file:samples { order = "file" } do
      seen[#seen + 1] = ("%d %s"):format(#file:threads(), file:thread(s.tid).comm)
    end
    assert.are.same({ "1 sh", "2 sh", "2 cat", "3 sh" }, seen)
    assert.are.equal(60, file:thread(8, 50).exit)
  end)

  it("are right for what comes earlier than their records, where it waits for them", function()
    local path = system.written({ "50 exec 8/8 cat", "40 fork 8/8 from 7/7", "60 sample 8/8",
      "10 comm 7/7 sh",
      "45 sample 8/8", "30 comm 7/7 dog" }, { container = "pipe" })
    local file <close> = assert(perflua.open(containers.stream(path)))
    assert.are.same({ "dog", "cat" }, file:samples():select("comm"):collect())
  end)
end)
