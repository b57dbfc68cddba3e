-- Reads trace events in their object form, and checks them by the rules of the document "Trace
-- Event Format": what each phase must have, pairs, identifiers, order.
local chains = require "spec.support.chains"
local files = require "spec.support.files"
local perflua = require "perflua"
local profiles = require "spec.support.profiles"

local trace_events = {}

local function track_of(event) return ("%d/%d"):format(event.pid, event.tid) end

-- Duration events nest, and are in the order of time on each thread.
local function check_slice(trace, event)
  local track = track_of(event)
  local open = trace.open[track] or {}
  trace.open[track] = open
  assert(event.ts >= (trace.latest[track] or event.ts), "duration events out of order")
  trace.latest[track] = event.ts
  if event.ph == "B" then
    open[#open + 1] = event
    return
  end
  local begin = assert(table.remove(open), "an end without a begin")
  assert(begin.name == event.name, "an end of another name")
  table.insert(trace.slices, { track = track, name = begin.name, ts = begin.ts,
    dur = event.ts - begin.ts })
end

-- Both halves of a flow, or of an asynchronous event, once each.
local function check_half(list, first, event)
  local key = event.cat .. " " .. assert(event.id)
  local pair = list[key] or {}
  list[key] = pair
  assert(not pair[event.ph], "an identifier that is used twice")
  assert(event.ph == first or pair[first], "an end before its begin")
  pair[event.ph] = event
end

local checks = {
  M = function(trace, event)
    if event.name == "process_sort_index" then
      trace.places[event.pid] = assert(math.tointeger(event.args.sort_index))
    else
      assert(type(event.args.name) == "string")
    end
  end,
  B = check_slice, E = check_slice,
  C = function(trace, event)
    local _, value = next(event.args)
    assert(math.type(value), "a counter that is not a number")
    table.insert(trace.counters, ("%s %g %d"):format(event.name, event.ts, value))
  end,
  i = function(trace, event)
    assert(event.s == "t" or event.s == "p" or event.s == "g", "no scope")
    assert(not event.sf or trace.frames[event.sf], "no stack frame")
    table.insert(trace.instants, event)
  end,
  s = function(trace, event) check_half(trace.flows, "s", event) end,
  f = function(trace, event) check_half(trace.flows, "s", event) end,
  b = function(trace, event) check_half(trace.spans, "b", event) end,
  e = function(trace, event) check_half(trace.spans, "b", event) end,
}

-- An arrow begins and ends in slices.
local function check_arrow(trace, event)
  for _, slice in ipairs(trace.slices) do
    if slice.track == track_of(event) and slice.ts <= event.ts
      and event.ts <= slice.ts + slice.dur then return end
  end
  error "an arrow outside of all slices"
end

---@param path string
---@return { slices: table[], instants: table[], counters: string[], flows: table, spans: table,
--- frames: table, names: table<string, string>, other: table }
function trace_events.read(path)
  local whole = profiles.json(files.read(path))
  local trace = { slices = {}, instants = {}, counters = {}, flows = {}, spans = {},
    frames = whole.stackFrames, names = {}, places = {}, open = {}, latest = {},
    other = whole.otherData }
  for _, frame in pairs(trace.frames) do
    assert(not frame.parent or trace.frames[frame.parent], "no such parent")
  end
  for _, event in ipairs(whole.traceEvents) do
    assert(math.type(event.pid) == "integer" and type(event.name) == "string")
    assert(event.ph == "M" or math.type(event.ts), "no time")
    checks[event.ph](trace, event)
    if event.args and event.args.name then
      trace.names[event.name .. " " .. track_of(event)] = event.args.name
    end
  end
  for track, open in pairs(trace.open) do assert(#open == 0, track .. " does not end") end
  for id, pair in pairs(trace.flows) do
    assert(pair.s and pair.f and pair.s.ts <= pair.f.ts, "half a flow: " .. id)
    check_arrow(trace, pair.s)
    check_arrow(trace, pair.f)
  end
  for id, pair in pairs(trace.spans) do
    assert(pair.b and pair.e and pair.b.ts <= pair.e.ts, "half a span: " .. id)
  end
  return trace
end

---Exports samples, or the query that `make` returns for the File, with the symbols of
---spec.support.chains.
---@param path string
---@param make nil|fun(file: perflua.File): perflua.Query
---@param options table?
---@return table # what is read back
---@return table written # what perflua.export() returned
---@return integer size # bytes
function trace_events.export(path, make, options)
  local file <close> = assert(perflua.open(path, chains.options()))
  local out = files.temporary()
  local query = make and make(file) or file:samples()
  local written = assert(perflua.export(query, "chrome", out, options))
  return trace_events.read(out), written, #files.read(out)
end

return trace_events
