-- Measures how much runs of equal work vary, how often perflua.diff is wrong, and how often it
-- finds what there is: records a fixed amount of work many times, on an idle machine and beside
-- two busy loops, equal and with functions changed, and compares runs.
--
--   perflua calibrate.lua WORK DIR [SECONDS [RUNS]]
--
-- WORK is the program of work.c. Recordings are kept in DIR/idle and DIR/loaded; those that are
-- there are not made again. There are RUNS (30) to fit and as many to compare, of SECONDS (2.7)
-- each, and half as many of each change. Runs that are fitted are compared with none. Prints
-- calibration.lua, and tables for the manual to standard error.

local calibration = require "perflua.diff.calibration"
local diff = require "perflua.diff"
local fit = require "spec.bench.calibrate.fit"
local perflua = require "perflua"
local record = require "spec.bench.calibrate.record"

local DRAWS <const>, LEAST <const> = 200, 100 -- LEAST: samples of rows whose intervals count
local RUNS <const> = { 1, 3, 5 } -- of a side
local LOADS <const> = { "idle", "loaded" }

local settings = record.settings(arg)

local function open_run(load, name, i)
  return assert(perflua.open(settings:path(load, name, i), { any_binary = true })):samples()
    :group_by("comm", "dso", "symbol"):sum("period"):count()
end

-- Returns the numbers of samples of a run by row.
local function count_rows(query)
  local counted = { total = 0, rows = {} }
  for row in query:table():rows() do
    local key = table.concat({ tostring(row.comm), tostring(row.dso), tostring(row.symbol) },
      "\n")
    counted.total = counted.total + row.count
    counted.rows[key] = { n = row.count,
      kind = tostring(row.dso):find "^%[" and row.dso ~= "[vdso]" and "kernel" or "program" }
  end
  return counted
end

local function fit_priors(load)
  local runs, lists = {}, { program = {}, kernel = {} }
  for i = 1, settings.runs do runs[i] = count_rows(open_run(load, "fit", i)) end
  fit.add_pairs(runs, lists)
  return fit.priors(lists)
end

-- Returns runs by name; as tables those that are compared by the variation between runs, which
-- are read once.
local function open_all(load)
  local opened = {}
  for _, name in ipairs(record.COMPARED) do
    local queries, tables = {}, {}
    for i = 1, settings:number_of(name) do
      queries[i] = open_run(load, name, i)
      tables[i] = queries[i]:table()
    end
    opened[name] = { queries = queries, tables = tables }
  end
  return opened
end

