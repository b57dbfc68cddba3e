-- perflua/meta.lua: what editors know of perflua, from the tables of the core and those of
-- lua/perflua/api.

local api = require "perflua.api"
local core = require "perflua.core"
local tables = require "generator.tables"

local kinds, sentence, sorted_names, each_once = tables.kinds, tables.sentence,
  tables.sorted_names, tables.each_once

local COLUMNS <const> = 96

local stubs = {}

-- Adds a comment in lines of at most COLUMNS; the first begins with `mark`, the others with
-- `---`.
local function stub_words(mark, words)
  local line = mark
  for word in words:gmatch "%S+" do
    if utf8.len(line) + 1 + utf8.len(word) > COLUMNS and line ~= mark then
      stubs[#stubs + 1] = line
      line = "---" .. word
    else
      line = line .. (line:find "^%-%-%-?$" and "" or " ") .. word
    end
  end
  stubs[#stubs + 1] = line
end

-- Adds a line. Where it is too long, the words about a field stand above it, as editors expect,
-- and those about anything else continue below.
local function stub(format, ...)
  local line = select("#", ...) > 0 and format:format(...) or format
  if utf8.len(line) <= COLUMNS then
    stubs[#stubs + 1] = line
    return
  end
  local field, words = line:match "^(%-%-%-@field .-) # (.*)$"
  if field then
    stub_words("---", words)
    line = field
  end
  if utf8.len(line) <= COLUMNS then
    stubs[#stubs + 1] = line
  else
    local mark, rest = line:match "^(%-%-%-@?%S*)(.*)$"
    stub_words(mark, rest)
  end
end

-- A type as the tables of the API write it: classes get the prefix that they have here.
local function full(type) return (type:gsub("%f[%w_\"]%u[%w_]*%f[^%w_]", "perflua.%0")) end

-- Returns the type without the mark of optional ones, and whether it had one.
local function optional(type)
  local required = type:match "^(.*)%?$"
  return full(required or type), required and "?" or ""
end

local function lua_type(field)
  if field.view then
    return "perflua.View." .. field.view
  end
  return kinds[field.kind] and kinds[field.kind][2] or "any[]"
end

local function stub_fields(fields)
  for _, field in ipairs(each_once(fields)) do
    local may_be_nil = field.doc:find("%f[%a]nil%f[%A]") and "?" or ""
    stub("---@field %s %s%s # %s", field.name, lua_type(field), may_be_nil, sentence(field.doc))
  end
end

local function stub_views()
  local views = core.views()
  for _, name in ipairs(sorted_names(views)) do
    local view = views[name]
    local item = view.items and ("perflua.View.%s.item"):format(name) or "integer"
    if view.items then
      stub("---@class %s", item)
      stub_fields(view.items)
      stub ""
    end
    stub("---%s", sentence(view.doc))
    stub("---@class perflua.View.%s", name)
    stub_fields(view.members or {})
    if view.named then
      stub("---@field [string] %s", item)
    elseif view.items or not view.members then
      stub("---@field [integer] %s", item)
    end
    stub "---@operator len: integer"
    stub ""
  end
end

-- Record itself knows the fields of all types; of those of one name and different types, both.
local function all_fields()
  local merged, by_name = {}, {}
  local function merge(fields)
    for _, field in ipairs(each_once(fields)) do
      local known = by_name[field.name]
      local lua = lua_type(field)
      if not known then
        known = { name = field.name, types = {}, seen = {} }
        by_name[field.name], merged[#merged + 1] = known, known
      end
      if not known.seen[lua] then
        table.insert(known.types, lua)
        known.seen[lua] = true
      end
    end
  end
  for _, desc in ipairs(core.types()) do
    merge(desc.fields)
  end
  table.sort(merged, function(a, b) return a.name < b.name end)
  return merged
end

local function stub_record_types()
  local payload = {}
  for _, name in ipairs(api.class("PayloadRecord").types) do
    payload[name] = ", perflua.PayloadRecord"
  end
  for _, desc in ipairs(core.types()) do
    stub("---%s", sentence(desc.doc))
    stub("---@class perflua.Record.%s: perflua.AnyRecord%s", desc.name, payload[desc.name]
      or "")
    stub_fields(desc.fields)
    stub ""
  end
  stub "---A record of any type: nil is what its type does not have."
  stub "---@class perflua.Record: perflua.AnyRecord, perflua.PayloadRecord"
  for _, field in ipairs(all_fields()) do
    stub("---@field %s %s", field.name, table.concat(field.types, "|"))
  end
  stub ""
end

local function stub_events()
  stub "---An event of a recording."
  stub "---@class perflua.Event"
  stub_fields(core.event_members())
  stub ""
  stub "---@class perflua.Features"
  for _, feature in ipairs(core.features()) do
    stub("---@field %s any # %s", feature.name, sentence(feature.doc))
  end
  stub ""
end

local function words_of(row)
  local words = row[3] and sentence(row[3]) or ""
  if row.unit then words = ("%s In %s."):format(words, row.unit) end
  if row.default then words = ("%s Default: %s."):format(words, row.default) end
  return words
end

local function stub_method(class, row)
  stub("---%s", row[2])
  if row.grouped then stub("---After group_by a column `%s`: %s", row.column, row.grouped) end
  local names = {}
  for i, param in ipairs(row.params or {}) do
    local type, mark = optional(param[2])
    names[i] = param[1]
    stub("---@param %s%s %s # %s", param[1], mark, type, words_of(param))
  end
  for _, value in ipairs(row.returns or {}) do
    stub("---@return %s%s", full(value[1]), value[2] and " # " .. sentence(value[2]) or "")
  end
  if row.errors then stub("---Raises: %s", sentence(row.errors)) end
  local prefix = class.kind == "module" and class.name .. "." or class.name .. ":"
  stub("function %s%s(%s) end", prefix, row[1], table.concat(names, ", "))
  stub ""
end

-- Returns the fields of a class from the core's tables.
local from_core = {
  AnyRecord = function() stub_fields(core.types()[0].fields) end,
  Handlers = function()
    for _, desc in ipairs(core.types()) do
      stub("---@field %s? (fun(record: perflua.Record.%s): any)|any[]", desc.name, desc.name)
    end
  end,
}

local function stub_class(class)
  local is_module = class.kind == "module"
  stub("---%s", class.doc)
  if class.call then stub("---@overload %s", full(class.call)) end
  stub("---@class %s", is_module and class.name or "perflua." .. class.name)
  if from_core[class.name] then from_core[class.name]() end
  for _, row in ipairs(class.fields or {}) do
    local type, mark = optional(row[2])
    stub("---@field %s%s %s # %s", row[1], mark, type, words_of(row))
  end
  for _, row in ipairs(class.index or {}) do
    stub("---@field %s %s # %s", full(row[1]), full(row[2]), sentence(row[3]))
  end
  if class.len then stub "---@operator len: integer" end
  if class.methods then stub("%s%s = {}", is_module and "" or "local ", class.name) end
  stub ""
  for _, row in ipairs(class.methods or {}) do stub_method(class, row) end
end

---@return string # the text
local function meta()
  stub "---@meta perflua"
  stub "-- What editors know of perflua. Made by `make` from the tables of the core and"
  stub "-- those of lua/perflua/api."
  stub ""
  for _, class in ipairs(api.classes()) do
    if class.kind ~= "globals" then stub_class(class) end
  end
  stub_events()
  stub_views()
  stub_record_types()
  stub "return perflua"
  return table.concat(stubs, "\n") .. "\n"
end

return meta
