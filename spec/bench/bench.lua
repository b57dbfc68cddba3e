-- bench.lua DIR NAMES [--quick] [--rounds N] [--only TEXT]: perflua and perf over these
-- recordings in DIR, side by side in one run. Each command runs as a process of its own, from
-- start to exit; nothing is subtracted.

local perflua = require "perflua"
local plan = require "spec.bench.rows"
local report = require "spec.bench.report"
local stopwatch = require "spec.bench.stopwatch"

local dir = assert(arg[1], "which directory has the recordings?")
local names = assert(arg[2], "which recordings?")

local function read_options()
  local options = { rounds = 7, only = "" }
  local i = 3
  while arg[i] do
    if arg[i] == "--quick" then
      options.rounds = 3
    elseif arg[i] == "--rounds" or arg[i] == "--only" then
      options[arg[i]:sub(3)] = assert(arg[i + 1], arg[i] .. " needs a value")
      i = i + 1
    else
      error("unknown option " .. arg[i], 0)
    end
    i = i + 1
  end
  options.rounds = assert(math.tointeger(options.rounds), "--rounds takes a number")
  return options
end

local function rows_with(text)
  local made, rows = {}, {}
  for name in names:gmatch "%S+" do made[name] = true end
  for _, row in ipairs(plan(dir, made)) do
    if ("%s %s %s"):format(row[1], row[2] or "", row.recording or ""):find(text, 1, true) then
      row.our_runs, row.their_runs = {}, {}
      table.insert(rows, row)
    end
  end
  return rows
end

-- Samples and bytes of each recording; counting also brings the file into the page cache.
local function look_at_recordings(rows)
  local recordings = {}
  for _, row in ipairs(rows) do
    local name = row.recording
    if name and not recordings[name] then
      local file <close> = assert(perflua.open(("%s/%s.data"):format(dir, name)))
      recordings[name] = { samples = file:samples():count(), size = file.size }
    end
  end
  return recordings
end

local function take(row)
  for _ = 1, row.times or 1 do
    table.insert(row.our_runs, stopwatch.run(row.ours))
    if row.theirs and not row.absent then
      local ok, result = pcall(stopwatch.run, row.theirs)
      if ok then
        table.insert(row.their_runs, result)
      else
        row.absent = result
        io.stderr:write("bench: ", result, "\n")
      end
    end
  end
end

local options = read_options()
local rows = rows_with(options.only)
local recordings = look_at_recordings(rows)
for round = 1, options.rounds do
  io.stderr:write(("bench: round %d of %d\n"):format(round, options.rounds))
  for _, row in ipairs(rows) do take(row) end
end
report(rows, recordings, options.rounds)
