-- Functions of both generated files on the core's tables.

local tables = {}

-- How a kind is called in the reference, and its type in Lua.
tables.kinds = {
  signed = { "integer", "integer" },
  unsigned = { "unsigned", "integer" },
  address = { "hex", "integer" },
  float = { "float", "number" },
  boolean = { "boolean", "boolean" },
  string = { "string", "string" },
  bytes = { "bytes", "string" },
  event = { "Event", "perflua.Event" },
}

function tables.sorted_names(set)
  local names = {}
  for name in pairs(set) do
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

-- The fields, each name once.
function tables.each_once(fields)
  local list, seen = {}, {}
  for _, field in ipairs(fields) do
    if not seen[field.name] then list[#list + 1] = field end
    seen[field.name] = true
  end
  return list
end

-- A sentence: the tables of events and features have phrases.
function tables.sentence(doc)
  local first = doc:match("^%a+") or ""
  if first == first:lower() and not first:find("_") then
    doc = doc:sub(1, 1):upper() .. doc:sub(2)
  end
  return doc:find("[.?…]$") and doc or doc .. "."
end

return tables
