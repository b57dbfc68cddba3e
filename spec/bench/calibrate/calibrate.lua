-- Measures how often perflua.diff is wrong, and how often it finds what there is: records a
-- fixed amount of work many times, equal and with functions made slower, and compares runs.
--
--   perflua calibrate.lua WORK DIR [SECONDS [RUNS]]
--
-- WORK is the program of work.c. Recordings are kept in DIR; those that are there are not made
-- again. There are RUNS (40) equal ones of SECONDS (10) each, and half as many of each way in
-- which the work is made slower. Prints calibration.lua, and tables for the manual to standard
-- error.

local perflua = require "perflua"

local work, dir = arg[1], arg[2]
local seconds, runs = tonumber(arg[3] or 10), tonumber(arg[4] or 40)
local COMPARISONS <const> = 400 -- of equal work
local POWER_COMPARISONS <const> = 200 -- of each way in which it is slower
local FUNCTIONS <const> = { "parse", "solve", "write", "hash", "sort", "copy", "scan", "rest" }
local SHARES <const> = { 30, 20, 15, 10, 5, 3, 2, 15 }

-- Functions that are made slower, by number, and by how much (%). The first is alone; others
-- together do not make one another faster, as periods are compared, not shares.
local CHANGES <const> = {
  { name = "slow", { 0, 20 } },
  { name = "more", { 1, 20 }, { 3, 20 }, { 4, 20 }, { 6, 20 } },
  { name = "less", { 1, 5 }, { 2, 10 }, { 3, 10 }, { 4, 10 } },
}

local function execute(format, ...)
  local command = format:format(...)
  assert(os.execute(command), command)
end

-- Returns the rounds that take so many seconds here, by a short run.
local function rounds_for(time)
  local clock <close> = assert(io.popen(([[bash -c "TIMEFORMAT=%%U; time '%s' 4000" 2>&1]])
    :format(work)))
  local used = assert(tonumber(clock:read "l"))
  return math.floor(4000 * time / used)
end

-- Records all runs, the kinds in turns, so that what changes with time is in all of them.
local function record_all()
  local rounds
  local function record(name, i, words)
    local path = ("%s/%s%d.data"):format(dir, name, i)
    local there <close> = io.open(path)
    if there then return end
    rounds = rounds or rounds_for(seconds)
    execute("perf record -q -e cpu-clock:u -F 1000 -o '%s.new' '%s' %d %s && mv '%s.new' '%s'",
      path, work, rounds, words, path, path)
  end
  for i = 1, runs do
    record("equal", i, "")
    for _, change in ipairs(i % 2 == 0 and CHANGES or {}) do
      local words = {}
      for k, one in ipairs(change) do words[k] = ("%d %d"):format(one[1], one[2]) end
      record(change.name, i // 2, table.concat(words, " "))
    end
  end
end

local function open_runs(name, n)
  local list = {}
  for i = 1, n do
    local file = assert(perflua.open(("%s/%s%d.data"):format(dir, name, i),
      { any_binary = true }))
    list[i] = file:samples():group_by("symbol"):sum("period")
  end
  return list
end

-- Returns `n` queries of a list, other ones than those that were taken.
local function draw(list, n, taken)
  local drawn = {}
  while #drawn < n do
    local one = list[math.random(#list)]
    if not taken[one] then drawn[#drawn + 1], taken[one] = one, true end
  end
  return drawn
end

-- Compares n runs with n others so many times; calls fn with the verdicts by function.
local function compare(times, before, after, n, fn)
  for _ = 1, times do
    local taken = {}
    local a, b = draw(before, n, taken), draw(after, n, taken)
    local verdicts = {}
    for row in perflua.diff(a, b):rows() do verdicts[row.symbol or ""] = row.verdict end
    fn(verdicts)
  end
end

local CHANGED <const> = { slower = true, faster = true, new = true, gone = true }

local function false_rate(equal, n)
  local flagged = 0
  compare(COMPARISONS, equal, equal, n, function(verdicts)
    for _, verdict in pairs(verdicts) do
      if CHANGED[verdict] then
        flagged = flagged + 1
        break
      end
    end
  end)
  return { comparisons = COMPARISONS, flagged = flagged }
end

local function add_power(list, equal, change, n)
  local found = {}
  compare(POWER_COMPARISONS, equal, change.runs, n, function(verdicts)
    for _, one in ipairs(change) do
      local is = verdicts[FUNCTIONS[one[1] + 1]] == "slower"
      found[one] = (found[one] or 0) + (is and 1 or 0)
    end
  end)
  for _, one in ipairs(change) do
    list[#list + 1] = { share = SHARES[one[1] + 1], slower = one[2], runs = n,
      found = found[one], comparisons = POWER_COMPARISONS }
  end
end

local function write_row(write, row)
  local parts = {}
  for _, name in ipairs { "share", "slower", "runs", "comparisons", "flagged", "found" } do
    if row[name] then parts[#parts + 1] = ("%s = %d"):format(name, row[name]) end
  end
  write(("{ %s }"):format(table.concat(parts, ", ")))
end

-- Writes the figures as perflua/diff/calibration.lua has them.
local function write_figures(figures, write)
  local path = package.searchpath("perflua.diff.calibration", "lua/?.lua")
  local file <close> = assert(io.open(path))
  write(file:read("a"):match "^(.-\n)return ")
  write "return {\n  single = "
  write_row(write, figures.single)
  write ",\n  runs = "
  write_row(write, figures.runs)
  write ",\n  power = {\n"
  for _, row in ipairs(figures.power) do
    write "    "
    write_row(write, row)
    write ",\n"
  end
  write "  },\n}\n"
end

-- Writes the table of power for the manual.
local function write_table(figures, out)
  local rows, by = {}, {}
  for _, one in ipairs(figures.power) do
    local key = ("%2d %%, slower by %2d %%"):format(one.share, one.slower)
    if not by[key] then
      by[key] = { key = key, one = one }
      rows[#rows + 1] = by[key]
    end
    by[key][one.runs] = ("%.3g %%"):format(100 * one.found / one.comparisons)
  end
  table.sort(rows, function(a, b)
    local x, y = a.one, b.one
    return x.slower > y.slower or x.slower == y.slower and x.share > y.share
  end)
  out:write "| share of the function | 1 run | 3 runs | 5 runs |\n|---|---|---|---|\n"
  for _, row in ipairs(rows) do
    out:write(("| %s | %s | %s | %s |\n"):format(row.key, row[1], row[3], row[5]))
  end
end

math.randomseed(1)
execute("mkdir -p '%s'", dir)
record_all()
local equal = open_runs("equal", runs)
for _, change in ipairs(CHANGES) do change.runs = open_runs(change.name, runs // 2) end
local figures = { single = false_rate(equal, 1), runs = false_rate(equal, 3), power = {} }
for _, n in ipairs { 1, 3, 5 } do
  for _, change in ipairs(CHANGES) do add_power(figures.power, equal, change, n) end
end
write_figures(figures, function(text) io.stdout:write(text) end)
write_table(figures, io.stderr)
