-- bench.lua DIR [--quick] [--rounds N] [--only TEXT]: perflua and perf over the recordings in DIR, side by
-- side in one run. Each command runs as a process of its own, from start to exit; nothing is subtracted.

local stopwatch = require "spec.bench.stopwatch"

local perflua = assert(os.getenv "PERFLUA", "start the benchmark by make bench")
local dir = assert(arg[1], "which directory has the recordings?")
local MEMORY_AIM = 64

local function read_options()
  local options = { rounds = 7, only = "" }
  local i = 2
  while arg[i] do
    if arg[i] == "--quick" then
      options.quick, options.rounds = true, 3
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

local function path_of(name) return ("%s/%s.data"):format(dir, name) end

local function has(command) return os.execute(("command -v %s >/dev/null"):format(command)) end

local function perf_has_python()
  return stopwatch.output("perf version --build-options 2>/dev/null"):find "libpython: %[ on" ~= nil
end

local function loop(name, recording)
  return { perflua, "spec/bench/loops.lua", name, path_of(recording) }
end

-- What is compared. ours and theirs are commands; `aim` is times faster than theirs, `limit` ns a sample
-- (or, without `recording`, a run); `absent` says why there is no figure of theirs.

local function stat_rows(rows, recording)
  local path = path_of(recording)
  local ours = { perflua, "stat", path }
  table.insert(rows, {
    "perflua stat", "perf report --stats", recording = recording, aim = 2, ours = ours,
    theirs = { "perf", "report", "--stats", "-i", path },
  })
  table.insert(rows, {
    "perflua stat", "dd: only reads the file", recording = recording, ours = ours,
    theirs = { "dd", "if=" .. path, "of=/dev/null", "bs=256k", "status=none" },
  })
end

local function dump_rows(rows, recording)
  local path = path_of(recording)
  table.insert(rows, {
    "perflua dump", "perf script -F 8 fields", recording = recording, aim = 1,
    ours = { perflua, "dump", path },
    theirs = { "perf", "script", "-F", "comm,pid,tid,cpu,time,event,period,ip", "-i", path },
  })
end

local loops = {
  { "three", "loop: 3 fields of each record", 120 },
  { "three_reuse", "the same, reuse = true", 120 },
  { "select", "loop: select of 3 fields", 45 },
  { "run", "run{}: a function, 3 fields" },
  { "run_fields", "run{}: {3 fields, function}" },
  { "group", "group_by pid, count" },
}

local function loop_rows(rows, recording)
  for _, one in ipairs(loops) do
    table.insert(rows, { one[2], recording = recording, limit = one[3], ours = loop(one[1], recording) })
  end
end

local function python_row(rows, recording)
  table.insert(rows, {
    "loop: count by pid", "perf script's Python", recording = recording, aim = 8, ours = loop("by_pid", recording),
    theirs = { "perf", "script", "-s", "spec/bench/by_pid.py", "-i", path_of(recording) },
    absent = not perf_has_python() and "this perf has no Python",
  })
end

local function plan(options)
  local all, rows = {}, {}
  local large = options.quick and { "sys" } or { "sys", "flat", "cg" }
  for _, name in ipairs(large) do stat_rows(all, name) end
  dump_rows(all, "sys-200k")
  dump_rows(all, "flat-200k")
  for _, name in ipairs(large) do loop_rows(all, name) end
  python_row(all, "flat-200k")
  table.insert(all, {
    "start-up: perflua -e ''", "lua5.4 -e ''", times = 10, limit = 5e6, ours = { perflua, "-e", "" },
    theirs = { "lua5.4", "-e", "" }, absent = not has "lua5.4" and "no lua5.4",
  })
  for _, row in ipairs(all) do
    local text = ("%s %s %s"):format(row[1], row[2] or "", row.recording or "")
    if text:find(options.only, 1, true) then
      row.our_runs, row.their_runs = {}, {}
      table.insert(rows, row)
    end
  end
  return rows
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

-- Samples of each recording; counting them also brings the file into the page cache.
local function count_samples(rows)
  local counts = {}
  for _, row in ipairs(rows) do
    local name = row.recording
    if name and not counts[name] then
      local file <close> = assert(require "perflua".open(path_of(name)))
      counts[name] = file:samples():count()
    end
  end
  return counts
