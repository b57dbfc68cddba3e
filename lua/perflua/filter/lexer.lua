-- Filter strings to tokens: Lua's own names, numbers and strings, and the operators filters
-- know.
--
-- A token is { kind, value, at }: kind is "name", "number", "string", "end", or the spelling of
-- an operator or keyword; at is its column. Errors are raised as tables { at, message }.

local units = require "perflua.text.units"

local lexer = {}

local keywords = {
  ["and"] = true, ["or"] = true, ["not"] = true, ["in"] = true, ["nil"] = true, ["true"] = true,
  ["false"] = true,
}

-- Words that Lua reserves and filters have no use for: a field after a dot may still be called
-- so.
local reserved = {
  ["break"] = true, ["do"] = true, ["else"] = true, ["elseif"] = true, ["end"] = true,
  ["for"] = true, ["function"] = true, ["goto"] = true, ["if"] = true, ["local"] = true,
  ["repeat"] = true, ["return"] = true, ["then"] = true, ["until"] = true,
  ["while"] = true,
}

local operators = {}
for op in ("// << >> == ~= <= >= + - * / % ^ & | ~ # < > ( ) [ ] { } . ,"):gmatch("%S+") do
  operators[op] = true
end

-- Spellings of other languages, or of the rest of Lua.
local foreign = {
  ["!="] = "use ~=", ["&&"] = "use 'and'", ["||"] = "use 'or'", ["!"] = "use 'not'",
  ["="] = "use ==",
  ["--"] = "", [".."] = "", ["::"] = "", ["<>"] = "use ~=",
  ["=~"] = "use match(f, 'pattern')",
}

local escapes = {
  a = "\a", b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", v = "\v",
  ["\\"] = "\\", ["'"] = "'", ['"'] = '"', ["\n"] = "\n",
}

local SHOWN = 100 -- bytes that a message quotes

local function shortened(value)
  return type(value) == "string" and #value > SHOWN and value:sub(1, SHOWN) .. "…" or value
end

---@return any # never returns
local function fail(at, message, ...)
  local values = table.pack(...)
  for i = 1, values.n do values[i] = shortened(values[i]) end
  error({ at = at, message = message:format(table.unpack(values, 1, values.n)) }, 0)
end

lexer.fail = fail

-- One escape sequence: text[at] is the character after the backslash. Returns bytes, next
-- position.
local function escape(text, at)
  local simple = escapes[text:sub(at, at)]
  if simple then return simple, at + 1 end
  local hex = text:match("^x(%x%x)", at)
  if hex then return string.char(tonumber(hex, 16)), at + 3 end
  local decimal = text:match("^%d%d?%d?", at)
  if decimal then
    if tonumber(decimal) > 255 then fail(at, "escape \\%s is above 255", decimal) end
    return string.char(tonumber(decimal)), at + #decimal
  end
  local code = text:match("^u{(%x+)}", at)
  if code then
    if #code > 8 or tonumber(code, 16) > 0x7fffffff then
      fail(at, "escape \\u{%s} is too large", code)
    end
    return utf8.char(tonumber(code, 16)), at + #code + 3
  end
  local blanks = text:match("^z(%s*)", at)
  if blanks then return "", at + 1 + #blanks end
  return fail(at, "invalid escape sequence")
end

