-- The fields `syscall` and `errno` of samples.
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"
local interpret = require("spec.support.model").interpret
local reading = require "spec.support.reading"
local tracing = require "spec.support.builder_tracing"

--- { syscall, errno } of a sample of a tracepoint with these fields and values; machine: as
--- uname calls it.
local function named(machine, options, system, name, fields, values)
  local t = tracing.new(options)
  local event = t:event(system, name, { fields = fields })
  local b, events = t:recording { container = t.container }
  if machine then b:feature("arch", machine) end
  b:sample(events[1], { time = 1, raw = t:raw(event, values) })
  local file = reading.open(b)
  local s = file:samples():first()
  local got = { s.syscall or false, s.errno or false }
  file:close()
  return got
end

local enter = { { "long", "id" }, { "unsigned long", "args", count = 6 } }
local exit = { { "long", "id" }, { "long", "ret" } }
local enter_one = { { "int", "__syscall_nr" }, { "long", "nr" } }
local exit_one = { { "int", "__syscall_nr" }, { "long", "ret" } }

local function raw_exit(machine, options, id, ret)
  return named(machine, options, "raw_syscalls", "sys_exit", exit, { id = id, ret = ret })
end

describe("sample.syscall", function()
  it("names the call of raw_syscalls by its number and the recorded machine", function()
    for _, case in ipairs {
      { "x86_64", 257, "openat" }, { "x86_64", (1 << 30) + 512, "rt_sigaction" },
      { "aarch64", 56, "openat" },
      { "riscv64", 259, "riscv_flush_icache" }, { "mips64", 5247, "openat" },
      { "x86_64", 9999, false },
      { "x86_64", -1, false }, { "vax", 1, false }, { false, 1, false },
    } do
      local machine, number, name = table.unpack(case)
      assert.same({ name, false },
        named(machine, nil, "raw_syscalls", "sys_enter", enter, { id = number }),
        tostring(machine) .. number)
    end
  end)

  it("takes of several recordings each one's own machine", function()
    local paths = {}
    for i, machine in ipairs { "x86_64", "aarch64" } do
      local t = tracing.new()
      local event = t:event("raw_syscalls", "sys_enter", { fields = enter })
      local b, events = t:recording()
      b:feature("arch", machine)
      b:sample(events[1], { time = i,
        raw = t:raw(event, { id = machine == "x86_64" and 257 or 56 }) })
      b:sample(events[1], { time = i, raw = t:raw(event, { id = 0 }) })
      paths[i] = b:write()
    end
    local got = {}
    for s in assert(perflua.open(paths)):samples():each() do got[#got + 1] = s.syscall end
    assert.same({ "openat", "read", "openat", "io_setup" }, got)
    for _, path in ipairs(paths) do os.remove(path) end
  end)

  it("reads numbers of either byte order, of 4 and of 8 bytes", function()
    assert.same({ "openat", "ENOENT" }, raw_exit("s390x", { endian = "big" }, 288, -2))
    assert.same({ "openat", "ENOENT" },
      raw_exit("ppc", { endian = "big", long_size = 4 }, 286, -2))
    assert.same({ "openat", "ENOENT" }, raw_exit("armv7l", { long_size = 4 }, 322, -2))
  end)

  it("is known of what comes through a pipe", function()
    assert.same({ "openat", "ENOENT" }, raw_exit("aarch64", { container = "pipe" }, 56, -2))
  end)

  it("is of syscalls:* the name of its number, else that of the event", function()
    local function of(machine, name, fields, values)
      return named(machine, nil, "syscalls", name, fields, values)[1]
    end
    assert.equal("fstat", of("x86_64", "sys_enter_newfstat", enter_one,
      { __syscall_nr = 5, nr = 7 }))
    assert.equal("newfstat", of(nil, "sys_enter_newfstat", enter_one, { __syscall_nr = 5 }))
    assert.equal("of_tomorrow", of("x86_64", "sys_exit_of_tomorrow", exit_one,
      { __syscall_nr = 4711 }))
    assert.equal("close", of("x86_64", "sys_enter_close", { { "int", "nr" }, { "int", "fd" } },
      { nr = 3, fd = 1 }))
    assert.equal("io_submit", of("x86_64", "sys_enter_io_submit",
      { { "int", "ctx" }, { "int", "nr" } }, { nr = 3 }))
  end)

  it("is nil in samples of other events, and where the raw data ends before the "
    .. "number", function()
    assert.same({ false, false }, named("x86_64", nil, "sched", "sys_exit", exit,
      { id = 1, ret = -1 }))
    assert.same({ false, false }, named("x86_64", nil, "raw_syscalls", "other", exit,
      { id = 1, ret = -1 }))
    local t = tracing.new()
    t:event("raw_syscalls", "sys_exit", { fields = exit })
    local b, events = t:recording()
    b:feature("arch", "x86_64")
    for _, size in ipairs { 4, 12, 20, 28 } do
      b:sample(events[1], { time = size, raw = ("\0"):rep(size) })
    end
    local got = {}
    for s in reading.open(b):samples():each() do got[#got + 1] = s.syscall or "nil" end
    assert.same({ "nil", "nil", "read", "read" }, got)
  end)
end)

describe("sample.errno", function()
  it("names the error that a call returned, as the recorded machine numbers it", function()
    for _, case in ipairs {
      { "x86_64", -2, "ENOENT" }, { "x86_64", -110, "ETIMEDOUT" },
      { "mips64", -145, "ETIMEDOUT" },
      { "x86_64", -512, "ERESTARTSYS" }, { "sparc64", -60, "ETIMEDOUT" },
    } do
      assert.same(case[3], raw_exit(case[1], nil, 1, case[2])[2])
    end
    assert.equal("EBADF", named("x86_64", nil, "syscalls", "sys_exit_close", exit_one,
      { ret = -9 })[2])
  end)

  it("is nil for what is not an error, or none that has a name", function()
    for _, ret in ipairs { 0, 2, -4095, -4096, math.mininteger, math.maxinteger } do
      assert.is_false(raw_exit("x86_64", nil, 1, ret)[2])
    end
    assert.is_false(raw_exit("vax", nil, 1, -2)[2])
    assert.is_false(named("x86_64", nil, "syscalls", "sys_enter_close", exit_one,
      { ret = -9 })[2])
  end)
end)

describe("a recording of system calls", function()
  local b, t, events

  setup(function()
    t = tracing.new()
    local raw = t:event("raw_syscalls", "sys_exit", { fields = exit })
    local one = t:event("syscalls", "sys_exit_openat", { fields = exit_one })
    b, events = t:recording()
    b:feature("arch", "x86_64")
    for i = 0, 999 do
      b:sample(events[1], { time = 2 * i,
        raw = t:raw(raw, { id = i % 3 == 0 and 257 or i % 500, ret = -(i % 4) }) })
      b:sample(events[2], { time = 2 * i + 1,
        raw = t:raw(one, { __syscall_nr = 257, ret = i % 2 - 1 }) })
    end
  end)

  ---Asks the core and the model.
  local function both(ask)
    local file = reading.open(b)
    local core = ask(file, function(q) return q end)
    local lua = ask(file, function(q) return interpret(q, true) end)
    assert.same(lua, core)
    file:close()
    return core
  end

  it("is filtered by their names", function()
    local n = both(function(file, how)
      return how(file:samples():where "syscall == 'openat' and errno == 'EPERM'"):count()
    end)
    assert.is_true(n > 500 and n < 1000)
  end)

  it("is grouped by their names, whatever event they are of", function()
    local rows = both(function(file, how)
      local list = {}
      for row in how(file:samples():group_by("syscall", "errno")):count():sort("count")
          :rows() do
        list[#list + 1] = ("%s %s %d"):format(row.syscall, row.errno, row.count)
      end
      table.sort(list)
      return list
    end)
    assert.is_true(#rows > 300, #rows .. " groups")
    assert.is_truthy(table.concat(rows, "\n"):find "openat EPERM %d%d%d")
  end)

  it("gives them to loops over selected values", function()
    local n = 0
    for syscall, errno in reading.open(b):samples("syscalls:sys_exit_openat")
        :select("syscall", "errno"):each() do
      assert.equal("openat", syscall)
      n = n + (errno == "EPERM" and 1 or 0)
    end
    assert.equal(500, n)
  end)
end)

needs.describe("tracepoints", "a recording of system calls made now", function()
  local path

  setup(function()
    local tracepoints =
      "raw_syscalls:*,syscalls:sys_*_newfstat*,syscalls:sys_*_openat,syscalls:sys_*_read"
    path = oracle.record_whole(1024, "-e '" .. tracepoints .. "'",
      "sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do cat /nonexistent; ls -l / | sort; done; "
        .. "timeout 0.05 sleep 1; true'")
  end)

  needs.it("this architecture",
    "has in raw_syscalls the names that syscalls has at the same time", function()
    -- The first may be either: that depends on who else traces. A thread enters and leaves in
    -- turn.
    local last, n, errors = {}, 0, 0
    for s in assert(perflua.open(path)):samples():each() do
      local raw, way, name = s.event.name:match "^(%l-)_?syscalls:sys_(%a+)_?(.*)$"
      local one = { raw = raw == "raw", way = way, name = name, syscall = s.syscall,
        errno = s.errno }
      local other = last[s.tid]
      last[s.tid] = one
      if other and other.way == way and other.raw ~= one.raw then
        assert.equal(other.syscall, one.syscall)
        assert.equal(other.errno, one.errno)
        -- the tracepoints have the names of the functions: newfstat, sendfile64
        n = n + ((one.raw and other.name or name) == s.syscall and 1 or 0)
        errors = errors + (s.errno and 1 or 0)
      end
      if not one.raw then assert.equal(s.syscall, perflua.syscall(s.args.__syscall_nr)) end
    end
    assert.is_true(n > 500, n .. " calls")
    assert.is_true(errors > 10, errors .. " errors")
  end)

  it("says which error a failing open had", function()
    local file = assert(perflua.open(path))
    assert.is_true(file:samples("raw_syscalls:sys_exit")
      :where("syscall == 'openat' and errno == 'ENOENT' and comm == 'cat'"):count() >= 5)
  end)

  needs.it("perf trace", "has the names and errors that perf trace shows", function()
    local theirs, ours = {}, {}
    local function count(list, name, err)
      local key = name .. " " .. (err and (oracle.does.unnamed_errors and "failed" or err)
        or "ok")
      list[key] = (list[key] or 0) + 1
    end
    for line in files.lines("perf trace -i " .. path .. " 2>&1") do
      local name = line:match "%): %S+ ([%l_][%w_]*)%("
        or line:match "%[continued%]: ([%w_]+)%("
      -- what no program gets to see perf has no name for
      local err = line:match " = %-1 (E%w+)"
        or perflua.errno(tonumber(line:match "strerror_r%((%d+)" or 0))
        or oracle.does.unnamed_errors and line:match " = %-1 "
      if name and line:find " = " and not line:find " = %?" then count(theirs, name, err) end
    end
    assert.is_not_nil(next(theirs), "perf trace says nothing")
    for s in assert(perflua.open(path)):samples("raw_syscalls:sys_exit"):each() do
      -- a signal's handler returns by no call: -1
      if s.syscall then count(ours, s.syscall, s.errno) end
    end
    assert.same(theirs, ours)
    assert.equal(1, ours["clock_nanosleep "
      .. (oracle.does.unnamed_errors and "failed" or "ERESTART_RESTARTBLOCK")])
  end)
end)
