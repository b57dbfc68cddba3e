-- From rows { samples, period, children?, event = its index or nil, keys = {…}, unresolved } to
-- the sections of a report, one for each event, as the core makes them
-- (src/binding/query/report.c): { index, samples, period, unresolved, n, rows }.

local order = require "spec.support.model.report.order"
local sums = require "perflua.measures.sums"

local PERIOD, CHILDREN = 2, 3 -- places in a row

local plus = sums.adder "unsigned"

local UNKNOWN = math.maxinteger -- of an event: behind all others

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

-- Counts the rows to show.
local function count_shown(rows, measure, whole, shown)
  for i, row in ipairs(rows) do
    local share = whole > 0 and 100 * (row[measure] / whole) or 0.0
    if i > shown.count or share < shown.limit then return i - 1 end
  end
  return #rows
end

-- Returns the values of rows from..to by column: keys, then measures.
local function values_of(rows, from, to, n_keys, n_measures)
  local values = {}
  for c = 1, n_keys do
    local column = {}
    for r = from, to do column[r - from + 1] = rows[r].keys[c] end
    values[c] = column
  end
  for m = 1, n_measures do
    local column = {}
    for r = from, to do column[r - from + 1] = rows[r][m] end
    values[n_keys + m] = column
  end
  return values
end

---@param rows table[]
---@param prepared table
---@param keys {name: string, kind: string}[] of a row
---@param shown { limit: number, count: integer }
---@return table[]
return function(rows, prepared, keys, shown)
  local measure = prepared.children and CHILDREN or PERIOD
  local list = sum_totals(rows, prepared)
  for _, section in ipairs(list) do
    local sorted = order(section.rows, measure, keys, prepared.place.symbol)
    section.rows = nil
    section.n = count_shown(sorted, measure, section.period, shown)
    section.rows = function(from, to) return values_of(sorted, from, to, #keys, measure) end
  end
  return list
end
