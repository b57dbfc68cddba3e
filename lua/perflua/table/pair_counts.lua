-- Counts of a pass over pairs: pairs, and records that could not be paired, which are in no
-- span.

local fmt = require "perflua.text.fmt"

local counts = {}

local rows = { -- by name, what is said of one
  { "unopened", "closed without an open" }, { "unclosed", "left open" },
  { "restarted", "opened again before a close" },
  { "mismatched", "dropped at the close of another" },
  { "lost", "dropped because records were lost" }, { "unkeyed", "without a key or time" },
}

local of_rows = { -- what is said of rows
  { "kept", ", %d of them kept though records were lost" },
  { "unfinished", ", and %d that had not ended" },
}

---@param numbers table<string, integer>
---@return string? # nil: all were paired
function counts.text(numbers)
  local parts = {}
  for _, row in ipairs(rows) do
    local n = numbers[row[1]]
    if n and n > 0 then parts[#parts + 1] = ("%d %s"):format(n, row[2]) end
  end
  local more = ""
  for _, row in ipairs(of_rows) do
    local n = numbers[row[1]]
    if n and n > 0 then more = more .. row[2]:format(n) end
  end
  if #parts == 0 and more == "" then return nil end
  return ("# %s%s%s"):format(fmt.phrase(numbers.pairs, "{span|spans}"), more,
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
