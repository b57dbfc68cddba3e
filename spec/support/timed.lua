-- Recordings that are made of times alone, for the specs of their order.
local builder = require "spec.support.builder"
local perflua = require "perflua"

local timed = {}

--- Records without a time: zero, as perf writes it for the kernel; all ones; one of perf's own.
timed.NONE, timed.NEVER, timed.PERFS = "none", -1, "perf's"

--- A builder with an event that records times.
function timed.builder(options)
  local b = builder.new(options)
  b:event { name = "cycles", sample_type = { "ip", "tid", "time", "cpu" }, ids = { 7 } }
  return b
end

--- Adds records with these times; "round" ends a round. They say their places by their pid:
--- from after + 1 on. Returns them as in_order takes them.
function timed.add(b, times, after)
  local stream = {}
  for i, time in ipairs(times) do
    local pid = (after or 0) + i
    if time == "round" then
      b:record "finished_round"
      stream[i] = { round = true }
    elseif time == timed.PERFS then
      b:record("auxtrace_error", { fmt = 1, pid = pid, time = 5 })
      stream[i] = { pid = pid }
    else
      local none = time == timed.NONE
      b:record("comm", { pid = pid, tid = pid, comm = "c" }, not none and { time = time }
        or nil)
      stream[i] = { pid = pid, time = not none and time ~= timed.NEVER and time or nil }
    end
  end
  return stream
end

--- The pids of such a list.
function timed.pids_of(list)
  local pids = {}
  for _, r in ipairs(list) do
    if not r.round then
      pids[#pids + 1] = r.pid
    end
  end
  return pids
end

--- The pids of a file's records; options: those of records().
function timed.read(file, options)
  return file:records(options):select("pid"):collect()
end

--- The pids of what a builder holds.
function timed.written(b, options)
  local file <close> = assert(perflua.open(b:write()))
  return timed.read(file, options)
end

--- Raises if two lists are not the same, without printing them.
function timed.same(expected, found)
  for i = 1, math.max(#expected, #found) do
    if expected[i] ~= found[i] then
      error(("%d expected, %d found; at %d expected %s, found %s")
        :format(#expected, #found, i, expected[i], found[i]), 2)
    end
  end
end

--- Numbers below n that are the same in every run.
function timed.random(seed)
  return function(n)
    seed = seed * 6364136223846793005 + 1442695040888963407
    return (seed >> 33) % n
  end
end

function timed.range(from, to, step)
  local list = {}
  for i = from, to, step or 1 do
    list[#list + 1] = i
  end
  return list
end

--- n times, each as fn(random number generator, place) says.
function timed.each(n, fn)
  local random, times = timed.random(n), {}
  for i = 1, n do
    times[i] = fn(random, i)
  end
  return times
end

--- About n times in runs of several cpus, each round a buffer after the other; with or without
--- their ends.
function timed.rounds(n, ends)
  local random, times, at = timed.random(3), {}, 1000000000
  while #times < n do
    for cpu = 0, 3 do
      local time = at + cpu * 1000 + random(50)
      for _ = 1, 20 + random(60) do
        times[#times + 1] = time
        time = time + random(100)
      end
    end
    times[#times + 1] = ends and "round" or nil
    at = at + 5000
  end
  return times
end

function timed.jumbled(n)
  return timed.each(n, function(random) return 1 + random(n * 4) end)
end

--- Ascending, but for a few that are as much as `far` places before theirs.
function timed.almost(n, far)
  local random, times = timed.random(5), timed.range(1000, 1000 + n)
  for _ = 1, n // 500 do
    local from = 1 + random(n)
    table.insert(times, math.max(1, from - random(far)), table.remove(times, from))
  end
  return times
end

---Shapes of recordings: arrays of {name, times}; none of these has rounds.
timed.shapes = {
  { "buffers' runs without rounds", timed.rounds(3000) },
  { "its newest record first", timed.range(4000, 1, -1) },
  { "newest records first, buffer by buffer",
    timed.each(4000, function(_, i) return (1000 - i % 1000) * 10 + i // 1000 * 3 end) },
  { "a few records out of place", timed.almost(4000, 40) },
  { "records far out of place", timed.almost(5000, 4000) },
  { "records in no order at all", timed.jumbled(4000) },
  { "many records at the same times", timed.each(3000, function(random)
    return 1 + random(7)
  end) },
  { "all records at one time", timed.each(2000, function() return 77 end) },
  { "records without a time anywhere", timed.each(3000, function(random, i)
    local what = random(12)
    return what == 0 and timed.NONE or what == 1 and timed.PERFS or what == 2 and timed.NEVER
      or 1 + (i * 7919) % 6000
  end) },
  { "times beyond 2^63", { 5, math.mininteger, 3, -2, math.maxinteger, math.mininteger + 1,
    4 } },
  { "one record", { 5 } },
  { "one record without a time", { timed.NONE } },
  { "no record", {} },
}

return timed
