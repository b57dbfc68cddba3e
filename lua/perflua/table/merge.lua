-- The groups of a Table put together with another's.

local measures = require "perflua.group.measures"

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
local function merge(a, b)
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

return merge
