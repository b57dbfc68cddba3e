-- perflua fields FILE: what a script can read of this recording: each event and record type in it,
-- its fields, an example of each.

local fmt = require "perflua.text.fmt"
local perflua = require "perflua"
local types = require "perflua.file.types"

local tool = {
  description = "the events and record types in a recording, their fields, an example of each",
  usage = "fields FILE",
  help = [[
The example is the value in the first of the records that has one. A field without an example is
absent in those looked at.]],
}

local SAMPLE = 9
local LOOK_AT = 100 -- records of a kind, for examples
local WIDTH = 40 -- of an example

-- What there is to describe, by key: samples by their event, other records by their type.
local function key_of(type_id, event)
  return type_id ~= SAMPLE and type_id or "event " .. (event and event.index or 0)
end

-- Fields that cannot be read yet are left out.
local function readable(fields)
  local list = {}
  for _, field in ipairs(fields) do
    if field.kind ~= "later" then
      table.insert(list, field)
    end
  end
  return list
end

local function add_part(parts, file, type_id, event, title, count)
  local fields = readable(file:fields(type_id, event and event.index))
  local part = { title = title, count = count, seen = 0, fields = fields }
  table.insert(parts, part)
  parts.by_key[key_of(type_id, event)] = part
end

-- The samples' events first, then the record types by number.
local function parts_of(file, counts)
  local parts = { by_key = {} }
  for i, event in ipairs(file.events) do
    if counts.events[i].count > 0 then
      add_part(parts, file, SAMPLE, event, "sample of " .. event.name, counts.events[i].count)
    end
  end
  if counts.unknown_event.count > 0 then
    add_part(parts, file, SAMPLE, nil, "sample whose event is not known", counts.unknown_event.count)
  end
  local ids = {}
  for id in pairs(counts.types) do
    if id ~= SAMPLE then
      table.insert(ids, id)
    end
  end
  table.sort(ids)
  for _, id in ipairs(ids) do
    local desc = types()[id]
    add_part(parts, file, id, nil, desc and desc.name or "unknown, type " .. id, counts.types[id].count)
  end
  return parts
end

-- On one line, and short enough for a column.
local function example(value, kind)
  local text = fmt.escape(fmt.exact(value, kind))
  local cut = utf8.offset(text, WIDTH)
  return cut and cut <= #text and text:sub(1, cut - 1) .. "…" or text
end

-- Notes what this record has an example of; true when its kind needs no more of them.
local function look_at(part, record)
  local lacking = false
  for _, field in ipairs(part.fields) do
    if not field.example then
      local value = record[field.name]
      if value ~= nil then
        field.example = example(value, field.kind)
      else
        lacking = true
      end
    end
  end
  part.seen = part.seen + 1
  return not lacking or part.seen >= math.min(LOOK_AT, part.count)
end

local function find_examples(file, parts)
  local open = #parts
  for record in file:records { order = "file", reuse = true, container = true } do
    local type_id = record.type_id
    local part = parts.by_key[key_of(type_id, type_id == SAMPLE and record.event)]
    if part and not part.done and look_at(part, record) then
      part.done = true
      open = open - 1
      if open == 0 then
        break
      end
    end
  end
end

-- Takes out of the parts the fields that all of them have, and returns these.
local function take_common(parts)
  local seen_in, common = {}, {}
  for _, part in ipairs(parts) do
    for _, field in ipairs(part.fields) do
      seen_in[field.name] = (seen_in[field.name] or 0) + 1
    end
  end
  for i, part in ipairs(parts) do
    local own = {}
    for _, field in ipairs(part.fields) do
      local list = seen_in[field.name] < #parts and own or i == 1 and common
      if list then
        table.insert(list, field)
      end
    end
    part.fields = own
  end
  return common
end

local columns = {
  { name = "  field", kind = "string" }, { name = "kind", kind = "string" },
  { name = "example", kind = "string" }, { name = "what", kind = "string" },
}

local function print_part(out, title, count, fields)
  local rows = {}
  for i, field in ipairs(fields) do
    rows[i] = { "  " .. field.name, field.kind, field.example or "-", field.doc }
  end
  out:write(("%s: %d record%s\n"):format(fmt.escape(title), count, count == 1 and "" or "s"),
    #rows > 0 and table.concat(fmt.lines(columns, rows), "\n") .. "\n" or "", "\n")
end

---@param args table
---@param out file*
---@return integer | nil status
---@return string | nil message
function tool.run(args, out)
  local file <close>, message = perflua.open(args[1])
  if not file then
    return nil, message
  end
  if not file.size then
    return nil, ("%s: a stream can be passed over once, and this takes two passes: write it to a file"):format(args[1])
  end
  local parts = parts_of(file, file:count())
  find_examples(file, parts)
  local all = 0
  for _, part in ipairs(parts) do
    all = all + part.count
  end
  local common = #parts > 1 and take_common(parts) or {}
  for _, part in ipairs(parts) do
    print_part(out, part.title, part.count, part.fields)
  end
  if #common > 0 then
    print_part(out, "every record", all, common)
  end
end

return tool
