-- perflua syscalls FILE: which system calls were made, how often they failed, how long they
-- took.

local core = require "perflua.core"
local result_table = require "perflua.table.result_table"
local perflua = require "perflua"
local samples_with_losses = require "perflua.file.samples_with_losses"

local known = { "thread", "syscall" }

local columns = { { "comm", "string" }, { "tid", "signed" }, { "syscall", "string" },
  { "calls", "unsigned" }, { "errors", "unsigned" }, { "untimed", "unsigned" },
  { "total_ms", "float" }, { "min_us", "float" }, { "avg_us", "float" }, { "max_us", "float" },
  { "errno", "string" }, { "hist", "histogram" } }

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
    by = { "WHAT", "group by syscall (default), thread, or thread,syscall", values = known },
    errno = "show which errors were returned, and how often",
    hist = "add a histogram of the times: nanoseconds, in powers of two",
  }),
  help = [[
A call counts when it returns. Its time starts at its entry; it has no time if the entry was not
recorded, or if records were lost in between. Calls without such a pair are listed first. A return without
a number (-1, as after rt_sigreturn) ends the open call of its thread; without an open call it is
[unknown].

  $ perflua syscalls --errno --count 3 perf.data
  # 1 call has no time: its entry was not recorded
  # 1 call is not counted: it had not returned when the recording ended
  syscall   calls  errors  total_ms  min_us  avg_us  max_us  errno
  mmap         30       0      0.17    1.91    5.74   17.79
  openat       44      19      0.15    1.41    3.36   12.18  ENOENT:19
  mprotect      5       0      0.06    5.96   12.70   27.64]],
}

-- The places of what is counted of the calls of one number in one thread.
local TIMED <const>, TOTAL <const>, MIN <const>, MAX <const>, UNTIMED <const>,
  FAILED <const> = 1, 2, 3, 4, 5, 6

local function new_row() return { 0, 0, math.maxinteger, 0, 0, 0, errno = {}, hist = {} } end

-- The number that a call's return carries when a signal's handler has ended: the kernel has set
-- it to -1.
local NO_NUMBER <const> = -1

-- Samples of system calls, and records that tell of lost ones; those have no id.
local function records_of(file)
  local raw = file.events["raw_syscalls:sys_exit"] ~= nil
  return samples_with_losses.named(file, { raw and "raw_syscalls:*" or "syscalls:*" })
    :select("tid", raw and "args.id" or "args.__syscall_nr", "time", "args.ret"):each()
end

local function drop_open(threads)
  local n = 0
  for _, thread in pairs(threads) do
    if thread.open then thread.open, n = nil, n + 1 end
  end
  return n
end

-- Returns a name by the numbers of the machine that recorded.
local function name_of(names, number, arch)
  local ok, name = pcall(names, number, arch)
  return ok and arch and name or tostring(number)
end

-- Returns whether a return belongs to the open call of its thread: it carries the number of
-- that call, or NO_NUMBER, or after execve and execveat the number of execve in the new
-- program.
local function is_return(open, id, ret, arch)
  if open == id or id == NO_NUMBER then return open ~= nil end
  if not open or ret ~= 0 then return false end
  return name_of(perflua.syscall, open, arch):find "^execve" ~= nil
    or name_of(perflua.syscall, id, arch) == "execve"
end

-- Counts a return of a call of this number, which began at start (nil: nobody knows).
local function count_return(s, start, time, hist)
  if not start then
    s[UNTIMED] = s[UNTIMED] + 1
    return
  end
  local d = time - start
  s[TIMED], s[TOTAL] = s[TIMED] + 1, s[TOTAL] + d
  if d > s[MAX] then s[MAX] = d end
  if d < s[MIN] then s[MIN] = d end
  if hist then s.hist[hist(d)] = (s.hist[hist(d)] or 0) + 1 end
end

