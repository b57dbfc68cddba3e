-- The key parallelism of reports: the number of recorded threads that ran when a sample was
-- taken, as perf counts it from the records of their switches. It is at least 1, the thread of
-- the sample. The latency of a sample is its period divided by that number; as in perf, also
-- that of a branch, which counts as 1 otherwise, and with --mem-mode.

local usage_error = require("perflua.errors").usage_error

local parallelism = {}

local SCALE <const> = 1000 -- of latencies, as perf has it, so that small periods have parts

-- PERF_RECORD_…
local SWITCH <const>, SWITCH_CPU_WIDE <const> = 14, 15

-- Counts the threads that run, as perf does: the first one runs when the recording begins, and
-- a thread that ends says no more that it is switched out. Returns by recording the times at
-- which their number changed, and the numbers from then on; and the greatest number. Returns
-- nil if switches are those of processors.
local function read_switches(file)
  local by_source, most = {}, 1
  for source, type_id, time, out in file:records {
    type = { "switch", "switch_cpu_wide", "exit" } }
      :select("source", "type_id", "time", "out") do
    if type_id == SWITCH_CPU_WIDE then return nil end
    local list = by_source[source]
    if not list then
      list = { times = {}, counts = {}, n = 1, at = 0 }
      by_source[source] = list
    end
    if time then
      list.n = list.n + (type_id == SWITCH and not out and 1 or -1)
      list.times[#list.times + 1], list.counts[#list.counts + 1] = time, list.n
      most = math.max(most, list.n)
    end
  end
  return by_source, most
end

-- Returns how many threads ran at a time, by the last change that is not later: list.at, which
-- is often that of the time that was asked for before.
local function count_at(list, time)
  local times = list.times
  local low, high = list.at, #times
  local first, following = times[low] or math.mininteger, times[low + 1] or math.maxinteger
  if time < first or time >= following then
    low = time < first and 0 or low
    while low < high do
      local middle = (low + high + 1) // 2
      if times[middle] <= time then low = middle else high = middle - 1 end
    end
    list.at = low
  end
  return math.max(1, list.counts[low] or 1)
end

-- Returns whether the switches of threads were recorded.
local function are_recorded(file)
  for i = 1, #file.events do
    if file.events[i].context_switch then return true end
  end
  return false
end

---Reads the switches of a recording.
---@param file perflua.File
---@return table? # the key's Ref, a function of a sample; most: of threads that ran at a time.
--- nil: the recording does not tell
---@return string? message why not
function parallelism.find(file)
  if not are_recorded(file) then
    return nil, "parallelism: this recording has no records of switches; record it with: "
      .. "perf record --switch-events -- COMMAND"
  end
  local by_source, most = read_switches(file)
  if not by_source then
    return nil, "parallelism is counted for recorded commands, not for all processors: "
      .. "perflua timeline shows these"
  end
  local function count_threads(source, time)
    local list = by_source[source or false]
    return time and (list and count_at(list, time) or 1)
  end
  return { text = "parallelism", kind = "function", shows = "unsigned", plain = false,
    get = function(sample) return count_threads(sample.source, sample.time) end,
    count = count_threads, most = most }
end

---@param file perflua.File
---@return table # of parallelism.find(); raises if the recording does not tell
function parallelism.ref(file)
  local ref, message = parallelism.find(file)
  return ref or usage_error("%s", message)
end

---@param ref table of parallelism.ref()
---@param scope table of the query
---@return table # the Ref of latencies; n and n_alone count the samples that it was asked of,
--- and those of them that no other thread ran beside
function parallelism.latency(ref, scope)
  local made = { text = "latency", kind = "unsigned", plain = false, n = 0, n_alone = 0,
    by_call = "latency is a function of Lua" }
  local count_threads, args = ref.count, {}
  local function divide(period, time, source)
    local n = count_threads(source, time)
    made.n, made.n_alone = made.n + 1, made.n_alone + (n == 1 and 1 or 0)
    return n and period and period * SCALE // n
  end
  for i, text in ipairs { "period", "time", "source" } do args[i] = scope:ref(text).node end
  made.node = { op = "call", kind = "any", fn = divide, args = args, ref = made }
  return made
end

---@param ref table of parallelism.ref()
---@param levels integer[][] { first, last } numbers of threads
---@return fun(sample: perflua.Record): boolean # whether one of them ran
function parallelism.filter(ref, levels)
  return function(sample)
    local n = ref.get(sample)
    for _, level in ipairs(levels) do
      if n and n >= level[1] and n <= level[2] then return true end
    end
    return false
  end
end

return parallelism
