-- perflua io FILE: how long block devices took for requests, by device and operation.

local aside = require "perflua.group.aside"
local described = require "perflua.toolkit.described"
local result_table = require "perflua.table.result_table"
local samples = require "perflua.toolkit.samples"

-- Describes to pair() the requests of block devices, from the tracepoints block:block_rq_*:
-- queued, issued to the device, completed by it, in parts perhaps, or given back to the queue.

local EVENT <const> = "block:block_rq_%s"

-- The position of a request on its device. A flush has no sectors, so it has none.
local POSITION <const> = "args.nr_sector == 0 and -1 or args.sector"

-- A new request may be queued at the position of one that the device has: they have keys of
-- their own.
local QUEUED <const>, ISSUED <const> = { "args.dev", POSITION, "'queue'" },
  { "args.dev", POSITION, "'device'" }

-- The first sector after those that have completed, and after those of the request.
local DONE <const> = "args.sector + args.nr_sector"
local END <const> = "at_issued.args.sector + at_issued.args.nr_sector"

-- The condition under which a span is a request that completed: one that was merged into
-- another while it was queued did not.
local COMPLETED = "state == 'issued' or state == 'failed'"

-- The time of a request: from the last time that the device got it.
local TOOK = "stop - at_issued.time"

-- The operation of a request, by the letters of rwbs that say what is done (blk_fill_rwbs of
-- the kernel). F before another letter is a flush before it.
local OPERATION = (function()
  local parts = {}
  for _, row in ipairs { { "FR", "read" }, { "FW", "write" }, { "FD", "discard" },
    { "DE", "erase" }, { "R", "read" }, { "W", "write" }, { "D", "discard" }, { "F", "flush" },
    { "Z", "zone" } } do
    parts[#parts + 1] = ("starts(at_issued.args.rwbs, '%s') and '%s'"):format(row[1], row[2])
  end
  return table.concat(parts, " or ") .. " or 'other'"
end)()

local function kinds_of(file)
  local function kind(name, values)
    values.event = EVENT:format(name)
    return file.events[values.event] and values or nil
  end
  return kind
end

-- Returns the kinds that are there, in order.
local function present(n, ...)
  local kinds = {}
  for i = 1, n do kinds[#kinds + 1] = (select(i, ...)) end
  return kinds
end

---@param file perflua.File
---@param failed string the argument of block_rq_complete that is not 0 if it failed
---@return table # pair()'s options
local function pair_options(file, failed)
  local kind = kinds_of(file)
  local is_part = ("args.nr_sector > 0 and %s < %s"):format(DONE, END)
  local rest = { "args.dev", DONE, "'device'" }
  return {
    open = present(2, kind("insert", { key = QUEUED, state = "queued" }),
      kind("issue", { key = ISSUED, state = "issued" })),
    change = present(5,
      kind("requeue", {}) and kind("insert", { key = QUEUED, from = "requeued",
        state = "queued" }),
      kind("issue", { key = QUEUED, to = ISSUED, state = "issued" }),
      kind("requeue", { key = ISSUED, to = QUEUED, state = "requeued" }),
      kind("complete", { key = ISSUED, to = rest, state = "failed",
        where = ("%s ~= 0 and %s"):format(failed, is_part) }),
      kind("complete", { key = ISSUED, to = rest, where = is_part })),
    close = present(2, kind("merge", { key = QUEUED }), kind("complete", { key = ISSUED,
      where = ("args.nr_sector == 0 or %s >= %s"):format(DONE, END) })),
  }
end

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
The time of a request runs from its issue to the device until its completion, the last one if it completes
in parts; if it was given back and issued again, from the last issue. queued counts requests whose wait in
the queue was recorded; queue_avg_us and queue_max_us are these waits. flags are the letters of the
tracepoints; comm queued the request. A request that was merged into another is not counted.

  device  operation  requests  errors     bytes  total_ms   avg_us   max_us  queued  queue_avg_us …
  254:0   write           822       0  34713600    424.74   516.71  4145.18     814       1509.09
  254:0   read            202       0  26214400     37.82   187.20  1016.51     202          3.46
  254:0   discard          12       0  26222592     12.39  1032.42  6698.90      12         23.39
  254:0   flush             1       0         0      0.06    56.81    56.81       0             -]],
}

-- Returns the query, and its keys by the names of known.
local function query_of(file, args, by)
  local query = described.samples(file)
  local failed = query:field("integer", "args.error", "args.errors") -- before Linux 4.14
  local has_bytes = query:field("integer", "args.bytes")
  query = query:pair(pair_options(file, failed)):where(COMPLETED)
  local keys = { device = "at_issued.args.dev", operation = OPERATION,
    flags = "at_issued.args.rwbs or ''",
    comm = "open.args.comm or at_issued.args.comm or '[unknown]'" }
  local condition = samples.span_condition(args, { cpu = "at_issued.cpu",
    comm = "(" .. keys.comm .. ")" })
  if condition then query = query:where(condition) end
  local list = {}
  for _, name in ipairs(known) do
    if by[name] then list[#list + 1] = keys[name] end
  end
  query = query:group_by(table.unpack(list)):count():sum(TOOK):as("took")
    :max(TOOK):as("longest"):sum(has_bytes
      and "at_issued.args.bytes or at_issued.args.nr_sector * 512"
      or "at_issued.args.nr_sector * 512"):as("bytes")
    :sum(("(close.%s ~= 0 or in_failed > 0) and 1 or 0"):format(failed)):as("errors")
  if file.events["block:block_rq_insert"] then
    local wait = "at_queued.time ~= nil and in_queued"
    query = query:sum("at_queued.time ~= nil and 1"):as("queued"):sum(wait):as("waited")
      :max(wait):as("longest_wait")
  end
  return args.hist and query:hist(TOOK):as "hist" or query, keys
end

function tool.queries(file, args, by) return { (query_of(file, args, by)) } end

tool.prepare = result_table.prepare("device,operation", known)

-- Formats dev_t as the kernel has it inside: 12 bits and 20.
local function device_of(dev) return dev and ("%d:%d"):format(dev >> 20, dev & 0xfffff) end

local function add_row(list, row, keys)
  local queued = row.queued or 0
  list:add {
    device = device_of(row[keys.device]), operation = row[keys.operation],
    flags = row[keys.flags], comm = row[keys.comm], requests = row.count, errors = row.errors,
    bytes = row.bytes, total_ms = row.took / 1e6, avg_us = row.took / row.count / 1e3,
    max_us = row.longest / 1e3, queued = queued,
    queue_avg_us = queued > 0 and row.waited / queued / 1e3 or nil,
    queue_max_us = queued > 0 and row.longest_wait / 1e3 or nil, hist = row.hist,
  }
end

---@param file perflua.File
---@param args table
---@param out file*
---@param by table<string, boolean>
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, by)
  local query, keys = query_of(file, args, by)
  local set_aside = aside.from(query.query)
  local left_out = { hist = not args.hist }
  for _, name in ipairs(known) do left_out[name] = not by[name] end
  local list = result_table.new(columns, "total_ms", left_out)
  local made = query:table()
  for row in made:rows() do add_row(list, row, keys) end
  list:note_spans(made, "{request|requests}")
  aside.note(list, set_aside.n)
  return list:write(args, out)
end

return tool
