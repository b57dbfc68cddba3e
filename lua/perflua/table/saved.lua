-- A Table's groups as text in a file, and back.

local measures = require "perflua.group.measures"
local values = require "perflua.table.values"

local saved = {}

local MAGIC = "perflua table 1\n"

---@param data table
---@param show table
---@return string? text, string? message
function saved.encode(data, show)
  for _, key in ipairs(data.keys) do
    if key.kind == "function" then
      return nil, ("column '%s' is made by a Lua function, which a file cannot hold"):format(key.name)
    end
  end
  local ok, text = pcall(values.encode, { data = data, show = show })
  if not ok then return nil, text end
  return MAGIC .. text .. "\n"
end

local function is(value, ...)
  for _, kind in ipairs { ... } do
    if type(value) == kind or math.type(value) == kind then return true end
  end
  return false
end

local function list_of(value, valid)
  if type(value) ~= "table" then return false end
  for _, item in ipairs(value) do
    if not valid(item) then return false end
  end
  return true
end

local function is_text(value) return type(value) == "string" end
local function is_key(key) return is(key, "table") and is_text(key.name) and is_text(key.kind) end

local function is_measure(one)
  return is(one, "table") and is_text(one.name) and is_text(one.measure) and measures[one.measure] ~= nil
    and is(one.kind, "string", "nil") and is(one.option, "number", "nil")
    and (measures[one.measure].takes == nil or measures[one.measure].takes[one.kind] == true)
end

local function is_state(state, name)
  if not is(state, "table") then return measures[name].start() == false or is(state, "number") end
  if name == "first" or name == "last" then return true end
  if name == "avg" and not (state[1] and state[2] and state[3]) then return false end
  for key, count in pairs(state) do
    if name ~= "distinct" and not (is(key, "integer") and is(count, "number")) then return false end
  end
  return type(measures[name].start()) == "table"
end

local function is_group(g, data)
  if not is(g, "table") or not is(g.keys, "table") or not is(g.event, "integer", "nil") then return false end
  for m, one in ipairs(data.measures) do
    if not is_state(g[m], one.measure) then return false end
  end
  return true
end

local function is_data(data, show)
  return is(data, "table") and is(show, "table") and list_of(data.keys, is_key)
    and list_of(data.measures, is_measure) and #data.measures > 0
    and (data.events == nil or list_of(data.events, is_text))
    and list_of(data.groups, function(g) return is_group(g, data) end)
    and is(show.top, "integer", "nil") and is(show.column, "string", "nil")
end

---@param text string
---@return table? data, table|string show # nil and what is wrong
function saved.decode(text)
  if text:sub(1, #MAGIC) ~= MAGIC then
    local version = text:match("^perflua table (%d+)\n")
    return nil, version and ("a table of version %s; this perflua reads version 1"):format(version)
      or "not a table saved by perflua"
  end
  local ok, content = pcall(values.decode, text:sub(#MAGIC + 1, -2))
  if not ok then return nil, "damaged: " .. content end
  if not is(content, "table") or not is_data(content.data, content.show) then
    return nil, "damaged: this is not the content of a table"
  end
  return content.data, content.show
end

return saved
