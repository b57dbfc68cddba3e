-- Counts, total and longest time, by key.

local totals = {}

local Totals = {}
Totals.__index = Totals

---@return table
function totals.new() return setmetatable({ rows = {}, root = {}, by_key = {} }, Totals) end

local function new_row(self, ...)
  local parts = { ... }
  for i = 1, select("#", ...) do parts[i] = tostring(parts[i]) end
  local row = { key = table.concat(parts, "\n"), count = 0, total = 0, max = 0 }
  self.rows[#self.rows + 1], self.by_key[row.key] = row, row
  return row
end

---@param ... any the parts of its key, always as many
---@return table # { key, count, total, max, … }: what else a row is to tell may be set
function Totals:row(...)
  local node, n = self.root, select("#", ...)
  for i = 1, n do
    local part = select(i, ...) or false
    local below = node[part]
    if not below then
      below = i < n and {} or new_row(self, ...)
      node[part] = below
    end
    node = below
  end
  return node
end

---@param row table
---@param duration integer ns
function totals.add(row, duration)
  row.count, row.total = row.count + 1, row.total + duration
  if duration > row.max then row.max = duration end
end

---Rows with what columns show of them, longest total first.
---@return table[]
function Totals:sorted()
  table.sort(self.rows, function(a, b)
    if a.total ~= b.total then return a.total > b.total end
    if a.count ~= b.count then return a.count > b.count end
    return a.key < b.key
  end)
  for _, row in ipairs(self.rows) do
    row.total_ms, row.max_us = row.total / 1e6, row.max / 1e3
    if row.count > 0 then row.avg_us = row.total / row.count / 1e3 end
  end
  return self.rows
end

return totals
