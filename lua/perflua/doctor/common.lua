-- Functions that the checks share. A check is a function of the report (see doctor/init.lua)
-- that gives nil, or what it found: {level = "damage" | "problem" | "note", text =, details =
-- lines or nil, advice = or nil}.

local common = {}

local SHOWN = 5 -- details of one kind

---Returns the level of a finding: a small share of losses seldom changes a result.
---@param percent number?
---@param least number
---@return string
function common.level(percent, least)
  return (percent or 100) >= least and "problem" or "note"
end

---Returns the first lines of a list, and how many more there are.
---@param lines string[]
---@param n integer? of the whole list, if these are not all
---@return string[]
function common.first(lines, n)
  n = n or #lines
  if n <= SHOWN then
    return lines
  end
  local list = table.move(lines, 1, SHOWN, 1, {})
  table.insert(list, ("and %d more"):format(n - SHOWN))
  return list
end

---Returns a line for each event for which `line` returns a text; nil if only one event was
---sampled.
---@param report table
---@param line fun(event: table): string?
---@return string[]?
function common.by_event(report, line)
  local list, sampled = {}, 0
  for _, event in ipairs(report.events) do
    local text = line(event)
    if text then
      table.insert(list, event.event .. ": " .. text)
    end
    sampled = sampled + (event.records > 0 and 1 or 0)
  end
  return (sampled > 1 or #list > 1) and common.first(list) or nil
end

---@return integer # of a count of the events
function common.sum(report, name)
  local total = 0
  for _, event in ipairs(report.events) do
    total = total + (event[name] or 0)
  end
  return total
end

---@return table? # the first event for which that is true
function common.any(report, predicate)
  for _, event in ipairs(report.events) do
    if predicate(event) then
      return event
    end
  end
end

-- Finds an option of perf record in the recorded command line. Returns nil if it is not there.
local function find_option(report, short, long)
  for i, word in ipairs(report.command) do
    if word == short or word == long then
      return short .. " " .. (report.command[i + 1] or "")
    elseif word:sub(1, #long + 1) == long .. "="
        or word:match("^" .. short:gsub("%p", "%%%0") .. "%w") then
      return word
    end
  end
end

---@return string # "; it was -m 1", or nothing
function common.was(report, short, long)
  local option = find_option(report, short, long)
  return option and ("; it was %s"):format(option) or ""
end

return common
