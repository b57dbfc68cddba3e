-- The rules by which a recording is scrubbed: what becomes of each kind of data.

local core = require "perflua.core"
local errors = require "perflua.errors"
local suggest = require "perflua.errors.suggest"
local usage_error = errors.usage_error

local rules = {}

local PRESETS <const> = { anonymous = true, share = true }
local ACTIONS <const> = { "keep", "hash", "drop" }

---The kinds of data, by the core's table: { { name =, doc =, share =, anonymous =, can = } }.
rules.kinds = core.scrub_kinds

local function list_names(kinds)
  local names = {}
  for i, kind in ipairs(kinds) do names[i] = kind.name end
  return names
end

-- Returns the words of a list, or of a text in which commas separate them.
local function words_of(value, option)
  if type(value) == "table" then return value end
  if type(value) ~= "string" then
    usage_error("scrub: %s: names of kinds expected, got a %s", option, type(value))
  end
  local words = {}
  for word in value:gmatch "[^,%s]+" do words[#words + 1] = word end
  return words
end

-- Applies the kinds that an option names.
local function apply(actions, by_name, kinds, option, value)
  for _, word in ipairs(words_of(value, option)) do
    local kind = by_name[word]
    if not kind then
      usage_error("%s", suggest.message(("scrub: %s: unknown kind '%s'"):format(option, word),
        word, list_names(kinds)))
    elseif not kind.can[option] then
      usage_error("scrub: %s: %s cannot be %s", option, word,
        option == "keep" and "kept" or option == "hash" and "hashed" or "dropped")
    end
    actions[word] = option
  end
end

-- Kinds that hold addresses, which cannot be made relative.
local ABSOLUTE <const> = { "registers", "stacks", "aux", "raw", "bpf", "code" }

-- Makes addresses relative to their binary.
local function make_relative(actions)
  for _, name in ipairs(ABSOLUTE) do
    if actions[name] == "keep" then
      usage_error("scrub: addresses: those in data of the kind %s cannot be made relative",
        name)
    end
  end
  actions.addresses = "relative"
end

---Returns what becomes of each kind, as core.write() takes it, and the key of the hashes.
---@param options table ScrubOptions
---@return table
function rules.of(options)
  errors.check_options(options, "ScrubOptions", "scrub: unknown option '%s'")
  local preset, key = options.preset or "anonymous", options.key
  if not PRESETS[preset] then
    usage_error("scrub: preset: \"anonymous\" or \"share\" expected, got '%s'",
      tostring(preset))
  elseif key ~= nil and (type(key) ~= "string" or key == "") then
    usage_error("scrub: key: a string that is not empty expected, got %s",
      key == "" and "an empty one" or "a " .. type(key))
  end
  local kinds, actions, by_name = core.scrub_kinds(), {}, {}
  for _, kind in ipairs(kinds) do
    actions[kind.name], by_name[kind.name] = kind[preset], kind
  end
  for _, option in ipairs(ACTIONS) do
    if options[option] ~= nil then apply(actions, by_name, kinds, option, options[option]) end
  end
  if options.addresses then make_relative(actions) end
  return { rules = actions, key = key or core.random_key() }
end

---Returns the rules that keep all that can be kept.
---@return table
function rules.keeping()
  local actions = {}
  for _, kind in ipairs(core.scrub_kinds()) do
    actions[kind.name] = kind.can.keep and "keep" or "drop"
  end
  return { rules = actions, key = core.random_key() }
end

return rules
