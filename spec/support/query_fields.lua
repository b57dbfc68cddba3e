-- The fields that queries over a recording can name, and values that occur in them.
local core = require "perflua.core"
local interpret = require("spec.support.model").interpret
local spec_of = core.query_spec

local query_fields = {}

local SAMPLE = 9
local FIRST = 100 -- records whose values are looked at
local ITEMS = 2   -- of a composite, from the first on

local registers = { "ax", "ip", "sp", "x0", "pc" }

-- Paths into a composite field: { text, kind }.
local function parts_of(name, view, add)
  for _, member in ipairs(view.members or {}) do
    add(name .. "." .. member.name, member.kind)
  end
  for i = 1, view.named and 0 or ITEMS do
    local item = ("%s[%d]"):format(name, i)
    if not view.items or #view.items == 0 then add(item, "any") end
    for _, member in ipairs(view.items or {}) do
      add(item .. "." .. member.name, member.kind)
    end
  end
  for _, register in ipairs(view.named and registers or {}) do
    add(name .. "." .. register, "unsigned")
  end
  add("#" .. name, "unsigned")
end

-- Arguments of tracepoints, as each event has them.
local function add_args(events, add)
  for _, event in ipairs(events) do
    for _, field in ipairs(event.fields or {}) do
      local text = "args." .. field.name
      add(text, field.kind)
      if field.kind == "view" then
        for i = 1, ITEMS do add(("%s[%d]"):format(text, i), "any") end
      end
      if field.kind ~= "signed" and field.kind ~= "unsigned" then
        add("#" .. text, "unsigned")
      end
    end
  end
end

-- The names that records of these types can have, each once. A name of two types is of the kind
-- that queries tell, which may be none of both.
function query_fields.names(file, type_ids)
  local list, seen, views = {}, {}, core.views()
  local function add(text, kind)
    if not seen[text] and kind ~= "later" then
      seen[text] = true
      list[#list + 1] = { text = text, kind = kind }
    end
  end
  for _, id in ipairs(type_ids) do
    for i = 1, math.max(1, #file.events) do
      for _, row in ipairs(core.fields_of(file, id, file.events[i] and i)) do
        add(row.name, row.kind)
        if row.name == "args" then
          add_args(file.events, add)
        elseif row.view then
          parts_of(row.name, views[row.view], add)
        end
      end
    end
  end
  for _, member in ipairs(core.event_members()) do add("event." .. member.name, member.kind) end
  return list
end

-- The first values of a field, each once: read record by record.
local function values_of(records, text)
  local list, seen = {}, {}
  local query = records:select(text)
  interpret(query, true)
  local n = 0
  for value in query:each() do
    n = n + 1
    local of = type(value)
    if (of == "number" or of == "string" or of == "boolean") and value == value
        and not seen[value] then
      seen[value] = true
      list[#list + 1] = value
    end
    if n == FIRST then break end
  end
  return list
end

---@param file perflua.File
---@param records perflua.Query what is asked
---@param type_ids integer[]? of its records; default: samples
---@return {text: string, kind: string, values: any[]}[] # what can be named, sorted
function query_fields.of(file, records, type_ids)
  local list = {}
  for _, field in ipairs(query_fields.names(file, type_ids or { SAMPLE })) do
    local ok, ref = pcall(function() return spec_of(records).scope:ref(field.text) end)
    if ok then
      field.kind = ref.kind
      local fine, values = pcall(values_of, records, field.text)
      field.values = fine and values or {}
      list[#list + 1] = field
    end
  end
  table.sort(list, function(a, b) return a.text < b.text end)
  return list
end

return query_fields