-- Returns threads by tid, each with its calls by number; how many calls have no return because
-- the next record of their thread is of another call, because records were lost, because it
-- ended.
local function read_calls(file, hist)
  local threads, restarted, lost, thread, thread_tid = {}, 0, 0, nil, nil
  local arch = file.features.arch
  for tid, id, time, ret in records_of(file) do
    if tid ~= thread_tid then
      thread, thread_tid = threads[tid] or { calls = {} }, tid
      threads[tid] = thread
    end
    local open = thread.open
    if not id then
      lost = lost + drop_open(threads)
    elseif not ret then
      if open then restarted = restarted + 1 end
      thread.open, thread.start = id, time
    else
      local returned = is_return(open, id, ret, arch)
      if open and not returned then restarted = restarted + 1 end
      local number = returned and open or id
      local s = thread.calls[number] or new_row()
      thread.calls[number], thread.open = s, nil
      count_return(s, returned and thread.start, time, hist)
      -- without a number, ret is a register of the program
      if id ~= NO_NUMBER and ret < 0 and ret >= -4095 then
        s[FAILED] = s[FAILED] + 1
        s.errno[ret] = (s.errno[ret] or 0) + 1
      end
    end
  end
  return threads, restarted, lost, drop_open(threads)
end

local function add_call(row, s)
  for _, i in ipairs { TIMED, TOTAL, UNTIMED, FAILED } do row[i] = row[i] + s[i] end
  row[MIN], row[MAX] = math.min(row[MIN], s[MIN]), math.max(row[MAX], s[MAX])
  for _, counts in ipairs { "errno", "hist" } do
    for key, n in pairs(s[counts]) do row[counts][key] = (row[counts][key] or 0) + n end
  end
end

-- Adds up the calls of all threads by what the rows are to be.
local function rows_of(threads, by)
  local rows, places = {}, {}
  for tid, thread in pairs(threads) do
    for id, s in pairs(thread.calls) do
      local place = ("%s %s"):format(by.thread and tid, by.syscall and id)
      if not places[place] then
        places[place] = new_row()
        places[place].tid, places[place].id = tid, id
        rows[#rows + 1] = places[place]
      end
      add_call(places[place], s)
    end
  end
  return rows
end

local function errors_of(row, arch)
  local list = {}
  for code, n in pairs(row.errno) do
    list[#list + 1] = ("%s:%d"):format(name_of(perflua.errno, -code, arch), n)
  end
  table.sort(list)
  return table.concat(list, " ")
end

tool.prepare = result_table.prepare("syscall", known)

---@param file perflua.File
---@param args table
---@param out file*
---@param by table<string, boolean>
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, by)
  if by.thread then samples_with_losses.read_names(file) end
  local threads, restarted, lost,
    unfinished = read_calls(file, args.hist and core.power_bucket)
  local arch, untimed = file.features.arch, 0
  local list = result_table.new(columns, "total_ms", { comm = not by.thread,
    tid = not by.thread, syscall = not by.syscall, untimed = not args.json,
    errno = not args.errno, hist = not args.hist })
  for _, row in ipairs(rows_of(threads, by)) do
    local timed, thread = row[TIMED] > 0, by.thread and file:thread(row.tid)
    untimed = untimed + row[UNTIMED]
    list:add {
      comm = thread and thread.comm, tid = row.tid,
      syscall = row.id == NO_NUMBER and "[unknown]" or name_of(perflua.syscall, row.id, arch),
      calls = row[TIMED] + row[UNTIMED], errors = row[FAILED], untimed = row[UNTIMED],
      total_ms = row[TOTAL] / 1e6,
      min_us = timed and row[MIN] / 1e3 or nil, avg_us = timed and row[TOTAL] / row[TIMED] / 1e3
        or nil,
      max_us = timed and row[MAX] / 1e3 or nil, errno = errors_of(row, arch),
      hist = core.histogram(row.hist),
    }
  end
  list:note("untimed", untimed,
    "{call has|calls have} no time: {its|their} entry was not recorded")
  list:note("restarted", restarted,
    "{call is|calls are} not counted: {its|their} return was not recorded")
  list:note("lost", lost,
    "{call has|calls have} no time or {is|are} not counted: records were lost before "
      .. "{it|they} returned")
  list:note("unfinished", unfinished,
    "{call is|calls are} not counted: {it|they} had not returned when the recording ended")
  return list:write(args, out)
end

return tool
