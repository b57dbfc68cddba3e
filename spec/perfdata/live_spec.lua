-- Recordings made on the spot, compared with what perf reads from them.
local everything = require "spec.support.everything"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"
local reading = require "spec.support.reading"

local workload = "sh -c 'for i in 1 2 3; do seq 8000 | sort -R | wc -c; sleep 0.01; done'"

local recordings = {
  { "samples of several events with call chains",
    "-F 900 -g --sample-cpu -e cpu-clock,page-faults,context-switches" },
  { "counter groups", "-c 300000 --sample-cpu -e '{cpu-clock,task-clock,page-faults}:S'" },
  { "user registers and stacks", "-F 300 --sample-cpu --call-graph dwarf,512 -e cpu-clock" },
  { "data addresses and weights", "-d --phys-data -W --sample-cpu -e page-faults -c 3" },
  { "registers at the interrupt",
    "-F 300 --sample-cpu --user-regs=ax,sp --intr-regs=ip,r15 -e cpu-clock" },
  { "namespaces, cgroups and context switches",
    "-F 300 --sample-cpu --namespaces --all-cgroups --switch-events -e cpu-clock" },
  { "a fixed period and transactions",
    "-c 1000000 --sample-cpu --transaction -e cpu-clock -e task-clock:u" },
}

--- Canonical lines of what `perf script` says of each sample, sorted.
local function perf_lines(path)
  local list = {}
  for _, line in ipairs(oracle.script(path,
      "pid,tid,cpu,time,period,event,ip --hide-call-graph")) do
    local pid, tid, cpu, sec, ns, period, event, ip =
      line:match "^%s*(%-?%d+)/(%-?%d+)%s+%[(%d+)%]%s+(%d+)%.(%d+):%s+(%d+)%s+(%S+):%s+(%x+)"
    if pid then
      list[#list + 1] = table.concat({ pid, tid, tonumber(cpu), sec .. ns, period, event, ip },
        " ")
    end
  end
  table.sort(list)
  return list
end

local function our_lines(file)
  local list = {}
  for s in file:samples():each() do
    list[#list + 1] = table.concat({
      s.pid, s.tid, s.cpu, ("%d%09d"):format(s.time // 1000000000, s.time % 1000000000),
      s.period, s.event.name,
      ("%x"):format(s.ip),
    }, " ")
  end
  table.sort(list)
  return list
end

