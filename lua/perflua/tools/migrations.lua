-- perflua migrations FILE: which threads were moved from processor to processor.

local described = require "perflua.toolkit.described"
local regrouped = require("perflua.table").regrouped
local result_table = require "perflua.table.result_table"
local samples = require "perflua.toolkit.samples"
local samples_with_losses = require "perflua.file.samples_with_losses"

local known = { "thread", "cpus" }

local columns = { { "comm", "string" }, { "tid", "signed" }, { "from", "signed" },
  { "to", "signed" }, { "across", "string" }, { "migrations", "unsigned" } }

local tool = {
  description =
    "threads that moved to another processor: how often, from where to where, across what",
  usage = "migrations [options] FILE",
  reads = "samples",
  takes = "time comm pid tid cpu where symbols",
  refused = "it reads the migrations of all threads",
  applies = samples.of_spans,
  needs = { events = { "sched:sched_migrate_task" } },
  record = "perf record -a -e sched:sched_migrate_task",
  options = result_table.with_options(columns, {
    by = { "WHAT", "group by thread, cpus or both; default: thread,cpus", values = known },
    cpu = { "LIST", "only from these processors: 0,2-3" } }),
  help = [[
across is the largest unit that the two processors do not share: node, socket, die or core; cpu if they
share the core. It needs the topology that perf record writes to files, and is empty if that does not
cover both processors.

  $ perflua migrations --count 2 perf.data
  comm     tid  from  to  across  migrations
  cc1    28727     0   1  core             1
  cc1    28727     1   0  core             1]],
}

-- Calls fn(0), fn(1), fn(2), fn(5) for "0-2,5".
local function each_cpu(list, fn)
  for first, last in list:gmatch("(%d+)%-?(%d*)") do
    first, last = math.tointeger(tonumber(first)), math.tointeger(tonumber(last))
    for cpu = first, math.min(last or first, first + 65535) do fn(cpu) end
  end
end

-- Returns the location of each processor: { node, socket, die, core }.
local function places_of(features)
  local places, topology = {}, features.cpu_topology
  for _, cpu in ipairs(topology and topology.cpus or {}) do
    places[cpu.cpu] = { socket = cpu.socket_id, die = cpu.die_id, core = cpu.core_id }
  end
  for _, node in ipairs(features.numa_topology or {}) do
    each_cpu(node.cpus or "", function(cpu)
      if places[cpu] then places[cpu].node = node.node end
    end)
  end
  return places
end

local function find_boundary(a, b)
  if not a or not b then return nil end
  for _, what in ipairs { "node", "socket", "die", "core" } do
    if a[what] ~= b[what] then return what end
  end
  return "cpu"
end

-- The keys of the query: what rows have, and what tells whether they were chosen.
local function keys_of(args, by)
  local named = by.thread or args.comm or args.pid or args.tid
  local keys = named and { "args.pid" } or {}
  if by.cpus or args.cpu then
    table.move({ "args.orig_cpu", "args.dest_cpu" }, 1, 2, #keys + 1, keys)
  end
  return keys, named
end

local function query_of(file, args, by)
  return described.samples(file, "sched:sched_migrate_task")
    :group_by(table.unpack((keys_of(args, by)))):count()
end

function tool.queries(file, args, by) return { query_of(file, args, by) } end

-- Returns a table of the chosen threads and first processors.
local function table_of(file, args, by)
  local is_chosen, is_chosen_cpu = samples.of_tids(file, args), samples.of_cpus(args)
  local made = query_of(file, args, by):table()
  return regrouped(made, { "tid", "from", "to" }, function(row, put)
    local tid, from, to = row["args.pid"], row["args.orig_cpu"], row["args.dest_cpu"]
    if (not is_chosen or tid and is_chosen(tid)) and (not is_chosen_cpu or is_chosen_cpu(from))
    then
      put { tid = by.thread and tid or nil, from = by.cpus and from or nil,
        to = by.cpus and to or nil }
    end
  end)
end

tool.prepare = result_table.prepare("thread,cpus", known)

---@param file perflua.File
---@param args table
---@param out file*
---@param by table<string, boolean>
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, by)
  if select(2, keys_of(args, by)) then samples_with_losses.read_names(file) end
  local places = places_of(file.features)
  local list = result_table.new(columns, "migrations", { comm = not by.thread,
    tid = not by.thread, from = not by.cpus, to = not by.cpus, across = not by.cpus })
  for row in table_of(file, args, by):rows() do
    local thread = row.tid and file:thread(row.tid)
    list:add { comm = thread and thread.comm, tid = row.tid, from = row.from, to = row.to,
      across = by.cpus and find_boundary(places[row.from], places[row.to]) or nil,
      migrations = row.count }
  end
  return list:write(args, out)
end

return tool
