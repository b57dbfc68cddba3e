-- The threads and processes whose records a selection of samples needs.

local core = require "perflua.core"

local threads = {}

-- Whether samples or switches may name threads that have no sample.
local function name_others(events)
  for _, event in ipairs(events) do
    if event.context_switch then return true end
    for _, field in ipairs(event.fields or {}) do
      if field.name:find "[pt]id$" and field.name ~= "common_pid" then return true end
    end
  end
  return false
end

-- Returns the forks of each tid: those that a pass found, or else by a pass of their own.
local function forks_of(file)
  local forks = {}
  local function add(fork)
    forks[fork.tid] = forks[fork.tid] or {}
    table.insert(forks[fork.tid], fork)
  end
  local found = core.forks(file)
  for _, fork in ipairs(found or {}) do add(fork) end
  if found then return forks end
  for row in file:records("fork"):group_by("tid", "ptid", "ppid"):count():table():rows() do
    add(row)
  end
  return forks
end

-- Adds those that threads were forked from, and those that these were forked from.
local function add_ancestors(forks, tids, pids)
  local waiting = {}
  for tid in pairs(tids) do waiting[#waiting + 1] = tid end
  while #waiting > 0 do
    for _, fork in ipairs(forks[table.remove(waiting)] or {}) do
      pids[fork.ppid] = true
      for _, tid in ipairs { fork.ptid, fork.ppid } do
        if not tids[tid] then waiting[#waiting + 1] = tid end
        tids[tid] = true
      end
    end
  end
end

local function list_of(set)
  local list = {}
  for number in pairs(set) do list[#list + 1] = number end
  return list
end

---Finds threads and processes with chosen samples, and their ancestors, whose names and
---mappings they have. nil: the others may count, too, or that cannot be known before.
---@param query perflua.Query
---@param file perflua.File
---@return integer[]? tids
---@return integer[]? pids
function threads.of(query, file)
  if not file.size or name_others(file.events) then return nil end
  local has_ids, groups = pcall(query.group_by, query, "pid", "tid")
  if not has_ids then return nil end
  local tids, pids = {}, {}
  -- conditions may ask the recorded system, which the pass reads in a way of its own
  if #core.query_spec(query).filters == 0 then core.watch_forks(file) end
  for row in groups:count():table():rows() do
    if not row.pid or not row.tid then return nil end
    tids[row.tid], tids[row.pid], pids[row.pid] = true, true, true
  end
  add_ancestors(forks_of(file), tids, pids)
  return list_of(tids), list_of(pids)
end

return threads
