-- The key cgroup_id of reports: the cgroup namespace of a sample's thread, as device/inode. The
-- last NAMESPACES record of the thread tells it.

local usage_error = require("perflua.errors").usage_error

local cgroup_id = {}

local NONE <const> = "0/0x0" -- as perf shows it

-- Returns by recording and thread the times of NAMESPACES records, and what they tell.
local function read_namespaces(file)
  local by_source = {}
  for source, time, tid, dev, ino in file:records "namespaces"
      :select("source", "time", "tid", "namespaces.cgroup.dev", "namespaces.cgroup.ino") do
    local threads = by_source[source] or {}
    local list = threads[tid] or { times = {}, texts = {} }
    by_source[source], threads[tid] = threads, list
    list.times[#list.times + 1] = time or 0 -- what perf found when it began has no time
    list.texts[#list.texts + 1] = dev and ino and ("%d/0x%x"):format(dev, ino) or NONE
  end
  return by_source
end

---@param file perflua.File
---@return table # the key's Ref, a function of a sample; raises if the recording does not tell
function cgroup_id.ref(file)
  local has = false
  for i = 1, #file.events do has = has or file.events[i].namespaces end
  if not has then
    usage_error("cgroup_id: this recording has no namespaces; record it with: "
      .. "perf record --namespaces -- COMMAND")
  end
  local by_source = read_namespaces(file)
  local function find_namespace(sample)
    local threads = by_source[sample.source or false]
    local list, found = threads and threads[sample.tid], NONE
    for i, time in ipairs(list and list.times or {}) do
      if time > (sample.time or math.maxinteger) then break end
      found = list.texts[i]
    end
    return found
  end
  return { text = "cgroup_id", kind = "function", shows = "string", plain = false,
    get = find_namespace }
end

return cgroup_id
