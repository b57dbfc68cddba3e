-- Spans in the formats that the core writes: src/export/spans.h.

local core = require "perflua.core"
local errors = require "perflua.errors"
local fmt = require "perflua.text.fmt"
local output = require "perflua.table.output"
local plan = require "perflua.plan"
local spec_of = core.query_spec

local units = require "perflua.text.units"

local spans = {}

local BYTES <const> = 400 -- of the text of a span, at most in most exports
local NOTE <const> = "spans shorter than %s are left out, so that the file has at most "
  .. "--max-size: %s of %s, %s in all"
local TOO_LARGE <const> = "the spans take more than the %sB of --max-size: choose fewer, as "
  .. "with --time, or a larger size"

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

-- Returns the least length of spans with which all of them have room; nil: they are few, or
-- read once.
local function find_least(spec, format, at, most)
  if not spec.file.size then return nil end
  local n = 0
  for _, event in ipairs(core.count(spec.file, { order = true }).events) do
    n = n + event.count
  end
  if n * BYTES <= most then return nil end
  local cursor <close> = plan.values(spec, spec.refs)
  return errors.guard(core.measure_spans, cursor, format, at, most - most // 20)
end

---@param query perflua.Query of spans
---@param format string
---@param out file*|string|nil
---@param options table see lua/perflua/api/module.lua
---@param most integer bytes of text that it has at most
---@return { samples: integer, set_aside: integer, notes: string[] }?
---@return string? message
---@return string? code
function spans.export(query, format, out, options, most)
  local selected, at = select_fields(query)
  local spec, n, n_short, ns_short = spec_of(selected), nil, nil, nil
  local least = find_least(spec, format, at, most)
  local ok, message, code = output.with_file(out, function(file)
    local cursor <close> = plan.values(spec, spec.refs)
    n, n_short, ns_short = errors.errno(errors.guard(core.write_spans, cursor, format, at,
      most, file, options.title or fmt.paths(spec.file.path), spec.file.first_time, least))
    if n == false then return nil, TOO_LARGE:format(units.format(most, "si")) end
    return n and true, n_short, ns_short
  end)
  if not ok then return nil, message, code end
  local note = n_short > 0 and NOTE:format(units.format(least, "duration"),
    fmt.unsigned(n_short), fmt.unsigned(n), units.format(ns_short, "duration")) or nil
  return { samples = n, set_aside = 0, notes = { note } }
end

return spans
