-- The measured rows as a table, and which aims were met.

local fmt = require "perflua.text.fmt"
local stopwatch = require "spec.bench.stopwatch"

local perflua = assert(os.getenv "PERFLUA", "start the benchmark by make bench")

local MEMORY_AIM = 64 -- MB, for rows without an aim of their own

-- A row's aims: their texts, and whether what was measured meets them (nil: there is no figure
-- of theirs). m has the medians `ours` and `theirs` in ns, our `peak` in bytes, `samples` and
-- `size` of the recording.
local aims = {
  {
    "faster",
    text = function(aim)
      if aim == 1 then return "no slower" end
      return aim > 1 and ("%d times faster"):format(aim)
        or (">= %.0f %% of its speed"):format(aim * 100)
    end,
    met = function(aim, m)
      if m.theirs then return m.theirs / m.ours >= aim end
    end,
  },
  {
    "limit",
    text = function(aim, row)
      return row.recording and ("<= %d ns"):format(aim) or ("<= %d ms"):format(aim // 1000000)
    end,
    met = function(aim, m) return m.ours / m.samples <= aim end,
  },
  {
    "over",
    text = function(aim) return ("<= %d ns over"):format(aim) end,
    met = function(aim, m)
      if m.theirs then return (m.ours - m.theirs) / m.samples <= aim end
    end,
  },
  {
    "rate",
    text = function(aim) return (">= %d GB/s"):format(aim) end,
    met = function(aim, m) return m.size / m.ours >= aim end,
  },
  {
    "memory",
    text = function(aim) return ("memory <= %.0f %%"):format(aim * 100) end,
    met = function(aim, m) return m.peak <= aim * m.size end,
  },
}

local function word(met)
  if met == nil then return "-" end
  return met and "met" or "missed"
end

local function verdict(row, measured)
  local texts, words = {}, {}
  for _, aim in ipairs(aims) do
    local value = row[aim[1]]
    if value then
      table.insert(texts, aim.text(value, row))
      table.insert(words, word(aim.met(value, measured)))
    end
  end
  return table.concat(texts, ", "), table.concat(words, ", ")
end

local function figure(ns, row, recording)
  if not row.recording then
    return ("%.2f ms"):format(ns / 1e6)
  elseif row.rate then
    return ("%.2f GB/s"):format(recording.size / ns)
  end
  return ("%.1f ns"):format(ns / recording.samples)
end

-- Figures of one side: median and least wall clock, least processor time, peak memory.
local function figures(runs, row, recording)
  local median, least = stopwatch.median(runs, "wall")
  local _, cpu = stopwatch.median(runs, "cpu")
  local _, _, peak = stopwatch.median(runs, "peak")
  return {
    figure(median, row, recording), figure(least, row, recording), figure(cpu, row, recording),
    ("%.1f"):format(peak / 1048576),
  }, median, peak
end

-- A line of the table, and our peak memory.
local function cells(row, recordings)
  local recording = recordings[row.recording] or { samples = 1 }
  local our, ours, peak = figures(row.our_runs, row, recording)
  local their, theirs = { "", "", "", "" }, nil
  if row.absent then
    their[1] = "n/a"
  elseif row.theirs then
    their, theirs = figures(row.their_runs, row, recording)
  end
  local aim, met = verdict(row, {
    ours = ours, theirs = theirs, peak = peak, samples = recording.samples,
    size = recording.size,
  })
  return {
    row[1], row.recording or "", our[1], our[2], our[3], our[4], row[2] or "",
    their[1], their[2], their[3], their[4], theirs and ("%.2f"):format(theirs / ours) or "",
    aim, met,
  }, peak
end

local columns = {
  "what", "recording", "median", "least", "cpu", "MB", "against", "median", "least", "cpu",
  "MB", "ratio", "aim", "",
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
    print(fmt.trim_end(table.concat(line, "  ")))
  end
end

local function print_setting(recordings, rounds)
  local cpu = stopwatch.output("grep -m 1 '^model name' /proc/cpuinfo"):match ":%s*(.-)%s*$"
    or "?"
  local version = stopwatch.output(stopwatch.quote(perflua) .. " --version")
  print(("%s, %s processors, %s, %s"):format(cpu, stopwatch.output("nproc"):match "%d+",
    stopwatch.output("perf version"):match "[^\n]*", version:match "[^\n]*"))
  print(("%d rounds of whole processes, per sample of the recording (start-up: per run; GB/s: "
    .. "the recording's bytes):")
    :format(rounds))
  print("median and least wall clock, least user and system time, peak resident memory (of "
    .. "what maps its input, with "
    .. "the mapped pages)")
  local names = {}
  for name, recording in pairs(recordings) do
    table.insert(names, ("%s %d (%.0f MB)"):format(name, recording.samples,
      recording.size / 1048576))
  end
  table.sort(names)
  print("samples: " .. table.concat(names, ", ") .. "\n")
end

---@param rows table[] # as rows.lua describes them, with our_runs and their_runs
---@param recordings table<string, { samples: integer, size: integer }>
---@param rounds integer
return function(rows, recordings, rounds)
  print_setting(recordings, rounds)
  local lines, most = { columns }, 0
  for _, row in ipairs(rows) do
    local line, peak = cells(row, recordings)
    table.insert(lines, line)
    if not row.memory then most = math.max(most, peak) end
  end
  print_table(lines)
  print(("\npeak memory of perflua where it has no aim of its own: %.1f MB, aim <= %d MB: %s")
    :format(
    most / 1048576, MEMORY_AIM, most <= MEMORY_AIM * 1048576 and "met" or "missed"))
end
