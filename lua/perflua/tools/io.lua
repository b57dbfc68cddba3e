-- perflua io FILE: how long block devices took for requests, by device and operation.

local core = require "perflua.core"
local result_table = require "perflua.table.result_table"
local requests = require "perflua.waits.requests"
local samples = require "perflua.toolkit.samples"
local samples_with_losses = require "perflua.file.samples_with_losses"
local sums = require "perflua.measures.sums"
local totals = require "perflua.waits.totals"

local add = sums.adder "unsigned"

local known = { "device", "operation", "flags", "comm" }

local columns = { { "device", "string" }, { "operation", "string" }, { "flags", "string" },
  { "comm", "string" }, { "requests", "unsigned" }, { "errors", "unsigned" },
  { "bytes", "unsigned" }, { "total_ms", "float" }, { "avg_us", "float" },
  { "max_us", "float" }, { "queued", "unsigned" }, { "queue_avg_us", "float" },
  { "queue_max_us", "float" },
  { "hist", "histogram" } }

local tool = {
  description =
    "block requests: how many, how large, how long they waited and took; by device, operation",
  usage = "io [options] FILE",
  reads = "samples",
  takes = "time comm cpu where symbols", refused = "it reads the requests of all of them",
  applies = samples.of_spans,
  needs = { events = { "block:block_rq_issue", "block:block_rq_complete" },
    fields = { "time" } },
  record = "perf record -a -e 'block:block_rq_*' -- COMMAND",
  options = result_table.with_options(columns, {
    by = { "WHAT",
      "group by device, operation (default: both), flags, comm, or several: device,comm",
      values = known },
    cpu = samples.cpu_of_spans,
    hist = "add a histogram of the times: nanoseconds, in powers of two",
  }),
  help = [[
The time of a request runs from its issue to the device until its completion; if it was requeued, from
the last issue. queued counts requests whose wait in the queue was recorded; queue_avg_us and
queue_max_us are these waits. flags are the letters of the tracepoints; comm queued the request.

  device  operation  requests  errors     bytes  total_ms   avg_us   max_us  queued  queue_avg_us …
  254:0   write           822       0  34713600    424.74   516.71  4145.18     814       1509.09
  254:0   read            202       0  26214400     37.82   187.20  1016.51     202          3.46
  254:0   discard          12       0  26222592     12.39  1032.42  6698.90      12         23.39
  254:0   flush             1       0         0      0.06    56.81    56.81       0             -]],
}

-- Texts of the notes on requests that could not be paired.
local texts = {
  unopened = "{request is|requests are} not counted: {its|their} start was not recorded",
  restarted = "{request was|requests were} given to the device again before completing: "
    .. "the last time counts",
  lost = "{request is|requests are} not counted: records were lost before {it|they} completed",
  unclosed = "{request is|requests are} not counted: {it|they} had not completed when the "
    .. "recording ended",
}


local function read_requests(file, by, hist, is_chosen)
  local rows, queues, bucket = totals.new(), totals.new(), core.power_bucket
  local open, lost, unreadable = requests.each(file, function(request, time)
    if not is_chosen(nil, request.comm, nil, request.cpu) then return end
    local parts = {}
    for i, name in ipairs(known) do parts[i] = by[name] and request[name] or "" end
    local key, took = table.concat(parts, "\0"), time - request.start
    local row, queue = rows:row(key), queues:row(key)
    if not row.bytes then
      row.bytes, row.errors, row.hist, row.queue = 0, 0, {}, queue
      for _, name in ipairs(known) do row[name] = request[name] end
    end
    totals.add(row, took)
    row.bytes, row.errors = add(row.bytes, request.bytes),
      row.errors + (request.failed and 1 or 0)
    if hist then row.hist[bucket(took)] = (row.hist[bucket(took)] or 0) + 1 end
    if request.queued then totals.add(queue, request.queued) end
  end)
  queues:sorted()
  return rows:sorted(), open, lost, unreadable
end

tool.prepare = result_table.prepare("device,operation", known)

---@param file perflua.File
---@param args table
---@param out file*
---@param by table<string, boolean>
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, by)
  local is_chosen = samples.threads(args)
  local left_out = { hist = not args.hist }
  for _, name in ipairs(known) do left_out[name] = not by[name] end
  local rows, open, lost, unreadable = read_requests(file, by, args.hist, is_chosen)
  local list = result_table.new(columns, "total_ms", left_out)
  for _, row in ipairs(rows) do
    row.requests, row.queued, row.hist = row.count, row.queue.count, core.histogram(row.hist)
    row.queue_avg_us, row.queue_max_us = row.queue.avg_us, row.queue.avg_us and row.queue.max_us
    list:add(row)
  end
  samples_with_losses.add_notes(list, lost, unreadable)
  open:add_notes(list, "request", texts)
  return list:write(args, out)
end

return tool
