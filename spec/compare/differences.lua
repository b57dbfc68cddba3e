-- How the outputs of two builds differ: the text of one recording's jobs, as generate.lua
-- describes it.

local differences = {}

local LONGEST = 120 -- bytes of a line that are shown

-- Returns the jobs of a text: { name, output }, in order.
local function jobs_of(text)
  local list = {}
  for job in (text .. "\n\1"):gmatch "\1([^\n]*\n.-)\n%f[\1]" do
    local name, output = job:match "^([^\n]*)\n(.*)$"
    list[#list + 1] = { name = name, output = output }
  end
  return list
end

-- The rows of an output, sorted: its lines, and in a line of JSON the elements of an array.
local function sorted_rows(output)
  local rows, lines = {}, output:gsub("%[{", "[\n{"):gsub("},?", "}\n")
  for line in lines:gmatch "[^\n]+" do rows[#rows + 1] = line end
  table.sort(rows)
  return table.concat(rows, "\n")
end

-- A line from a byte on; nil if there is none.
local function shown(line, from)
  if not line then return "(no such line)" end
  local text = line:sub(from, from + LONGEST):gsub("[%c\128-\255]", function(c)
    return ("\\x%02x"):format(c:byte())
  end)
  return (from > 1 and "…" or "") .. text .. (#line > from + LONGEST and "…" or "")
end

-- Shows two lines that differ, long ones near the first byte that does.
local function shown_both(a, b)
  local at = 1
  while a and b and a:byte(at) == b:byte(at) do at = at + 1 end
  local from = at > LONGEST and at - LONGEST // 2 or 1
  return shown(a, from), shown(b, from)
end

-- Returns the number of the first line that differs and that line of both.
local function first_line(a, b)
  local next_a, next_b, n = a:gmatch "([^\n]*)\n?", b:gmatch "([^\n]*)\n?", 0
  repeat
    n = n + 1
    local line_a, line_b = next_a(), next_b()
    if line_a ~= line_b then return n, shown_both(line_a, line_b) end
  until not line_a
end

---Compares the outputs of a recording's jobs.
---@param before string
---@param after string
---@return integer count of jobs
---@return table[] list of those that differ: { job, line = number of the first line that
--- differs, before =, after = that line, outputs = { before, after }, only_order = true if the
--- rows are the same }
function differences.find(before, after)
  if before == after then return select(2, before:gsub("\n\1", "")), {} end
  local old, new, list = jobs_of(before), {}, {}
  for _, job in ipairs(jobs_of(after)) do
    new[job.name] = new[job.name] or {}
    table.insert(new[job.name], job.output)
  end
  local count = #old
  for _, job in ipairs(old) do
    local output = table.remove(new[job.name] or {}, 1)
    if job.output ~= output then
      local line, a, b = first_line(job.output, output or "")
      list[#list + 1] = { job = job.name, line = line, before = a, after = output and b
        or "(this job was not run)", outputs = { job.output, output or "" },
        only_order = output and sorted_rows(job.output) == sorted_rows(output) }
    end
  end
  for name, outputs in pairs(new) do
    for _, output in ipairs(outputs) do
      count = count + 1
      list[#list + 1] = { job = name, line = 1, before = "(this job was not run)",
        after = shown(output:match "[^\n]*", 1), outputs = { "", output } }
    end
  end
  return count, list
end

return differences
