-- SHA-256 of texts, as content security policies name scripts.

local core = require "perflua.core"

local sha256 = {}

local DIGITS <const> = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

---@param text string
---@return string # its digest in Base64
function sha256.base64(text)
  local bytes, parts = core.sha256(text), {}
  for i = 1, #bytes, 3 do
    local a, b, c = bytes:byte(i, i + 2)
    local bits, n = a << 16 | (b or 0) << 8 | (c or 0), c and 4 or b and 3 or 2
    for k = 1, 4 do
      local digit = bits >> (24 - 6 * k) & 63
      parts[#parts + 1] = k <= n and DIGITS:sub(digit + 1, digit + 1) or "="
    end
  end
  return table.concat(parts)
end

return sha256
