-- A record as the prompt and an expression of -e show it: a line for each of its fields.

local fmt = require "perflua.text.fmt"
local types = require("perflua.recording").types

local SAMPLE = 9

-- Fields of every record; fields of samples that are for people, beside the recorded ones.
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
return function(record)
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
