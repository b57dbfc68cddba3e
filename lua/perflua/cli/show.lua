-- Values as the prompt and an expression of -e show them: tables as tables, records as lists of
-- fields, queries as their table or their first rows, everything else as print does.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local suggest = require "perflua.errors.suggest"
local types = require("perflua.recording").types

local spec_of = core.query_spec

local show = {}

local SAMPLE = 9

-- A record is shown as a line for each of its fields: those of every record; those of samples
-- that are for people, beside the recorded ones.
local HEAD = { "type", "event", "offset", "comm", "pid", "tid", "time", "elapsed", "cpu" }
local KNOWN = { "symbol", "symoff", "dso", "srcline", "stack", "syscall", "message" }

-- Fields that repeat these for other programs, and bytes.
local hidden = { parent = true, comm_nodigit = true, annotated_stack = true, frames = true,
  unresolved = true, raw_message = true,
  symbol_size = true, dso_size = true, map = true, args = true,
  srcfile = true, insn = true, insnlen = true, disasm = true, srccode = true }

-- Returns the value of a field as text; nil if the record has none.
local function format_field(record, name, kind)
  local value = record[name]
  if value == nil then return nil end
  return fmt.escape(fmt.exact(value, kind or "any"))
end

local function add_args(rows, record)
  local args, event = record.args, record.event
  for _, field in ipairs(args and event and event.fields or {}) do
    if not field.common then
      rows[#rows + 1] = { "args." .. field.name, format_field(args, field.name, field.kind) }
    end
  end
end

---@param record perflua.Record
---@return string # lines: names and values of the fields that it has
local function record_lines(record)
  local rows, seen = {}, {}
  local function add(name, kind)
    local is_new = not seen[name] and not hidden[name] and kind ~= "bytes"
    local text = is_new and format_field(record, name, kind)
    seen[name] = true
    if text then rows[#rows + 1] = { name, text } end
  end
  local desc = types()[record.type_id]
  for _, name in ipairs(HEAD) do add(name, name == "offset" and "address") end
  for _, field in ipairs(desc and desc.fields or {}) do add(field.name, field.kind) end
  if record.type_id == SAMPLE then
    for _, name in ipairs(KNOWN) do add(name) end
    add_args(rows, record)
  end
  return fmt.table({ { name = "field", kind = "string" }, { name = "value", kind = "string" } },
    rows)
end

local ROWS <const> = 10 -- of a query without groups
local ITEMS <const> = 1000 -- of a Lua table
local WIDTH <const> = 72 -- of a cell

local function write_lines(out, columns, rows)
  out:write(fmt.table(columns, rows))
end

-- Writes the first rows of a query without groups, and how many there are.
local function show_query(out, query)
  local refs, columns, rows, n = spec_of(query).refs, {}, {}, 0
  query:each(function(...)
    n = n + 1
    if n > ROWS then return end
    if not refs then return out:write(fmt.escape(tostring((...))), "\n") end
    local row = { ... }
    for i, ref in ipairs(refs) do
      if row[i] == false and ref.kind ~= "boolean" then row[i] = nil end
    end
    rows[n] = row
  end)
  for i, ref in ipairs(refs or {}) do columns[i] = { name = ref.text, kind = ref.kind } end
  if refs then write_lines(out, columns, rows) end
  local what = refs and "{row|rows}" or "{record|records}"
  out:write("# ", n > ROWS and ("first %d of "):format(ROWS) or "", fmt.phrase(n, what), "\n")
end

local function class_of(value)
  local meta = getmetatable(value)
  return type(meta) == "table" and meta.__name or meta
end

-- Returns true for a table that a script made or got as a result, without a text of its own.
local function is_plain(value)
  local meta = getmetatable(value)
  return type(value) == "table"
    and (meta == nil or type(meta) == "table" and meta.__pairs and not meta.__tostring)
end

-- Returns a value of a Lua table as a cell: text on one line, or a number.
local function cell_of(value)
  if type(value) == "number" or value == nil then return value end
  local text = tostring(value)
  if is_plain(value) then
    text = #value > 0 and ("{%d}"):format(#value) or next(value) == nil and "{}" or "{…}"
  end
  text = text:gsub("\n.*", "…")
  return utf8.len(text) and utf8.len(text) > WIDTH
    and text:sub(1, utf8.offset(text, WIDTH) - 1) .. "…" or text
end

-- Returns true for an array whose elements are all tables with keys: rows.
local function are_rows(list)
  for _, item in ipairs(list) do
    if not is_plain(item) or #item > 0 or next(item) == nil then return false end
  end
  return #list > 0
end

-- Writes an array of tables as their columns, in the order of their names.
local function show_rows(out, list)
  local seen, columns, rows = {}, {}, {}
  for i = 1, math.min(#list, ITEMS) do
    for name, value in pairs(list[i]) do
      seen[name] = seen[name] or type(value) ~= "function" or nil
    end
  end
  for i, name in ipairs(suggest.names(seen)) do columns[i] = { name = name, kind = "any" } end
  for i = 1, math.min(#list, ITEMS) do
    rows[i] = {}
    for c, column in ipairs(columns) do rows[i][c] = cell_of(list[i][column.name]) end
  end
  write_lines(out, columns, rows)
end

local function sorted_keys(map)
  local keys = {}
  for key in pairs(map) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b)
    if math.type(a) and math.type(b) then return a < b end
    if type(a) ~= type(b) then return math.type(a) ~= nil end
    return tostring(a) < tostring(b)
  end)
  return keys
end

-- Writes a line for each key and value.
local function show_pairs(out, map)
  local columns = { { name = "key", kind = "any" }, { name = "value", kind = "string" } }
  local rows = {}
  local keys = sorted_keys(map)
  for i = 1, math.min(#keys, ITEMS) do
    local key = keys[i]
    rows[i] = { cell_of(key), tostring(cell_of(map[key])) }
  end
  if #rows > 0 then write_lines(out, columns, rows) else out:write "{}\n" end
  return #keys
end

local function show_table(out, value)
  local n = #value
  if are_rows(value) then show_rows(out, value) else n = show_pairs(out, value) end
  if n > ITEMS then
    out:write("# first ", ITEMS, " of ", fmt.phrase(n, "{entry|entries}"), "\n")
  end
end

local function show_events(out, events)
  local rows = {}
  for i = 1, #events do
    local event = events[i]
    rows[i] = { i, event.name, event.sample_period, event.sample_freq,
      table.concat(event.sample_fields, " ") }
  end
  local columns = { { name = "index", kind = "signed" }, { name = "event", kind = "string" },
    { name = "period", kind = "unsigned" }, { name = "frequency", kind = "unsigned" },
    { name = "fields", kind = "string" } }
  write_lines(out, columns, rows)
end

local function show_result(out, result, note)
  out:write(tostring(result), "\n")
  note(out, result)
end

local by_class = {
  ["perflua.Table"] = show_result,
  ["perflua.Query"] = function(out, query, note)
    local spec = spec_of(query)
    if spec.keys then
      show_result(out, query:table(), note)
    elseif spec.refs or not spec.unnest then
      show_query(out, query)
      note(out, query)
    else
      out:write(tostring(query), ": select(…) or group_by(…) comes next\n")
    end
  end,
  ["perflua.events"] = show_events,
  ["perflua.record"] = function(out, record)
    out:write(record_lines(record))
  end,
}

---Writes values: those that take lines of their own one below the other, others as print does.
---@param out file*
---@param note (fun(out: file*, result: perflua.Table|perflua.Query))? called after each result
---@param ... any
function show.values(out, note, ...)
  local texts = {}
  note = note or function() end
  local function write_texts()
    if #texts > 0 then out:write(table.concat(texts, "\t"), "\n") end
    texts = {}
  end
  for i = 1, select("#", ...) do
    local value = select(i, ...)
    -- a value that takes lines of its own
    local write_block = is_plain(value) and show_table or by_class[class_of(value) or false]
    if write_block then
      write_texts()
      write_block(out, value, note)
    else
      texts[#texts + 1] = tostring(value)
    end
  end
  write_texts()
end

return show
