-- perflua stat FILE: how many records of each type and event, how many bytes, what was lost,
-- when.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local interrupted = require "perflua.table.interrupted"
local json = require "perflua.text.json"
local perflua = require "perflua"
local row_output = require "perflua.table.row_output"
local samples = require "perflua.toolkit.samples"
local strip_position = require("perflua.errors").strip_position
local types = require("perflua.recording").types

local USAGE <const> = 2

local tool = {
  description = "records and bytes by type and by event, losses, time range",
  usage = "stat [--json] [--time RANGES] FILE…",
  reads = "records", several = true,
  takes = "time", refused = "it counts records of any type",
  options = { json = "one JSON object" },
  help = [[
Counts every record in one pass. Bytes are those of the records themselves; data after AUX area and
tracing data records is counted separately, as payload.

A sample with counter values ({a,b}:S, a:S) is delivered once for each value that changed. Events of such
samples show both the records in the file and the delivered samples. With --time, records without a time,
and payload, are left out.]],
}

-- Rows {name, id, count, bytes}, most records first.
local function type_rows(counts)
  local rows = {}
  for id, count in pairs(counts.types) do
    local desc = types()[id]
    table.insert(rows, { desc and desc.name or "unknown", id, count.count, count.bytes })
  end
  table.sort(rows, function(a, b)
    if a[3] ~= b[3] then
      return a[3] > b[3]
    end
    return a[2] < b[2]
  end)
  return rows
end

-- Rows {name, records, samples, bytes, lost samples}, in the order of the file's events.
local function event_rows(file, counts)
  local rows = {}
  for i, count in ipairs(counts.events) do
    rows[i] = { file.events[i].name, count.records, count.count, count.bytes,
      count.lost_samples }
  end
  if counts.unknown_event.count > 0 then
    local unknown = counts.unknown_event
    table.insert(rows, { "(event unknown)", unknown.count, unknown.count, unknown.bytes, 0 })
  end
  return rows
end

local function sum_column(rows, column)
  local sum = 0
  for _, row in ipairs(rows) do
    sum = sum + row[column]
  end
  return sum
end

local function print_table(out, columns, rows)
  out:write(fmt.table(columns, rows), "\n")
end

local function print_text(file, counts, out)
  local by_type, by_event = type_rows(counts), event_rows(file, counts)
  table.insert(by_type, { "total", nil, sum_column(by_type, 3), sum_column(by_type, 4) })
  for _, row in ipairs(by_type) do
    row[2] = row[1] == "unknown" and row[2] or ""
  end
  print_table(out, {
    { name = "type", kind = "string" }, { name = "", kind = "string" },
    { name = "records", kind = "unsigned" }, { name = "bytes", kind = "unsigned" },
  }, by_type)
  local columns = {
    { name = "event", kind = "string" }, { name = "records", kind = "unsigned" },
    { name = "samples", kind = "unsigned" }, { name = "bytes", kind = "unsigned" },
    { name = "lost samples", kind = "unsigned" },
  }
  if not counts.split then
    table.remove(columns, 2)
    for _, row in ipairs(by_event) do table.remove(row, 2) end
  end
  print_table(out, columns, by_event)
  out:write(("lost records  %d\nlost samples  %d\n"):format(counts.lost_records,
    counts.lost_samples))
  if counts.payload > 0 then
    out:write(("payload       %d bytes\n"):format(counts.payload))
  end
  if counts.first_time then
    out:write(("time          %s to %s, %.6f s\n"):format(perflua.seconds(counts.first_time),
      perflua.seconds(counts.last_time), (counts.last_time - counts.first_time) / 1e9))
  end
  local part = interrupted.part()
  if part then out:write(interrupted.text(part), "\n") end
end

-- Columns in JSON; their names are those of the members.
local TYPE_COLUMNS <const> = {
  { name = "type", kind = "string" }, { name = "type_id", kind = "unsigned" },
  { name = "records", kind = "unsigned" }, { name = "bytes", kind = "unsigned" },
}
local EVENT_COLUMNS <const> = {
  { name = "event", kind = "string" }, { name = "records", kind = "unsigned" },
  { name = "samples", kind = "unsigned" }, { name = "bytes", kind = "unsigned" },
  { name = "lost_samples", kind = "unsigned" },
}

-- Writes an object, whose members `types` and `events` are arrays of rows.
local function print_json(file, counts, out)
  out:write(json.encode({
    path = file.path,
    size = file.size,
    interrupted = interrupted.value(),
    lost_records = counts.lost_records,
    lost_samples = counts.lost_samples,
    payload = counts.payload,
    first_time = counts.first_time,
    last_time = counts.last_time,
  }):sub(1, -2), ',"types":')
  row_output.json(out, TYPE_COLUMNS, type_rows(counts))
  out:write ',"events":'
  row_output.json(out, EVENT_COLUMNS, event_rows(file, counts))
  out:write "}\n"
end

-- Counts the records of some times, as core.count does those of all; raises what is wrong with
-- them.
local function count_between(file, args)
  local function records_of(options)
    options.order = "file"
    return samples.narrow(file:records(options), args)
  end
  local counts = { types = {}, events = {},
    unknown_event = { count = 0, bytes = 0, records = 0 },
    lost_records = 0, lost_samples = 0, payload = 0, split = false }
  for i in ipairs(file.events) do
    counts.events[i] = { records = 0, count = 0, bytes = 0, lost_samples = 0 }
  end
  local function event_of(row)
    return counts.events[row["event.index"]] or counts.unknown_event
  end
  local all = records_of { container = true }
  for row in all:group_by("type_id"):count():sum("size"):table():rows() do
    counts.types[row.type_id] = { count = row.count, bytes = row.size }
  end
  for row in records_of({ type = "sample" }):group_by("event.index"):count():sum("size")
      :table():rows() do
    local event = event_of(row)
    event.records, event.bytes = row.count, row.size
  end
  for row in samples.narrow(file:samples { order = "file" }, args):all_events()
      :group_by("event.index"):count():table():rows() do
    local event = event_of(row)
    event.count = row.count
    counts.split = counts.split or event.records ~= row.count
  end
  for row in records_of({ type = "lost_samples" }):group_by("event.index"):sum("lost")
      :table():rows() do
    local event = counts.events[row["event.index"]]
    if event then event.lost_samples = row.lost end
    counts.lost_samples = counts.lost_samples + row.lost
  end
  counts.lost_records = records_of({ type = "lost" }):sum("lost")
  counts.first_time, counts.last_time = all:min("time"), all:max("time")
  return counts
end

---@param file perflua.File
---@param args table
---@param out file*
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out)
  local counts
  if args.time then
    local ok
    if not file.size then
      return USAGE, "stat: --time needs a file: a stream is read only once"
    end
    ok, counts = pcall(count_between, file, args)
    if not ok then return USAGE, "stat: " .. strip_position(counts) end
  else
    counts = core.count(file)
  end
  local print_as = args.json and print_json or print_text
  print_as(file, counts, out)
end

return tool
