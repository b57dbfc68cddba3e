-- The requests of block devices, from the tracepoints block:block_rq_*.

local aside = require "perflua.group.aside"
local pending = require "perflua.waits.pending"
local samples_with_losses = require "perflua.file.samples_with_losses"

local requests = {}

-- The letters of rwbs that say what is done (blk_fill_rwbs of the kernel). F before another is
-- a flush before it.
local operations = {
  R = "read", W = "write", D = "discard", DE = "erase", F = "flush", N = "other", Z = "zone",
  FR = "read", FW = "write",
  FD = "discard",
}

local function operation_of(rwbs)
  return operations[rwbs:sub(1, 2)] or operations[rwbs:sub(1, 1)] or "other"
end

-- Formats dev_t as the kernel has it inside: 12 bits and 20.
local function device_of(dev) return ("%d:%d"):format(dev >> 20, dev & 0xfffff) end

-- Returns a key that identifies a request of a device. A flush has no sectors, so it has no
-- position.
local function place_of(sector, sectors) return sectors == 0 and -1 or sector end

local function name_of(event) return event.name:match "^block:block_rq_(%a+)$" end

-- Returns the names of events by index, and a query for the values of each record.
local function query_of(file)
  local names = samples_with_losses.index_events(file, name_of)
  local query = samples_with_losses.of_events(file, names)
  local function integer_field(...)
    return samples_with_losses.pick_field(query, "integer", ...)
  end
  local function text_field(...) return samples_with_losses.pick_field(query, "string", ...) end
  return names, query:select("event.index", "lost", "type_id", "time", integer_field "args.dev",
    integer_field "args.sector",
    integer_field "args.nr_sector", text_field "args.rwbs", text_field "args.comm",
    integer_field "args.bytes",
    -- errors before Linux 4.14
    integer_field("args.error", "args.errors"), integer_field "cpu"):each()
end

local function new_request(time, dev, sectors, rwbs, comm, bytes, queued)
  return {
    start = time, device = device_of(dev), flags = rwbs or "",
    operation = operation_of(rwbs or ""),
    comm = queued and queued.comm or comm or "[unknown]", queued = queued and time - queued.time
      or nil,
    bytes = bytes or sectors * 512, left = sectors, failed = false,
  }
end

-- Returns whether a request has a time or a size that only damage makes.
local function is_damaged(request, time)
  return aside.is(time - request.start) or aside.is(request.bytes) or aside.is(request.queued)
end

---Takes each request that completed. Its time begins when the device gets it, the last time if
---that is more than once.
---@param file perflua.File
---@param take fun(request: table, time: integer) { start, cpu, device, flags, operation, comm,
--- queued (ns), bytes, failed }
---@return table open what could not be paired (waits/pending.lua)
---@return table<integer, integer> lost by type_id
---@return integer unreadable samples without what is needed
function requests.each(file, take)
  local queued, open, lost, unreadable = pending.new(), pending.new(), {}, 0
  local names, records = query_of(file)
  for index, n_lost, type_id, time, dev, sector, sectors, rwbs, comm, bytes,
      failed, cpu in records do
    local name, at = names[index], sector and sectors and place_of(sector, sectors)
    if n_lost then
      lost[type_id] = (lost[type_id] or 0) + n_lost
      queued:drop()
      open:drop()
    elseif not (time and dev and at) then
      unreadable = unreadable + 1
    elseif name == "insert" then
      queued:begin(dev, at, { time = time, comm = comm })
    elseif name == "merge" then
      queued:forget(dev, at)
    elseif name == "requeue" then
      open:forget(dev, at)
    elseif name == "issue" then
      local request = new_request(time, dev, sectors, rwbs, comm, bytes, queued:finish(dev, at))
      request.cpu = cpu or nil
      open:begin(dev, at, request)
    elseif name == "complete" then
      local request = open:finish(dev, at)
      if request then
        request.failed = request.failed or failed and failed ~= 0
        request.left = request.left - sectors
        if sectors > 0 and request.left > 0 then -- these were its first sectors
          open:begin(dev, sector + sectors, request)
        elseif is_damaged(request, time) then
          unreadable = unreadable + 1
        else
          take(request, time)
        end
      end
    end
  end
  return open, lost, unreadable
end

return requests