for _, recording in ipairs(recordings) do
  needs.describe("kernel", "a recording made now with " .. recording[1], function()
    local path, file

    setup(function()
      path = oracle.record(recording[2], workload)
      file = assert(perflua.open(path))
    end)

    teardown(function() file:close() end)

    it("has the records perf dumps: their types, places, sizes and times", function()
      local dump = oracle.dump(path)
      assert.is_true(#dump > 0)
      local i = 0
      for r in file:records({ order = "file", container = true }):each() do
        i = i + 1
        local theirs = assert(dump[i], "perf dumps no more than " .. #dump)
        assert.are.equal(theirs.offset, r.offset)
        assert.are.equal(theirs.size, r.size)
        assert.are.equal(theirs.type_id, r.type_id)
        if r.type_id < 64 and r.type ~= "lost_samples" then
          local id = r.sample_id
          assert.are.equal(theirs.time, id and id.time or r.time)
        end
      end
      assert.are.equal(#dump, i)
    end)

    it("has as many records of each type and samples of each event as perf reports", function()
      local stats = oracle.stats(path)
      local types = {}
      for r in file:records({ order = "file", container = true }):each() do
        types[r.type] = (types[r.type] or 0) + 1
      end
      for name, n in pairs(types) do
        -- perf splits a group's sample into one for each member
        if name ~= "sample" then
          assert.are.equal(n, stats.types[name], name)
        end
      end
    end)

    it("has the values perf script prints of each sample", function()
      local theirs, ours = perf_lines(path), our_lines(file)
      if recording[1] == "counter groups" then
        assert.is_true(#ours > 0)
        return -- perf makes samples of its own of them
      end
      assert.is_true(#theirs > 0)
      assert.are.same(theirs, ours)
    end)
  end)
end

needs.describe("kernel", "the parts of samples recorded now", function()
  ---Returns what perf script prints per sample: time → the rest of its lines; false where two
  ---samples have the same time.
  local function by_time(path, fields)
    local found, last = {}, nil
    for _, line in ipairs(oracle.script(path, fields)) do
      local sec, ns, rest = line:match "^%s*(%d+)%.(%d%d%d%d%d%d%d%d%d):%s*(.*)$"
      if sec then
        local time = math.tointeger(tonumber(sec .. ns))
        last = { rest }
        found[time] = found[time] == nil and last
      elseif last and line:match "%S" then
        last[#last + 1] = line:match "^%s*(.-)%s*$"
      end
    end
    return found
  end

  it("hold the call chains perf prints", function()
    local path = assert(oracle.record("-F 900 -g -e cpu-clock", workload))
    local theirs = by_time(path, "time,ip")
    local file <close> = assert(perflua.open(path))
    local n = 0
    for s in file:samples():where(function(r) return theirs[r.time] ~= false end):each() do
      local chain = theirs[s.time]
      local i = 0
      for _, line in ipairs(chain) do
        local ip = tonumber(line:match "^%x+" or "", 16)
        if ip then
          i = i + 1
          -- perf shows an address of a mapped file as the offset in it: the place in its page
          -- stays
          local mask = ip < 0 and -1 or 0xfff
          assert.are.equal(ip & mask, s.callchain[i].ip & mask)
        end
      end
      assert.are.equal(i, #s.callchain)
      n = n + 1
    end
    assert.is_true(n > 0)
  end)

  it("hold the registers perf prints", function()
    local path = assert(oracle.record("-F 300 --user-regs=ax,sp,r9 -e cpu-clock", workload))
    local theirs = by_time(path, "time,uregs")
    local file <close> = assert(perflua.open(path))
    local n = 0
    for s in file:samples():where(function(r) return theirs[r.time] ~= false end):each() do
      local line = table.concat(theirs[s.time], " ")
      for name, value in line:gmatch "(%u%w+):0x(%x+)" do
        assert.are.equal(value, ("%x"):format(s.regs_user[name:lower()]), name)
        n = n + 1
      end
    end
    assert.is_true(n > 0)
  end)

  it("hold the addresses perf prints", function()
    local path = assert(oracle.record("-d --phys-data -e page-faults -c 3", workload))
    local theirs = by_time(path, "time,addr,phys_addr")
    local file <close> = assert(perflua.open(path))
    local n = 0
    for s in file:samples():where(function(r) return theirs[r.time] ~= false end):each() do
      local addr, phys = table.concat(theirs[s.time], " "):match "^(%x+)%s+(%x+)"
      assert.are.equal(addr, ("%x"):format(s.addr))
      assert.are.equal(phys, ("%x"):format(s.phys_addr))
      n = n + 1
    end
    assert.is_true(n > 0)
  end)
end)

needs.describe("perf", "a recording that the builder wrote", function()
  it("is one to perf, too", function()
    local b, one = everything.empty "little"
    local n = 0
    for _, r in ipairs(everything.records) do
      if r[1] == "callchain_deferred" then
        break -- perf 6.1 knows the kernel's records up to here
      end
      b:record(r[1], r[2], { time = 10 })
    end
    b:sample(one, everything.sample)
    local file = reading.open(b)
    local dump = oracle.dump(file.path)
    for r in file:records({ order = "file", container = true }):each() do
      n = n + 1
      assert.are.same({ r.offset, r.size, r.type_id },
        { dump[n].offset, dump[n].size, dump[n].type_id })
      assert.are.equal(dump[n].time, r.sample_id and r.sample_id.time or r.time)
    end
    assert.are.equal(#dump, n)
    assert.are.equal(22, n)
  end)
end)
