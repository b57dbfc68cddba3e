-- The threads and processes whose records a selection of samples needs.

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

-- Adds those that threads were forked from, and those that these were forked from.
local function add_ancestors(file, tids, pids)
  local forks = {}
  for row in file:records("fork"):group_by("tid", "ptid", "ppid"):count():table():rows() do
    forks[row.tid] = forks[row.tid] or {}
    table.insert(forks[row.tid], row)
  end
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
  for row in groups:count():table():rows() do
    if not row.pid or not row.tid then return nil end
    tids[row.tid], tids[row.pid], pids[row.pid] = true, true, true
  end
  add_ancestors(file, tids, pids)
  return list_of(tids), list_of(pids)
end

return threads
