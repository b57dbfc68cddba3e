-- The key parallelism of reports: the number of recorded threads that ran when a sample was
-- taken, as perf counts it from the records of their switches. It is at least 1, the thread of
-- the sample. The latency of a sample is its period divided by that number.

local usage_error = require("perflua.errors").usage_error

local parallelism = {}

local SCALE <const> = 1000 -- of latencies, as perf has it, so that small periods have parts

-- PERF_RECORD_…
local SWITCH <const>, SWITCH_CPU_WIDE <const> = 14, 15

-- Counts the threads that run, as perf does: the first one runs when the recording begins, and
-- a thread that ends says no more that it is switched out. Returns by recording the times at
-- which their number changed, and the numbers from then on.
local function read_switches(file)
  local by_source = {}
  for source, type_id, time, out in file:records {
    type = { "switch", "switch_cpu_wide", "exit" } }
      :select("source", "type_id", "time", "out") do
    if type_id == SWITCH_CPU_WIDE then
      usage_error("parallelism is counted for recorded commands, not for all processors: "
        .. "perflua timeline shows these")
    end
    local list = by_source[source]
    if not list then
      list = { times = {}, counts = {}, n = 1 }
      by_source[source] = list
    end
    if time then
      list.n = list.n + (type_id == SWITCH and not out and 1 or -1)
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

---@param file perflua.File
---@return boolean # whether the switches of threads were recorded
function parallelism.is_known(file)
  for i = 1, #file.events do
    if file.events[i].context_switch then return true end
  end
  return false
end

---@param file perflua.File
---@return boolean # whether its switches are those of a command's threads, not of processors
function parallelism.is_of_command(file)
  local records = file:records { type = { "switch", "switch_cpu_wide" }, order = "file" }
  local is_switch = true
  for type_id in records:select "type_id" do
    is_switch = type_id == SWITCH
    if type_id then break end
  end
  return is_switch
end

---@param file perflua.File
---@return table # the key's Ref, a function of a sample; raises if the recording does not tell
function parallelism.ref(file)
  if not parallelism.is_known(file) then
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

---@param ref table of parallelism.ref()
---@param period table the Ref of what a sample adds to periods
---@return table # the Ref of latencies; n and n_alone count the samples that it was asked of,
--- and those of them that no other thread ran beside
function parallelism.latency(ref, period)
  local made = { text = "latency", kind = "function", shows = "unsigned", plain = false, n = 0,
    n_alone = 0 }
  local count_threads, get_period = ref.get, period.get
  function made.get(sample)
    local n, amount = count_threads(sample), get_period(sample)
    made.n, made.n_alone = made.n + 1, made.n_alone + (n == 1 and 1 or 0)
    return n and amount and amount * SCALE // n
  end
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
