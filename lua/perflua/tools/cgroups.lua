-- perflua cgroups FILE: which control groups, and so which containers, had the processors.

local aside = require "perflua.group.aside"
local cgroups = require "perflua.text.cgroups"
local keyed = require "perflua.table.keyed"
local result_table = require "perflua.table.result_table"
local needs = require "perflua.meta.needs"
local samples_with_losses = require "perflua.file.samples_with_losses"
local adders = require "perflua.measures.sums"

local add = adders.adder "unsigned"

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
    nested = "add the totals of each group and the groups inside of it",
    full = "show ids of containers and pods in full, as in CSV and JSON",
  }),
  help = [[
Shares are of the periods of each event, which are nanoseconds for cpu-clock and task-clock. A container
is the group named by its id; samples outside of containers are [host]. A recording made with --namespaces
instead of --all-cgroups is grouped by cgroup namespace, device/inode. Groups of one path share
a row, also those of several recordings.

  nested  percent  samples      period  cgroup
  100.00%   77.19%     3838  1919000000  /
   22.81%    0.00%        0           0  /docker
   16.69%   13.48%      670   335000000  /docker/d287e7a6345e
    6.11%    6.11%      304   152000000  /docker/2b6b24f6ac64
    3.22%    3.22%      160    80000000  /docker/d287e7a6345e/work]],
}

local SAMPLE <const> = 9 -- PERF_RECORD_SAMPLE

-- Samples and periods by event, group or namespace, and command; a namespace as perf names it:
-- device/inode, by recording and thread. What was lost, and how many samples were set aside.
local function read_samples(file, by)
  local sums, lost, n_aside = keyed.new { "samples", "period" }, {}, 0
  local types, group, dev, ino = { "sample", "lost", "lost_samples" }, "cgroup_path", "lost",
    "lost"
  if by.namespace then
    types[4], group, dev, ino = "namespaces", "lost", "namespaces.cgroup.dev",
      "namespaces.cgroup.ino"
  end
  local query = file:records { type = types, expand = true }
  local tid_field, period_field = samples_with_losses.pick_field(query, "integer", "tid"),
    samples_with_losses.pick_field(query, "integer", "period")
  local by_source = setmetatable({}, { __index = function(all, source)
    all[source] = {}
    return all[source]
  end })
  for source, type_id, n_lost, index, tid, comm, period, path, ns_dev,
      ns_ino in query:select("source", "type_id", "lost", "event.index",
      tid_field, by.comm and "comm" or "lost", period_field, group, dev, ino) do
    local namespaces = by_source[source]
    if type_id == SAMPLE and aside.is(period) then
      n_aside = n_aside + 1
    elseif type_id == SAMPLE then
      local row = sums:row(index, path or by.namespace and namespaces[tid] or false, comm)
      row.samples, row.period = row.samples + 1, add(row.period, period or 1)
    elseif n_lost then
      lost[type_id] = (lost[type_id] or 0) + n_lost
    elseif tid and ns_ino then
      -- 0: not known then
      namespaces[tid] = ns_ino ~= 0 and ("%d/0x%x"):format(ns_dev, ns_ino) or false
    end
  end
  return sums, lost, n_aside
end

-- Groups the sums of paths by what the rows are to be.
local function group_sums(sums, by)
  if not by.container then return sums end
  return sums:regrouped(function(row)
    return row[1], row[2] and (cgroups.container(row[2]) or "[host]"), row[3]
  end)
end

-- Adds to each row what is nested in it, and rows of groups that have nothing else.
local function nest_sums(sums)
  local own = table.move(sums.rows, 1, #sums.rows, 1, {})
  local all = keyed.new { "period" }
  for _, row in ipairs(own) do
    local paths = row[2] and cgroups.above(row[2]) or {}
    paths[#paths + 1] = row[2]
    for _, path in ipairs(paths) do
      sums:row(row[1], path, row[3])
      local sum = all:row(row[1], path, row[3])
      sum.period = add(sum.period, row.period)
    end
  end
  for _, row in ipairs(sums.rows) do row.nested = all:row(row[1], row[2], row[3]).period end
end

-- Returns the periods of each event, and whether there are several events.
local function periods_of(rows)
  local periods, n = {}, 0
  for _, row in ipairs(rows) do
    if not periods[row[1]] then periods[row[1]], n = 0, n + 1 end
    periods[row[1]] = add(periods[row[1]], row.period)
  end
  return periods, n > 1
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

---@param file perflua.File
---@param args table
---@param out file*
---@param by table<string, boolean>
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, by)
  if not by.namespace then
    local lacking = needs.check(file, tool)
    if lacking and (args.by or not has_namespaces(file)) then return nil, lacking end
    if lacking then by = { namespace = true } end
  end
  local sums, lost, n_aside = read_samples(file, by)
  sums = group_sums(sums, by)
  local periods, several = periods_of(sums.rows)
  if args.nested then nest_sums(sums) end
  local list = result_table.new(columns, several and "event" or args.nested and "nested"
    or "percent", { event = not several, nested = not args.nested, comm = not by.comm,
    container = by.namespace or not by.container, namespace = not by.namespace,
    cgroup = by.namespace or by.container })
  local name_of = cgroups.names(sums.rows, args.full or args.csv or args.json)
  for _, row in ipairs(sums.rows) do
    local event, whole = file.events[row[1]], periods[row[1]]
    local name = name_of(row[2])
    list:add { event = event and event.name or "(event unknown)",
      percent = percent_of(row.period, whole),
      nested = args.nested and percent_of(row.nested, whole), samples = row.samples,
      period = row.period, cgroup = name,
      container = name, namespace = name, comm = row[3] or "[unknown]" }
  end
  samples_with_losses.add_notes(list, lost)
  aside.note(list, n_aside)
  return list:write(args, out)
end

return tool
