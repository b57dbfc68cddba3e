-- Random functions of a record, of a span, or of a record and its span, with their texts.
local functions = { texts = setmetatable({}, { __mode = "k" }) }

-- Reads a path of members, nil where there is none.
local function read(value, ...)
  for i = 1, select("#", ...) do
    if value == nil then return nil end
    value = value[(select(i, ...))]
  end
  return value
end

-- A number made of a value, 0 for other types.
local function number(value)
  if type(value) == "string" then return #value end
  if type(value) == "boolean" then return value and 1 or 2 end
  if value ~= value then return 3 end
  return math.type(value) == "integer" and value or math.type(value) and value // 2 or 0
end

local function path_of(text)
  local steps = {}
  for name in text:gmatch "[%w_]+" do
    steps[#steps + 1] = math.tointeger(tonumber(name)) or ("%q"):format(name)
  end
  return table.concat(steps, ", ")
end

local conditions = {
  "number(%s) %% 3 == %d", "%s ~= nil and %d >= 0", "%s", "type(%s) == 'number' and %d",
  "not %s", "number(%s) > %d",
}
local values = {
  "number(%s) %% 3 + %d", "%s", "number(%s) %% 2 == 0 or nil",
  "({ '', 'a', 'b' })[number(%s) %% 3 + 1]",
  "tostring(%s)",
  "number(%s) %% 2 / 2 + %d", "number(%s) %% 4 == 1 and 0 / 0 or %d", "number(%s) %% 2 == 0",
  "(number(%s) + %d) // 1.0 %% 4",
}

-- Functions that the texts of functions call.
functions.READ, functions.NUMBER = read, number

local function made(text)
  local fn = assert(load("local read, number = ... return " .. text))(read, number)
  functions.texts[fn] = text
  return fn
end

local function filled(random, templates, access)
  local template = templates[1 + random(#templates)]
  return (template:gsub("%%s", function() return access end):gsub("%%d",
    tostring(random(4))):gsub("%%%%", "%%"))
end

-- Says how a field is read: a text of a field, as a query names it.
local function access_of(text, arguments)
  if arguments == "record" then return ("read(record, %s)"):format(path_of(text)) end
  local of_span = text:match "^span%.(.*)"
  if arguments == "record, span" and not of_span then
    return ("read(record, %s)"):format(path_of(text))
  end
  local path = of_span or text
  local first = path:match "^[%w_]+"
  local own = { start = true, open = true, key = true }
  -- `stop`, `duration` and `close` of a span come when it ends: a function of a record inside
  -- asks what is known
  if not own[first] and first ~= "stop" and first ~= "duration" and first ~= "so_far"
    and first ~= "cut" and first ~= "in_a" and first ~= "in_b" and first ~= "close" then
    path = "open." .. path
  end
  local of = arguments == "span, around" and of_span and "around" or "span"
  return ("read(%s, %s)"):format(of, path_of(path))
end

---@param random fun(n: integer): integer
---@param field string as a query names it
---@param arguments "record"|"span"|"record, span"|"span, around"
---@return function # a condition
function functions.condition(random, field, arguments)
  return made(("function(%s) return %s end"):format(arguments,
    filled(random, conditions, access_of(field, arguments))))
end

---@return function # a key
function functions.value(random, field, arguments)
  return made(("function(%s) return %s end"):format(arguments,
    filled(random, values, access_of(field, arguments))))
end

return functions
