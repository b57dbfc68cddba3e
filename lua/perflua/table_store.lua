-- The groups of a Table put together with another's, and as text in a file.

local measures = require "perflua.measures"
local store = require "perflua.store"

local table_store = {}

local MAGIC = "perflua table 1\n"

local function same_columns(a, b)
  if #a.keys ~= #b.keys or #a.measures ~= #b.measures or not a.events ~= not b.events then return false end
  for i, key in ipairs(a.keys) do
    if key.name ~= b.keys[i].name then return false end
  end
  for i, one in ipairs(a.measures) do
    local two = b.measures[i]
    if one.name ~= two.name or one.measure ~= two.measure or one.kind ~= two.kind
      or one.option ~= two.option then
      return false
    end
  end
  return true
end

-- The events of both, each name as often as the one that has it more often; places of b's in them.
local function join_events(a, b)
  local all, place, seen = {}, { [0] = 0 }, {}
  for i, name in ipairs(a) do all[i] = name end
  for i, name in ipairs(b) do
    local from = seen[name] or 0
    repeat from = from + 1 until from > #all or all[from] == name
    all[from], place[i], seen[name] = name, from, from
  end
  return all, place
end

-- A string that is the same for the same event and key values only.
local function identity(g, n_keys, event)
  local parts = { tostring(event) }
  for i = 1, n_keys do
    local key = g.keys[i]
    local text = math.type(key) == "float" and ("%a"):format(key) or tostring(key)
    parts[i + 1] = ("%s %d:%s"):format(math.type(key) or type(key), #text, text)
  end
  return table.concat(parts, " ")
end

local function combined(a, b, columns)
  local g = { event = a.event, keys = a.keys }
  for m, one in ipairs(columns) do g[m] = measures[one.measure].merge(a[m], b[m], one.kind) end
  return g
end

---@param a table
---@param b table
---@return table? data, string? message
function table_store.merge(a, b)
  if not same_columns(a, b) then return nil, "the tables have different columns" end
  local events, place
  if a.events then events, place = join_events(a.events, b.events) end
  local n_keys, groups, at = #a.keys, {}, {}
  for i, g in ipairs(a.groups) do
    groups[i] = g
    at[identity(g, n_keys, g.event or 0)] = i
  end
  for _, g in ipairs(b.groups) do
    local event = place and place[g.event or 0] or 0
    local id = identity(g, n_keys, event)
    if at[id] then
      groups[at[id]] = combined(groups[at[id]], g, a.measures)
    else
      local moved = table.move(g, 1, #a.measures, 1, { event = event, keys = g.keys })
      groups[#groups + 1] = moved
      at[id] = #groups
    end
  end
  return { events = events, keys = a.keys, measures = a.measures, groups = groups }
end

---@param data table
---@param show table
---@return string? text, string? message
function table_store.encode(data, show)
  for _, key in ipairs(data.keys) do
    if key.kind == "function" then
      return nil, ("column '%s' is made by a Lua function, which a file cannot hold"):format(key.name)
    end
  end
  local ok, text = pcall(store.encode, { data = data, show = show })
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
function table_store.decode(text)
  if text:sub(1, #MAGIC) ~= MAGIC then
    local version = text:match("^perflua table (%d+)\n")
    return nil, version and ("a table of version %s; this perflua reads version 1"):format(version)
      or "not a table saved by perflua"
  end
  local ok, saved = pcall(store.decode, text:sub(#MAGIC + 1, -2))
  if not ok then return nil, "damaged: " .. saved end
  if not is(saved, "table") or not is_data(saved.data, saved.show) then
    return nil, "damaged: this is not the content of a table"
  end
  return saved.data, saved.show
end

return table_store
