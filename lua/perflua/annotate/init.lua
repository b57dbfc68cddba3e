-- The code of functions with their samples: file:annotate(), and what the tool shows.

local aside = require "perflua.group.aside"
local core = require "perflua.core"
local engine = require "perflua.plan.engine"
local errors = require "perflua.errors"
local fmt = require "perflua.text.fmt"
local Listing = require "perflua.annotate.listing"
local records = require "perflua.file.records"

local usage_error = errors.usage_error

local annotate = {}

-- The text of source files, as far as they may be read: see src/symbols/source.h.

---@class perflua.Sources
---@field prefix string?
---@field strip integer leading parts of a path to leave out before the prefix is put in front
---@field recording perflua.File
---@field machine integer see perflua.SampledFunctions
---@field files table<string, table> by path as the compiler wrote it
local Sources = {}
Sources.__index = Sources

---@param prefix string? put in front of paths
---@param strip integer? default: 0
---@param recording perflua.File
---@param machine integer of the binaries that name the files: its bundle may have their lines
---@return perflua.Sources
local function new_sources(prefix, strip, recording, machine)
  return setmetatable({ prefix = prefix, strip = strip or 0, recording = recording,
    machine = machine, files = {} }, Sources)
end

-- Returns the path here of a file.
function Sources:place(path)
  if path:sub(1, 1) ~= "/" then
    return self.prefix and self.prefix .. "/" .. path:gsub("^%./", "") or path
  end
  for _ = 1, self.strip do path = path:match "^/+[^/]+(/.*)$" or path end
  return self.prefix and self.prefix:gsub("/+$", "") .. path or path
end

---Adds lines of files whose text is known.
---@param texts table<string, table<integer, string>> by path, by number
function Sources:add(texts)
  for path, lines in pairs(texts) do
    local known = self.files[path]
    local all = known and known.lines or {}
    for number, text in pairs(lines) do all[number] = text end
    self.files[path] = { path = path, lines = all,
      line_of = function(number) return all[number] end }
  end
end

---@param path string as the compiler wrote it
---@return table # { path, reason } or { path, line_of, modified }
function Sources:file(path)
  local found = self.files[path]
  if not found then
    local place = self:place(path)
    local line_of, told = core.source(place, self.recording, self.machine)
    found = { path = place, line_of = line_of, modified = line_of and told,
      reason = not line_of and told or nil }
    self.files[path] = found
  end
  return found
end

---@param path string as the compiler wrote it
---@param line integer from 1 on
---@return string? # its text, safe for a terminal; nil: the file is not there, or is shorter
function Sources:line(path, line)
  local file = self:file(path)
  local text = file.line_of and file.line_of(line)
  return text and fmt.escape((text:gsub("\t", "        ")))
end

-- The functions that samples were taken in, by one pass over them: see
-- src/binding/query/functions.c.

-- Adds to each function what its samples are, by event.
local function add_up(list)
  for i, func in ipairs(list) do
    func.number, func.events = i, {}
    for _, hits in ipairs(func.hits) do
      local sums = func.events[hits.event] or { samples = 0, period = 0 }
      sums.samples, sums.period = sums.samples + hits.samples, sums.period + hits.period
      func.events[hits.event] = sums
    end
  end
  return list
end

---@class perflua.SampledFunctions
---@field list table[] { number, symbol, dso, machine, start, address, size, hits, events };
--- machine: the number of the first recording of the machine that has the binary
---@field totals table[] { samples, period } by the index of an event: of all its samples
---@field calls table the functions of the core that answer for them
---@field n_aside integer samples that were set aside
---@field pokes table[]? see annotate/recorded.lua

-- Sets the totals of events to those of all their samples, which one more pass adds up.
local function read_totals(totals, query)
  for row in query:group_by("event.index"):all_events():count():sum("period"):each() do
    totals[row["event.index"]] = { samples = row.count, period = row.period }
  end
end

---@param file perflua.File
---@param options table { event, symbol, is_whole } event: what file:samples() takes; symbol:
--- read the samples of this function alone, which takes less time; is_whole: with a symbol,
--- read the totals of events, too
---@return perflua.SampledFunctions? # nil: no sample has an address
local function read_functions(file, options)
  local all = records.samples(file, options.event)
  local is_chosen = options.symbol and file.size ~= nil -- a stream is read once
    and core.query_spec(all).scope:root "symbol" ~= nil
  local query = is_chosen and all:where { symbol = options.symbol } or all
  local spec = core.query_spec(query)
  local scope = spec.scope
  if not scope:root "ip" then return nil end
  local columns = { { measure = "count" } }
  local counted = { n = 0 }
  if scope:root "period" then
    columns[2] = { measure = "sum", ref = scope:ref "period" }
    counted = aside.from(query)
  end
  local keys = { { ref = scope:ref "event" }, { ref = scope:stack("callchain", "address") } }
  local description = engine.grouping(spec, keys, columns)
  description.functions = true
  local groups, calls = engine.groups(spec, description)
  if not groups then return nil end
  local list, totals = calls.list()
  if is_chosen and options.is_whole then read_totals(totals, all) end
  return { list = add_up(list), totals = totals, calls = calls, n_aside = counted.n }
end

---Returns the functions that have samples of an event, hottest first.
---@param read perflua.SampledFunctions
---@param event integer its index
---@param least number? the least share of the event's period, in percent
---@return table[]
local function hottest_of(read, event, least)
  local total, list = read.totals[event], {}
  for _, func in ipairs(read.list) do
    local sums = func.events[event]
    if sums and (not least or sums.period >= least / 100 * total.period) then
      list[#list + 1] = func
    end
  end
  table.sort(list, function(a, b)
    local x, y = a.events[event].period, b.events[event].period
    if x ~= y then return x > y end
    if a.symbol ~= b.symbol then return a.symbol < b.symbol end
    return a.number < b.number
  end)
  return list
end

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
  local read = read_functions(file, options)
  return read and setmetatable({ file = file, read = read, options = options, sources = {} },
    Annotated)
end

---@param event integer index of an event
---@param least number? the least share of the event, in percent
---@return table[] # the functions with samples of it, hottest first
function Annotated:hottest(event, least)
  return hottest_of(self.read, event, least)
end

---@param func table one of hottest()
---@return perflua.Listing
function Annotated:listing(func)
  local sources, options = self.sources, self.options
  sources[func.machine] = sources[func.machine] or new_sources(options.prefix,
    options.prefix_strip, self.file, func.machine)
  return Listing.new(self.file, self.read, func, sources[func.machine])
end

-- Returns the function of that name with the most samples, of all events.
local function find_function(read, symbol, dso)
  local best
  local function weight(func)
    local n = 0
    for _, sums in pairs(func.events) do n = n + sums.samples end
    return n
  end
  for _, func in ipairs(read.list) do
    if func.symbol == symbol and (not dso or func.dso == dso)
      and (not best or weight(func) > weight(best)) then
      best = func
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
