-- Profiles to export: samples added up by event, thread and call chain. The core makes and
-- writes them (src/export); here is which samples they are of.

local chains = require "perflua.group.profile"
local core = require "perflua.core"
local engine = require "perflua.plan.engine"
local errors = require "perflua.errors"
local fmt = require "perflua.text.fmt"
local output = require "perflua.table.output"
local spans = require "perflua.export.spans"
local spec_of = core.query_spec
local units = require "perflua.text.units"
local usage_error, errno = errors.usage_error, errors.errno

local profile = {}

---Characters of a string in Chromium.
profile.STRING = (1 << 29) - 24

---Bytes of a profile with times, unless the option max_size says how many.
profile.MAX_SIZE = 100 * 1000 * 1000

---The formats, by name: see init.lua. The core has their writers.
---  timeline  false: it has room for times; true: it is nothing without them
---  keys      the fields that entries are told apart by; default: KEYS
---  chain     what tells frames apart where there are no lines, as of Scope:stack(); default:
---            addresses, which are many more than functions
---  most      bytes of text that its viewer reads at most
---  spans     true: it has room for spans
---  binary    true: a terminal cannot show it
profile.formats = {
  firefox = { description = "https://profiler.firefox.com, over time", lines = true,
    binary = true, timeline = true, most = profile.STRING, spans = true },
  speedscope = { description = "https://www.speedscope.app", timeline = false, chain = "starts",
    most = profile.STRING, spans = true },
  perfetto = { description = "https://ui.perfetto.dev, over time", lines = true,
    binary = true, timeline = true, keys = { "event", "pid", "tid", "comm", "cpu" },
    spans = true },
  pprof = { description = "pprof, Pyroscope, Grafana", lines = true, chain = "starts",
    binary = true },
  callgrind = { description = "kcachegrind, callgrind_annotate", lines = true,
    chain = "starts", keys = { "event" } },
  folded = { description = "flamegraph.pl, inferno, flamelens", one_event = true,
    chain = "names", keys = { "event", "comm" } },
}

local KEYS <const> = { "event", "pid", "tid", "comm" }

-- Things that the pass that counts records finds for the two after it, one of them in time
-- order.
local COUNTS <const> = { names = true, order = true }

-- Returns when the samples of a query begin, in ns since 1970, and how long they take; nil
-- where the recording does not say what its times are on the wall clock.
local function wall_times(spec)
  if not spec.file.size or not spec.file.features.clock_data then return nil end
  local first, last = math.maxinteger, math.mininteger
  local is_one = type(spec.file.path) == "string"
  for _, clock in ipairs((errors.guard(core.clocks, spec.file))) do
    if not (clock.wall and clock.first) then return nil end
    local from, to = clock.first, clock.last
    if is_one and spec.from then from = math.max(from, spec.from) end
    if is_one and spec.to and math.ult(spec.to, to) then to = spec.to end
    first, last = math.min(first, from + clock.wall), math.max(last, to + clock.wall)
  end
  if first < last then return first, last - first end
end

-- Describes the profile of a query to the core.
local function describe(query, format, options)
  local lines = options.lines
  if lines == nil then lines = format.lines end
  local wall_time, duration
  if format.name == "pprof" then wall_time, duration = wall_times(spec_of(query)) end
  return chains.describe(query, spec_of(query), format.keys or KEYS, { count = options.count,
    timeline = options.timeline, lines = lines, stacks = format.name == "firefox",
    chain = not lines and format.chain or nil, folded = format.name == "folded",
    wall_time = wall_time, duration = duration })
end

-- Events are never added together.
local function check_events(name, file, events)
  local list = {}
  for i, event in ipairs(events) do
    list[i] = event.index and file.events[event.index].name or "unknown event"
  end
  if list[2] then
    usage_error("export: %s takes one event, and there are %s: choose one", name,
      fmt.names(list))
  end
end

---Raises if the option max_size is not a size.
---@param size any
function profile.check_size(size)
  if size and (math.type(size) ~= "integer" or size < 1) then
    usage_error("export: max_size: a number of bytes expected")
  end
end

---Raises if a format cannot represent the query.
---@param format table of profile.formats
---@param query perflua.Query
---@param options table
function profile.check(format, query, options)
  if spec_of(query).reader then
    if not format.spans then usage_error "export: a query of samples expected, not of spans" end
  elseif options.timeline and format.timeline == nil then
    usage_error("export: %s cannot hold times", format.name)
  end
  profile.check_size(options.max_size)
  if options.max_size
    and not (spec_of(query).reader or options.timeline or format.timeline) then
    usage_error("export: max_size makes times coarser, and %s", format.timeline == nil
      and format.name .. " cannot hold times" or "there are none without timeline")
  end
