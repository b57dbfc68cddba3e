-- Numbers as the doctor says them. Times and counts are unsigned, whatever a recording makes of
-- them.

local fmt = require "perflua.text.fmt"

local words = {}

local function to_float(x) return x >= 0 and x + 0.0 or x + 2.0 ^ 64 end

local units = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } }
local sizes = { { 1e9, "GB" }, { 1e6, "MB" }, { 1e3, "kB" } }

---@param ns integer
---@return string
function words.duration(ns)
  local value = to_float(ns)
  for _, unit in ipairs(units) do
    if value >= unit[1] then
      return (value < 1e12 and "%.3g %s" or "%.0f %s"):format(value / unit[1], unit[2])
    end
  end
  return ("%d ns"):format(ns)
end

---@param bytes integer
---@return string
function words.bytes(bytes)
  for _, unit in ipairs(sizes) do
    if bytes >= unit[1] then
      return ("%.1f %s"):format(bytes / unit[1], unit[2])
    end
  end
  return bytes .. " bytes"
end

---@param part integer
---@param whole integer
---@return number # nil of nothing
function words.share(part, whole)
  return whole ~= 0 and 100 * to_float(part) / to_float(whole) or nil
end

---Returns the losses in % of all: those that were lost and those that were seen.
---@param lost integer
---@param seen integer
---@return number?
function words.lost_share(lost, seen)
  return (lost ~= 0 or seen ~= 0) and 100 * to_float(lost) / (to_float(lost) + to_float(seen))
    or nil
end

---@param percent number?
---@return string
function words.percent(percent)
  if not percent then
    return "-"
  elseif percent > 0 and percent < 0.01 then
    return "less than 0.01 %"
  elseif percent > 99.9 and percent < 100 then
    return "more than 99.9 %"
  end
  return ("%.3g %%"):format(percent)
end

---Returns a count with its noun: "1 record", "12 records".
---@param n integer
---@param noun string
---@param plural string?
---@return string
function words.count(n, noun, plural)
  return fmt.unsigned(n) .. " " .. (n == 1 and noun or plural or noun .. "s")
end

local SHOWN = 6 -- events, types

---Joins the first items of a list, as many as a line has room for.
---@param list table[]
---@param noun string for one of those that are left out
---@param text fun(item: table): string
---@return string
function words.first(list, noun, text)
  local parts = {}
  for i, item in ipairs(list) do
    if i > SHOWN then
      table.insert(parts, "and " .. words.count(#list - SHOWN, "more " .. noun))
      break
    end
    table.insert(parts, text(item))
  end
  return #parts > 0 and table.concat(parts, ", ") or "none"
end

return words
