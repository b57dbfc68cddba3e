-- perflua script prints what perf script prints, of recordings made on the spot.
local fields = require "perflua.script.fields"
local files = require "spec.support.files"
local lines = require "spec.script.lines"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"

local kept, compiled = {}, nil

-- A program that computes in functions inlined into one, with debug information.
local function program()
  if not compiled then
    local source = files.temporary [[
      static volatile unsigned long sink;
      static inline __attribute__((always_inline)) void leaf(unsigned long n)
      { for (unsigned long i = 0; i < n; i++) sink += i * i; }
      static inline __attribute__((always_inline)) void middle(unsigned long n) { leaf(n); sink ^= n; }
      __attribute__((noinline)) void outer(unsigned long n) { middle(n); sink++; }
      int main(void) { for (int i = 0; i < 500; i++) outer(100000); return 0; }
    ]]
    compiled = files.temporary()
    local _, ok = files.output(("gcc -O2 -g -x c -o %s %s 2>&1"):format(compiled, source))
    assert(ok, "no compiler")
  end
  return compiled
end

local function busy()
  return "sh -c 'seq 20000 | sort -r | gzip -1 | wc -c; ls -l /usr/bin | tail -n 1; "
    .. program() .. "'"
end

local every_field = "-F comm,pid,tid,cpu,time,event,period,ip,sym,symoff,dso,addr"

-- what is recorded, and what is printed of it: nothing is perf's default
local recordings = {
  { "of one command", "-F 5000 -e cpu-clock", { "", "--ns -F comm,pid,time,ip" } },
  { "with call chains", "-F 3000 -e cpu-clock -g",
    { "", "-G", "-F comm,tid,ip,sym", "-F +pid,-time" } },
  { "with unwound call chains", "-F 500 -e cpu-clock --call-graph dwarf,4096",
    { "", "--no-inline", "-G", "-F +srcline", "--no-inline -F ip,sym,srcline" }, program },
  { "of several events",
    "--sample-cpu -d -F 2000 -e cpu-clock -e page-faults -e context-switches -g",
    { "", every_field, "-F sw:comm,event,addr,sym,dso,misc", "-G " .. every_field } },
  { "of a tracepoint", "--sample-cpu -e sched:sched_process_exec -e cpu-clock",
    { "", "-F trace:comm,tid,event" } },
  { "of a group", "-e '{cpu-clock,page-faults,task-clock}:S'", { "", "-F event,period,ip" } },
  -- of processes that others run here: binaries that may change
  { "of a group on all processors", "-a -g -e '{cpu-clock,context-switches,page-faults}:S'",
    { "-G -F comm,tid,cpu,time,event,period", "-F event,ip" } },
  { "of a group of tracepoints",
    "-a -e '{sched:sched_switch,sched:sched_wakeup,page-faults}:S'",
    { "-F trace:comm,tid,time,event,trace -F sw:comm,tid,time,event,period" } },
  { "of one counted event", "-c 1000000 -e cpu-clock:S", { "", "-F event,period,ip" } },
  { "with registers and more",
    "-F 1000 -W -T -P -d --phys-data --user-regs --intr-regs -e cpu-clock",
    { "-F comm,addr,weight,phys_addr,iregs,uregs" } },
  { "compressed", "-F 2000 -e cpu-clock -g -z", { "--kallsyms /proc/kallsyms" } },
}

local function recorded(one)
  local arguments, command = one[2], one[4] or busy
  if not kept[arguments] then
    kept[arguments] = oracle.record(arguments, command())
  end
  return kept[arguments]
end

