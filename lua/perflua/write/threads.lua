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

-- Returns tid, ptid and ppid of each fork of a recording, in one list: those that a pass found,
-- or else by a pass of their own.
local function forks_of(file)
  local found = core.forks(file)
  if found then return found end
  local forks = {}
  for row in file:records("fork"):group_by("tid", "ptid", "ppid"):count():table():rows() do
    table.move({ row.tid, row.ptid, row.ppid }, 1, 3, #forks + 1, forks)
  end
  return forks
end

-- Adds those that threads were forked from, and those that these were forked from.
local function add_ancestors(forks, tids, pids)
  local waiting, last, before = {}, {}, {} -- before: the last fork of the same tid, by fork
  for i = 1, #forks, 3 do
    before[i], last[forks[i]] = last[forks[i]], i
  end
  for tid in pairs(tids) do waiting[#waiting + 1] = tid end
  while #waiting > 0 do
    local i = last[table.remove(waiting)]
    while i do
      pids[forks[i + 2]] = true
      for k = i + 1, i + 2 do
        local tid = forks[k]
        if not tids[tid] then waiting[#waiting + 1] = tid end
        tids[tid] = true
      end
      i = before[i]
    end
  end
end

local function list_of(set)
  local list = {}
  for number in pairs(set) do list[#list + 1] = number end
  return list
end

-- Returns pid and tid of each thread with chosen samples, in one list, and the forks of the
-- recording, by a pass over the samples; nil if they do not have the ids of their threads.
local function find_threads(query, file)
  local has_ids, groups = pcall(query.group_by, query, "pid", "tid")
  if not has_ids then return nil end
  local chosen = {}
  -- conditions may ask the recorded system, which the pass reads in a way of its own
  if #core.query_spec(query).filters == 0 then core.watch_names(file) end
  for row in groups:count():table():rows() do
    if not row.pid or not row.tid then return nil end
    chosen[#chosen + 1] = row.pid
    chosen[#chosen + 1] = row.tid
  end
  return chosen, forks_of(file)
end

---Finds threads and processes with chosen samples, and their ancestors, whose names and
---mappings they have. nil: the others may count, too, or that cannot be known before.
---@param query perflua.Query
---@param file perflua.File
---@param outline userdata? of core.outline(), of the query's samples
---@return integer[]? tids
---@return integer[]? pids
function threads.of(query, file, outline)
  if not file.size or name_others(file.events) then return nil end
  local chosen, forks
  if outline then
    chosen, forks = core.outline_found(outline)
  else
    chosen, forks = find_threads(query, file)
  end
  if not chosen then return nil end
  local tids, pids = {}, {}
  for i = 1, #chosen, 2 do
    local pid, tid = chosen[i], chosen[i + 1]
    tids[tid], tids[pid], pids[pid] = true, true, true
  end
  add_ancestors(forks, tids, pids)
  return list_of(tids), list_of(pids)
end

return threads
