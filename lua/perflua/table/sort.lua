-- Sorting that an interrupt (^C) ends, and what is shown then.

local interrupted = require "perflua.table.interrupted"

local sort = {}

local CHUNK <const> = 8192 -- sorted or merged between two looks at the interrupt

-- Merges the sorted lists a[from…] and a[middle…last] into b[from…last].
local function merge_runs(a, b, from, middle, last, less)
  local i, k = from, middle
  for at = from, last do
    if k > last or i < middle and not less(a[k], a[i]) then
      b[at], i = a[i], i + 1
    else
      b[at], k = a[k], k + 1
    end
    if at % CHUNK == 0 and interrupted.now() then return false end
  end
  return true
end

-- Puts the chunks of a list in order, each by itself.
local function sort_chunks(list, less)
  for from = 1, #list, CHUNK do
    if interrupted.now() then return false end
    local chunk = table.move(list, from, math.min(from + CHUNK - 1, #list), 1, {})
    table.sort(chunk, less)
    table.move(chunk, 1, #chunk, from, list)
  end
  return true
end

local function is_less(a, b) return a < b end

---Puts a list in order. Where an interrupt ends that, what becomes of the list is not said.
---@param list any[]
---@param less (fun(a: any, b: any): boolean)?
---@return any[]? # in order: the list, or another one; nil: interrupted
function sort.all(list, less)
  local n, size = #list, CHUNK
  if n <= interrupted.MOST then
    table.sort(list, less)
    return list
  end
  if not sort_chunks(list, less) then return nil end
  local other = table.move(list, 1, n, 1, {})
  less = less or is_less
  while size < n do
    for from = 1, n, 2 * size do
      local middle = math.min(from + size, n + 1)
      if not merge_runs(list, other, from, middle, math.min(from + 2 * size - 1, n), less) then
        return nil
      end
    end
    list, other, size = other, list, 2 * size
  end
  return list
end

-- Keeps the n greatest of candidates { values, list }. Returns the least value that is kept.
local function keep_first(candidates, n)
  local values, list = candidates.values, candidates.list
  local sorted = table.move(values, 1, #values, 1, {})
  table.sort(sorted)
  local least, room = sorted[#sorted - n + 1], n
  for i = #sorted, 1, -1 do
    if sorted[i] == least then break end
    room = room - 1
  end
  candidates.values, candidates.list = {}, {}
  for i, value in ipairs(values) do
    local is_kept = value > least
    if value == least and room > 0 then is_kept, room = true, room - 1 end
    if is_kept then
      local at = #candidates.list + 1
      candidates.values[at], candidates.list[at] = value, list[i]
    end
  end
  return least
end

---Finds what an interrupted table shows in one pass: interrupted.MOST of a list with the
---greatest values.
---@param list any[]
---@param value_of fun(one: any): number what is greater comes first
---@param seconds number? processor time after which it takes them from what it has seen
---@return any[] # in any order
---@return integer # how many of the list it has seen
function sort.first(list, value_of, seconds)
  local n = interrupted.MOST
  if #list <= n then return list, #list end
  local candidates, least = { values = {}, list = {} }, -math.huge
  local seen, stop = #list, seconds and os.clock() + seconds or math.huge
  for i, one in ipairs(list) do
    if i % CHUNK == 0 and os.clock() > stop then
      seen = i - 1
      break
    end
    local value = value_of(one)
    if value > least or #candidates.list < n then
      local at = #candidates.list + 1
      candidates.values[at], candidates.list[at] = value, one
      if at == 4 * n then least = keep_first(candidates, n) end
    end
  end
  if #candidates.list > n then keep_first(candidates, n) end
  return candidates.list, seen
end

---@param value any
---@param is_unsigned boolean? an integer below 0 is one above 2^63
---@return number # for sort.first; of what is no number, or not known, the least
function sort.number(value, is_unsigned)
  if not math.type(value) or value ~= value then return -math.huge end
  if is_unsigned and value < 0 and math.type(value) == "integer" then return value + 0x1p64 end
  return value
end

return sort