end

local function figure(ns, row, counts)
  if not row.recording then
    return ("%.2f ms"):format(ns / 1e6)
  end
  return ("%.1f ns"):format(ns / counts[row.recording])
end

local function verdict(row, ours, theirs, counts)
  if row.aim then
    local aim = ("%d times faster"):format(row.aim)
    if row.aim == 1 then aim = "no slower" end
    return aim, theirs and (theirs / ours >= row.aim and "met" or "missed") or "-"
  elseif row.limit then
    local per = row.recording and counts[row.recording] or 1
    local aim = row.recording and ("<= %d ns"):format(row.limit) or ("<= %d ms"):format(row.limit // 1000000)
    return aim, ours / per <= row.limit and "met" or "missed"
  end
  return "", ""
end

-- Figures of one side: median and least wall clock, least processor time, peak memory.
local function figures(runs, row, counts)
  local median, least = stopwatch.median(runs, "wall")
  local _, cpu = stopwatch.median(runs, "cpu")
  local _, _, peak = stopwatch.median(runs, "peak")
  return {
    figure(median, row, counts), figure(least, row, counts), figure(cpu, row, counts),
    ("%.1f"):format(peak / 1048576),
  }, median, peak
end

-- A line of the table, and our peak memory.
local function cells(row, counts)
  local our, ours, peak = figures(row.our_runs, row, counts)
  local their, theirs = { "", "", "", "" }, nil
  if row.absent then
    their[1] = "n/a"
  elseif row.theirs then
    their, theirs = figures(row.their_runs, row, counts)
  end
  local aim, met = verdict(row, ours, theirs, counts)
  return {
    row[1], row.recording or "", our[1], our[2], our[3], our[4], row[2] or "",
    their[1], their[2], their[3], their[4], theirs and ("%.2f"):format(theirs / ours) or "", aim, met,
  }, peak
end

local columns = {
  "what", "recording", "median", "least", "cpu", "MB", "against", "median", "least", "cpu", "MB", "ratio", "aim", "",
}
local to_the_left = { [1] = true, [2] = true, [7] = true, [13] = true, [14] = true }

local function print_table(lines)
  local widths = {}
  for _, line in ipairs(lines) do
    for i, cell in ipairs(line) do
      widths[i] = math.max(widths[i] or 0, utf8.len(cell))
    end
  end
  for _, line in ipairs(lines) do
    for i, cell in ipairs(line) do
      local pad = (" "):rep(widths[i] - utf8.len(cell))
      line[i] = to_the_left[i] and cell .. pad or pad .. cell
    end
    print((table.concat(line, "  "):gsub("%s+$", "")))
  end
end

local function print_setting(options, counts)
  local cpu = stopwatch.output("grep -m 1 '^model name' /proc/cpuinfo"):match ":%s*(.-)%s*$" or "?"
  local version = stopwatch.output(stopwatch.quote(perflua) .. " --version")
  print(("%s, %s processors, %s, %s"):format(cpu, stopwatch.output("nproc"):match "%d+",
    stopwatch.output("perf version"):match "[^\n]*", version:match "[^\n]*"))
  print(("%d rounds of whole processes, per sample of the recording (start-up: per run): median and least wall clock,")
    :format(options.rounds))
  print("least user and system time, peak resident memory (of what maps its input, with the mapped pages)")
  local names = {}
  for name, count in pairs(counts) do
    table.insert(names, ("%s %d"):format(name, count))
  end
  table.sort(names)
  print("samples: " .. table.concat(names, ", ") .. "\n")
end

local options = read_options()
local rows = plan(options)
local counts = count_samples(rows)
for round = 1, options.rounds do
  io.stderr:write(("bench: round %d of %d\n"):format(round, options.rounds))
  for _, row in ipairs(rows) do take(row) end
end
print_setting(options, counts)
local lines, most = { columns }, 0
for _, row in ipairs(rows) do
  local line, peak = cells(row, counts)
  table.insert(lines, line)
  most = math.max(most, peak)
end
print_table(lines)
print(("\npeak memory of perflua: %.1f MB, aim <= %d MB: %s"):format(most / 1048576, MEMORY_AIM,
  most <= MEMORY_AIM * 1048576 and "met" or "missed"))
