-- Describes to pair() the requests of block devices, from the tracepoints block:block_rq_*:
-- queued, issued to the device, completed by it, in parts perhaps, or given back to the queue.

local requests = {}

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

---The condition under which a span is a request that completed: one that was merged into
---another while it was queued did not.
requests.COMPLETED = "state == 'issued' or state == 'failed'"

---The time of a request: from the last time that the device got it.
requests.TOOK = "stop - at_issued.time"

---The operation of a request, by the letters of rwbs that say what is done (blk_fill_rwbs of
---the kernel). F before another letter is a flush before it.
requests.OPERATION = (function()
  local parts = {}
  for _, one in ipairs { { "FR", "read" }, { "FW", "write" }, { "FD", "discard" },
    { "DE", "erase" }, { "R", "read" }, { "W", "write" }, { "D", "discard" }, { "F", "flush" },
    { "Z", "zone" } } do
    parts[#parts + 1] = ("starts(at_issued.args.rwbs, '%s') and '%s'"):format(one[1], one[2])
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
local function list(n, ...)
  local kinds = {}
  for i = 1, n do kinds[#kinds + 1] = (select(i, ...)) end
  return kinds
end

---@param file perflua.File
---@param failed string the argument of block_rq_complete that is not 0 if it failed
---@return table # pair()'s options
function requests.pairs(file, failed)
  local kind = kinds_of(file)
  local is_part = ("args.nr_sector > 0 and %s < %s"):format(DONE, END)
  local rest = { "args.dev", DONE, "'device'" }
  return {
    open = list(2, kind("insert", { key = QUEUED, state = "queued" }),
      kind("issue", { key = ISSUED, state = "issued" })),
    change = list(5,
      kind("insert", { key = QUEUED, from = "requeued", state = "queued" }),
      kind("issue", { key = QUEUED, to = ISSUED, state = "issued" }),
      kind("requeue", { key = ISSUED, to = QUEUED, state = "requeued" }),
      kind("complete", { key = ISSUED, to = rest, state = "failed",
        where = ("%s ~= 0 and %s"):format(failed, is_part) }),
      kind("complete", { key = ISSUED, to = rest, where = is_part })),
    close = list(2, kind("merge", { key = QUEUED }), kind("complete", { key = ISSUED,
      where = ("args.nr_sector == 0 or %s >= %s"):format(DONE, END) })),
  }
end

return requests
