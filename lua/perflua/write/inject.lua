-- Adds to a recording that is written what files of this machine tell of it: its options.

local errors = require "perflua.errors"
local usage_error = errors.usage_error

local inject = {}

local WHICH <const> = { hit = "hit", all = "all" }
local MAPPINGS <const> = { all = "identified", used = "used" }

local function choose(options, name, choices, expected)
  local value = options[name]
  if value == nil then return nil end
  if not choices[value] then
    usage_error("inject: %s: %s expected, got %s", name, expected, tostring(value))
  end
  return choices[value]
end

-- Returns build-ids as bytes, by name.
local function read_known(known)
  local read = {}
  for name, text in pairs(known or {}) do
    local is_id = type(text) == "string" and #text > 0 and #text <= 40 and #text % 2 == 0
      and not text:find "%X"
    if type(name) ~= "string" or not is_id then
      usage_error("inject: known: the build-id of %s: up to 40 hexadecimal digits expected, "
        .. "got %s", tostring(name), tostring(text))
    end
    read[name] = text:gsub("%x%x", function(byte) return string.char(tonumber(byte, 16)) end)
  end
  return read
end

---Returns the option `inject` of core.write().
---@param options table InjectOptions
---@param force boolean? files that exist are replaced
---@return table
function inject.of(options, force)
  errors.check_options(options, "InjectOptions", "inject: unknown option '%s'")
  return {
    ids = choose(options, "build_ids", WHICH, "'hit' or 'all'"),
    mappings = choose(options, "mappings", MAPPINGS, "'all' or 'used'"),
    known = read_known(options.known),
    jit = options.jit, sched_stat = options.sched_stat, replaces = force,
  }
end

return inject
