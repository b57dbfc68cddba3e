-- Colours: each kind of frame has a range of hues, from which the hash of a name takes its
-- shade.

local palette = {}

palette.SHADES = 8

-- For each kind {hue from, to, saturation, lightness from, to} in a light and in a dark window.
local gray = { light = { 220, 220, 8, 80, 90 }, dark = { 220, 220, 8, 26, 36 } }
local warm = { light = { 14, 46, 86, 66, 74 }, dark = { 12, 37, 58, 31, 36 } }
local blue = { light = { 202, 228, 72, 73, 80 }, dark = { 206, 228, 44, 37, 45 } }
local green = { light = { 140, 168, 48, 64, 74 }, dark = { 146, 168, 42, 25, 31 } }
local violet = { light = { 280, 306, 48, 77, 83 }, dark = { 284, 304, 30, 40, 46 } }
local rose = { light = { 336, 350, 62, 76, 83 }, dark = { 336, 350, 38, 37, 44 } }
local neutral = { light = { 220, 230, 14, 86, 90 }, dark = { 220, 230, 10, 25, 29 } }

local function repeat_range(range)
  return { n = neutral, u = range, k = range, j = range, i = range, p = range }
end

palette.schemes = {
  kind = { n = neutral, u = warm, k = blue, j = green, i = violet, p = rose },
  warm = repeat_range(warm),
  cool = repeat_range(blue),
  gray = repeat_range(gray),
}

-- Ranges of shades that go from a small change to the largest one: { hue, saturation from, to,
-- lightness from, to, is_scale = true }.
local function scale_of(hue)
  return { light = { hue, 80, 84, 90, 60, is_scale = true },
    dark = { hue, 30, 72, 27, 46, is_scale = true } }
end

---Frames that are more or less than before; the others differ by no more than noise.
palette.changes = { n = gray, m = scale_of(6), l = scale_of(216) }

local function compute_channel(hue, saturation, lightness, n)
  local k = (n + hue / 30) % 12
  local value = lightness - saturation * math.min(lightness, 1 - lightness)
    * math.max(-1, math.min(k - 3, 9 - k, 1))
  return math.floor(value * 255 + 0.5)
end

local function format_hex(hue, saturation, lightness)
  local s, l = saturation / 100, lightness / 100
  return ("#%02x%02x%02x"):format(compute_channel(hue, s, l, 0), compute_channel(hue, s, l, 8),
    compute_channel(hue, s, l, 4))
end

local function interpolate(from, to, i) return from + (to - from) * i / (palette.SHADES - 1) end

-- Shades run through the hues while lightness goes to and fro, so that neighbours differ; those
-- of a scale get stronger.
local function pick_shade(range, i)
  if range.is_scale then
    return format_hex(range[1], interpolate(range[2], range[3], i),
      interpolate(range[4], range[5], i))
  end
  local hue = interpolate(range[1], range[2], i)
  local lightness = range[4] + (range[5] - range[4]) * (i * 3 % palette.SHADES)
    / (palette.SHADES - 1)
  return format_hex(hue, range[3], lightness)
end

---@param scheme table one of palette.schemes
---@param mode "light"|"dark"
---@return string[] rules of CSS: .u0 … .u7 and so on
function palette.css(scheme, mode)
  local rules = {}
  for _, kind in ipairs { "n", "u", "k", "j", "i", "p", "m", "l" } do
    for i = 0, scheme[kind] and palette.SHADES - 1 or -1 do
      rules[#rules + 1] = (".%s%d{fill:%s}"):format(kind, i, pick_shade(scheme[kind][mode], i))
    end
  end
  return rules
end

---@param name string
---@return integer # 0 … SHADES-1, always the same for a name
function palette.shade(name)
  local hash = 0x811c9dc5 -- FNV-1a
  for i = 1, #name do hash = ((hash ~ name:byte(i)) * 0x01000193) & 0xffffffff end
  return (hash ~ hash >> 15) % palette.SHADES
end

return palette
