-- The measures, by name, as the core has them (src/query/group/group.h, struct pq_measure_row),
-- with what only Lua says of them.
--
-- A row has number, weighted (a record's weight may stand beside its value), ordered (it
-- depends on the order of records), by_magnitude (rows are sorted without its sign), takes
-- (kinds of fields it can measure; nil: it has no field), prefix (of its column's name) and
-- shows(kind) -> kind of the column.
--
-- A weight is an integer from 0 on, and raises if it is not; a record without one, or of weight
-- 0, is not there.

local core = require "perflua.core"

local measures = core.measures()

-- Returns a set of kinds with others.
local function with(kinds, ...)
  local set = {}
  for kind in pairs(kinds) do set[kind] = true end
  for _, kind in ipairs { ... } do set[kind] = true end
  return set
end

local numbers = with({}, "signed", "unsigned", "address", "float", "any")
local ordered = with(numbers, "string", "bytes")
local values = with(ordered, "boolean", "event")
local takes = { numbers = numbers, ordered = ordered, values = values,
  stacks = with(values, "stack") }

local function same(kind) return kind end
local function of_sums(kind) return kind == "address" and "unsigned" or kind end

for name, row in pairs(measures) do
  local shows = row.shows
  row.takes = takes[row.takes]
  row.prefix = row.prefix or name .. "_"
  row.shows = shows == "same" and same or shows == "sum" and of_sums
    or function() return shows end
end

return measures
