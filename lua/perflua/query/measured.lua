-- Steps that measure: columns of a grouped query, or the value that any other query ends in.
-- With them come those that present the columns.

local aggregate = require "perflua.group.aggregate"
local queries = require "perflua.query.new"
local group = require "perflua.group"
local measures = require "perflua.measures"
local core = require "perflua.core"
local derive, spec_of, tell_empty = queries.derive, core.query_spec, queries.tell_empty
local Table = require "perflua.table"
local usage_error = require("perflua.errors").usage_error

---@class perflua.Query
local Measured = {}

-- Columns come before what is made of them.
local function not_final(query, step)
  if Table.is_final(spec_of(query).show) then
    usage_error("%s comes before column, having, pivot and running", step)
  end
end

-- A measure is a column after group_by, else it ends the query and is a value.
local function measure(query, name, field, option)
  if spec_of(query).refs then
    usage_error("%s comes before select, or without it", name)
  end
  not_final(query, name)
  local column = group.column(spec_of(query), name, field, option)
  if spec_of(query).keys then
    return derive(query, { columns = group.added(spec_of(query), column) })
  elseif name == "first" or name == "last" or name == "share" then
    usage_error("%s comes after group_by", name)
  end
  local result = aggregate.groups(spec_of(query), {}, { column })
  if #result == 0 then -- a stream that was waited for in vain
    core.result_put(result, { { keys = {}, {} } })
  end
  local values, columns = {}, {}
  for i, value in ipairs(type(option) == "table" and option or { option or false }) do
    columns[i] = { name = tostring(i), measure = 1, option = value }
  end
  local row = core.view_row(core.result_view(result, { columns = columns }), 1)
  if not row["1"] or row["1"] == 0 then tell_empty(query) end
  if type(option) ~= "table" then return row["1"] end
  for i in ipairs(option) do values[i] = row[tostring(i)] end
  return values
end

local function check_share(q)
  if not math.type(q) or not (q >= 0 and q <= 1) then
    usage_error("quantile: a number from 0 to 1 expected, or a list of them")
  end
end

---@param field string
---@param q number|number[] from 0 to 1; several are columns p50_FIELD …
function Measured:quantile(field, q)
  if type(q) == "table" then
    if #q == 0 then usage_error("quantile: the list of numbers is empty") end
    for _, share in ipairs(q) do check_share(share) end
    q = table.move(q, 1, #q, 1, {})
  else
    check_share(q)
  end
  return measure(self, "quantile", field, q)
end

function Measured:count() return measure(self, "count") end

---@param field string
---@param by string a field: an integer that is not negative
---@return perflua.Query # with the field of the record in which the other is greatest
function Measured:max_by(field, by)
  if not spec_of(self).keys then usage_error("max_by comes after group_by") end
  not_final(self, "max_by")
  local spec = spec_of(self)
  local column = group.column(spec, "max_by", field)
  column.weight = group.weight(spec, "max_by", by)
  return derive(self, { columns = group.added(spec, column) })
end

---@param over string|perflua.Event
---@param under string|perflua.Event
---@param field string? default: "period"
---@return perflua.Query # with the sum of a field over the records of one event divided by
--- that of another's
function Measured:ratio(over, under, field)
  if not spec_of(self).keys then usage_error("ratio comes after group_by") end
  not_final(self, "ratio")
  local column = group.ratio(spec_of(self), over, under, field)
  return derive(self, { columns = group.added(spec_of(self), column), split = false })
end

---@param field string how often each record counts
---@return perflua.Query # whose last measure is weighted
function Measured:weight(field)
  if not spec_of(self).keys then usage_error("weight comes after group_by and a measure") end
  return derive(self, group.weighted(spec_of(self), field))
end

---@param field string
---@param whole "absolute"|"relative"|nil of all samples of the event, whatever conditions leave
--- of them; default: of those that the query reads
---@return perflua.Query
function Measured:share(field, whole)
  if field == nil then usage_error("share: a field's name expected, got none") end
  if whole ~= nil and whole ~= "absolute" and whole ~= "relative" then
    usage_error("share: \"absolute\" or \"relative\" expected, got %s", tostring(whole))
  end
  return measure(self, "share", field, whole == "absolute" and whole or nil)
end

-- Those that depend on the order of records have methods that without a field are not measures.
for name, row in pairs(measures) do
  if row.takes and not row.ordered and not Measured[name] then
    Measured[name] = function(self, field)
      if field == nil then usage_error("%s: a field's name expected, got none", name) end
      return measure(self, name, field)
    end
  end
end

-- One more step of presentation, which Table has by the same name.
local function present(query, step, ...)
  if not spec_of(query).keys then usage_error("%s comes after group_by", step) end
  return derive(query, group.presented(spec_of(query), step, ...))
end

---@param n integer rows to show, for each event
---@param column string? default: the first measure
---@param options { per: string? }? per: a key; n rows for each of its values
---@return perflua.Table
function Measured:top(n, column, options) return present(self, "top", n, column, options)
  :table() end

---@param column string? default: the first measure
---@param direction "asc"|"desc"|nil
---@return perflua.Table
function Measured:sort(column, direction) return present(self, "sort", column, direction)
  :table() end

---@param key string a key, whose values become columns
---@param n integer? how many of them, those of the greatest measures; default: all
---@return perflua.Query
function Measured:pivot(key, n) return present(self, "pivot", key, n) end

---@param condition string an expression of columns
---@return perflua.Query # of the rows for which it is true
function Measured:having(condition) return present(self, "having", condition) end

---@param name string
---@param expression string of columns
---@return perflua.Query # with one more column
function Measured:column(name, expression) return present(self, "column", name, expression) end

---@param column string a measure
---@return perflua.Query # with its sum from the first row to each
function Measured:running(column) return present(self, "running", column) end

---@param unit "duration"|"bytes"|"si"
---@param column string? default: the key, measure or column that was named last
---@return perflua.Query
function Measured:unit(unit, column)
  local spec = spec_of(self)
  local is_key = spec.keys and #spec.columns == 0 and not Table.is_final(spec.show)
  if column == nil and is_key then column = spec.keys[#spec.keys].name end
  return present(self, "unit", unit, column)
end

---@return perflua.Table # all rows, in the order of the first measure unless a step says more
function Measured:table()
  if not spec_of(self).keys then usage_error("table comes after group_by") end
  local made = group.table(spec_of(self))
  if #made.data.result == 0 then tell_empty(self) end
  return made
end

return { methods = Measured, measure = measure, not_final = not_final }
