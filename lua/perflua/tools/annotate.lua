-- perflua annotate FILE [SYMBOL]: which instruction and which source line, as perf annotate
-- prints it.

local annotate = require "perflua.annotate"
local suggest = require "perflua.errors.suggest"
local text = require "perflua.annotate.text"
local unchosen = require "perflua.toolkit.unchosen"

local tool = {
  description = "which instructions and source lines of a function have the samples",
  usage = "annotate [options] FILE [SYMBOL]",
  reads = "samples", passes = 1,
  operands = { 0, 1 },
  options = {
    ["percent-type"] = { "TYPE", "local-period (default), local-hits, global-period or "
      .. "global-hits: what the shares of lines are of",
      values = annotate.percent_types },
    ["min-share"] = { "PERCENT", "without SYMBOL: show functions with this share of their "
      .. "event or more; default: 0.5" },
    context = { "N", "show only N lines around those with samples; default without SYMBOL: 4" },
    prefix = { "PATH", "put PATH in front of the paths of source files" },
    ["prefix-strip"] = { "N", "leave out the first N parts of absolute ones" },
    stdio2 = "the layout of perf annotate --stdio2, which is the default",
    stdio = "the layout of perf annotate --stdio",
  },
  help = [[
Shows the code of function SYMBOL with the samples of each instruction, and the source lines where
the binary has debug information and the source files are there. Without SYMBOL, shows the hot
parts of the hottest functions. The code is read from the recorded binary; the head of each
listing names the files of code and lines, and what proves that they are the recorded ones.]],
}

local DEFAULT_SHARE <const>, DEFAULT_CONTEXT <const> = 0.5, 4

local function parse_number(args, name, integer)
  if not args[name] then return nil end
  local value = tonumber(args[name])
  value = integer and value and math.tointeger(value) or not integer and value
  if not value or value ~= value or value < 0 then
    return nil, ("--%s: %s expected, got '%s'"):format(name,
      integer and "a number" or "a percentage", args[name])
  end
  return value
end

function tool.prepare(args)
  local settings = { percent_type = args["percent-type"] or "local-period" }
  local known = false
  for _, name in ipairs(annotate.percent_types) do
    known = known or name == settings.percent_type
  end
  if not known then
    return nil, suggest.message(("--percent-type: no '%s'"):format(settings.percent_type),
      settings.percent_type, annotate.percent_types)
  end
  for option, integer in pairs { ["min-share"] = false, context = true,
    ["prefix-strip"] = true } do
    local value, message = parse_number(args, option, integer)
    if message then return nil, message end
    settings[option] = value
  end
  if args.stdio and args.stdio2 then return nil, "--stdio and --stdio2 exclude each other" end
  settings.write = args.stdio and text.write_plain or text.write
  return settings
end

-- Returns the functions of an event that are shown.
local function choose(read, event, symbol, settings)
  if not symbol then
    return read:hottest(event, settings["min-share"] or DEFAULT_SHARE)
  end
  local list = {}
  for _, func in ipairs(read:hottest(event)) do
    if func.symbol == symbol then list[#list + 1] = func end
  end
  return list
end

local function event_of(listing, index)
  for _, event in ipairs(listing.events) do
    if event.index == index then return event end
  end
end

-- Writes the listings of all events. Returns how many there are.
local function write_all(file, read, out, symbol, settings)
  local context = settings.context or not symbol and DEFAULT_CONTEXT or nil
  local n = 0
  for index = 1, #file.events do
    for _, func in ipairs(choose(read, index, symbol, settings)) do
      local listing = read:listing(func)
      if n > 0 then out:write "\n" end
      settings.write(listing, event_of(listing, index),
        { percent_type = settings.percent_type, context = context },
        function(line) out:write(line, "\n") end)
      n = n + 1
    end
  end
  return n
end

-- Says that no sample is in a function of that name.
local function explain_none(read, symbol)
  local names = {}
  for _, func in ipairs(read.read.list) do names[func.symbol] = true end
  local message = ("annotate: no sample is in a function '%s'"):format(symbol)
  return suggest.message(message, symbol, suggest.names(names))
end

---@param file perflua.File
---@param args table
---@param out file*
---@param settings table what tool.prepare gave
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, settings)
  local symbol = args[2]
  local read = annotate.read(file, { prefix = args.prefix,
    prefix_strip = settings["prefix-strip"] })
  if not read or #read.read.list == 0 then
    out:write("# ", read and "no sample is in a known function" or unchosen.text(file, args),
      "\n")
    return 0
  end
  if write_all(file, read, out, symbol, settings) == 0 and symbol then
    return nil, explain_none(read, symbol)
  end
  return 0
end

return tool