-- Returns two sides of n runs, none of which is in both.
local function draw(opened, name, n)
  local form = n >= 3 and "tables" or "queries"
  local before, after = opened.equal[form], opened[name][form]
  local taken = {}
  local function draw_side(list)
    local side = {}
    while #side < n do
      local run = list[math.random(#list)]
      if not taken[run] then side[#side + 1], taken[run] = run, true end
    end
    return side
  end
  return draw_side(before), draw_side(after)
end

local CHANGED <const> = { slower = true, faster = true, new = true, gone = true }

local function measure_equal(opened, n, covered)
  local flagged = 0
  for _ = 1, DRAWS do
    local any = false
    local _, rows = diff.compare(draw(opened, "equal", n))
    for _, row in ipairs(rows()) do
      any = any or CHANGED[row.verdict] or false
      if row.samples >= LEAST then
        covered.rows = covered.rows + 1
        covered.covered = covered.covered + (row.low <= 0 and row.high >= 0 and 1 or 0)
      end
    end
    flagged = flagged + (any and 1 or 0)
  end
  return { runs = n, comparisons = DRAWS, flagged = flagged }
end

-- Returns how often a change is found.
local function measure_change(opened, change, n)
  local found, samples = 0, 0
  for _ = 1, DRAWS do
    local _, rows = diff.compare(draw(opened, change.name, n))
    for _, row in ipairs(rows()) do
      if row.keys[3] == change["function"] then
        found = found + (change.verdicts[row.verdict] and 1 or 0)
        samples = samples + row.before.samples
      end
    end
  end
  return { share = change.share, slower = change.percent, runs = n,
    samples = math.floor(samples / DRAWS / n + 0.5), comparisons = DRAWS, found = found }
end

local function measure()
  local figures = { conditions = settings:conditions(), priors = {} }
  for _, load in ipairs(LOADS) do figures.priors[load] = fit_priors(load) end
  calibration.priors = figures.priors -- comparisons take them from there
  for _, load in ipairs(LOADS) do
    local opened, one = open_all(load), { equal = {}, changes = {},
      intervals = { rows = 0, covered = 0 } }
    for _, n in ipairs(RUNS) do
      one.equal[#one.equal + 1] = measure_equal(opened, n, one.intervals)
      for _, change in ipairs(record.CHANGES) do
        one.changes[#one.changes + 1] = measure_change(opened, change, n)
      end
    end
    figures[load] = one
  end
  return figures
end

local ORDER <const> = { "conditions", "priors", "idle", "loaded", "program", "kernel", "equal",
  "intervals", "changes", "dispersion", "drift", "freedom", "seconds", "frequency",
  "processors", "loops", "share", "slower", "samples", "runs", "comparisons", "flagged",
  "found", "rows", "covered" }

-- Returns a table as the text of a constructor; small ones are on one line.
local function format_table(value, indent)
  if type(value) ~= "table" then return tostring(value) end
  local parts, deep = {}, false
  for _, one in ipairs(value) do parts[#parts + 1] = format_table(one, indent .. "  ") end
  for _, name in ipairs(ORDER) do
    if value[name] then
      parts[#parts + 1] = name .. " = " .. format_table(value[name], indent .. "  ")
      deep = deep or type(value[name]) == "table"
    end
  end
  if not deep and not value[1] then return "{ " .. table.concat(parts, ", ") .. " }" end
  local inner = indent .. "  "
  return "{\n" .. inner .. table.concat(parts, ",\n" .. inner) .. ",\n" .. indent .. "}"
end

-- Writes the figures as perflua/diff/calibration.lua has them.
local function write_figures(figures, out)
  local path = package.searchpath("perflua.diff.calibration", "lua/?.lua")
  local file <close> = assert(io.open(path))
  out:write(file:read("a"):match "^(.-\n)return ", "return ", format_table(figures, ""), "\n")
end

local function part(n, of) return ("%.3g %%"):format(100 * n / of) end

-- Writes the tables of the manual.
local function write_tables(figures, out)
  out:write("| comparisons of equal work that flag any row | idle | two busy loops beside it ",
    "|\n|---|---|---|\n")
  for i, n in ipairs(RUNS) do
    out:write(("| %d %s against %d "):format(n, n == 1 and "run" or "runs", n))
    for _, load in ipairs(LOADS) do
      local row = figures[load].equal[i]
      out:write(("| %d of %d "):format(row.flagged, row.comparisons))
    end
    out:write "|\n"
  end
  out:write "\n| rows | dispersion | drift | degrees of freedom |\n|---|---|---|---|\n"
  for _, load in ipairs(LOADS) do
    for _, kind in ipairs { "program", "kernel" } do
      local prior = figures.priors[load][kind]
      out:write(("| %s, %s | %s | %.3g %% | %d |\n"):format(kind, load,
        tostring(prior.dispersion), 100 * prior.drift, prior.freedom))
    end
  end
  for _, load in ipairs(LOADS) do
    local covered = figures[load].intervals
    out:write(("\n%s: %s of intervals (%d of %d) have the difference\n\n"):format(load,
      part(covered.covered, covered.rows), covered.covered, covered.rows))
    out:write "| the function | 1 run | 3 runs | 5 runs |\n|---|---|---|---|\n"
    for i, change in ipairs(record.CHANGES) do
      out:write(("| %d %% (%d samples a run), %s"):format(change.share,
        figures[load].changes[i].samples, change.text))
      for k in ipairs(RUNS) do
        local row = figures[load].changes[(k - 1) * #record.CHANGES + i]
        out:write(" | ", part(row.found, row.comparisons))
      end
      out:write " |\n"
    end
  end
end

math.randomseed(1)
for _, load in ipairs(LOADS) do settings:record(load) end
local figures = measure()
write_figures(figures, io.stdout)
write_tables(figures, io.stderr)
