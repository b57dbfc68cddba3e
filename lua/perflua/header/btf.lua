-- BPF type information, as far as names of functions need it.
-- See Documentation/bpf/btf.rst of the kernel.

local btf = {}

local MAGIC = 0xeb9f

-- bytes that follow a type, by its kind: {fixed, for each of its vlen members}
local EXTRA = {
  [1] = { 4, 0 }, -- INT
  [3] = { 12, 0 }, -- ARRAY
  [4] = { 0, 12 }, -- STRUCT
  [5] = { 0, 12 }, -- UNION
  [6] = { 0, 8 }, -- ENUM
  [13] = { 0, 8 }, -- FUNC_PROTO
  [14] = { 4, 0 }, -- VAR
  [15] = { 0, 12 }, -- DATASEC
  [17] = { 4, 0 }, -- DECL_TAG
  [19] = { 0, 12 }, -- ENUM64
}

---Names of the types in a blob of BTF: id → name; empty if the blob is not BTF.
---@param data string
---@param byte_order "little" | "big"
---@return table<integer, string>
function btf.names(data, byte_order)
  local endian = byte_order == "big" and ">" or "<"
  local names = {}
  if #data < 24 or string.unpack(endian .. "I2", data) ~= MAGIC then
    return names
  end
  local head, type_off, type_len, str_off,
    str_len = string.unpack(endian .. "I4I4I4I4I4", data, 5)
  local at, last = head + type_off, math.min(head + type_off + type_len, #data)
  local strings = head + str_off
  local id = 0
  while at + 12 <= last do
    local name, info = string.unpack(endian .. "I4I4", data, at + 1)
    local extra = EXTRA[info >> 24 & 0x1f] or { 0, 0 }
    local from = strings + name + 1
    id = id + 1
    if name < str_len and from <= #data then
      names[id] = data:match("^[^\0]*", from)
    end
    at = at + 12 + extra[1] + extra[2] * (info & 0xffff)
  end
  return names
end

return btf
