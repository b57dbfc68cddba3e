-- The code of functions with their samples: file:annotate(), and what the tool shows.

local errors = require "perflua.errors"
local functions = require "perflua.annotate.functions"
local Listing = require "perflua.annotate.listing"
local source = require "perflua.annotate.source"
local usage_error = errors.usage_error

local annotate = {}

---@class perflua.Annotated
---@field file perflua.File
---@field read perflua.SampledFunctions
---@field options table
---@field sources table<integer, perflua.Sources> by machine
local Annotated = {}
Annotated.__index = Annotated

---Reads the samples of a recording, in one pass.
---@param file perflua.File
---@param options table { event, symbol, is_whole, prefix, prefix_strip }
---@return table? # nil: no sample has an address
function annotate.read(file, options)
  local read = functions.read(file, options)
  return read and setmetatable({ file = file, read = read, options = options, sources = {} },
    Annotated)
end

---@param event integer index of an event
---@param least number? the least share of the event, in percent
---@return table[] # the functions with samples of it, hottest first
function Annotated:hottest(event, least)
  return functions.hottest(self.read, event, least)
end

---@param func table one of hottest()
---@return perflua.Listing
function Annotated:listing(func)
  local sources, options = self.sources, self.options
  sources[func.machine] = sources[func.machine] or source.new(options.prefix,
    options.prefix_strip, self.file, func.machine)
  return Listing.new(self.file, self.read, func, sources[func.machine])
end

-- Returns the function of that name with the most samples, of all events.
local function find_function(read, symbol, dso)
  local best
  local function weight(one)
    local n = 0
    for _, sums in pairs(one.events) do n = n + sums.samples end
    return n
  end
  for _, one in ipairs(read.list) do
    if one.symbol == symbol and (not dso or one.dso == dso)
      and (not best or weight(one) > weight(best)) then
      best = one
    end
  end
  return best
end

---Lists the code of a function with its samples.
---@param file perflua.File
---@param symbol string its name
---@param options table? { event, dso, prefix, prefix_strip }
---@return perflua.Listing? # nil: no sample is in a function of that name
---@return string? message
function annotate.annotate(file, symbol, options)
  if type(symbol) ~= "string" then
    usage_error("annotate: the name of a function expected, got a %s", type(symbol))
  end
  options = options or {}
  errors.check_options(options, "AnnotateOptions", "annotate: unknown option '%s'")
  local read = annotate.read(file, { event = options.event, symbol = symbol,
    prefix = options.prefix, prefix_strip = options.prefix_strip })
  if not read then return nil, "no sample has an address" end
  local func = find_function(read.read, symbol, options.dso)
  if not func then return nil, ("no sample is in a function '%s'"):format(symbol) end
  return read:listing(func)
end

annotate.percent_types = Listing.percent_types

return annotate
