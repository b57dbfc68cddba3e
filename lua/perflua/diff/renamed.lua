-- Rows that may have been renamed: one is gone, and one of nearly the same size is new.

local fmt = require "perflua.text.fmt"
local join = require "perflua.diff.join"

local renamed = {}

local NEARLY <const> = 0.2 -- of the larger row, by which they may differ
local MOST <const> = 3 -- hints
local ROWS <const> = 200 -- of each verdict, the largest ones, that are looked at

-- Returns the one change of names that makes the keys of a row those of another; nil: there is
-- none.
local function find_change(old, new, n)
  local from, to
  for i = 1, n do
    local a, b = old.keys[i], new.keys[i]
    if a ~= b then
      if type(a) ~= "string" or type(b) ~= "string" then return nil end
      if from and (from ~= a or to ~= b) then return nil end
      from, to = a, b
    end
  end
  return from, to
end

local function value_of(pair)
  return (pair.verdict == "gone" and pair.before or pair.after).value
end

local function text_of(pair, n)
  local parts = {}
  for i = 1, n do parts[i] = tostring(pair.keys[i]) end
  return table.concat(parts, "\n")
end

-- Returns the largest rows with a verdict.
local function list_rows(joined, verdict, n)
  local list = join.rows(joined, verdict)
  table.sort(list, function(a, b)
    local x, y = value_of(a), value_of(b)
    if x ~= y then return x > y end
    return text_of(a, n) < text_of(b, n)
  end)
  return table.move(list, 1, math.min(#list, ROWS), 1, {})
end

-- Returns the new row that is most like one that is gone, and the change of names.
local function find_renamed(old, candidates, n)
  local found, from, to
  local size, least = value_of(old), NEARLY
  for _, new in ipairs(candidates) do
    local now = value_of(new)
    local distance = math.abs(now - size) / math.max(now, size)
    if new.event == old.event and not new.is_taken and distance <= least then
      local x, y = find_change(old, new, n)
      if x then found, from, to, least = new, x, y, distance end
    end
  end
  return found, from, to
end

---Returns lines that say how rows are matched that may be the same by another name.
---@param joined table see join.lua; its rows were judged
---@return string[] # escaped
function renamed.hints(joined)
  local n, lines, seen = #joined.before.runs[1].keys, {}, {}
  local candidates = list_rows(joined, "new", n)
  for _, old in ipairs(candidates[1] and list_rows(joined, "gone", n) or {}) do
    local found, from, to = find_renamed(old, candidates, n)
    if found then
      found.is_taken = true
      local pair = fmt.escape(from) .. "=" .. fmt.escape(to)
      if not seen[pair] and #lines < MOST then
        seen[pair] = true
        lines[#lines + 1] = ("%s is gone, and %s of nearly the same size is new: if it was "
          .. "renamed, compare them by --match '%s'"):format(fmt.escape(from), fmt.escape(to),
          pair)
      end
    end
  end
  return lines
end

return renamed