local function quoted(text, at)
  local quote, parts, pos = text:sub(at, at), {}, at + 1
  while true do
    local plain, stop = text:match("^([^\\\n'\"]*)()", pos)
    parts[#parts + 1] = plain
    local c = text:sub(stop, stop)
    if c == quote then return table.concat(parts), stop + 1 end
    if c == "" or c == "\n" then fail(at, "unfinished string") end
    if c == "\\" then
      parts[#parts + 1], pos = escape(text, stop + 1)
    else
      parts[#parts + 1], pos = c, stop + 1
    end
  end
end

local function bracketed(text, at)
  local level, from = text:match("^%[(=*)%[\n?()", at)
  local till, next_at = text:find("]" .. level .. "]", from, true)
  if not till then fail(at, "unfinished string") end
  return text:sub(from, till - 1), next_at + 1
end

-- A decimal integer of 2^63 … 2^64-1, which Lua itself would round to a float; else nil.
local function unsigned(digits)
  digits = digits:gsub("^0+", "")
  if #digits > 20 or #digits == 20 and digits > "18446744073709551615" then return nil end
  local value = 0
  for digit in digits:gmatch("%d") do value = value * 10 + tonumber(digit) end
  return math.tointeger(value)
end

-- Returns the value, the next position, its kind, and true if it is a length of time (1.5s), in
-- nanoseconds.
-- kind: "natural" (0 … 2^63-1), "unsigned" (a larger decimal), "bits" (hex with the top bit
-- set: it is what its other operand is, signed or unsigned), "float".
local function number(text, at)
  local hex = text:find("^0[xX]", at)
  local mark = hex and "[pP]" or "[eE]"
  local pos = hex and at + 2 or at
  while true do
    local exponent = text:match("^" .. mark .. "[+-]?()", pos)
    local digit = text:match("^[%w_.]()", pos)
    if not (exponent or digit) then break end
    pos = exponent or digit
  end
  local word = text:sub(at, pos - 1)
  if word:find("^[%d.]+%a+$") then
    local time = units.nanoseconds(word)
    if time then return time, pos, "natural", true end
    if units.is_time(word:match("%a+$")) then
      fail(at, "%s is not a whole number of nanoseconds, or is too large", word)
    end
  end
  local value = tonumber(word)
  if not value then
    fail(at, "malformed number '%s'; a length of time is written 1.5s, 10ms, 3us or 4ns", word)
  end
  if math.type(value) == "integer" then
    if hex and #word:gsub("^0[xX]0*", "") > 16 then
      fail(at, "%s does not fit in 64 bits", word)
    end
    return value, pos, value >= 0 and "natural" or "bits"
  end
  local exact = word:find("^%d+$") and unsigned(word)
  if exact then return exact, pos, "unsigned" end
  return value, pos, "float"
end

local function symbol(text, at)
  for length = 2, 1, -1 do
    local op = text:sub(at, at + length - 1)
    if #op == length then
      if foreign[op] then
        local hint = foreign[op] ~= "" and "; " .. foreign[op] or ""
        fail(at, "'%s' is not part of the filter language%s", op, hint)
      end
      if operators[op] then return op, at + length end
    end
  end
  return fail(at, "'%s' is not part of the filter language", text:match(utf8.charpattern, at)
    or "?")
end

local function token(text, at)
  local word, after = text:match("^([%a_][%w_]*)()", at)
  if word then
    local kind = (keywords[word] or reserved[word]) and word or "name"
    return { kind = kind, value = word, at = at, word = true }, after
  end
  if text:find("^%.?%d", at) then
    local value, stop, kind, is_time = number(text, at)
    return { kind = "number", value = value, at = at, number = kind, is_time = is_time }, stop
  end
  local value, stop
  if text:find("^['\"]", at) then
    value, stop = quoted(text, at)
    return { kind = "string", value = value, at = at }, stop
  end
  if text:find("^%[=*%[", at) then
    value, stop = bracketed(text, at)
    return { kind = "string", value = value, at = at }, stop
  end
  value, stop = symbol(text, at)
  return { kind = value, value = value, at = at }, stop
end

---@param text string
---@return table[] # tokens, the last of kind "end"
function lexer.tokens(text)
  local tokens, at = {}, text:match("^%s*()")
  while at <= #text do
    local found
    found, at = token(text, at)
    tokens[#tokens + 1] = found
    at = text:match("^%s*()", at)
  end
  tokens[#tokens + 1] = { kind = "end", value = "the end", at = #text + 1 }
  return tokens
end

return lexer
