-- Protocol buffers as text: https://protobuf.dev/programming-guides/encoding/

local protobuf = {}

---Returns an integer as a varint.
---@param x integer
---@return string
function protobuf.varint(x)
  local bytes = ""
  while x < 0 or x > 0x7f do
    bytes, x = bytes .. string.char(x & 0x7f | 0x80), x >> 7
  end
  return bytes .. string.char(x)
end

local varint = protobuf.varint

---Returns a field of a message; nothing if there is no value.
---@param number integer
---@param value integer|string|nil an integer; bytes: of a text or of a message
---@return string
function protobuf.field(number, value)
  if not value then return "" end
  if math.type(value) == "integer" then return varint(number << 3) .. varint(value) end
  return varint(number << 3 | 2) .. varint(#value) .. value
end

return protobuf
