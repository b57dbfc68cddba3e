-- perflua syscalls FILE: which system calls were made, how often they failed, how long they
-- took.

local aside = require "perflua.group.aside"
local described = require "perflua.toolkit.described"
local perflua = require "perflua"
local result_table = require "perflua.table.result_table"
local samples_with_losses = require "perflua.file.samples_with_losses"

local known = { "comm", "thread", "process", "cgroup", "syscall", "errno" }

local columns = { { "comm", "string" }, { "pid", "signed" }, { "tid", "signed" },
  { "cgroup", "string" }, { "syscall", "string" }, { "calls", "unsigned" },
  { "errors", "unsigned" }, { "total_ms", "float" }, { "min_us", "float" },
  { "avg_us", "float" }, { "max_us", "float" }, { "p50_us", "float" }, { "p95_us", "float" },
  { "p99_us", "float" }, { "errno", "string" }, { "hist", "histogram" } }
local ERRNO <const>, KEYS <const> = 15, 5 -- the place of errno, and how many keys come first

local tool = {
  description =
    "system calls: how many, how many failed, how long they took; by call, by thread",
  usage = "syscalls [options] FILE",
  reads = "samples",
  needs = {
    events = { { any = { "raw_syscalls:sys_enter", "syscalls:sys_enter_*" } },
      { any = { "raw_syscalls:sys_exit", "syscalls:sys_exit_*" } } },
    fields = { "tid", "time" },
  },
  record = "perf record -e 'raw_syscalls:*' -- COMMAND",
  options = result_table.with_options(columns, {
    by = { "WHAT", "group by comm, thread, process, cgroup, syscall (default), errno, or "
      .. "several: thread,syscall", values = known },
    errno = "show which errors were returned, and how often",
    hist = "add a histogram of the times: nanoseconds, in powers of two",
  }),
  help = [[
A call counts when it returns, if its entry was recorded, too. Others are counted in the first line. A
return without a number (-1, as after rt_sigreturn) ends the open call of its thread, and so does that of
execve in the new program. p50, p95 and p99 are within 1 %.

  $ perflua syscalls --errno --count 3 perf.data
  # 124 calls; not counted: 1 end without a start, 1 not over when the recording ended
  syscall   calls  errors  total_ms  min_us  avg_us  max_us  p50_us  p95_us  p99_us  errno
  mmap         30       0      0.17    1.91    5.74   17.79    4.10   14.72   17.79
  openat       44      19      0.15    1.41    3.36   12.18    2.46    8.30   12.18  ENOENT:19
  mprotect      5       0      0.06    5.96   12.70   27.64    9.09   27.64   27.64]],
}

-- The number that a call's return carries when a signal's handler has ended: the kernel has set
-- it to -1.
local NO_NUMBER <const> = -1

-- Returns the name of a call by the numbers of the machine that recorded.
local function name_of(number, arch)
  local ok, name = pcall(perflua.syscall, number, arch)
  return ok and arch and name or tostring(number)
end

local MOST_CALLS <const> = 1023 -- numbers that are tried
local MOST_ERRORS <const> = 1000 -- columns of one row

