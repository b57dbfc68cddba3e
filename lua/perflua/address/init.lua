-- Describes an address for `perflua symbol`, step by step, as one table of stable keys.

local interrupted = require "perflua.table.interrupted"
local json = require "perflua.text.json"

local address = {}

local MOST = 1000 -- processes that are looked at step by step

---Parses an address as perf prints it (hexadecimal), or with 0x.
---@param text string
---@return integer?
function address.parse(text)
  local digits = text:match "^0[xX](%x+)$" or text:match "^%x+$"
  digits = digits and digits:gsub("^0+", "")
  if not digits or #digits > 16 then return nil end
  return math.tointeger(tonumber("0x0" .. digits))
end

local fields = { "type", "offset", "time", "pid", "addr", "len" }

-- Returns the records that map something there. They are read once, as a stream can be read
-- only once.
local function records_of(file, ip)
  local list = {}
  local hex = ("0x%x"):format(ip)
  local query = file:records { type = { "mmap", "mmap2", "ksymbol" }, order = "file" }
  for r in query:where(("addr <= %s and %s - addr < len"):format(hex, hex)):each() do
    local row = {}
    for _, name in ipairs(fields) do row[name] = r[name] end
    table.insert(list, row)
  end
  return list
end

-- Returns whether the recording has times. Without times the order of records stands for them.
local function is_timed(file, records)
  local timed = file.first_time ~= nil
  for _, record in ipairs(records) do timed = timed or record.time ~= nil end
  return timed
end

-- Returns the record that made the map of a time range: the last one of this time with its
-- start and length. A map that perf wrote for an existing mapping has none.
local function made_by(stay, list, pid)
  local best, points = nil, -1
  for _, record in ipairs(list) do
    if record.addr == stay.map.start and record.len == stay.map.len
      and (record.time == stay.made or not record.time) then
      local own = (record.time and 2 or 0) + (record.pid == pid and 1 or 0)
      if own >= points then best, points = record, own end
    end
  end
  return best
end

-- Returns the maps around an address at which nothing is mapped.
local function find_neighbours(thread, ip)
  local below, above
  for _, map in ipairs(thread and thread.maps() or {}) do
    if math.ult(map.start, ip) then
      if not below or math.ult(below.start, map.start) then below = map end
    elseif not above or math.ult(map.start, above.start) then
      above = map
    end
  end
  return below, above
end

-- Returns whether nothing is mapped in a time range that ends before the recording's first
-- sample, when perf had not written the maps yet, or before the process began.
local function is_prologue(stay, file, pid)
  local first = file.first_time
  return not stay.map and stay.to
    and (not first or not math.ult(first, stay.to) or pid and not file:thread(pid, stay.to - 1))
end

local function complete_stay(stay, asked, records, pid)
  local time = asked.time or stay.to and stay.to - 1
  local thread = pid and asked.file:thread(pid, time)
  if thread then stay.comm, stay.began, stay.ended = thread.comm, thread.start, thread.exit end
  stay.unknown_process = pid and not thread or nil
  if stay.map then
    stay.record = made_by(stay, records, pid)
    local from = stay.record and stay.record.pid
    stay.inherited_from = pid and from and from >= 0 and from ~= pid and from or nil
  else
    stay.below, stay.above = find_neighbours(thread, asked.address)
  end
end

-- Returns the history of the address, in one process or in the kernel.
local function walk_history(asked, records, pid)
  local list, kind = asked.file:history(pid, asked.address, asked.time, asked.guest)
  local kept = json.array()
  for i, stay in ipairs(list) do
    if #list == 1 or asked.time or i == #list or not is_prologue(stay, asked.file, pid) then
      complete_stay(stay, asked, records, pid)
      table.insert(kept, stay)
    end
  end
  return { pid = pid, ranges = kept }, kind
end

local function has_map(process)
  for _, stay in ipairs(process.ranges) do
    if stay.map then return true end
  end
end

-- Returns whether the kernel or a module is mapped at an address of that kind. The map of a
-- relocated kernel may begin far below its code, and cover addresses of processes.
local function has_kernel_map(kernel, kind)
  for _, stay in ipairs(kernel.ranges) do
    if stay.map and (kind ~= "user" or stay.binary.kind ~= "kernel") then return true end
  end
end

-- Returns the processes that had something mapped at the address.
local function processes_with(asked, records)
  local list, seen, more = json.array(), {}, 0
  for _, thread in ipairs(asked.file:threads()) do
    local pid = thread.pid
    if pid >= 0 and not seen[pid] then
      seen[pid] = true
      if #list >= MOST then
        more = more + 1
      else
        local process = walk_history(asked, records, pid)
        if has_map(process) then table.insert(list, process) end
      end
    end
  end
  table.sort(list, function(a, b) return a.pid < b.pid end)
  return list, more
end

---@param file perflua.File
---@param ip integer
---@param options table # { pid, time, guest }
---@return table # { address, kind, pid, time, guest, processes: { pid, ranges }[] }, without a
--- pid: the kernel
function address.explain(file, ip, options)
  local asked = { file = file, address = ip, time = options.time, guest = options.guest }
  local records = records_of(file, ip)
  if interrupted.now() then -- there is no time to read names
    return { path = file.path, address = ip, pid = options.pid, processes = json.array() }
  end
  local stays, kind = walk_history(asked, records, options.pid)
  local report = { path = file.path, address = ip, kind = kind, pid = options.pid,
    time = options.time,
    guest = options.guest, timed = is_timed(file, records), processes = json.array { stays } }
  if not options.pid and kind ~= "kernel" and not options.guest then
    report.processes, report.not_looked_at = processes_with(asked, records)
    if has_kernel_map(stays, kind) then table.insert(report.processes, 1, stays) end
  elseif options.pid and kind ~= "kernel" and not has_map(stays) then
    local kernel = walk_history(asked, records)
    if has_kernel_map(kernel, kind) then table.insert(report.processes, kernel) end
  end
  return report
end

return address
