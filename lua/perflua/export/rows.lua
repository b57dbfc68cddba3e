-- Rows as lines of text, which the core writes: the fields that a query selects, or those that
-- are mostly asked for, of each sample or span.

local core = require "perflua.core"
local errors = require "perflua.errors"
local output = require "perflua.table.output"
local plan = require "perflua.plan"
local spec_of = core.query_spec
local usage_error = errors.usage_error

local rows = {}

local SAMPLE <const> = { "time", "event", "comm", "pid", "tid", "cpu", "period", "ip", "symbol",
  "dso" }
local SPAN <const> = { "start", "stop", "duration" }

-- The fields of a query that selects none: those of the list that it has.
local function select_default(query)
  local spec, names = spec_of(query), {}
  if spec.unnest then
    usage_error "export: select(…) says which fields of the items are written"
  elseif spec.reader then
    names = SPAN
  else
    for _, name in ipairs(SAMPLE) do
      if spec.scope:root(name) then names[#names + 1] = name end
    end
  end
  if not names[1] then usage_error "export: these samples have no fields" end
  return query:select(table.unpack(names))
end

---Raises for a column that no cell has room for.
---@param ref table
function rows.refuse_view(ref)
  usage_error("export: %s is a view; a column takes one of its fields%s", ref.text,
    ref.text == "callchain" and "; stack is the whole chain as text" or "")
end

---Raises if a column is what no cell has room for.
---@param query perflua.Query
function rows.check(query)
  local spec = spec_of(query)
  for _, ref in ipairs(spec.refs or {}) do
    if ref.kind == "view" or ref.mixed then
      rows.refuse_view(ref)
    end
  end
  local why = spec.refs and plan.calls(spec, spec.refs)
  if why then usage_error("export: %s, and cannot be a column", why) end
end

---@param query perflua.Query
---@return table[] # what is read, see export.readings
function rows.readings(query)
  return { { query = spec_of(query).refs and query or select_default(query) } }
end

---Writes a line for each row of a query.
---@param query perflua.Query of samples, spans or items
---@param out file*|string|nil
---@param csv { safe: boolean?, crlf: boolean? }? # CSV below the names; nil: objects of JSON
---@return { samples: integer, set_aside: integer }?
---@return string? message
---@return string? code
function rows.export(query, out, csv)
  local spec = spec_of(rows.readings(query)[1].query)
  local columns, n = {}, nil
  for i, ref in ipairs(spec.refs) do columns[i] = { name = ref.text, kind = ref.kind } end
  local ok, message, code = output.with_file(out, function(file)
    local cursor <close> = plan.values(spec, spec.refs)
    local wrong, number
    n, wrong, number = errors.errno(errors.guard(core.write_rows, cursor, file, columns,
      csv))
    return n and true, wrong, number
  end)
  if not ok then return nil, message, code end
  return { samples = n, set_aside = 0 }
end

-- CSV is RFC 4180, but lines end with LF by default: times in nanoseconds, addresses in
-- hexadecimal, nothing for what is absent.
rows.csv = { name = "csv", description = "spreadsheets, pandas, DuckDB", takes_records = true,
  check = rows.check, readings = rows.readings, export = rows.export }

-- Lines of JSON (https://jsonlines.org) have an object each: numbers exact, addresses as "0x…"
-- strings, null for what is absent.
rows.jsonl = { name = "jsonl", takes_records = true, check = rows.check,
  readings = rows.readings, description = "jq, pandas, DuckDB; an object for each sample",
  export = function(query, out) return rows.export(query, out) end }

return rows
