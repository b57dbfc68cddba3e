-- Recordings of two events, one that opens spans of time and one that closes them, for the
-- specs of intervals.
local builder = require "spec.support.builder"
local interpret = require("spec.support.model").interpret
local perflua = require "perflua"

local spanned = {}

local parts = { "identifier", "ip", "tid", "time", "cpu", "addr", "period" }

--- A builder with the events open, close and tick, and their ids. With `wall`, the time of the
--- wall clock at 0 of the recording's, in ns, they are of CLOCK_MONOTONIC.
function spanned.builder(options)
  local wall = options and options.wall
  local b = builder.new(options)
  if wall then b:feature("clock_data", { clockid = 1, wall_clock = wall, clock_time = 0 }) end
  local events = {}
  for i, name in ipairs { "open", "close", "tick" } do
    events[name] = b:event { name = name, type = 1, config = i, sample_type = parts,
      ids = { 10 + i }, use_clockid = wall ~= nil, clockid = wall and 1 }
  end
  return b, events
end

--- Adds samples: { event, tid, time, addr, cpu } each, or { "lost", cpu, time }, or { "comm",
--- tid, time, name }.
function spanned.add(b, events, rows)
  for _, row in ipairs(rows) do
    local name, tid, time, more, cpu = table.unpack(row)
    if name == "lost" then
      b:record("lost", { id = 11, lost = 5 }, { time = time, cpu = tid })
    elseif name == "comm" then
      b:record("comm", { pid = tid, tid = tid, comm = more },
        { time = time, pid = tid, tid = tid })
    else
      b:sample(events[name], {
        identifier = events[name].ids[1], ip = 0x1000 + time, pid = tid, tid = tid, time = time,
        addr = more or 0,
        cpu = cpu or 0, period = 1,
      })
    end
  end
end

--- Writes a recording of these rows; returns its path.
function spanned.write(rows, options)
  local b, events = spanned.builder(options)
  spanned.add(b, events, rows)
  return b:write()
end

--- Spans of a recording of these rows, which the model answers, or the core; and its file.
function spanned.pair(rows, options, by_model)
  local file = assert(perflua.open(spanned.write(rows)))
  return interpret(file:samples(), by_model):pair(options), file
end

--- Spans as texts "key:start-stop", in the order in which they come.
function spanned.texts(spans)
  local list = {}
  for span in spans:each() do
    local key = type(span.key) == "table" and table.concat(span.key, "/") or span.key
    list[#list + 1] = ("%s:%d-%d"):format(key, span.start, span.stop)
  end
  return list
end

return spanned
