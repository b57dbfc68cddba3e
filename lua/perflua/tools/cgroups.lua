-- perflua cgroups FILE: which control groups, and so which containers, had the processors.

local aside = require "perflua.group.aside"
local described = require "perflua.toolkit.described"
local needs = require "perflua.meta.needs"
local regrouped = require("perflua.table").regrouped
local result_table = require "perflua.table.result_table"
local sums = require "perflua.measures.sums"

-- Paths of control groups, as container engines make them.

local ID <const> = ("%x"):rep(64) -- of a container
-- of a pod
local UUID <const> = "(%x%x%x%x%x%x%x%x)[-_]%x%x%x%x[-_]%x%x%x%x[-_]%x%x%x%x[-_]" .. ("%x")
  :rep(12)

---@param path string
---@return string # ids as short as docker ps and others show them
local function short_path(path)
  path = path:gsub(ID, function(id) return id:sub(1, 12) end)
  return (path:gsub(UUID, "%1"))
end

---@param path string
---@return string? # path of the innermost container that it is of; nil: of none
local function container_of(path)
  local stop
  for from, to in path:gmatch("()[^/]+()") do
    if path:sub(from, to - 1):find(ID) then stop = to - 1 end
  end
  return stop and path:sub(1, stop)
end

---@param path string
---@return string[] # of the groups that it is nested in
local function groups_above(path)
  local list = {}
  for at in path:gmatch("()/") do
    local above = at == 1 and "/" or path:sub(1, at - 1)
    if above ~= path then list[#list + 1] = above end
  end
  return list
end

---Returns the names that paths are shown with: short, unless two would be the same then.
---@param rows table[] each with a path or nil, `group`
---@param full boolean?
---@return fun(path: string?): string
local function names_of(rows, full)
  local path_of = {}
  for _, row in ipairs(rows) do
    local short = row.group and short_path(row.group)
    if short then
      path_of[short] = (path_of[short] == nil or path_of[short] == row.group) and row.group
    end
  end
  return function(path)
    if not path then return "[unknown]" end
    local short = short_path(path)
    return not full and path_of[short] and short or path
  end
end

local known = { "cgroup", "container", "namespace", "comm" }

local parse_options = result_table.prepare("cgroup", known)

local columns = { { "event", "string" }, { "nested", "percent" }, { "percent", "percent" },
  { "samples", "unsigned" }, { "period", "unsigned" }, { "comm", "string" },
  { "namespace", "string" }, { "container", "string" }, { "cgroup", "string" } }

local tool = {
  description = "time on the processors by control group, container or cgroup namespace",
  usage = "cgroups [options] FILE…",
  reads = "samples", several = true,
  needs = { fields = { "cgroup_path" } },
  record = "perf record -a --all-cgroups -- COMMAND",
  options = result_table.with_options(columns, {
    by = { "WHAT",
      "group by cgroup (default), container, namespace, comm, or several: container,comm",
      values = known },
    nested = "add the totals of each group with the groups inside it",
    full = "show ids of containers and pods in full, as in CSV and JSON",
  }),
  help = [[
Shares are in percent of the period of each event, which is in nanoseconds for cpu-clock and task-clock. A
container is the group named by its id; samples outside containers are [host]. A recording made with
--namespaces instead of --all-cgroups is grouped by cgroup namespace, device/inode. Groups with the same
path share a row, even if they come from several recordings.

  nested  percent  samples      period  cgroup
  100.00%   77.19%     3838  1919000000  /
   22.81%    0.00%        0           0  /docker
   16.69%   13.48%      670   335000000  /docker/d287e7a6345e
    6.11%    6.11%      304   152000000  /docker/2b6b24f6ac64
    3.22%    3.22%      160    80000000  /docker/d287e7a6345e/work]],
}

-- The cgroup namespace of a sample's thread as perf names it, device/inode, which the last
-- NAMESPACES record of the thread tells; 0: not known then.
local NAMESPACE <const> = [[(function()
    local by_thread = {}
    return function(record)
      local thread = ("%s %s"):format(record.source, record.tid)
      if record.type == "namespaces" then
        local group = record.namespaces.cgroup
        by_thread[thread] = group and group.ino ~= 0
          and ("%d/0x%x"):format(group.dev, group.ino) or nil
      end
      return record.type == "sample" and by_thread[thread] or nil
    end
  end)()]]

-- Returns the query, and its key for groups or namespaces.
local function query_of(file, args, by)
  local query = described.with_losses(file, by.namespace and "namespaces" or nil)
  local key = by.namespace and { namespace = query:lua(NAMESPACE) } or "cgroup_path"
  local keys = { "type", "event.name", key, by.comm and "comm" or nil }
  query = query:group_by(table.unpack(keys))
  if args.nested then query = query:sum("period"):as("nested") end
  return query:sum("period"):count():as("samples"):sum("lost"),
    by.namespace and "namespace" or key
end

-- Returns the groups of a table by event, group and command, with --nested also those that they
-- are nested in, and what was lost.
local function groups_of(made, key, args, by)
  local lost = { lost = 0, lost_samples = 0 }
  return regrouped(made, { "event", "group", "comm" }, function(row, put)
    local group = row[key]
    if lost[row.type] then
      lost[row.type] = lost[row.type] + row.lost
    elseif row.type == "sample" then
      if by.container and group then group = container_of(group) or "[host]" end
      local keys = { event = row["event.name"] or "(event unknown)", group = group,
        comm = row.comm }
      put(keys)
      for _, above in ipairs(args.nested and group and groups_above(group) or {}) do
        keys.group = above
        put(keys, { nested = row.period })
      end
    end
  end), lost
end

local add = sums.adder "unsigned"

-- Returns rows, the periods of each event, and whether there are several events.
local function rows_of(made)
  local rows, periods = {}, {}
  for row in made:rows() do
    rows[#rows + 1] = row
    periods[row.event] = add(periods[row.event] or 0, row.period)
  end
  return rows, periods, next(periods, next(periods)) ~= nil
end

local function check_by(by, args)
  local ways = (by.cgroup and 1 or 0) + (by.container and 1 or 0) + (by.namespace and 1 or 0)
  if ways ~= 1 then return "--by: one of cgroup, container and namespace" end
  if by.namespace and args.nested then return "--nested is of cgroups" end
end

local function has_namespaces(file)
  for _, event in ipairs(file.events) do
    if event.namespaces then return true end
  end
  return false
end

local function percent_of(part, whole) return whole > 0 and 100 * (part / whole) or 0.0 end

function tool.prepare(args)
  local by, wrong = parse_options(args)
  return by, wrong or check_by(by, args)
end

-- The needs depend on the recording: run checks them.
function tool.needed() return nil end

-- Returns how rows are grouped: by namespaces where a recording has nothing else and nothing is
-- asked for; nil and what it lacks.
local function grouped_by(file, args, by)
  local lacking = not by.namespace and needs.check(file, tool)
  if lacking and (args.by or not has_namespaces(file)) then return nil, lacking end
  return lacking and { namespace = true } or by
end

function tool.queries(file, args, by)
  local found, lacking = grouped_by(file, args, by)
  if not found then return nil, lacking end
  return { (query_of(file, args, found)) }
end

---@param file perflua.File
---@param args table
---@param out file*
---@param by table<string, boolean>
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, by)
  local found, lacking = grouped_by(file, args, by)
  if not found then return nil, lacking end
  by = found
  local query, key = query_of(file, args, by)
  local set_aside = aside.from(query.query)
  local made, lost = groups_of(query:table(), key, args, by)
  local rows, periods, several = rows_of(made)
  local list = result_table.new(columns, several and "event" or args.nested and "nested"
    or "percent", { event = not several, nested = not args.nested, comm = not by.comm,
    container = by.namespace or not by.container, namespace = not by.namespace,
    cgroup = by.namespace or by.container })
  local name_of = names_of(rows, args.full or args.csv or args.json)
  for _, row in ipairs(rows) do
    local whole, name = periods[row.event], name_of(row.group)
    list:add { event = row.event, percent = percent_of(row.period, whole),
      nested = args.nested and percent_of(row.nested, whole), samples = row.samples,
      period = row.period, cgroup = name,
      container = name, namespace = name, comm = row.comm or "[unknown]" }
  end
  list:note_losses(lost)
  aside.note(list, set_aside.n)
  return list:write(args, out)
end

return tool
