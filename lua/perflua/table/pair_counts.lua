-- Counts of a pass over pairs: pairs, and records that could not be paired, which are in no
-- span.

local fmt = require "perflua.text.fmt"

local counts = {}

local rows = { -- by name, what is said of them
  { "unopened", "{end|ends} without a start" },
  { "unclosed", "not over when the recording ended" },
  { "restarted", "{start|starts} without an end" },
  { "repeated", "{repeated start|repeated starts}" },
  { "mismatched", "whose start and end do not match" },
  { "lost", "during which records were lost" },
  { "unkeyed", "{record|records} without a key or time" },
}

local of_rows = { -- what is said of rows
  { "kept", ", %d of them across lost records" },
  { "unfinished", ", and %d not over when the recording ended" },
}

---@param numbers table<string, integer>
---@param noun string? what the spans are, for fmt.phrase()
---@return string? # nil: all were paired
function counts.text(numbers, noun)
  local parts = {}
  for _, row in ipairs(rows) do
    local n = numbers[row[1]]
    if n and n > 0 then parts[#parts + 1] = fmt.phrase(n, row[2]) end
  end
  local more = ""
  for _, row in ipairs(of_rows) do
    local n = numbers[row[1]]
    if n and n > 0 then more = more .. row[2]:format(n) end
  end
  if #parts == 0 and more == "" then return nil end
  return ("# %s%s%s"):format(fmt.phrase(numbers.pairs, noun or "{span|spans}"), more,
    #parts > 0 and "; not counted: " .. table.concat(parts, ", ") or "")
end

---@param a table<string, integer>?
---@param b table<string, integer>?
---@return table<string, integer>? # of both; nil if they are not known of both
function counts.sum(a, b)
  if not a or not b then return nil end
  local sum = {}
  for name, n in pairs(a) do sum[name] = n + (b[name] or 0) end
  return sum
end

---@param numbers table<string, integer>?
---@return table<string, integer>?
function counts.copy(numbers)
  if not numbers then return nil end
  local copy = {}
  for name, n in pairs(numbers) do copy[name] = n end
  return copy
end

return counts
