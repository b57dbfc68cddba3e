-- The header features as a value for JSON: addresses and masks as "0x…", unsigned numbers
-- exact, bytes as hex digits.

local core = require "perflua.core"
local json = require "perflua.text.json"

local BYTES = {
  data = true, jited_prog_insns = true, xlated_prog_insns = true, func_info = true,
  line_info = true,
  jited_line_info = true,
}
local SIGNED = { pid = true, core_id = true, die_id = true, socket_id = true }
local ADDRESS = { jited_ksyms = true }
local NAMES = { pmu_mappings = true, cpu_pmu_caps = true, caps = true, systems = true }

for _, member in ipairs(core.event_members()) do
  ADDRESS[member.name] = member.kind == "address" or nil
  SIGNED[member.name] = member.kind == "signed" or nil
end

local function hex_digits(bytes)
  return (bytes:gsub(".", function(c)
    return ("%02x"):format(c:byte())
  end))
end

-- Converts a value for JSON. `key` is its name, or that of the array it is an item of.
local function convert_value(value, key)
  if math.type(value) == "integer" then
    if ADDRESS[key] then
      return json.address(value)
    end
    return SIGNED[key] and value or json.unsigned(value)
  elseif type(value) == "string" and BYTES[key] then
    return hex_digits(value)
  elseif type(value) ~= "table" then
    return value
  end
  local converted = NAMES[key] and json.object() or {}
  for name, item in pairs(value) do
    -- names that come from the file say nothing about their values
    converted[name] = convert_value(item, type(name) == "integer" and key or not NAMES[key]
      and name or nil)
  end
  return converted
end

---@param features table the File's
---@return table # for json.encode; unknown features by their number
return function(features)
  local values = json.object()
  for name, value in pairs(features) do
    if math.type(name) == "integer" then
      values[tostring(name)] = hex_digits(value)
    else
      values[name] = convert_value(value, name)
    end
  end
  return values
end
