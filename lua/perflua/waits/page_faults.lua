-- Page faults of a recording: from software events, or from the tracepoints of exceptions.

local aside = require "perflua.group.aside"
local samples_with_losses = require "perflua.file.samples_with_losses"

local page_faults = {}

-- Kinds of faults that software events count, by config (PERF_COUNT_SW_PAGE_FAULTS …).
local software = { [2] = "faults", [5] = "minor", [6] = "major" }

local function kind_of(event)
  if event.type == 1 then return software[event.config] end -- PERF_TYPE_SOFTWARE
  return event.name:match "^exceptions:page_fault_(%a+)$" -- user, kernel
end

---Returns the kinds of faults that the events count: the software events or, without them, the
---tracepoints.
---@param file perflua.File
---@return table<integer, string> kinds by index of an event: faults, minor, major; or user,
--- kernel
---@return table<string, boolean> has which there are, and traps: they are those of tracepoints
function page_faults.kinds(file)
  local kinds, has = samples_with_losses.index_events(file, kind_of), {}
  for _, kind in pairs(kinds) do has[kind] = true end
  has.traps = not (has.faults or has.minor or has.major)
  for index, kind in pairs(kinds) do
    if (kind == "user" or kind == "kernel") and not has.traps then kinds[index] = nil end
  end
  return kinds, has
end

-- Reads of each record: index, lost, type_id, period, pid, time, cpumode, object or address,
-- function or its address, comm, tid, stack.
local function records_of(file, kinds, by, traps)
  local query = samples_with_losses.of_events(file, kinds)
  local function pick_field(wanted, class, name)
    return wanted and samples_with_losses.pick_field(query, class, name) or "lost"
  end
  local object = traps and { "integer", "args.address" } or { "string", "dso_daddr" }
  local code = traps and { "integer", "args.ip" } or { "string", "symbol" }
  local addressed = samples_with_losses.pick_field(query, "integer", "addr") ~= "lost"
  return addressed, query:select("event.index", "lost", "type_id",
    pick_field(true, "integer", "period"),
    pick_field(traps, "integer", "pid"), pick_field(traps, "integer", "time"), "cpumode",
    pick_field(by.object, table.unpack(object)), pick_field(by["function"], table.unpack(code)),
    pick_field(by.comm or by.thread, "string", "comm"), pick_field(by.thread, "integer", "tid"),
    pick_field(by.stack, "string", "stack")):each()
end

-- Returns the names at two addresses of a process.
local function resolve_names(file, pid, time, address, ip)
  local object = address and pid and file:resolve(pid, address, time or nil)
  local code = ip and pid and file:resolve(pid, ip, time or nil)
  return object and object.dso, code and code.symbol
end

---Takes each sample.
---@param file perflua.File
---@param kinds table<integer, string>
---@param has table<string, boolean>
---@param by table<string, boolean> which of object, function, comm, thread and stack are wanted
---@param take fun(n: integer, kind: string, kernel: boolean, object: string, code: string,
--- comm: string, tid, stack)
---@return table<integer, integer> lost by type_id
---@return integer # how many samples were set aside
function page_faults.each(file, kinds, has, by, take)
  local lost, traps, n_aside = {}, has.traps, 0
  local addressed, records = records_of(file, kinds, by, traps)
  for index, n_lost, type_id, n, pid, time, mode, object, code, comm, tid, stack in records do
    local kind = kinds[index]
    if n_lost then
      lost[type_id] = (lost[type_id] or 0) + n_lost
    elseif kind and aside.is(n) then
      n_aside = n_aside + 1
    elseif kind then
      local address = addressed
      if traps then
        address = object
        object, code = resolve_names(file, pid, time, object, code)
        mode = kind
      end
      take(n or 1, kind, mode == "kernel", object or address and "[unknown]" or "[no address]",
        code or "[unknown]",
        comm or "[unknown]", tid or nil, stack or "[unknown]")
    end
  end
  return lost, n_aside
end

return page_faults
