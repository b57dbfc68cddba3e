-- How the field of a Ref is read: by the core, from the Ref's path and what stands beside it,
-- or by a function of Lua, where the core has no answer.
--
-- A Ref (fields/init.lua) gets
--   get         a function of a record that returns the value; nil if it is absent
--   by_event    the values of a member of events, by their indexes
--   by_call     why `get` is called for everything about the field; nil: it is not
--   as_value    why `get` is called for its value, but not to learn whether it is there
--   length      a function of a record that counts its items, if by_call says so

local reading = {}

local MAX_STEPS <const> = 8 -- as the core has them

local constant = { number = true, string = true, boolean = true }

-- Members of events that come with records among the others.
local late = { unit = true, scale = true }

local function getter_of(root, path)
  local first, second = path[2], path[3]
  if not first then return function(record) return record[root] end end
  if not second then
    return function(record)
      local view = record[root]
      if view == nil then return nil end
      return view[first]
    end
  end
  return function(record)
    local value = record[root]
    for i = 2, #path do
      if value == nil then return nil end
      value = value[path[i]]
    end
    return value
  end
end

local function only_of(having, get)
  return function(record)
    if not having[record.type_id] then return nil end
    return get(record)
  end
end

-- Returns a function that counts the items of a value in Lua, as the core counts them.
local function count_of(get)
  return function(record)
    local value = get(record)
    local kind, meta = type(value), getmetatable(value)
    local has = kind == "string" or kind == "table" or meta == "perflua.args"
      or kind == "userdata" and type(meta) == "table" and meta.__len ~= nil
    if has then return #value end
  end
end

-- Returns the values of a member of events, which do not change while records are read, unless
-- events come late. nil and why not.
local function values_by_event(ref, file)
  if file.mode == "pipe" then
    return nil, ("%s: a stream may add events later"):format(ref.text)
  end
  if late[ref.path[2]] then return nil, ("%s is read among the records"):format(ref.text) end
  local values = {}
  for i, event in ipairs(file.events) do
    local value = event[ref.path[2]]
    if value ~= nil and not constant[type(value)] then
      return nil, ("%s is a view"):format(ref.text)
    end
    values[i] = value
  end
  return values
end

-- Returns whether a field is an object: the core knows whether it is there, but only Lua has
-- its value.
local function is_composite(ref)
  local path = ref.path
  return ref.kind == "view" or math.type(path[#path]) ~= nil and path[#path - 1] == "inlined"
end

---Completes a Ref of records.
---@param ref table with root, path, kind, types and mixed; with get, unless the path tells it
---@param file perflua.File
function reading.complete(ref, file)
  ref.get = ref.get or getter_of(ref.root, ref.path)
  if ref.types then ref.get = only_of(ref.types, ref.get) end
  if #ref.path > MAX_STEPS + 1 then
    ref.by_call = ("%s has more than %d parts"):format(ref.text, MAX_STEPS)
  elseif is_composite(ref) then
    ref.as_value = ("%s is a view"):format(ref.text)
  elseif ref.mixed then
    ref.as_value = ("%s is a view in some events"):format(ref.text)
  end
  if ref.root == "event" and #ref.path > 1 then
    ref.by_event, ref.by_call = values_by_event(ref, file)
  end
  ref.length = ref.by_call and count_of(ref.get)
end

return reading
