-- The names of threads at a time.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"
local system = require "spec.support.system"

-- Cases of threads and the names that samples get from them, in agreement with perf but for
-- `unlike_perf`.
local cases = {
  { "is the last it was given, from that time on", {
    "- comm 7/7 sh",
    "10 sample 7/7 is sh",
    "20 comm 7/7 cat",
    "20 sample 7/7 is cat",
    "29 sample 7/7 is cat",
    "30 comm 7/7 dog",
    "31 sample 7/7 is dog",
  } },
  { "is the last of those it was given at one time", {
    "10 comm 7/7 perf-exec",
    "10 exec 7/7 cat",
    "10 sample 7/7 is cat",
  } },
  { "holds at the time it is given, whichever record is the first in the file", {
    "10 comm 7/7 sh",
    "20 sample 7/7 is cat",
    "20 exec 7/7 cat",
  }, unlike_perf = true },
  { "is that of its time, whatever was asked before, and of which thread", {
    "- comm 7/7 sh",
    "20 comm 7/7 cat",
    "10 comm 263/263 ls",
    "25 sample 7/7 is cat",
    "30 sample 263/263 is ls",
    "15 sample 7/7 is sh",
    "9 sample 263/263 is :263",
    "19 sample 7/7 is sh",
    "20 sample 7/7 is cat",
    "12 sample 263/263 is ls",
    "1 sample 7/7 is sh",
    "8 sample 263/263 is :263",
    "40 sample 7/7 is cat",
  } },
  { "is a colon and its id before it has one", {
    "5 sample 7/7 is :7",
    "10 comm 7/7 sh",
    "11 sample 7/7 is sh",
    "12 sample 2147483647/2147483647 is :2147483647",
  } },
  { "is swapper of the idle threads", {
    "10 sample 0/0 is swapper",
    "20 fork 9/9 from 0/0",
    "30 sample 9/9 is swapper",
    "40 comm 0/0 outside",
    "50 sample 0/0 is outside",
    "60 fork 8/8 from 0/0",
    "70 sample 8/8 is outside",
    "80 sample 9/9 is swapper",
  } },
  { "is :-1 of what has ended for good",
    { "10 comm 7/7 sh", "20 exit 7/7", "30 sample -1/-1 is :-1" } },
  { "is inherited when the thread is forked", {
    "- comm 7/7 sh",
    "10 fork 8/8 from 7/7",
    "11 sample 8/8 is sh",
    "20 exec 8/8 cat",
    "21 sample 8/8 is cat",
    "22 sample 7/7 is sh",
  } },
  { "is inherited as it was at that time", {
    "10 comm 7/7 old",
    "20 fork 8/8 from 7/7",
    "30 comm 7/7 new",
    "40 sample 8/8 is old",
    "50 fork 9/9 from 7/7",
    "60 sample 9/9 is new",
  } },
  { "is inherited down a chain of forks", {
    "10 comm 7/7 sh",
    "20 fork 8/8 from 7/7",
    "30 fork 9/9 from 8/8",
    "40 fork 10/10 from 9/9",
    "45 comm 8/8 other",
    "50 sample 10/10 is sh",
    "51 sample 9/9 is sh",
    "52 sample 8/8 is other",
  } },
  { "is inherited by threads of the same process", {
    "10 comm 7/7 server",
    "20 fork 7/8 from 7/7",
    "30 comm 7/8 worker",
    "40 fork 7/9 from 7/8",
    "50 sample 7/9 is worker",
    "51 sample 7/7 is server",
  } },
  { "is kept by the idle threads where processes outside a container, of pid 0, end", {
    "10 sample 0/0 is swapper",
    "20 exit 0/0",
    "30 sample 0/0 is swapper",
    "40 fork 0/0 from 0/0",
    "50 sample 0/0 is swapper",
    "60 exit 0/0",
    "70 fork 8/8 from 0/0",
    "80 sample 8/8 is swapper",
  }, unlike_perf = oracle.does.forgets_exited },
  { "is kept by what has ended until its id is forked again", {
    "10 comm 7/7 sh",
    "15 comm 6/6 make",
    "20 exit 7/7",
    "21 sample 7/7 is sh",
    "30 fork 7/7 from 6/6",
    "31 sample 7/7 is make",
    "40 exit 7/7",
    "41 sample 7/7 is make",
  } },
  { "is that of the new thread when an id is taken again, also by another process", {
    "10 comm 7/8 worker",
    "11 comm 5/5 init",
    "20 exit 7/8",
    "30 fork 8/8 from 5/5",
    "31 sample 8/8 is init",
    "40 exec 8/8 cat",
    "41 sample 8/8 is cat",
    "50 exit 8/8",
    "60 fork 4/8 from 5/5",
    "61 sample 4/8 is init",
  } },
  { "is that of the new thread also when the end of the old one was lost", {
    "10 comm 7/7 sh",
    "11 comm 5/5 init",
    "30 fork 7/7 from 5/5",
    "31 sample 7/7 is init",
  } },
  { "is kept by a thread that takes its leader's place by exec", {
    "10 comm 7/7 java",
    "20 fork 7/8 from 7/7",
    "30 exit 7/7",
    "31 exec 7/7 cat",
    "40 sample 7/7 is cat",
    "50 exit 7/7",
  } },
  { "is not known of a child of an unknown parent", {
    "10 fork 8/8 from 7/7",
    "11 sample 8/8 is :8",
    "20 comm 7/7 sh",
    "21 sample 8/8 is :8",
    "22 fork 9/9 from 8/8",
    "23 sample 9/9 is :9",
  } },
  { "stays with a thread that is its own parent", {
    "10 comm 7/7 sh",
    "20 fork 7/7 from 7/7",
    "30 sample 7/7 is sh",
    "40 fork 8/8 from 8/8",
    "50 sample 8/8 is :8",
  } },
  { "is that of perf's own records where they are at the end (--tail-synthesize)", {
    "10 sample 7/7 is sh",
    "20 sample 8/8 is cat",
    "- comm 7/7 sh",
    "- comm 8/8 cat",
  }, unlike_perf = true },
  { "is that of perf's own records at the end, from the thread's last moment on", {
    "10 fork 8/8 from 7/7",
    "20 sample 8/8 is cat",
    "25 comm 9/9 sh",
    "26 sample 9/9 is sh",
    "- comm 8/8 cat",
    "- comm 9/9 sh",
  }, unlike_perf = true },
  { "is not that of perf's own records at the end if another is known", {
    "1 comm 7/7 sh",
    "2 comm 9/9 sh",
    "10 fork 8/8 from 7/7",
    "20 sample 8/8 is sh",
    "21 sample 9/9 is sh",
    "- finished_round", "- finished_round",
    "- fork 8/8 from 7/7",
    "- comm 8/8 cat",
    "- comm 9/9 dog",
  } },
  { "is inherited, not that of the end, also from a parent that is named only at the end", {
    "10 fork 8/8 from 7/7",
    "15 fork 9/9 from 8/8",
    "20 sample 9/9 is sh",
    "21 sample 8/8 is sh",
    "- comm 9/9 dog",
    "- comm 8/8 cat",
    "- comm 7/7 sh",
  }, unlike_perf = true },
  { "is that of perf's own records at the end only in the thread's last incarnation", {
    "10 fork 8/8 from 7/7",
    "20 sample 8/8 is :8",
    "30 exit 8/8",
    "40 fork 8/8 from 7/7",
    "50 sample 8/8 is cat",
    "60 fork 9/9 from 8/8",
    "70 sample 9/9 is cat",
    "- comm 8/8 cat",
  }, unlike_perf = true },
  { "is inherited also from a parent that is named only at the end", {
    "10 fork 8/8 from 7/7",
    "20 sample 8/8 is sh",
    "- comm 7/7 sh",
  }, unlike_perf = true },
  { "is the same wherever its records lie in the file", {
    "40 sample 8/8 is cat",
    "31 sample 8/8 is sh",
    "35 exec 8/8 cat",
    "30 fork 8/8 from 7/7",
    "20 comm 7/7 sh",
    "10 comm 7/7 init",
    "25 comm 7/7 sh",
    "5 sample 7/7 is :7",
  } },
  { "may have spaces and be as long as it likes", {
    "10 comm 7/7 " .. ("a long name "):rep(50) .. "end",
    "11 sample 7/7 is " .. ("a long name "):rep(50) .. "end",
    "12 comm 8/8 kworker/0:1-ev ents",
    "13 sample 8/8 is kworker/0:1-ev ents",
  } },
}

