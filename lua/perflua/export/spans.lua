-- Spans in the formats that the core writes (src/export/spans.h), and as profiles of
-- speedscope: an evented profile for each thread. In a profile calls lie one in another, so
-- spans of a thread that overlap otherwise are put into further profiles.
-- https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources

local core = require "perflua.core"
local errors = require "perflua.errors"
local fmt = require "perflua.text.fmt"
local json = require "perflua.text.json"
local output = require "perflua.table.output"
local plan = require "perflua.plan"
local spec_of = core.query_spec

local spans = {}

local SCHEMA <const> = "https://www.speedscope.app/file-format-schema.json"

-- In the order of enum pe_span_column.
local FIELDS <const> = { "start", "stop", "open.event", "open.syscall", "open.pid", "open.tid",
  "open.comm" }

local function thread_name(span)
  local tid, pid = span["open.tid"], span["open.pid"]
  local name = span["open.comm"] or "[unknown]"
  if not tid then return "spans" end
  if not pid or pid == tid then return ("%s (pid %d)"):format(name, tid) end
  return ("%s (pid %d, tid %d)"):format(name, pid, tid)
end

---Names a span: by its system call, else by the event that opened it.
---@param span table its values by field
---@return string
function spans.name(span)
  local event = span["open.event"]
  return span["open.syscall"] or event and event.name or "span"
end

-- Returns a query of the fields that its spans, as far as they ended, have, their names, and for each of FIELDS its
-- position among these; 0: spans do not have it.
local function select_fields(query)
  local names, at = {}, {}
  for i, name in ipairs(FIELDS) do
    local is_field = pcall(query.select, query, name)
    if is_field then names[#names + 1] = name end
    at[i] = is_field and #names or 0
  end
  return query:where("stop ~= nil"):select(table.unpack(names)), names, at
end

---Calls a function with each span, in the order of their ends.
---@param query perflua.Query of spans
---@param call fun(span: table) which does not keep the table: start, stop, and the fields of
--- the record that opened the span, as far as there are such
---@return integer # how many spans there are
function spans.each(query, call)
  local selected, names = select_fields(query)
  local span, n = {}, 0
  selected:each(function(...)
    for i, name in ipairs(names) do span[name] = select(i, ...) or nil end
    n = n + 1
    call(span)
  end)
  return n
end

-- Returns { name, tid, spans { name, start, stop } … } by thread, with the tid -1 where it is
-- not recorded, and how many spans there are.
local function collect_spans(query)
  local threads, by_tid = {}, {}
  local n = spans.each(query, function(span)
    local thread = by_tid[span["open.tid"] or -1]
    if not thread then
      thread = { name = thread_name(span), tid = span["open.tid"] or -1 }
      by_tid[thread.tid], threads[#threads + 1] = thread, thread
    end
    thread[#thread + 1] = { start = span.start, stop = span.stop, name = spans.name(span) }
  end)
  table.sort(threads, function(a, b) return a.tid < b.tid end)
  return threads, n
end

local Lane = {} -- the events of one profile, and the spans that are open, outermost first
Lane.__index = Lane

function Lane:close_until(time)
  while self.open[1] and self.open[#self.open].stop <= time do
    local span = table.remove(self.open)
    self.events[#self.events + 1] = { "C", span.number, span.stop }
  end
end

-- Adds a span that does not begin before those that were added. Returns whether it fits.
function Lane:add(span)
  self:close_until(span.start)
  local outer = self.open[#self.open]
  if outer and outer.stop < span.stop then return false end
  self.open[#self.open + 1] = span
  self.events[#self.events + 1] = { "O", span.number, span.start }
  return true
end

-- Returns lanes of spans that lie one in another.
local function split_lanes(thread)
  table.sort(thread, function(a, b)
    if a.start ~= b.start then return a.start < b.start end
    return a.stop > b.stop
  end)
  local lanes = {}
  for _, span in ipairs(thread) do
    local i = 1
    while lanes[i] and not lanes[i]:add(span) do i = i + 1 end
    if not lanes[i] then
      lanes[i] = setmetatable({ events = {}, open = {} }, Lane)
      lanes[i]:add(span)
    end
  end
  for _, lane in ipairs(lanes) do lane:close_until(math.maxinteger) end
  return lanes
end

-- Numbers the names of all spans from 0 on, as their `number`. Returns the names in order, and
-- the first and the last time.
local function number_names(threads)
  local numbers, names, first, last = {}, {}, math.maxinteger, 0
  for _, thread in ipairs(threads) do
    for _, span in ipairs(thread) do
      if not numbers[span.name] then
        names[#names + 1] = span.name
        numbers[span.name] = #names - 1
      end
      span.number = numbers[span.name]
      first, last = math.min(first, span.start), math.max(last, span.stop)
    end
  end
  return names, first, last
end

local function write_lane(write, lane, name, first, last)
  write(('{"type":"evented","name":%s,"unit":"nanoseconds","startValue":0,"endValue":%d,'
    .. '"events":[\n'):format(json.string(name), last - first))
  for i, event in ipairs(lane.events) do
    write(('%s{"type":"%s","frame":%d,"at":%d}'):format(i > 1 and ",\n" or "", event[1],
      event[2], event[3] - first))
  end
  write "\n]}"
end

local function write_all(write, threads, title)
  local names, first, last = number_names(threads)
  for i, name in ipairs(names) do names[i] = ('{"name":%s}'):format(json.string(name)) end
  write(('{"$schema":"%s","exporter":"perflua","name":%s,\n"shared":{"frames":[%s]},\n'
    .. '"profiles":[\n'):format(SCHEMA, json.string(title), table.concat(names, ",")))
  local is_first = true
  for _, thread in ipairs(threads) do
    for i, lane in ipairs(split_lanes(thread)) do
      if not is_first then write ",\n" end
      is_first = false
      write_lane(write, lane, i > 1 and ("%s, beside %d"):format(thread.name, i - 1)
        or thread.name, first, last)
    end
  end
  write "\n]}\n"
end

local function write_speedscope(query, out, title)
  local threads, n = collect_spans(query)
  local ok, message, code = output.to(out, function(write) write_all(write, threads, title) end)
  return ok and n, message, code
end

-- Writes spans by the core. Returns how many there are; nil, a message and a code on failure.
local function write_by_core(query, format, out, title)
  local selected, _, at = select_fields(query)
  local spec, n = spec_of(selected), nil
  local ok, message, code = output.with_file(out, function(file)
    local cursor <close> = plan.values(spec, spec.refs)
    local wrong, number
    n, wrong, number = errors.errno(errors.guard(core.write_spans, cursor, file, format, at,
      title))
    return n and true, wrong, number
  end)
  return ok and n, message, code
end

---@param query perflua.Query of spans
---@param format string
---@param out file*|string|nil
---@param options table? see lua/perflua/api/module.lua
---@return { samples: integer, set_aside: integer }?
---@return string? message
---@return string? code
function spans.export(query, format, out, options)
  local title = options.title or fmt.paths(spec_of(query).file.path)
  local n, message, code
  if format == "speedscope" then
    n, message, code = write_speedscope(query, out, title)
  else
    n, message, code = write_by_core(query, format, out, title)
  end
  if not n then return nil, message, code end
  return { samples = n, set_aside = 0 }
end

return spans
