-- The sums that shares are of where rows are items of records: data.whole of a Table is a list
-- of { event = its name or nil, nth = which of the events of that name, sum of each share }.

local sums = require "perflua.measures.sums"

local whole = {}

---@param a table[]?
---@param b table[]?
---@param columns table[] measures of the Table
---@return table[]? # of both
function whole.sum(a, b, columns)
  if not a or not b then return a or b end
  local kinds, both = {}, {}
  for _, column in ipairs(columns) do
    if column.measure == "share" then kinds[#kinds + 1] = column.kind end
  end
  for _, list in ipairs { a, b } do
    for _, entry in ipairs(list) do
      local mine
      for _, sum in ipairs(both) do
        if sum.event == entry.event and sum.nth == entry.nth then mine = mine or sum end
      end
      if mine then
        for n, kind in ipairs(kinds) do
          mine[n] = sums.adder(kind)(mine[n], entry[n])
        end
      else
        both[#both + 1] = table.move(entry, 1, #kinds, 1,
          { event = entry.event, nth = entry.nth })
      end
    end
  end
  return both
end

---@param data table of a Table
---@param n integer which share
---@return table<integer|string, number> # the totals, by what is the whole of a group: the
--- place or the name of an event, or 0
function whole.totals(data, n)
  local totals, by_key, places, seen = {}, false, {}, {}
  for _, key in ipairs(data.keys) do
    by_key = by_key or key.kind == "event" and key.text == "event"
  end
  for place, name in ipairs(data.events or {}) do
    seen[name] = (seen[name] or 0) + 1
    places[name .. "\0" .. seen[name]] = place
  end
  for _, entry in ipairs(data.whole) do
    local at = 0
    if by_key then at = entry.event or 0 end
    if data.events and entry.event then
      at = places[entry.event .. "\0" .. (entry.nth or 1)] or 0
    end
    totals[at] = (totals[at] or 0) + entry[n]
  end
  return totals
end

---@param list any of a saved Table
---@return boolean # true if it is such a list
function whole.is(list)
  if type(list) ~= "table" then return false end
  for i, entry in pairs(list) do
    if math.type(i) ~= "integer" or type(entry) ~= "table" then return false end
    if entry.event ~= nil and type(entry.event) ~= "string" then return false end
    if entry.nth ~= nil and math.type(entry.nth) ~= "integer" then return false end
    for n, sum in pairs(entry) do
      if math.type(n) and not math.type(sum) then return false end
    end
  end
  return true
end

return whole
