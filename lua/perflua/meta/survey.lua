-- A survey of a recording: samples by event and records by type, their numbers, their fields,
-- an example of each.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local types = require("perflua.recording").types

local survey = {}

local SAMPLE = 9
local LOOK_AT = 100 -- records of a kind, for examples
local WIDTH = 40 -- of an example
local ITEMS = 10 -- of a list in it

-- Puts a text on one line, short enough for a column.
local function shorten_text(text, width)
  text = fmt.escape(#text > 8 * width and text:sub(1, 8 * width) or text)
  local cut = utf8.offset(text, width)
  return cut and cut <= #text and text:sub(1, cut - 1) .. "…" or text
end

-- Returns the key of a description: samples have that of their event, other records of their
-- type.
local function key_of(type_id, event)
  return type_id ~= SAMPLE and type_id or "event " .. (event and event.index or 0)
end

-- Returns the fields; a tracepoint's own follow those of all samples, as "args.pid".
local function fields_of(file, type_id, event)
  local list = core.fields_of(file, type_id, event and event.index)
  for _, field in ipairs(event and event.fields or {}) do
    list[#list + 1] = {
      name = "args." .. shorten_text(field.name, 2 * WIDTH), kind = field.kind,
      doc = shorten_text(field.type, 2 * WIDTH),
      arg = field.name, common = field.common,
    }
  end
  return list
end

local function add_part(parts, file, type_id, event, title, count)
  local part = {
    title = title, count = count, type_id = type_id, event = event, seen = 0,
    fields = fields_of(file, type_id, event),
  }
  parts[#parts + 1] = part
  parts.by_key[key_of(type_id, event)] = part
end

-- Returns the events of samples first, then the record types by number. Beyond `most` events
-- the others are counted.
local function parts_of(file, counts, most)
  local parts = { by_key = {}, more = { events = 0, records = 0 } }
  for i, event in ipairs(file.events) do
    local n = counts.events[i].count
    if n > 0 and #parts == most then
      parts.more.events, parts.more.records = parts.more.events + 1, parts.more.records + n
    elseif n > 0 then
      add_part(parts, file, SAMPLE, event, "sample of " .. event.name, n)
    end
  end
  if counts.unknown_event.count > 0 then
    add_part(parts, file, SAMPLE, nil, "sample whose event is not known",
      counts.unknown_event.count)
  end
  local ids = {}
  for id in pairs(counts.types) do
    if id ~= SAMPLE then ids[#ids + 1] = id end
  end
  table.sort(ids)
  for _, id in ipairs(ids) do
    local desc = types()[id]
    add_part(parts, file, id, nil, desc and desc.name or "unknown, type " .. id,
      counts.types[id].count)
  end
  return parts
end

local function text_of(value, kind)
  if type(value) ~= "table" then return fmt.exact(value, kind) end
  local items = {}
  for i = 1, math.min(#value, ITEMS + 1) do
    items[i] = i > ITEMS and "…" or fmt.exact(value[i], "any")
  end
  return "{" .. table.concat(items, ", ") .. "}"
end

local function value_of(record, field)
  if not field.arg then return record[field.name] end
  local args = record.args
  return args and args[field.arg]
end

-- Notes what this record has an example of; true when its kind needs no more of them.
local function look_at(part, record)
  local lacking = false
  for _, field in ipairs(part.fields) do
    if not field.example then
      local value = value_of(record, field)
      if value ~= nil then
        field.example = shorten_text(text_of(value, field.kind), WIDTH)
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
  for record in file:records { order = "file", reuse = true, container = true,
      expand = true } do
    local type_id = record.type_id
    local part = parts.by_key[key_of(type_id, type_id == SAMPLE and record.event)]
    if part and not part.done and look_at(part, record) then
      part.done = true
      open = open - 1
      if open == 0 then break end
    end
  end
end

---Takes two passes.
---@param file perflua.File
---@param most integer? events with samples that become a part; default: all
---@return table[]? parts # { title, count, type_id, event, fields }, fields: { name, kind, doc,
--- example, arg, common }; `more`: the { events, records } beyond `most`
---@return string? message
function survey.of(file, most)
  if not file.size then
    return nil,
      ("%s: a stream can be read only once, and this takes two passes: save it to a file first")
      :format(fmt.paths(file.path))
  end
  local parts = parts_of(file, core.count(file), most or math.maxinteger)
  find_examples(file, parts)
  return parts
end

return survey
