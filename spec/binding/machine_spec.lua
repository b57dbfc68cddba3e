-- file:thread() and file:threads(): the threads of the recorded system.
local files = require "spec.support.files"
local perflua = require "perflua"
local system = require "spec.support.system"

local function opened(lines, ...)
  return assert(perflua.open((system.written(lines, ...))))
end

local lines = {
  "- fork 7/7 from 1/1",
  "- comm 7/7 sh",
  "10 fork 8/8 from 7/7",
  "20 exec 8/8 cat",
  "30 exit 8/8",
  "40 fork 7/8 from 7/7",
  "50 comm 7/8 worker",
  "60 sample 7/8",
  "70 fork 9/9 from 7/7",
}

describe("file:threads()", function()
  it("lists each incarnation of each thread with its facts", function()
    local file <close> = opened(lines)
    assert.are.same({
      { pid = 7, tid = 7, comm = "sh" },
      { pid = 8, tid = 8, comm = "cat", start = 10, exit = 30 },
      { pid = 7, tid = 8, comm = "worker", start = 40 },
      { pid = 9, tid = 9, comm = "sh", start = 70 },
    }, system.plain(file:threads()))
  end)

  it("is empty where nothing is said of threads", function()
    local file <close> = opened { "10 sample 7/7", "20 sample 0/0" }
    assert.are.same({}, system.plain(file:threads()))
  end)

  it("knows the end but not the start of earlier threads", function()
    local file <close> = opened { "10 exit 7/7", "20 comm 8/8 cat" }
    assert.are.same({
      { pid = 7, tid = 7, comm = ":7", exit = 10 },
      { pid = 8, tid = 8, comm = "cat" },
    }, system.plain(file:threads()))
  end)

  it("tells two lives of an id where an exec takes the place of a leader", function()
    local file <close> = opened {
      "10 fork 7/7 from 1/1", "20 comm 7/7 java", "30 exit 7/7", "31 exec 7/7 cat",
      "40 exit 7/7",
    }
    assert.are.same({
      { pid = 7, tid = 7, comm = "java", start = 10, exit = 30 },
      { pid = 7, tid = 7, comm = "cat", start = 31, exit = 40 },
    }, system.plain(file:threads()))
    assert.are.same({ 30, 40 }, { file:thread(7, 25).exit, file:thread(7, 35).exit })
  end)

  it("uses the names that perf found at the end", function()
    local file <close> = opened {
      "10 fork 8/8 from 7/7", "20 exec 8/8 cat",
      "- fork 8/8 from 7/7", "- comm 8/8 cat", "- fork 7/7 from 1/1", "- comm 7/7 sh",
    }
    assert.are.same({
      { pid = 8, tid = 8, comm = "cat", start = 10 },
      { pid = 7, tid = 7, comm = "sh" },
    }, system.plain(file:threads()))
  end)

  it("has no times in a recording without them", function()
    local b = system.builder({}, { "ip", "tid" })
    system.add(b, lines)
    local file <close> = assert(perflua.open(b:write()))
    for _, thread in ipairs(file:threads()) do
      assert.are.same({}, { thread.start, thread.exit })
    end
    assert.are.equal("worker", file:thread(8, 1).comm)
  end)

  it("makes new tables each time", function()
    local file <close> = opened(lines)
    file:threads()[1].comm = "other"
    assert.are.equal("sh", file:threads()[1].comm)
  end)
end)

describe("file:thread()", function()
  it("tells of a thread as it was at a time", function()
    local file <close> = opened(lines)
    assert.is_nil(file:thread(8, 9))
    assert.are.same({ pid = 8, tid = 8, comm = "sh", start = 10, exit = 30 },
      system.plain(file:thread(8, 10)))
    assert.are.same({ pid = 8, tid = 8, comm = "cat", start = 10, exit = 30 },
      system.plain(file:thread(8, 20)))
    assert.are.same({ pid = 8, tid = 8, comm = "cat", start = 10, exit = 30 },
      system.plain(file:thread(8, 35)))
    assert.are.same({ pid = 7, tid = 8, comm = "sh", start = 40 },
      system.plain(file:thread(8, 40)))
    assert.are.same({ pid = 7, tid = 7, comm = "sh" }, system.plain(file:thread(7, 0)))
  end)

  it("tells of its last life without a time", function()
    local file <close> = opened(lines)
    assert.are.same({ pid = 7, tid = 8, comm = "worker", start = 40 },
      system.plain(file:thread(8)))
    assert.are.same(system.plain(file:thread(8)), system.plain(file:thread(8, nil)))
  end)

  it("is nil for a thread that no record mentions", function()
    local file <close> = opened(lines)
    assert.is_nil(file:thread(60))
    assert.is_nil(file:thread(-1))
    assert.is_nil(file:thread(0))
  end)

  it("agrees with the names of samples", function()
    local file <close> = assert(perflua.open(files.fixture "demo.perf.data"))
    local n = 0
    for tid, time, comm in file:samples():select("tid", "time", "comm"):each() do
      assert.are.equal(comm, file:thread(tid, time).comm)
      n = n + 1
    end
    assert.are.equal(672, n)
  end)

  it("raises on a wrong id or time, and when the file is closed", function()
    local file = opened(lines)
    assert.error_matches(function() file:thread() end, "number expected")
    assert.error_matches(function() file:thread("sh") end, "got the string 'sh'; file:threads")
    assert.error_matches(function() file:thread(1 << 31) end, "not a thread id")
    assert.error_matches(function() file:thread(7, 1.5) end, "no integer representation")
    file:close()
    assert.error_matches(function() file:thread(7) end, "the file is closed")
    assert.error_matches(function() file:threads() end, "the file is closed")
  end)
end)

describe("names", function()
  it("has the names of its commands", function()
    local file <close> = assert(perflua.open(files.fixture "demo.perf.data"))
    local names = {}
    for _, thread in ipairs(file:threads()) do
      names[#names + 1] = thread.comm
    end
    table.sort(names)
    assert.are.equal("awk find gzip gzip head md5sum seq sh sleep sort sort wc",
      table.concat(names, " "))
  end)

  it("are read as far as possible from a file that became shorter", function()
    warn "@off"
    local list = {}
    for i = 1, 20000 do
      list[i] = ("%d comm %d/%d name %d"):format(i, i, i, i)
    end
    local path = system.written(list)
    local whole = files.read(path)
    local file <close> = assert(perflua.open(path))
    files.write(path, whole:sub(1, #whole // 2))
    pcall(file.threads, file)
    local n = #file:threads()
    assert.is_true(n < 20000)
    for i = 1, n do
      assert.are.equal("name " .. i, file:thread(i).comm)
    end
  end)
end)
