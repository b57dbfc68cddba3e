-- SHA-256 (FIPS 180-4) of short texts, as content security policies name scripts.

local sha256 = {}

-- The first 32 bits of the fractions of roots of the first primes: square roots, cube roots.
local primes = {}
for n = 2, 311 do
  local is_prime = true
  for _, p in ipairs(primes) do is_prime = is_prime and n % p ~= 0 end
  if is_prime then primes[#primes + 1] = n end
end

-- Doubles are exact enough for these.
local function root_fraction(n, degree)
  return math.floor(n ^ (1 / degree) * 2.0 ^ 32) & 0xffffffff
end

local initial, constants = {}, {}
for i = 1, 8 do initial[i] = root_fraction(primes[i], 2) end
for i = 1, 64 do constants[i] = root_fraction(primes[i], 3) end

local function rotate(x, n) return (x >> n | x << (32 - n)) & 0xffffffff end

-- Mixes a block of 64 bytes, of which w is the schedule, into the state.
local function mix(state, w)
  local a, b, c, d, e, f, g, h = table.unpack(state)
  for i = 1, 64 do
    local s1 = rotate(e, 6) ~ rotate(e, 11) ~ rotate(e, 25)
    local t1 = h + s1 + (e & f ~ ~e & g) + constants[i] + w[i]
    local s0 = rotate(a, 2) ~ rotate(a, 13) ~ rotate(a, 22)
    local t2 = s0 + (a & b ~ a & c ~ b & c)
    a, b, c, d, e, f, g, h = (t1 + t2) & 0xffffffff, a, b, c, (d + t1) & 0xffffffff, e, f, g
  end
  for i, one in ipairs { a, b, c, d, e, f, g, h } do
    state[i] = (state[i] + one) & 0xffffffff
  end
end

---@param text string
---@return string # 32 bytes
function sha256.digest(text)
  local state = table.move(initial, 1, 8, 1, {})
  text = text .. "\x80" .. ("\0"):rep(-(#text + 9) % 64) .. (">I8"):pack(8 * #text)
  local w = {}
  for at = 1, #text, 64 do
    for i = 1, 16 do w[i] = (">I4"):unpack(text, at + 4 * (i - 1)) end
    for i = 17, 64 do
      local x, y = w[i - 15], w[i - 2]
      w[i] = (w[i - 16] + (rotate(x, 7) ~ rotate(x, 18) ~ x >> 3) + w[i - 7]
        + (rotate(y, 17) ~ rotate(y, 19) ~ y >> 10)) & 0xffffffff
    end
    mix(state, w)
  end
  return (">I4I4I4I4I4I4I4I4"):pack(table.unpack(state))
end

local DIGITS <const> = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

---@param text string
---@return string # its digest in Base64
function sha256.base64(text)
  local bytes, parts = sha256.digest(text), {}
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
