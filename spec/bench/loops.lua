-- loops.lua LOOP FILE: one way through all samples of a recording; prints how many there were.
-- In time order by default.

local perflua = require "perflua"

local loops = {}

function loops.three(file)
  local n, sum = 0, 0
  for s in file:samples { order = "file" } do
    sum = sum + s.pid + s.cpu + s.period
    n = n + 1
  end
  return n, sum
end

function loops.three_reuse(file)
  local n, sum = 0, 0
  for s in file:samples { order = "file", reuse = true } do
    sum = sum + s.pid + s.cpu + s.period
    n = n + 1
  end
  return n, sum
end

local function select_three(samples)
  local n, sum = 0, 0
  for pid, cpu, period in samples:select("pid", "cpu", "period") do
    sum = sum + pid + cpu + period
    n = n + 1
  end
  return n, sum
end

function loops.select(file) return select_three(file:samples { order = "file" }) end

function loops.select_recorded(file)
  return select_three(file:samples { order = "file", expand = false })
end

function loops.select_by_time(file) return select_three(file:samples()) end

function loops.run(file)
  local n, sum = 0, 0
  file:run {
    sample = function(s)
      sum = sum + s.pid + s.cpu + s.period
      n = n + 1
    end,
  }
  return n, sum
end

function loops.run_fields(file)
  local n, sum = 0, 0
  file:run {
    sample = { "pid", "cpu", "period", function(pid, cpu, period)
      sum = sum + pid + cpu + period
      n = n + 1
    end },
  }
  return n, sum
end

function loops.group(file)
  local n = 0
  for row in file:samples():group_by("pid"):count():sort():rows() do
    n = n + row.count
  end
  return n
end

function loops.by_pid(file)
  local counts, n = {}, 0
  for s in file:samples() do
    local pid = s.pid
    counts[pid] = (counts[pid] or 0) + 1
  end
  for _, count in pairs(counts) do
    n = n + count
  end
  return n
end

function loops.by_call(file)
  local counts, n = {}, 0
  for s in file:samples() do
    local id = s.args.id
    counts[id] = (counts[id] or 0) + 1
  end
  for _, count in pairs(counts) do
    n = n + count
  end
  return n
end

local function counted(values)
  local counts, n = {}, 0
  for value in values do
    counts[value] = (counts[value] or 0) + 1
  end
  for _, count in pairs(counts) do
    n = n + count
  end
  return n
end

function loops.select_call(file) return counted(file:samples():select "args.id") end

local function summed(values)
  local n, sum = 0, 0
  for value in values do
    n, sum = n + 1, sum + value
  end
  return n, sum
end

function loops.select_arg(file)
  return summed(file:samples { order = "file" }:select "args.id")
end

function loops.select_field(file)
  return summed(file:samples { order = "file" }:select "pid")
end

function loops.where_arg(file) return file:samples():where("args.id > 0"):count() end

function loops.where_field(file) return file:samples():where("pid > 0"):count() end

function loops.group_call(file)
  return #file:samples():all_events():group_by("args.id"):count():sort()
end

local file <close> = assert(perflua.open(arg[2]))
print(loops[arg[1]](file))
