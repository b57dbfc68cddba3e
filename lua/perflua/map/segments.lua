-- Results that come in any order, put together in the order of their recordings: neighbours are
-- merged as soon as both are there, so that few wait.

local merge = require "perflua.table.merge"

local Segments = {}
Segments.__index = Segments

-- Adds the groups of data, or of nothing, to an accumulator, or to none yet.
local function add_to(all, data)
  if not data then return all end
  if not all then return merge.start(data) end
  local ok, message = all:add(data)
  return ok and all, message
end

-- Appends b to a, the segment before it.
local function join_tables(self, a, b)
  local all, message = add_to(a.all, b.all and b.all.data)
  if message then return nil, message end
  self.by_first[b.first], self.by_last[a.last] = nil, nil
  a.all, a.last = all, b.last
  self.by_last[a.last] = a
  return true
end

---@param i integer place of the recording among all
---@param data table? of a Table; nil if there is no result
---@return boolean? ok, string? message # nil if tables do not belong together; raises if a sum
--- grows too large
function Segments:add(i, data)
  local before, after = self.by_last[i - 1], self.by_first[i + 1]
  if before then
    local all, message = add_to(before.all, data)
    if message then return nil, message end
    self.by_last[i - 1], before.all, before.last = nil, all, i
  else
    before = { first = i, last = i, all = data and merge.start(data) }
    self.by_first[i] = before
  end
  self.by_last[i] = before
  if after then return join_tables(self, before, after) end
  return true
end

---@return table? # the data of all, when each of them was added; nil if there was none
function Segments:result()
  local whole = self.by_first[1]
  return whole and whole.all and whole.all.data
end

---@return table
return function() return setmetatable({ by_first = {}, by_last = {} }, Segments) end
