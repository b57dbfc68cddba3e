-- lua/perflua/meta.lua: what editors know of perflua. File, Query and Table come from meta.lua.in.

local core = require "perflua.core"
local tables = require "generator.tables"

local kinds, sentence, sorted_names, each_once = tables.kinds, tables.sentence, tables.sorted_names, tables.each_once

local stubs = {}

local function stub(format, ...)
  stubs[#stubs + 1] = select("#", ...) > 0 and format:format(...) or format
end

local function lua_type(field)
  if field.view then
    return "perflua.View." .. field.view
  end
  return kinds[field.kind] and kinds[field.kind][2] or "any[]"
end

local function stub_fields(fields)
  for _, field in ipairs(each_once(fields)) do
    local optional = field.doc:find("%f[%a]nil%f[%A]") and "?" or ""
    stub("---@field %s %s%s # %s", field.name, lua_type(field), optional, sentence(field.doc))
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

local function stub_records()
  stub "---What every record has."
  stub "---@class perflua.AnyRecord"
  stub_fields(core.types()[0].fields)
  stub "local AnyRecord = {}"
  stub ""
  for _, desc in ipairs(core.types()) do
    stub("---%s", sentence(desc.doc))
    stub("---@class perflua.Record.%s: perflua.AnyRecord", desc.name)
    stub_fields(desc.fields)
    stub ""
  end
  stub "---A record of any type: nil is what its type does not have."
  stub "---@class perflua.Record: perflua.AnyRecord"
  for _, field in ipairs(all_fields()) do
    stub("---@field %s %s", field.name, table.concat(field.types, "|"))
  end
  stub ""
end

local function stub_handlers()
  stub "---@class perflua.Handlers"
  for _, desc in ipairs(core.types()) do
    stub("---@field %s? (fun(record: perflua.Record.%s): any)|any[]", desc.name, desc.name)
  end
end

local function stub_features()
  stub "---@class perflua.Features"
  for _, feature in ipairs(core.features()) do
    stub("---@field %s any # %s", feature.name, sentence(feature.doc))
  end
  stub ""
end

local makers = {
  VIEWS = stub_views, RECORDS = stub_records, FEATURES = stub_features, HANDLERS = stub_handlers,
  EVENT = function() stub_fields(core.event_members()) end,
}

-- The template with each line `--@ NAME` replaced by what the tables say.
---@param template string
---@return string
local function meta(template)
  return (template:gsub("%-%-@ (%u+)\n", function(name)
    stubs = {}
    makers[name]()
    return table.concat(stubs, "\n") .. "\n"
  end))
end

return meta
