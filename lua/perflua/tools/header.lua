-- perflua header FILE: what the recording's header says, as `perf report --header-only -I`
-- prints it.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local header = require "perflua.header"
local json = require "perflua.text.json"

-- The header features as a value for JSON: addresses and masks as "0x…", unsigned numbers
-- exact, bytes as hex digits.

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
local function json_of(features)
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

local tool = {
  description = "show what the header says about the machine and the recording",
  usage = "header [--json] FILE",
  reads = "records",
  refused = "it reads no samples",
  options = { json = "print all features as one JSON object" },
}

local function add_damage(file, add)
  local damaged = {}
  for _, damage in ipairs(file.damage) do
    local name = damage.reason:match("^feature ([%w_]+)")
    if name then
      damaged[name] = true
    end
    add("# damaged : offset %d, %d bytes: %s", damage.offset, damage.size, damage.reason)
  end
  return damaged
end

local function add_unknown(file, add)
  local numbers = {}
  for name in pairs(file.features) do
    if math.type(name) == "integer" then
      table.insert(numbers, name)
    end
  end
  table.sort(numbers)
  for _, number in ipairs(numbers) do
    add("# unknown feature %d : %d bytes", number, #file.features[number])
  end
end

-- Strings come from the recording.
local function escape_values(...)
  local values = table.pack(...)
  for i = 1, values.n do
    if type(values[i]) == "string" then
      values[i] = fmt.escape(values[i])
    end
  end
  return table.unpack(values, 1, values.n)
end

local function print_text(file, out)
  local missing = {}
  local function add(format, ...)
    out:write(format:format(escape_values(...)), "\n")
  end
  add("# ========")
  if file.captured_on then
    add("# captured on    : %s", os.date("%a %b %e %H:%M:%S %Y", file.captured_on))
  end
  add("# header version : %d", file.version - 1) -- perf counts from 0
  local offset, size = core.data_section(file)
  if offset then
    add("# data offset    : %d", offset)
    add("# data size      : %d", size)
    add("# feat offset    : %d", offset + size)
  end
  if file.size then -- a stream has none
    add("# file size      : %d", file.size)
  end
  add("# byte order     : %s endian", file.byte_order)
  for _, name in ipairs(header.names) do
    if file.features[name] ~= nil then
      header.print(name, file, add)
    else
      table.insert(missing, name)
    end
  end
  add_unknown(file, add)
  local damaged = add_damage(file, add)
  local words = {}
  for _, name in ipairs(missing) do
    if not damaged[name] then
      table.insert(words, name:upper() .. " ")
    end
  end
  if #words > 0 then
    add("# missing features: %s", table.concat(words))
  end
  add("# ========")
  add("#")
end

---@param file perflua.File
---@param args table
---@param out file*
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out)
  if args.json then
    out:write(json.encode(json_of(file.features)), "\n")
  else
    print_text(file, out)
  end
  return 0
end

return tool
