-- perflua syscalls FILE: which system calls were made, how often they failed, how long they took.

local listed = require "perflua.table.listed"
local needs = require "perflua.meta.needs"
local perflua = require "perflua"
local sketch = require "perflua.group.sketch"
local some = require "perflua.file.some"

local tool = {
  description = "system calls: how many, how many failed, how long they took; by call, by thread",
  usage = "syscalls [options] FILE",
  needs = {
    events = { { any = { "raw_syscalls:sys_enter", "syscalls:sys_enter_*" } },
      { any = { "raw_syscalls:sys_exit", "syscalls:sys_exit_*" } } },
    fields = { "tid", "time" },
  },
  record = "perf record -e 'raw_syscalls:*' -- COMMAND",
  options = listed.with_options {
    by = { "WHAT", "rows by syscall (default), thread, or thread,syscall" },
    errno = "which errors, and how often",
    hist = "how many calls took how long: nanoseconds, in powers of two",
  },
  help = [[
A call counts when it returns. Its time is that since its start; it has none if the start was not
recorded, or records were lost in between. What is no pair of start and return is said first.

  $ perflua syscalls --errno --count 3 perf.data
  # calls without a time, for their start was not recorded: 1
  # calls not counted, for they had not returned at the end: 1
  syscall   calls  errors  total_ms  min_us  avg_us  max_us  errno
  mmap         30       0      0.17    1.91    5.74   17.79
  openat       44      19      0.15    1.41    3.36   12.18  ENOENT:19
  mprotect      5       0      0.06    5.96   12.70   27.64]],
}

-- Of the calls of one number in one thread.
local START <const> = 1 -- of the call that has not returned; false: there is none
local TIMED <const>, TOTAL <const>, MIN <const>, MAX <const>, UNTIMED <const>, FAILED <const> = 2, 3, 4, 5, 6, 7

local function new() return { false, 0, 0, math.maxinteger, 0, 0, 0, errno = {}, hist = {} } end

-- Samples of system calls, and records that tell of lost ones; those have no id.
local function records_of(file)
  local raw = file.events["raw_syscalls:sys_exit"] ~= nil
  return some.samples(file, { raw and "raw_syscalls:*" or "syscalls:*" })
    :select("tid", raw and "args.id" or "args.__syscall_nr", "time", "args.ret"):each()
end

local function drop_started(threads)
  local n = 0
  for _, states in pairs(threads) do
    for _, s in pairs(states) do
      if s[START] then s[START], n = false, n + 1 end
    end
  end
  return n
end

-- States by thread and number; how many calls had not returned before the next, when records were lost, at the end.
local function read(file, hist)
  local bucket, threads, restarted, lost = sketch.power("signed"), {}, 0, 0
  local states, states_tid
  for tid, id, time, ret in records_of(file) do
    if tid ~= states_tid then
      states, states_tid = threads[tid] or {}, tid
      threads[tid] = states
    end
    local s = states[id]
    if not s then
      s = new()
      if id then states[id] = s else lost = lost + drop_started(threads) end
    end
    if not ret then
      if s[START] then restarted = restarted + 1 end
      s[START] = time
    else
      local start = s[START]
      if start then
        local d = time - start
        s[START] = false
        s[TIMED] = s[TIMED] + 1
        s[TOTAL] = s[TOTAL] + d
        if d > s[MAX] then s[MAX] = d end
        if d < s[MIN] then s[MIN] = d end
        if hist then s.hist[bucket(d)] = (s.hist[bucket(d)] or 0) + 1 end
      else
        s[UNTIMED] = s[UNTIMED] + 1
      end
      if ret < 0 and ret >= -4095 then
        s[FAILED] = s[FAILED] + 1
        s.errno[ret] = (s.errno[ret] or 0) + 1
      end
    end
  end
  return threads, restarted, lost, drop_started(threads)
end

local function add(row, s)
  for _, i in ipairs { TIMED, TOTAL, UNTIMED, FAILED } do row[i] = row[i] + s[i] end
  row[MIN], row[MAX] = math.min(row[MIN], s[MIN]), math.max(row[MAX], s[MAX])
  for _, counts in ipairs { "errno", "hist" } do
    for key, n in pairs(s[counts]) do row[counts][key] = (row[counts][key] or 0) + n end
  end
end

-- The states put together. What a signal's handler returns from is no call: -1.
local function rows_of(threads, by)
  local rows, places = {}, {}
  for tid, states in pairs(threads) do
    for id, s in pairs(states) do
      local place = ("%s %s"):format(by.thread and tid, by.syscall and id)
      if id ~= -1 and s[TIMED] + s[UNTIMED] > 0 then
        if not places[place] then
          places[place] = new()
          places[place].tid, places[place].id = tid, id
          rows[#rows + 1] = places[place]
        end
        add(places[place], s)
      end
    end
  end
  return rows
end

-- A name by the numbers of the machine that recorded.
local function name_of(names, number, arch)
  local ok, name = pcall(names, number, arch)
  return ok and arch and name or tostring(number)
end

local function errors_of(row, arch)
  local list = {}
  for code, n in pairs(row.errno) do list[#list + 1] = ("%s:%d"):format(name_of(perflua.errno, -code, arch), n) end
  table.sort(list)
  return table.concat(list, " ")
end

---@param args table
---@param out file*
---@return integer | nil status
---@return string | nil message
function tool.run(args, out)
  local by, wrong = listed.by(args.by or "syscall", { "thread", "syscall" })
  wrong = wrong or listed.wrong(args)
  if wrong then return 2, "syscalls: " .. wrong end
  local file <close>, message = needs.open(args[1], tool)
  if not file then return nil, message end
  local threads, restarted, lost, unfinished = read(file, args.hist)
  local arch, untimed = file.features.arch, 0
  local list = listed.new({
    { "comm", "string", not by.thread }, { "tid", "signed", not by.thread }, { "syscall", "string", not by.syscall },
    { "calls", "unsigned" }, { "errors", "unsigned" }, { "untimed", "unsigned", not args.json },
    { "total_ms", "float" }, { "min_us", "float" },
    { "avg_us", "float" }, { "max_us", "float" }, { "errno", "string", not args.errno },
    { "hist", "histogram", not args.hist },
  }, "total_ms")
  for _, row in ipairs(rows_of(threads, by)) do
    local timed, thread = row[TIMED] > 0, by.thread and file:thread(row.tid)
    untimed = untimed + row[UNTIMED]
    list:add {
      comm = thread and thread.comm, tid = row.tid, syscall = name_of(perflua.syscall, row.id, arch),
      calls = row[TIMED] + row[UNTIMED], errors = row[FAILED], untimed = row[UNTIMED], total_ms = row[TOTAL] / 1e6,
      min_us = timed and row[MIN] / 1e3 or nil, avg_us = timed and row[TOTAL] / row[TIMED] / 1e3 or nil,
      max_us = timed and row[MAX] / 1e3 or nil, errno = errors_of(row, arch), hist = sketch.histogram(row.hist),
    }
  end
  list:note("untimed", untimed, "calls without a time, for their start was not recorded")
  list:note("restarted", restarted, "calls not counted, for they had not returned when the next began")
  list:note("lost", lost, "calls without a time or not counted, for records were lost before they returned")
  list:note("unfinished", unfinished, "calls not counted, for they had not returned at the end")
  return list:write(args, out)
end

return tool
