-- The key parallelism of reports: the number of recorded threads that ran when a sample was
-- taken, as perf counts it from the records of their switches. It is at least 1, the thread of
-- the sample.

local usage_error = require("perflua.errors").usage_error

local parallelism = {}

-- PERF_RECORD_…
local SWITCH <const>, SWITCH_CPU_WIDE <const> = 14, 15

-- Counts the threads that run. Returns by recording the times at which their number changed,
-- and the numbers from then on.
local function read_switches(file)
  local by_source = {}
  for source, type_id, time, tid, out in file:records {
    type = { "switch", "switch_cpu_wide", "exit" } }
      :select("source", "type_id", "time", "tid", "out") do
    if type_id == SWITCH_CPU_WIDE then
      usage_error("parallelism is counted for recorded commands, not for all processors: "
        .. "perflua timeline shows these")
    end
    local list = by_source[source]
    if not list then
      list = { times = {}, counts = {}, running = {}, n = 0 }
      by_source[source] = list
    end
    -- a thread that ends says no more that it is switched out
    local runs = type_id == SWITCH and not out or nil
    if time and tid and tid > 0 and list.running[tid] ~= runs then
      list.running[tid] = runs
      list.n = list.n + (runs and 1 or -1)
      list.times[#list.times + 1], list.counts[#list.counts + 1] = time, list.n
    end
  end
  return by_source
end

-- Returns how many threads ran at a time, by the last change that is not later.
local function count_at(list, time)
  local low, high = 0, #list.times
  while low < high do
    local middle = (low + high + 1) // 2
    if list.times[middle] <= time then low = middle else high = middle - 1 end
  end
  return math.max(1, list.counts[low] or 1)
end

local function has_switches(file)
  for i = 1, #file.events do
    if file.events[i].context_switch then return true end
  end
  return false
end

---@param file perflua.File
---@return table # the key's Ref, a function of a sample; raises if the recording does not tell
function parallelism.ref(file)
  if not has_switches(file) then
    usage_error("parallelism: this recording has no records of switches; record it with: "
      .. "perf record --switch-events -- COMMAND")
  end
  local by_source = read_switches(file)
  local function count_threads(sample)
    local list = by_source[sample.source or false]
    return sample.time and (list and count_at(list, sample.time) or 1)
  end
  return { text = "parallelism", kind = "function", shows = "unsigned", plain = false,
    get = count_threads }
end

return parallelism
