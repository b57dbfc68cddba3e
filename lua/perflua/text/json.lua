-- JSON with exact 64-bit integers (most writers round them to doubles). Keys are sorted, so the same
-- value always gives the same text.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"

local json = {}

local Raw = {} -- text that is JSON already
local Array, Object = {}, {} -- what an empty table is
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

---@param t table? plain; encodes as an object even if it is empty
---@return table
function json.object(t) return setmetatable(t or {}, Object) end

local escapes = {
  ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r",
  ["\t"] = "\\t",
}

local function escape(c) return escapes[c] or ("\\u%04x"):format(utf8.codepoint(c)) end

-- Valid UTF-8 of whatever bytes: what is none becomes U+FFFD.
local function valid(text)
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
    text = valid(text):gsub('[%c"\\]', escape):gsub("\xc2[\x80-\x9f]", escape) -- controls of two bytes, too
  end
  return '"' .. text .. '"'
end

local function number(x)
  if math.type(x) == "integer" then return ("%d"):format(x) end
  if x ~= x or x == math.huge or x == -math.huge then return "null" end
  local text = fmt.shortest(x)
  return text:find("[.e]") and text or text .. ".0"
end

local encode

local function encode_array(list, n, depth)
  local parts = {}
  for i = 1, n do parts[i] = encode(list[i], depth) end
  return "[" .. table.concat(parts, ",") .. "]"
end

local function encode_object(map, depth)
  local names, values = {}, {}
  for key, value in pairs(map) do
    local name = math.type(key) and number(key) or tostring(key)
    names[#names + 1], values[name] = name, value
  end
  table.sort(names)
  for i, name in ipairs(names) do
    names[i] = json.string(name) .. ":" .. encode(values[name], depth)
  end
  return "{" .. table.concat(names, ",") .. "}"
end

-- Tables, and userdata that can be walked with pairs(): an array if its keys are 1 … n.
local function encode_composite(value, depth)
  local meta = getmetatable(value)
  if meta == Raw then return value.text end
  if depth > MAX_DEPTH then error("json: nested deeper than " .. MAX_DEPTH .. " levels", 0) end
  local map, n = {}, 0
  for key, item in pairs(value) do map[key], n = item, n + 1 end
  local is_array = meta ~= Object and (n > 0 or meta == Array or type(value) == "table")
  for i = 1, n do
    if map[i] == nil then is_array = false end
  end
  if is_array then return encode_array(map, n, depth + 1) end
  return encode_object(map, depth + 1)
end

local encoders = {
  ["nil"] = function() return "null" end,
  boolean = tostring,
  number = number,
  string = json.string,
  table = encode_composite,
  userdata = encode_composite,
}

function encode(value, depth)
  local encoder = encoders[type(value)]
  if not encoder then error("json: cannot encode a " .. type(value), 0) end
  return encoder(value, depth)
end

---@param value any nil, booleans, numbers, strings, tables, userdata with pairs()
---@return string
function json.encode(value) return encode(value, 1) end

return json