--- Whether the lines are in the order of time: then they mean the same without times.
local function ascending(lines)
  local last = -1
  for _, line in ipairs(lines) do
    local time = tonumber(line:match "^%S+") or 0
    if time < last then
      return false
    end
    last = time
  end
  return true
end

--- {time, comm} of each sample, as perf script prints them.
local function said_by_perf(path)
  local list = {}
  for _, line in ipairs(oracle.script(path, "comm,tid,time")) do
    local comm, sec, ns = line:match "^%s*(.-)%s+%-?%d+%s+(%d+)%.(%d+):"
    list[#list + 1] = { math.tointeger(tonumber(sec .. ns)), comm }
  end
  return list
end

describe("the name of a thread", function()
  for _, case in ipairs(cases) do
    local title, lines = case[1], case[2]
    it(title, function()
      for _, options in ipairs { {}, { endian = "big" }, { container = "pipe" } } do
        local path, names = system.written(lines, options)
        local file <close> = assert(perflua.open(path))
        assert.are.same(names, system.names(file))
      end
    end)

    if ascending(lines) and not case.unlike_perf then
      it(title .. ", in a recording without times, too", function()
        local b = system.builder({}, { "ip", "tid" })
        local names = system.add(b, lines)
        local file <close> = assert(perflua.open(b:write()))
        assert.are.same(names, system.names(file))
      end)
    end

    if not case.unlike_perf then
      needs.it("perf", title .. ", as perf says", function()
        local path, names = system.written(lines)
        local file <close> = assert(perflua.open(path))
        local found = {}
        for time, tid, comm in file:samples():select("time", "tid", "comm") do
          local exit = oracle.does.forgets_exited and (file:thread(tid, time) or {}).exit
          found[#found + 1] = { time, exit and exit < time and ":" .. tid or comm }
        end
        assert.are.equal(#names, #found)
        assert.are.same(said_by_perf(path), found)
      end)
    end
  end
end)

describe("the name of a thread in a recording without times", function()
  it("is its parent's by their places, whatever times forks have of themselves", function()
    local b = builder.new { container = "file" }
    local event = b:event { sample_type = { "ip", "tid" }, sample_id_all = true }
    b:record("comm", { pid = 10, tid = 10, comm = "before" }, { pid = 10, tid = 10 })
    b:record("fork", { pid = 12, ppid = 9, tid = 12, ptid = 9, time = 100 },
      { pid = 9, tid = 9 })
    b:record("comm", { pid = 10, tid = 10, comm = "after" }, { pid = 10, tid = 10 })
    b:record("fork", { pid = 11, ppid = 10, tid = 11, ptid = 10, time = 50 },
      { pid = 10, tid = 10 })
    b:sample(event, { ip = 1, pid = 11, tid = 11 })
    local file <close> = assert(perflua.open(files.temporary(b:bytes())))
    assert.are.equal("after", file:samples():first().comm)
  end)
end)
