-- Spans as slices of a Perfetto trace, written as they come. A slice begins and ends by a
-- TrackEvent, on the track of the thread that opened it. An end is that of the slice that began
-- last on its track, so spans that overlap otherwise are on further tracks below. Numbers of
-- fields are those of the definitions in
-- https://github.com/google/perfetto/tree/main/protos/perfetto/trace, in files named below.

local field = require("perflua.export.protobuf").field
local lanes = require "perflua.export.lanes"
local output = require "perflua.table.output"
local spans = require "perflua.export.spans"
local spec_of = require("perflua.core").query_spec

local perfetto_spans = {}

local PACKET <const> = 1 -- trace.proto
-- trace_packet.proto
local TIMESTAMP <const>, SEQUENCE_ID <const> = 8, 10
local TRACK_EVENT <const>, TRACK_DESCRIPTOR <const> = 11, 60
-- track_event/track_descriptor.proto
local UUID <const>, TRACK_NAME <const>, PROCESS <const> = 1, 2, 3
local THREAD <const>, PARENT_UUID <const> = 4, 5
local PROCESS_PID <const>, PROCESS_NAME <const> = 1, 6 -- track_event/process_descriptor.proto
-- track_event/thread_descriptor.proto
local THREAD_PID <const>, THREAD_TID <const>, THREAD_NAME <const> = 1, 2, 5
-- track_event/track_event.proto, with TrackEvent.Type
local TYPE <const>, TRACK_UUID <const>, EVENT_NAME <const> = 9, 11, 23
local SLICE_BEGIN <const>, SLICE_END <const> = 1, 2

local SEQUENCE <const> = field(SEQUENCE_ID, 1)
local LANES <const> = 64 -- of a thread: a span that fits none of so many has a track of its own

local Trace = {}
Trace.__index = Trace

-- Describes a track, anew if `uuid` has one. Returns its number.
function Trace:describe(uuid, description)
  if not uuid then
    self.n_tracks = self.n_tracks + 1
    uuid = self.n_tracks
  end
  self.write(field(PACKET, SEQUENCE .. field(TRACK_DESCRIPTOR, field(UUID, uuid)
    .. description)))
  return uuid
end

-- Names a process, anew if it is called otherwise.
function Trace:name_process(pid, name)
  local process = self.processes[pid] or {}
  if process.uuid and process.name == name then return end
  process.name, self.processes[pid] = name, process
  process.uuid = self:describe(process.uuid, field(PROCESS, field(PROCESS_PID, pid)
    .. field(PROCESS_NAME, name)))
end

-- Names the process of a thread, after the main thread.
function Trace:name_process_of(pid, tid, comm, time)
  if pid == tid then
    self:name_process(pid, comm)
  elseif not self.processes[pid] then
    local leader = self.file:thread(pid, time)
    self:name_process(pid, leader and leader.comm)
  end
end

-- Returns the thread that opened a span, and describes it if it is new or called otherwise.
function Trace:thread_of(span)
  local tid, pid, comm = span["open.tid"] or -1, span["open.pid"] or -1, span["open.comm"]
  if pid < 0 then pid = tid end
  local key = pid << 32 | tid & 0xffffffff
  local thread = self.threads[key] or {}
  if thread.uuid and (thread.name == comm or tid < 0) then return thread end
  thread.name, self.threads[key] = comm, thread
  if tid < 0 then
    thread.uuid = self:describe(nil, field(TRACK_NAME, "spans"))
  else
    self:name_process_of(pid, tid, comm, span.start)
    thread.uuid = self:describe(thread.uuid, field(THREAD, field(THREAD_PID, pid)
      .. field(THREAD_TID, tid) .. field(THREAD_NAME, comm)))
  end
  return thread
end

-- Returns the parts of events on a track: those of a begin, whose name follows, and of an end.
local function events_on(uuid)
  local track = field(TRACK_UUID, uuid)
  return { begins = field(TYPE, SLICE_BEGIN) .. track,
    ends = SEQUENCE .. field(TRACK_EVENT, field(TYPE, SLICE_END) .. track) }
end

-- Returns the events of the track that a span of a thread fits on.
function Trace:track_of(thread, start, stop)
  local n = #thread
  for i = 1, n do
    if thread[i]:add(start, stop) then return thread[i].events end
  end
  local uuid = thread.uuid
  if n > 0 then
    uuid = self:describe(nil, field(PARENT_UUID, uuid) .. field(TRACK_NAME, "overlapping"))
  end
  if n == LANES then return events_on(uuid) end
  local lane = lanes.new()
  lane.events, thread[n + 1] = events_on(uuid), lane
  lane:add(start, stop)
  return lane.events
end

function Trace:add(span)
  local events = self:track_of(self:thread_of(span), span.start, span.stop)
  self.write(field(PACKET, field(TIMESTAMP, span.start) .. SEQUENCE .. field(TRACK_EVENT,
    events.begins .. field(EVENT_NAME, spans.name(span))))
    .. field(PACKET, field(TIMESTAMP, span.stop) .. events.ends))
end

---@param query perflua.Query of spans
---@param out file*|string|nil
---@return { samples: integer, set_aside: integer }?
---@return string? message
---@return string? code
function perfetto_spans.export(query, out)
  local n
  local ok, message, code = output.to(out, function(write)
    local trace = setmetatable({ write = write, file = spec_of(query).file, n_tracks = 0,
      processes = {}, threads = {} }, Trace)
    n = spans.each(query, function(span) trace:add(span) end)
  end)
  if not ok then return nil, message, code end
  return { samples = n, set_aside = 0 }
end

return perfetto_spans
