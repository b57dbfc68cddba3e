-- Runs commands and says what they took, by the helper in measure.c.

local stopwatch = {}

local helper = assert(os.getenv "BENCH_MEASURE", "start the benchmark by make bench")

function stopwatch.quote(word) return "'" .. word:gsub("'", "'\\''") .. "'" end

local function line_of(words)
  local quoted = {}
  for i, word in ipairs(words) do
    quoted[i] = stopwatch.quote(word)
  end
  return table.concat(quoted, " ")
end

---Returns the output of a command.
function stopwatch.output(line)
  local pipe = assert(io.popen(line))
  local text = pipe:read "a"
  pipe:close()
  return text
end

--- One run, its output thrown away: {wall, cpu (ns; cpu is user and system time), peak
--- (bytes)}; raises if it fails.
function stopwatch.run(words)
  local text = stopwatch.output(("%s /dev/null %s 2>/dev/null"):format(stopwatch.quote(helper),
    line_of(words)))
  local wall, user, sys, peak, status = text:match "^(%d+) (%d+) (%d+) (%d+) (%d+)"
  if status ~= "0" then
    error(("status %s of: %s"):format(status or "?", line_of(words)), 0)
  end
  return { wall = wall + 0, cpu = (user + sys) * 1000, peak = peak * 1024 }
end

--- The median of a figure over runs, the least and the most.
function stopwatch.median(runs, figure)
  local list = {}
  for i, run in ipairs(runs) do
    list[i] = run[figure]
  end
  table.sort(list)
  local middle = (#list + 1) // 2
  return #list % 2 == 1 and list[middle] or (list[middle] + list[middle + 1]) / 2, list[1],
    list[#list]
end

return stopwatch
