-- JSON with exact 64-bit integers (most writers round them to doubles). Keys are sorted, so the
-- same value always gives the same text.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"

local json = {}

local Raw = {} -- text that is JSON already
local Array, Object = {}, {} -- what an empty table is
local Written = {} -- an array whose items a function writes
local Lazy = {} -- an array whose items are made when they are written
local MAX_DEPTH = 200

json.null = setmetatable({ text = "null" }, Raw)

---@param x integer
---@return any # encodes as an unsigned decimal
function json.unsigned(x) return setmetatable({ text = fmt.unsigned(x) }, Raw) end

---@param x integer
---@return string # an address as JSON has it: "0x…"
function json.address(x) return core.hex(x) end

---@param t table? plain; encodes as an array even if it is empty (which it would anyway)
---@return table
function json.array(t) return setmetatable(t or {}, Array) end

---@param n integer
---@param item fun(i: integer): any nil: the array ends before it
---@return table # for json.write: an array of n items
function json.lazy(n, item) return setmetatable({ n = n, item = item }, Lazy) end

---@param write_items fun(write: fun(text: string)) writes them with the commas between them
---@return table # for json.write: an array of these items
function json.written(write_items)
  return setmetatable({ write_items = write_items }, Written)
end

---@param t table? plain; encodes as an object even if it is empty
---@return table
function json.object(t) return setmetatable(t or {}, Object) end

local escapes = {
  ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n",
  ["\r"] = "\\r",
  ["\t"] = "\\t",
}

local function escape_char(c) return escapes[c] or ("\\u%04x"):format(utf8.codepoint(c)) end

---@param text string
---@return string # valid UTF-8: invalid bytes become U+FFFD
function json.valid_utf8(text)
  if utf8.len(text) then return text end
  local parts, at = {}, 1
  while at <= #text do
    local length, bad = utf8.len(text, at)
    parts[#parts + 1] = text:sub(at, length and #text or bad - 1)
    if not length then parts[#parts + 1] = "\u{fffd}" end
    at = (bad or #text) + 1
  end
  return table.concat(parts)
end

---@param text string
---@return string # with its quotes
function json.string(text)
  if text:find('[%c"\\\x80-\xff]') then
    -- controls of two bytes, too
    text = json.valid_utf8(text):gsub('[%c"\\]', escape_char):gsub("\xc2[\x80-\x9f]",
      escape_char)
  end
  return '"' .. text .. '"'
end

local function encode_number(x)
  if math.type(x) == "integer" then return ("%d"):format(x) end
  if x ~= x or x == math.huge or x == -math.huge then return "null" end
  local text = fmt.shortest(x)
  return text:find("[.e]") and text or text .. ".0"
end

local encode

-- Objects in an array mostly have the same keys: `keys` is the array's, of the last one { name,
-- text … in order }.
local function encode_array(list, n, depth)
  local parts, keys = {}, {}
  for i = 1, n do parts[i] = encode(list[i], depth, keys) end
  return "[" .. table.concat(parts, ",") .. "]"
end

-- Returns the map with names for all keys: itself where these are strings.
local function with_named_keys(map)
  for key in pairs(map) do
    if type(key) ~= "string" then
      local values = {}
      for other, value in pairs(map) do
        values[math.type(other) and encode_number(other) or tostring(other)] = value
      end
      return values
    end
  end
  return map
end

local function has_keys(map, n, keys)
  if #keys ~= n then return false end
  for _, name in ipairs(keys) do
    if map[name] == nil then return false end
  end
  return true
end

local function encode_object(map, n, depth, keys)
  keys = keys or {}
  if not has_keys(map, n, keys) then
    map = with_named_keys(map)
    for i = 1, #keys do keys[i] = nil end
    for name in pairs(map) do keys[#keys + 1] = name end
    table.sort(keys)
    keys.texts = {}
    for i, name in ipairs(keys) do keys.texts[i] = json.string(name) .. ":" end
  end
  local parts, texts = {}, keys.texts
  for i, name in ipairs(keys) do
    parts[2 * i - 1], parts[2 * i] = i > 1 and "," .. texts[i] or texts[i],
      encode(map[name], depth)
  end
  return "{" .. table.concat(parts) .. "}"
end

-- Returns what pairs() gives of a value as a table that has nothing else, and how many keys
-- these are.
local function members_of(value, meta)
  local map, n = type(value) == "table" and (not meta or meta == Array or meta == Object)
    and value, 0
  if map then
    for _ in next, map do n = n + 1 end
    return map, n
  end
  map = {}
  for key, item in pairs(value) do map[key], n = item, n + 1 end
  return map, n
end

-- Tables, and userdata that can be walked with pairs(): an array if its keys are 1 … n.
local function encode_composite(value, depth, keys)
  local meta = getmetatable(value)
  if meta == Raw then return value.text end
  if depth > MAX_DEPTH then error("json: nested deeper than " .. MAX_DEPTH .. " levels", 0) end
  local map, n = members_of(value, meta)
  local is_array = meta ~= Object and (n > 0 or meta == Array or type(value) == "table")
  for i = 1, is_array and n or 0 do
    if map[i] == nil then
      is_array = false
      break
    end
  end
  if is_array then return encode_array(map, n, depth + 1) end
  return encode_object(map, n, depth + 1, keys)
end

local encoders = {
  ["nil"] = function() return "null" end,
  boolean = tostring,
  number = encode_number,
  string = json.string,
  table = encode_composite,
  userdata = encode_composite,
}

function encode(value, depth, keys)
  local encoder = encoders[type(value)]
  if not encoder then error("json: cannot encode a " .. type(value), 0) end
  return encoder(value, depth, keys)
end

local function write_lazy(write, list, depth)
  local keys = {}
  write("[")
  for i = 1, list.n do
    local item = list.item(i)
    if item == nil then break end
    write((i > 1 and "," or "") .. encode(item, depth, keys))
  end
  write("]")
end

-- Arrays and objects that have such values are also written in parts.
local function write_value(write, value, depth)
  local meta = type(value) == "table" and getmetatable(value)
  if meta == Lazy then
    write_lazy(write, value, depth + 1)
  elseif meta == Written then
    write "["
    value.write_items(write)
    write "]"
  elseif meta == Array then
    for i = 1, #value do
      write(i > 1 and "," or "[")
      write_value(write, value[i], depth + 1)
    end
    write(#value > 0 and "]" or "[]")
  elseif meta == Object then
    local list = {}
    for name in pairs(value) do list[#list + 1] = name end
    table.sort(list)
    for i, name in ipairs(list) do
      write((i > 1 and "," or "{") .. json.string(name) .. ":")
      write_value(write, value[name], depth + 1)
    end
    write(#list > 0 and "}" or "{}")
  else
    write(encode(value, depth))
  end
end

---Writes the text of json.encode in parts. Of a large value, only the items of json.array and
---json.object are in memory; those of json.lazy and json.written are made when they are
---written.
---@param write fun(text: string)
---@param value any
function json.write(write, value) write_value(write, value, 1) end

---@param value any nil, booleans, numbers, strings, tables, userdata with pairs()
---@return string
function json.encode(value) return encode(value, 1) end

return json
