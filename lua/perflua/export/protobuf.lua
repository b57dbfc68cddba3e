-- Protocol buffers, as far as profiles need them: fields of messages as bytes.
-- https://protobuf.dev/programming-guides/encoding/

local protobuf = {}

local char = string.char

---@param x integer from 0 on, or any integer as one of 64 bits
---@return string
function protobuf.varint(x)
  if x >= 0 and x < 0x80 then return char(x) end
  local bytes = {}
  repeat
    local low = x & 0x7f
    x = x >> 7
    bytes[#bytes + 1] = char(x ~= 0 and low | 0x80 or low)
  until x == 0
  return table.concat(bytes)
end

local varint = protobuf.varint

---@param field integer
---@param x integer | nil
---@return string # empty of 0 and nil, the default
function protobuf.integer(field, x)
  if not x or x == 0 then return "" end
  return varint(field << 3) .. varint(x)
end

---@param field integer
---@param text string of bytes, or a message
---@return string
function protobuf.bytes(field, text)
  return varint(field << 3 | 2) .. varint(#text) .. text
end

---@param field integer
---@param list integer[]
---@return string # packed
function protobuf.integers(field, list)
  local parts = {}
  for i, x in ipairs(list) do parts[i] = varint(x) end
  return protobuf.bytes(field, table.concat(parts))
end

return protobuf
