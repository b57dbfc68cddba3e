-- Spans in the formats that the core writes: src/export/spans.h.

local core = require "perflua.core"
local errors = require "perflua.errors"
local fmt = require "perflua.text.fmt"
local output = require "perflua.table.output"
local plan = require "perflua.plan"
local spec_of = core.query_spec

local spans = {}

-- In the order of enum pe_span_column.
local FIELDS <const> = { "start", "stop", "open.event", "open.syscall", "open.pid", "open.tid",
  "open.comm" }

-- Returns a query of the fields that its spans have, of those that ended, and for each of
-- FIELDS its position among these; 0: spans do not have it.
local function select_fields(query)
  local names, at = {}, {}
  for i, name in ipairs(FIELDS) do
    local is_field = pcall(query.select, query, name)
    if is_field then names[#names + 1] = name end
    at[i] = is_field and #names or 0
  end
  return query:where("stop ~= nil"):select(table.unpack(names)), at
end

---@param query perflua.Query of spans
---@return table[] # what is read, see export.readings
function spans.readings(query) return { { query = (select_fields(query)) } } end

---@param query perflua.Query of spans
---@param format string
---@param out file*|string|nil
---@param options table see lua/perflua/api/module.lua; { most = bytes, too_large = message }
---@return { samples: integer, set_aside: integer }?
---@return string? message
---@return string? code
function spans.export(query, format, out, options)
  local selected, at = select_fields(query)
  local spec, n = spec_of(selected), nil
  local ok, message, code = output.with_file(out, function(file)
    local cursor <close> = plan.values(spec, spec.refs)
    local wrong, number
    n, wrong, number = errors.errno(errors.guard(core.write_spans, cursor, file, format, at,
      options.title or fmt.paths(spec.file.path), spec.file.first_time, options.most))
    if n == false then return nil, options.too_large end
    return n and true, wrong, number
  end)
  if not ok then return nil, message, code end
  return { samples = n, set_aside = 0 }
end

return spans
