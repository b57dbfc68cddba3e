-- Random columns and rows of every kind of cell, with what is hard to write: corners of
-- numbers, bytes that are not text, texts that spreadsheets take for formulas.

local sketch = require "spec.support.model.sketch"

local random_rows = {}

local KINDS <const> = { "any", "signed", "unsigned", "address", "float", "percent", "string",
  "boolean", "stack", "histogram" }
local UNITS <const> = { "duration", "bytes", "si" }

local random = math.random
local function pick(list) return list[random(#list)] end

local corner_integers <const> = { 0, 1, -1, 9, 10, 99, 100, 999, 1000, 1023, 1024, 1025,
  999499, 999500, 999999, 1000000, 999999999, 1000000000, 1000000001, 123456789012345678,
  999999999999999999, 10 ^ 18 // 1 | 0, math.maxinteger, math.mininteger, math.mininteger + 1,
  -2, -1024, -999999, (1 << 53) + 1, (1 << 60) - 1, 1 << 60, (1 << 60) + 1 }
local corner_floats <const> = {
  0.0, -0.0, 0 / 0, -(0 / 0), math.huge, -math.huge, 1e300, -1e300, 5e-324, -5e-324,
  2.2250738585072014e-308, 0.005, 0.0049, 0.994, 0.995, 0.9949, 0.996, 1.0, -1.0, -0.995,
  0.125, 9.995, 9.994, 99.95, 99.94, 999.5, 1e15, 1e16, 1e17, 2.0 ^ 53, 2.0 ^ 63, -2.0 ^ 63,
  2.0 ^ 64, 0.1, 0.1 + 0.2, 1 / 3, 100 / 3, 123456.789, 999.9995, 1023.9999, 1.005,
  1.7976931348623157e308,
}

local function random_integer()
  local r = random(5)
  if r == 1 then return pick(corner_integers) end
  if r == 2 then return random(0) end
  local x = random(0) >> random(0, 63)
  return random(4) == 1 and -x or x
end

local function random_float()
  local r = random(6)
  if r == 1 then return pick(corner_floats) end
  if r == 2 then return string.unpack("d", string.pack("i8", random(0))) end
  if r == 3 then return random(-100000, 100000) / 1000 end
  if r == 4 then return random() end
  if r == 5 then return random(-1000, 1000) + 0.0 end
  return (random() - 0.5) * 10.0 ^ random(-20, 20)
end

local pieces <const> = { "a", "foo", "::bar<int>", " ", "  ", "\t", "\n", "\r", "\0", "\27[31m",
  "\x7f", "\\", '"', '""', ",", "'", ";", "=", "+", "-", "@", "é", "日本語", "🦀", "\u{9b}",
  "\u{80}", "\u{9f}", "\u{a0}", "\u{85}", "\xc2", "\xe2\x82", "\xff\xfe", "\xed\xa0\x80",
  "\xf4\x90\x80\x80", "\xc0\x80", "\xf0\x9f", "\v\f\b", "e\u{301}", "0", "1", ".", "x", "e5",
  "/usr/lib/libc.so.6", "%s%d" }
local corner_texts <const> = { "", " ", "=1+1", "+5", "-5", "-5.5e3", "-0x10", "-0x1p4", "-0x",
  "-0x.8", "-.", "-.5", "-5.", "-", "+-5", "- 5", "-5 ", "\t5", "\t 5 \n", "\r", "\t", "-inf",
  "-nan", "-infinity", "+1e", "+1e+", "-1e5x", "-1e5", "@x", "-5\0", "=a,b", '=a"b', "-1\n2",
  "+0x1P-3", "-0x1.", "-0x.p1", "-1_000", "+99999999999999999999", "-\u{661}", "-5,5",
  "\t0x1e", "\r\n-7\v\f ", "+0x", "-0X1F", "-1E5", "-e5", "+.e5", "\t\"", "nan", "null",
  "trailing  ", "  leading", "\n=1", "\u{ff1d}1+1", "\u{ff0b}1", "\u{ff0d}1", "\u{ff20}x",
  "\u{ff1c}1", "\xef\xbc", "a\xffb,c", '"\xe2\x82"' }

local function random_text()
  local r = random(20)
  if r < 4 then return pick(corner_texts) end
  if r == 4 then
    local bytes = {}
    for i = 1, random(0, 30) do bytes[i] = string.char(random(0, 255)) end
    return table.concat(bytes)
  end
  if r == 5 and random(100) == 1 then return pick(pieces):rep(random(1, 20000)) end
  if r == 6 then -- near numbers
    local text = {}
    for i = 1, random(1, 8) do
      text[i] = pick { "-", "+", "0", "7", ".", "e", "x", "f", " ", "\t", "p", "E", "X", "n" }
    end
    return pick { "-", "+", "\t", "" } .. table.concat(text)
  end
  local text = {}
  for i = 1, random(0, 8) do text[i] = pick(pieces) end
  return table.concat(text)
end

local function random_histogram()
  local counts = {}
  for _ = 1, random(8) == 1 and 0 or random(1, 12) do
    counts[random(3) == 1 and random(-64, 64) or random(0, 40)] = random(10) == 1
      and random(0) >> 5 or random(1, 5000)
  end
  return sketch.histogram(counts)
end

local Stack <const> = { __tostring = function(stack)
  local text = ""
  for i = #stack.names, 1, -1 do
    text = text .. (i < #stack.names and ";" or "") .. stack.names[i]
  end
  return text
end }

local function random_stack()
  local names = {}
  for i = 1, random(1, 5) do
    names[i] = pick { "main", "foo(int)", "=f", "-g", "a,b", "\"q\"", "日本" } .. random(99)
  end
  return setmetatable({ names = names }, Stack)
end

local function random_boolean() return random(2) == 1 end

local makers <const> = {
  signed = random_integer, unsigned = random_integer, address = random_integer,
  float = random_float, percent = random_float, string = random_text, boolean = random_boolean,
  stack = random_stack, histogram = random_histogram,
}

-- Columns of computed numbers may have integers beside floats.
local mixed <const> = { float = { random_integer }, percent = { random_integer },
  signed = { random_float }, unsigned = { random_float }, address = { random_float } }

local function maker_of(kind)
  if kind ~= "any" then
    local other = mixed[kind]
    if other and random(3) == 1 then
      return function() return random(3) == 1 and other[1]() or makers[kind]() end
    end
    return makers[kind]
  end
  local some = { random_integer, random_float }
  for _ = 1, random(0, 2) do some[#some + 1] = pick { random_text, random_boolean } end
  return function() return pick(some)() end
end

---Returns columns and rows that depend only on the seed.
---@param seed integer
---@return { name: string, kind: string, unit: string?, measured: boolean }[] columns
---@return any[][] rows # by column
function random_rows.make(seed)
  math.randomseed(seed)
  local columns, rows, values = {}, {}, {}
  for i = 1, random(1, 6) do
    local kind = pick(KINDS)
    columns[i] = { name = random(3) == 1 and random_text() or "column" .. i, kind = kind,
      unit = random(3) == 1 and pick(UNITS) or nil, measured = random_boolean() }
    values[i] = maker_of(kind)
  end
  for r = 1, random(0, 30) do
    rows[r] = {}
    for i in ipairs(columns) do
      if random(8) > 1 then rows[r][i] = values[i]() end
    end
  end
  return columns, rows
end

return random_rows