-- Returns the numbers of execve and execveat, between commas; nil: they are not known.
local function exec_numbers(arch)
  local execve, all = nil, {}
  for number = 0, MOST_CALLS do
    local name = name_of(number, arch)
    if name == "execve" then execve = number end
    if name == "execve" or name == "execveat" then all[#all + 1] = number end
  end
  return execve, table.concat(all, ", ")
end

-- Returns the condition under which a return belongs to the open call of its thread: it carries
-- the number of that call, or NO_NUMBER, or after execve and execveat the number of execve in
-- the new program.
local function condition_of(file, number)
  local execve, all = exec_numbers(file.features.arch)
  local text = ("%s == open.%s or %s == %d"):format(number, number, number, NO_NUMBER)
  return execve and ("%s or args.ret == 0 and %s == %d and open.%s in { %s }"):format(text,
    number, execve, number, all) or text
end

-- Returns the query, and its keys by the names of known.
local function query_of(file, args, by)
  local raw = file.events["raw_syscalls:sys_exit"] ~= nil
  local number = raw and "args.id" or "args.__syscall_nr"
  -- without a number, ret is a register of the program
  local failed = ("close.%s ~= %d and close.args.ret < 0 and close.args.ret >= -4095")
    :format(number, NO_NUMBER)
  local keys = { comm = "comm", thread = "tid", process = "pid", cgroup = "cgroup_path",
    syscall = number, errno = ("close.%s ~= %d and close.errno"):format(number, NO_NUMBER) }
  local list = {}
  for _, name in ipairs(known) do
    if by[name] or name == "errno" and args.errno then list[#list + 1] = keys[name] end
  end
  local query = described.samples(file)
    :pair { open = raw and "raw_syscalls:sys_enter" or "syscalls:sys_enter_*",
      close = { event = raw and "raw_syscalls:sys_exit" or "syscalls:sys_exit_*",
        where = condition_of(file, number) }, key = "tid" }
    :group_by(table.unpack(list)):count()
    :sum("duration"):min("duration"):avg("duration"):max("duration")
    :quantile("duration", { .5, .95, .99 }):sum(failed .. " and 1 or 0"):as("errors")
  if args.hist then query = query:hist "duration" end
  if args.errno and not by.errno then query = query:pivot(keys.errno, MOST_ERRORS) end
  return query, keys
end

function tool.queries(file, args, by) return { (query_of(file, args, by)) } end

-- Returns which errors there were, as text, from the cells of a row.
local function list_errors(row)
  local list = {}
  for name, cell in pairs(row.pivot) do
    if name then list[#list + 1] = ("%s:%d"):format(name, cell.count) end
  end
  table.sort(list)
  return table.concat(list, " ")
end

tool.prepare = result_table.prepare("syscall", known)

-- Control groups are read where they are asked for.
function tool.needed(_, by)
  local record = by.cgroup and tool.record:gsub("^perf record", "%0 --all-cgroups") or nil
  return { "tid", "time", by.cgroup and "cgroup_path", events = tool.needs.events }, record
end

local function add_row(list, file, row, keys, by, args)
  local id = row[keys.syscall]
  local tid, pid = row[keys.thread], row[keys.process]
  local thread = by.thread and file:thread(tid) or by.process and file:thread(pid)
  list:add {
    comm = by.comm and (row.comm or "[unknown]") or thread and thread.comm,
    tid = tid, pid = pid,
    cgroup = row[keys.cgroup] or "[unknown]",
    syscall = id and name_of(id, file.features.arch),
    errno = by.errno and (row[keys.errno] or "") or args.errno and list_errors(row) or nil,
    calls = row.count, errors = row.errors, total_ms = row.duration / 1e6,
    min_us = row.min_duration / 1e3, avg_us = row.avg_duration / 1e3,
    max_us = row.max_duration / 1e3, p50_us = row.p50_duration / 1e3,
    p95_us = row.p95_duration / 1e3, p99_us = row.p99_duration / 1e3, hist = row.hist_duration,
  }
end

---@param file perflua.File
---@param args table
---@param out file*
---@param by table<string, boolean>
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, by)
  if by.thread or by.process then samples_with_losses.read_names(file) end
  local query, keys = query_of(file, args, by)
  local set_aside = aside.from(query.query)
  local shown = table.move(columns, 1, #columns, 1, {})
  if by.errno then table.insert(shown, KEYS + 1, table.remove(shown, ERRNO)) end
  local list = result_table.new(shown, "total_ms", {
    comm = not (by.comm or by.thread or by.process), pid = not by.process,
    tid = not by.thread, cgroup = not by.cgroup, syscall = not by.syscall,
    errno = not (by.errno or args.errno), hist = not args.hist })
  local made = query:table()
  for row in made:rows() do add_row(list, file, row, keys, by, args) end
  list:note_spans(made, "{call|calls}")
  aside.note(list, set_aside.n)
  return list:write(args, out)
end

return tool
