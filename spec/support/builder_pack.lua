-- Numbers and strings as the builder writes them: a writer for one byte order.
--
-- Fixed layouts are spelled as text: "pid:u32 tid:u32 filename:z8" packs these members of a
-- table one after another. Kinds: u8 u16 u32 u64 (and s…), f64; zN text with its NUL, padded
-- with zeros to a multiple of N; cN text in exactly N bytes; hN hex digits in exactly N bytes;
-- xN N zero bytes.
local pack = {}

local Writer = {}

local integers = {
  u8 = { "B", 0xff }, u16 = { "I2", 0xffff }, u32 = { "I4", 0xffffffff },
  s8 = { "B", 0xff }, s16 = { "I2", 0xffff }, s32 = { "I4", 0xffffffff },
}

-- The writer of a byte order, whose functions of numbers know their formats.
local function make_writer(order)
  local w = setmetatable({ big = order == ">", order = order }, { __index = Writer })
  local string_pack = string.pack
  for kind, how in pairs(integers) do
    local format, mask = order .. how[1], how[2]
    w[kind] = function(_, v) return string_pack(format, (v or 0) & mask) end
  end
  local word, float = order .. "i8", order .. "d"
  function w.u64(_, v) return string_pack(word, v or 0) end
  function w.f64(_, v) return string_pack(float, v or 0.0) end
  w.s64 = w.u64
  return w
end

local writers = { little = make_writer "<", big = make_writer ">" }

function pack.writer(endian)
  return assert(writers[endian], "endian is little or big")
end

--- Zeros that bring `size` to a multiple of `to`.
function pack.fill(size, to)
  return string.rep("\0", -size % to)
end

--- Text with its NUL, padded.
function pack.text(s, to)
  s = (s or "") .. "\0"
  return s .. pack.fill(#s, to or 1)
end

--- Text or bytes in exactly n bytes.
function pack.chars(s, n)
  s = (s or ""):sub(1, n)
  return s .. string.rep("\0", n - #s)
end

--- Hex digits as bytes: "0a1b" is "\x0a\x1b".
function pack.unhex(s)
  return ((s or ""):gsub("%x%x", function(digits) return string.char(tonumber(digits, 16)) end))
end

--- A header string: length, then the text padded to a multiple of 64.
function Writer:str(s)
  s = pack.text(s, 64)
  return self:u32(#s) .. s
end

--- A count, then each of a list as `each` packs it.
function Writer:list(list, each, count)
  local out = { (count or self.u32)(self, #list) }
  for _, v in ipairs(list) do
    out[#out + 1] = each(self, v)
  end
  return table.concat(out)
end

--- An array of integers of one kind.
function Writer:array(kind, values)
  local out = {}
  for i, v in ipairs(values) do
    out[i] = self[kind](self, v)
  end
  return table.concat(out)
end

-- By kind: what is written for a value that is not a number.
local texts = {
  z = pack.text, c = pack.chars, h = function(v, n) return pack.chars(pack.unhex(v), n) end,
  x = function(_, n) return string.rep("\0", n) end,
}

-- Layouts that were read, by their text: { name, function of a text, n } or { name, kind of
-- number }.
local layouts = {}

local function read_layout(layout)
  local members = {}
  for name, kind, n in layout:gmatch("([%w_]+):(%a)(%d+)") do
    members[#members + 1] = texts[kind] and { name, texts[kind], tonumber(n) }
      or { name, kind .. n }
  end
  layouts[layout] = members
  return members
end

--- The members of `values` that a layout names, one after another.
function Writer:fields(layout, values)
  local out = {}
  for i, member in ipairs(layouts[layout] or read_layout(layout)) do
    local v = values[member[1]]
    if member[3] then
      out[i] = member[2](v, member[3])
    else
      out[i] = self[member[2]](self, v == true and 1 or v or 0)
    end
  end
  return table.concat(out)
end

--- A 64-bit word of bit-fields, each {position, width} counted as a little-endian compiler
--- allocates them. A big-endian one starts at the other end: the same field lies at 64 -
--- position - width.
function Writer:bits(places, values)
  local word = 0
  for name, v in pairs(values) do
    local place = places[name]
    if place and v then
      local at, width = place[1], place[2]
      v = v == true and 1 or v
      word = word | (v & ((1 << width) - 1)) << (self.big and 64 - at - width or at)
    end
  end
  return word
end

return pack
