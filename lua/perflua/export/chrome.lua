-- Trace events of Chrome, in their object form: threads on processors, and processors'
-- threads, from sched_switch; arrows of wake-ups; counters; other tracepoints as instants.
-- Samples of other events are instants, too. The core writes these, unless they carry values of
-- counters, or are a stream's, which is read once (src/export/chrome.c). It writes spans.
-- "Trace Event Format": https://chromium.googlesource.com/catapult, tracing/docs.

local chains = require "perflua.group.profile"
local core = require "perflua.core"
local counts = require "perflua.export.counts"
local engine = require "perflua.plan.engine"
local errors = require "perflua.errors"
local fmt = require "perflua.text.fmt"
local output = require "perflua.table.output"
local profile = require "perflua.export.profile"
local sampled = require "perflua.recording.sampled"
local spans = require "perflua.export.spans"
local trace_events = require "perflua.export.trace_events"
local units = require "perflua.text.units"

-- A trace that is not written: how large it would be, by the lengths of its runs.

local Trace = trace_events.Trace

-- Lengths are told apart by classes: so many for each power of two.
local STEPS <const> = 8
local LAST <const> = 64 * STEPS

local Measured = setmetatable({}, { __index = Trace })
Measured.__index = Measured

---@param file perflua.File that can be read again
---@param most integer bytes that it may have without runs, else TOO_LARGE is raised
---@return table
local function measure_trace(file, most)
  local trace = trace_events.new(file, function() end, most, 0)
  trace.first, trace.sizes, trace.longest = file.first_time, {}, {}
  return setmetatable(trace, Measured)
end

function Measured:draw_long(ns, draw, ...)
  local size = self.size
  self.size, self.class = 0, ns > 0 and math.floor(STEPS * math.log(ns, 2)) or 0
  draw(...)
  self.sizes[self.class] = (self.sizes[self.class] or 0) + self.size
  self.size, self.class = size, nil
end

-- Names are written with the first run that is drawn, of whatever length that is.
function Measured:add_name(text)
  self.longest[text] = math.max(self.longest[text] or 0, self.class or LAST)
end

---@param most integer bytes
---@return integer? # the least length, in ns, of the runs with which the trace has so
--- many bytes at most; nil: it has them with all
function Measured:find_least(most)
  local size = self.size
  for text, class in pairs(self.longest) do
    self.sizes[class] = (self.sizes[class] or 0) + #text
  end
  for class = LAST, 0, -1 do
    size = size + (self.sizes[class] or 0)
    if size > most then return math.ceil(2.0 ^ math.min((class + 1) / STEPS, 62)) end
  end
end

local usage_error = errors.usage_error
local spec_of = core.query_spec

local chrome = { name = "chrome", most = profile.STRING,
  description = "chrome://tracing, ui.perfetto.dev: threads on processors, wake-ups, spans" }

local TOO_LARGE <const> = "tracepoints keep their times, as do switches of streams, and take "
  .. "more than the %s of --max-size: choose fewer, as with --time, or a larger size"
local EVENT <const> = 1000 -- bytes that are drawn of a sample, at most in most traces
local COUNTS <const> = { names = true, order = true } -- found by the pass that counts
local KEYS <const> = { "event", "pid", "tid", "comm", "cpu" } -- what tells samples apart