-- Counters that went back, as those of threads do for older perfs: they are damage, and no
-- lines of ours.
local function counted_on(list)
  local rest = {}
  for _, line in ipairs(list) do
    if not line:find(("%d"):rep(19)) then rest[#rest + 1] = line end
  end
  return rest
end

-- perf asks addr2line, which may know no line, the line ":0", or a line of another file of
-- libc.
local function of_program(list)
  local source = {}
  for _, line in ipairs(list) do
    if not line:find "^  " or line:find "^  lua_" then source[#source + 1] = line end
  end
  return source
end

-- Returns whether the times of a list of lines, as -F time shows them, never go back.
local function never_goes_back(list)
  local before = 0
  for _, line in ipairs(list) do
    local time = tonumber(line:match "[%d.]+")
    if time < before then return false end
    before = time
  end
  return true
end

-- Sorts lines, or the call chains between empty ones.
local function in_any_order(list)
  local text = table.concat(list, "\n") .. "\n"
  local is_chains = text:find("\n\n", 1, true)
  local parts = {}
  for part in text:gmatch(is_chains and "(.-)\n\n" or "(.-)\n") do parts[#parts + 1] = part end
  table.sort(parts)
  return parts
end

needs.describe("kernel,tracepoints,cpus", "the lines of a recording made now", function()
  for _, one in ipairs(recordings) do
    for _, arguments in ipairs(one[3]) do
      it(("%s are perf's: %s"):format(one[1], arguments == "" and "default"
        or arguments), function()
        local path = recorded(one)
        local theirs, ours = lines.of_perf(path, arguments), lines.of_ours(path, arguments)
        if arguments:find "srcline" then theirs, ours = of_program(theirs), of_program(ours) end
        theirs = counted_on(theirs)
        assert.is_true(#theirs > 3, #theirs .. " lines")
        -- perf shows a sample after a later one where it came into the file a round late, as
        -- on busy machines
        local times = "--ns -G -F time"
        if one[2]:find "^%-a " and not never_goes_back(lines.of_perf(path, times)) then
          assert.is_true(never_goes_back((lines.of_ours(path, times))))
          theirs, ours = in_any_order(theirs), in_any_order(ours)
        end
        lines.same(theirs, ours, nil, one[4] and 0.2)
      end)
    end
  end

  it("are perf's, with the texts of all tracepoints that can be met", function()
    -- those of system calls are many hundreds, and closing each takes its time
    local events = {}
    for one in (
        "sched:* irq:* kmem:* raw_syscalls:* task:* syscalls:sys_*_open* syscalls:sys_*_newf* "
      .. "syscalls:sys_*_write workqueue:* rcu:* writeback:*"):gmatch "%S+" do
      if files.output("perf list '" .. one .. "' 2>/dev/null"):find "Tracepoint" then
        events[#events + 1] = one
      end
    end
    local path = oracle.record("-a -e '" .. table.concat(events, ",") .. "'",
      "sh -c 'seq 2000 | sort -r | wc -l; ls -lR /usr/include/linux | gzip -1 | wc -c; sync; "
        .. "sleep 0.05'")
    for _, arguments in ipairs { "", "-F event,trace" } do
      local theirs, ours = lines.of_perf(path, arguments), lines.of_ours(path, arguments)
      table.sort(theirs) -- of one time perf takes the ring buffers in another order
      table.sort(ours)
      assert.is_true(#theirs > 1000, #theirs .. " lines")
      lines.same(theirs, ours)
    end
  end)

  -- perf asks no registers of a dummy event: it comes first here. Fields that perf does not
  -- know, or refuses alone, are left out; of bpf-output perf shows what it would by itself.
  it("have each field that only an event without samples lacks", function()
    local path =
      oracle.record(
        "-e dummy:u -e cpu-clock:u -e page-faults -e dummy:HGu -F 500 -W -T -P -d --phys-data "
      .. "--data-page-size --code-page-size --all-cgroups --user-regs=ip,sp --intr-regs=ip,sp",
      busy())
    local n = 0
    for _, field in ipairs(fields.all()) do
      local theirs = lines.of_perf(path, "-F " .. field.name)
      local ours, got = lines.of_ours(path, "-F " .. field.name)
      if #theirs > 3 and field.name ~= "bpf-output" then
        assert.are.same({ field.name, 0 }, { field.name, got.status })
        lines.same(theirs, ours)
        n = n + 1
      end
    end
    assert.is_true(n > 15, n .. " fields")
  end)

  it("are none where the only event has no samples, whatever the field", function()
    local path = oracle.record("-e dummy:u", "true")
    for _, field in ipairs(fields.all()) do
      local ours, got = lines.of_ours(path, "-F " .. field.name)
      assert.are.same({ {}, 0, ("perflua: script: %s: no samples\n"):format(path) },
        { ours, got.status, got.err })
    end
  end)

  it("are the same through a pipe", function()
    local path = recorded(recordings[2])
    local whole = lines.of_ours(path, "")
    local stream = files.temporary()
    assert.is_true(
      select(2, files.output(("perf inject -i %s -o - >%s 2>/dev/null"):format(path, stream))))
    local piped = lines.of_ours("-", "-G -F comm,tid,time,ip <" .. stream)
    assert.are.same(lines.of_ours(path, "-G -F comm,tid,time,ip"), piped)
    assert.is_true(#whole > #piped)
  end)
end)