end

-- Returns the options with `timeline` as the format has it.
local function with_timeline(format, scope, options)
  local chosen = { count = options.count, lines = options.lines, title = options.title,
    timeline = options.timeline or format.timeline, max_size = options.max_size }
  if chosen.timeline and not scope:root "time" then
    usage_error("export: %s needs times, and samples have none: record with -T", format.name)
  end
  return chosen
end

---@param n integer
---@return string
function profile.bytes_text(n) return units.format(n, "si") .. "B" end

local bytes_text = profile.bytes_text

-- Says what was done to make a profile fit, and what its viewer may refuse.
local function note_size(format, size, step, joined)
  local notes = {}
  if step > 0 then
    notes[1] = ("times are exact to %s only, so that the profile has at most --max-size")
      :format(units.format(step, "duration"))
  end
  if joined > 0 then
    notes[#notes + 1] = ("%s no profile of their own, since speedscope takes long for many: "
      .. "they are 'other threads'"):format(fmt.phrase(joined, "{thread has|threads have}"))
  end
  if format.most and size > format.most then
    notes[#notes + 1] = ("the profile has %s of text, and browsers read at most %s: choose "
      .. "fewer samples with --time or --comm"):format(bytes_text(size),
      bytes_text(format.most))
  end
  return notes
end

---Writes a profile by the core's function `write`.
---@param format table of profile.formats
---@param write function
---@param file file*
---@param title string
---@param most integer? bytes of text that it has at most
---@return string[]? notes for the user
---@return string? message
---@return any code
function profile.write(format, write, file, title, most)
  local size, step, joined = errno(write(file, format.name, title, most))
  if not size then return nil, step, joined end
  if not step then
    return nil, ("the profile has %s even without times, more than --max-size: choose fewer "
      .. "samples"):format(bytes_text(size))
  end
  return note_size(format, size, step, joined)
end

-- Adds what the scheduler did. Returns the notes.
local function add_sched(file, query, notes)
  local ok, message, code = require("perflua.export.sched").write(file, query)
  if not ok then return nil, message, code end
  for _, note in ipairs(require("perflua.recording.sampled").switch_notes(spec_of(query))) do
    notes[#notes + 1] = note
  end
  return notes
end

---@param format table of profile.formats
---@param query perflua.Query
---@param options table
---@return table[] # what is read, see export.readings
function profile.readings(format, query, options)
  if spec_of(query).reader then return spans.readings(query) end
  local chosen = with_timeline(format, spec_of(query).scope, options)
  local _, _, keys, columns = describe(query, format, chosen)
  local list = { { query = query, keys = keys, columns = columns } }
  if format.name == "perfetto" then
    list[2] = require("perflua.export.sched").reading(query)
    list[1].counts = list[2] and spec_of(query).file.size and COUNTS or nil
  end
  return list
end

---@param format table of profile.formats
---@param query perflua.Query of samples, without a group_by
---@param out file*|string|nil
---@param options table? see lua/perflua/api/module.lua
---@return { samples: integer, set_aside: integer, notes: string[] }?
---@return string? message
---@return string? code
function profile.export(format, query, out, options)
  local spec = spec_of(query)
  if spec.reader then
    return spans.export(query, format.name, out, options, options.max_size or profile.MAX_SIZE)
  end
  if not spec.scope:root "callchain" and not spec.scope:root "ip" then
    usage_error("export: samples have neither a call chain nor an address")
  end
  options = with_timeline(format, spec.scope, options)
  if profile.readings(format, query, options)[1].counts then
    errors.guard(core.count, spec.file, COUNTS)
  end
  local description, counted = describe(query, format, options)
  local events, made = engine.groups(spec, description)
  if format.one_event then check_events(format.name, spec.file, events) end
  local title = options.title or fmt.paths(spec.file.path)
  local notes = {}
  local ok, message, code = output.with_file(out, function(file)
    if not made then return true end
    local list, wrong, number = profile.write(format, made.write, file, title,
      options.timeline and (options.max_size or profile.MAX_SIZE) or nil)
    if list and format.name == "perfetto" then
      list, wrong, number = add_sched(file, query, list)
    end
    notes = list
    return list and true, wrong, number
  end)
  if not ok then return nil, message, code end
  local written = { samples = 0, set_aside = counted.n, notes = notes }
  for _, event in ipairs(events) do written.samples = written.samples + event.samples end
  return written
end

return profile
