-- Recordings of what threads did, written as lines of text:
--
--   "- comm 7/7 sh"             what perf found when it began: a record without a time
--   "10 fork 8/8 from 7/7"
--   "20 exec 8/8 cat"           a COMM record of an exec; "comm": a change of name
--   "30 exit 8/8"
--   "40 sample 8/8 is cat"      the name that it should have, as the recording's perf says, too
--   "- finished_round"          what was written is in order: perf believes it from here on
local builder = require "spec.support.builder"

local system = {}

--- A builder with an event that records threads and, unless sample_type says otherwise, times.
function system.builder(options, sample_type)
  local b = builder.new(options)
  b:event { name = "cycles", sample_type = sample_type or { "ip", "tid", "time" }, ids = { 7 } }
  return b
end

local function parse(line)
  local time, kind, pid, tid, rest = line:match "^(%S+) (%a+) (%-?%d+)/(%-?%d+) ?(.*)$"
  if line == "- finished_round" then return nil, "finished_round" end
  assert(time, line)
  return tonumber(time), kind, tonumber(pid), tonumber(tid), rest
end

--- Adds the records of these lines; returns the names of the samples among them.
function system.add(b, lines)
  local names = {}
  for _, line in ipairs(lines) do
    local time, kind, pid, tid, rest = parse(line)
    local id = time and { pid = pid, tid = tid, time = time }
    if kind == "finished_round" then
      b:record "finished_round"
    elseif kind == "sample" then
      b:sample(b.events[1], { ip = 4096, pid = pid, tid = tid, time = time or 0 })
      names[#names + 1] = rest:match "^is (.*)$"
    elseif kind == "comm" or kind == "exec" then
      b:record("comm", { pid = pid, tid = tid, comm = rest, exec = kind == "exec" }, id)
    else
      local ppid, ptid = rest:match "^from (%-?%d+)/(%-?%d+)$"
      b:record(kind, {
        pid = pid, tid = tid, ppid = tonumber(ppid or 0), ptid = tonumber(ptid or 0),
        time = time,
      }, id)
    end
  end
  return names
end

--- The path of a recording of these lines, and the names of its samples.
function system.written(lines, options)
  local b = system.builder(options)
  local names = system.add(b, lines)
  return b:write(), names
end

--- The names of a file's samples, in the order of the file.
function system.names(file)
  return file:samples({ order = "file" }):select("comm"):collect()
end

---Returns what file:thread() or file:threads() gave, without the methods.
function system.plain(threads)
  if threads[1] then
    for _, thread in ipairs(threads) do system.plain(thread) end
  elseif next(threads) then
    assert(type(threads.maps) == "function")
    threads.maps = nil
  end
  return threads
end

return system
