-- From rows { samples, period, children?, event = its index or nil, keys = {…}, unresolved } to
-- the sections of a report, one for each event: { index, samples, period, unresolved, n,
-- values }.

local order = require "spec.support.model.report.order"
local sums = require "perflua.measures.sums"

local PERIOD, CHILDREN = 2, 3 -- places in a row

local plus = sums.adder "unsigned"

local UNKNOWN = math.maxinteger -- of an event: after all others

-- Sums up the samples by event, in the order of the events.
local function sum_totals(rows, prepared)
  local list, by_event = {}, {}
  for _, row in ipairs(rows) do
    local index = row.event or UNKNOWN
    local total = by_event[index]
    if not total then
      total = { index = row.event, samples = 0, period = 0, rows = {},
        unresolved = prepared.place.symbol and 0 or nil }
      by_event[index], list[#list + 1] = total, total
    end
    total.rows[#total.rows + 1] = row
    total.samples, total.period = total.samples + row[1], plus(total.period, row[PERIOD])
    if total.unresolved and row.unresolved then total.unresolved = total.unresolved + row[1] end
  end
  table.sort(list, function(a, b) return (a.index or UNKNOWN) < (b.index or UNKNOWN) end)
  return list
end

-- Returns the values of rows by column: keys, then measures.
local function values_of(rows, n_keys, n_measures)
  local values = {}
  for c = 1, n_keys do
    values[c] = {}
    for r, row in ipairs(rows) do values[c][r] = row.keys[c] end
  end
  for m = 1, n_measures do
    values[n_keys + m] = {}
    for r, row in ipairs(rows) do values[n_keys + m][r] = row[m] end
  end
  return values
end

---@param rows table[]
---@param prepared table
---@param keys {name: string, kind: string}[] of a row
---@return table[]
return function(rows, prepared, keys)
  local measure = prepared.children and CHILDREN or PERIOD
  local list = sum_totals(rows, prepared)
  for _, section in ipairs(list) do
    local sorted = order(section.rows, measure, keys, prepared.place.symbol)
    section.n, section.rows, section.values = #sorted, nil, values_of(sorted, #keys, measure)
  end
  return list
end
