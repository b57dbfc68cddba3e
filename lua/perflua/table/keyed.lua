-- Rows by three keys, each of which may be false: what a pass adds up.

local sums = require "perflua.measures.sums"

local keyed = {}
local Keyed = {}
Keyed.__index = Keyed

---@param columns string[] of what starts at 0
---@return table # { rows }
function keyed.new(columns)
  return setmetatable({ rows = {}, by = {}, columns = columns }, Keyed)
end

local function get_child(of, key)
  if not of[key] then of[key] = {} end
  return of[key]
end

local function add_row(self, a, b, c)
  local row = { a, b, c }
  for _, name in ipairs(self.columns) do row[name] = 0 end
  get_child(get_child(self.by, a), b)[c] = row
  self.rows[#self.rows + 1] = row
  return row
end

---@param a any
---@param b any
---@param c any
---@return table # { a, b, c, … }
function Keyed:row(a, b, c)
  local of = self.by[a]
  of = of and of[b]
  return of and of[c] or add_row(self, a, b, c)
end

local add = sums.adder "unsigned"

---Rows of other keys, made of these.
---@param rename fun(row: table): any, any, any its keys
---@return table
function Keyed:regrouped(rename)
  local other = keyed.new(self.columns)
  for _, row in ipairs(self.rows) do
    local sum = other:row(rename(row))
    for _, name in ipairs(self.columns) do sum[name] = add(sum[name], row[name]) end
  end
  return other
end

return keyed