-- Returns the events of a query whose samples the core writes, and the others.
local function split_events(spec)
  local plain, others = {}, {}
  local is_read_once = not spec.file.size
    or not (spec.scope:root "callchain" or spec.scope:root "ip")
  for _, event in ipairs(spec.scope:events()) do
    local list = (is_read_once or event.system or counts.has_values(event)) and others or plain
    list[#list + 1] = event
  end
  return plain, others
end

-- Describes samples to the core, as chains.describe() does.
local function describe(query, first)
  return chains.describe(query, spec_of(query), KEYS, { timeline = true, start = first })
end

---@param query perflua.Query
---@return table[] # what is read, see export.readings
function chrome.readings(query)
  if spec_of(query).reader then return spans.readings(query) end
  local plain, others = split_events(spec_of(query))
  local list = {}
  if plain[1] then
    local samples = others[1] and query:where { event = plain } or query
    local _, _, keys, columns = describe(samples)
    local file = spec_of(query).file -- the names of several need their times before
    list[1] = { query = samples, keys = keys, columns = columns,
      needs_times = type(file.path) == "string" and not core.knows_times(file) }
  end
  if others[1] then
    local samples = plain[1] and query:where { event = others } or query
    list[#list + 1] = { query = trace_events.selected(samples) }
    list[1].counts = spec_of(query).file.size and COUNTS or nil
  end
  return list
end

-- Adds up samples by event, thread, processor, time and stack. Returns how many they are, what
-- the core writes, and how many were set aside.
local function add_up(trace, query)
  local description, counted = describe(query, trace.first)
  local events, made = engine.groups(spec_of(query), description)
  local n = 0
  for _, event in ipairs(events) do n = n + event.samples end
  if n == 0 then return 0, nil, counted.n end
  trace:place(trace_events.CPUS, 0)
  local threads = made.threads()
  table.sort(threads, function(a, b) return a[2] < b[2] end) -- by the last name
  for _, thread in ipairs(threads) do
    trace.last = math.max(trace.last, thread[2])
    if thread[1] ~= 0 then trace:process_of(thread[1], thread[2]) end
  end
  return n, made, counted.n
end

-- Writes samples. Returns how many they are, what otherData says of them, what the core is to
-- write, and how many were set aside.
local function write_samples(trace, query)
  local plain, others = split_events(spec_of(query))
  local n, n_drawn, made, set_aside = 0, 0, nil, 0
  if plain[1] then
    trace.first = trace.file.first_time
    n, made, set_aside = add_up(trace, others[1] and query:where { event = plain } or query)
  end
  if others[1] then
    n_drawn = trace:draw(plain[1] and query:where { event = others } or query)
  end
  trace.processors:finish(trace.last)
  trace.counts:add_ended(spec_of(query))
  return n + n_drawn, (',"seconds_not_known":%s'):format(core.seconds(
    trace.processors.unknown)), made, set_aside
end

-- Returns how many samples events have, of what core.count() says of them by their index.
local function count_samples(counted, events)
  local n = 0
  for _, event in ipairs(events) do n = n + counted[event.index].count end
  return n
end

-- Returns the least length of runs with which the trace has room for them; nil: it has room for
-- all. Raises TOO_LARGE if it has room for none. Half of the room is for samples that are added
-- up, and some of it for names that change.
local function find_least(query, most)
  local spec = spec_of(query)
  local plain, others = split_events(spec)
  if not (others[1] and spec.file.size) then return nil end
  local counted = core.count(spec.file, COUNTS).events
  if count_samples(counted, spec.scope:events()) * EVENT <= most then return nil end
  local trace = measure_trace(spec.file, most)
  trace:draw(plain[1] and query:where { event = others } or query)
  trace.processors:finish(trace.last)
  local has_plain = count_samples(counted, plain) > 0
  return trace:find_least(has_plain and most // 2 or most - most // 20)
end

-- Returns what was left out of a trace, for people; nil: nothing.
local function note_short(trace)
  if trace.n_short == 0 then return nil end
  return ("runs shorter than %s are left out, so that the trace has at most --max-size: %s, of "
    .. "%s in all"):format(units.format(trace.least, "duration"), fmt.unsigned(trace.n_short),
    units.format(trace.ns_short, "duration"))
end

---@param query perflua.Query
---@param options { max_size: integer? }
function chrome.check(query, options)
  profile.check_size(options.max_size)
  if spec_of(query).unnest then
    usage_error "export: chrome takes samples and spans, not items"
  end
end

-- Writes the parts of a trace in order. Returns what export.write() does.
local function write_trace(trace, file, query)
  trace.write '{"traceEvents":[\n'
  local notes = {}
  local n, missing, made, set_aside = write_samples(trace, query)
  if made then
    local written, message, code = profile.write(chrome, made.write, file, "",
      math.max(trace.most - trace.size, 1))
    if not written then return nil, message, code end
    notes = written
  else
    trace.write '\n],"displayTimeUnit":"ns","stackFrames":{'
  end
  trace.frames:write(trace.write, made ~= nil)
  trace.write(('},"otherData":{"exporter":"perflua","start":"%s"%s}}\n'):format(
    core.seconds(trace.first or 0), missing))
  notes[#notes + 1] = note_short(trace)
  table.move(sampled.switch_notes(spec_of(query)), 1, 9, #notes + 1, notes)
  return { samples = n, set_aside = set_aside or 0, notes = notes }
end

---@param query perflua.Query
---@param out file*|string|nil
---@param options { max_size: integer? }
---@return { samples: integer, set_aside: integer, notes: string[] }?
---@return string? message
---@return string? code
function chrome.export(query, out, options)
  local spec, written = spec_of(query), nil
  local most = options.max_size or profile.MAX_SIZE
  local too_large = TOO_LARGE:format(profile.bytes_text(most))
  if spec.reader then return spans.export(query, "chrome", out, options, most) end
  if not spec.scope:root "time" then
    usage_error "export: these samples have no times, which chrome needs"
  end
  local ok, message, code = output.with_file(out, function(file)
    local failure
    local function write(text)
      if failure then return end
      local _, wrong, number = errors.errno(file:write(text))
      failure = wrong and { wrong, number }
    end
    local done, result, wrong, number = pcall(function()
      local least = find_least(query, most)
      local trace = trace_events.new(spec.file, write, most, least)
      trace.first = least and spec.file.first_time or nil
      return write_trace(trace, file, query)
    end)
    if not done and result ~= trace_events.TOO_LARGE then error(result, 0) end
    if not done then return nil, too_large end
    written = result
    if failure then return nil, failure[1], failure[2] end
    return result and true, wrong, number
  end)
  if not ok then return nil, message, code end
  return written
end

return chrome
