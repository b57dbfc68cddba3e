-- A recording for containers.lua of processes that come and go on two cpus: forks, names, maps
-- and ends of one lie in the buffer of one cpu, its samples in that of the other. Rounds are as
-- perf makes them: it reads a buffer, then the next one, while both are filled on.
local lively = {}

-- ns between two records at most, two rounds, two buffers of a round
local STEP, ROUND, TURN = 12, 4000, 900

local function random_from(seed)
  return function(n)
    seed = seed * 6364136223846793005 + 1442695040888963407
    return (seed >> 33) % n
  end
end

local parts = { "identifier", "ip", "tid", "time", "cpu", "period" }

-- A process begins, is named, maps something or ends: the records of that. `alive` lists the
-- pids.
local function changes(random, alive)
  local how = random(10)
  local i = 1 + random(#alive)
  local pid = alive[i]
  if how < 3 then
    local child = alive.next
    alive.next = alive.next + 1
    alive[#alive + 1] = child
    return { "fork", { pid = child, ppid = pid, tid = child, ptid = pid } }
  elseif how < 6 then
    return { "comm", { pid = pid, tid = pid, comm = "name " .. random(9),
      misc = 0x2000 * random(2) } }
  elseif how < 9 then
    return { "mmap2", { pid = pid, tid = pid, addr = 0x1000 * (1 + random(3)),
      len = 0x1000 * (1 + random(2)), prot = 5,
      filename = "/bin/" .. random(9), misc = 2 } }
  elseif #alive > 3 then
    table.remove(alive, i)
    return { "exit", { pid = pid, ppid = 1, tid = pid, ptid = 1 } }
  end
end

-- In which round the record of a cpu is found.
local function round_of(time, cpu) return math.max(1, -((cpu * TURN - time) // ROUND)) end

--- options: late (chance in a hundred that what is not a sample is found rounds later),
--- of_all_times (there are records that hold for all times), untimed (chance in a thousand of a
--- sample that has no time), round (ns).
function lively.recording(seed, samples, options)
  local random, alive, rounds, time = random_from(seed), { 7, 8, 9, next = 10 }, {}, 1000
  local last = 1
  local function put(round, cpu, record)
    last = math.max(last, round)
    for i = #rounds + 1, last do rounds[i] = { [0] = {}, {} } end
    table.insert(rounds[round][cpu], record)
  end
  local function id(pid, cpu)
    return { identifier = 10 + cpu, pid = pid, tid = pid, time = time, cpu = cpu }
  end
  for i = 1, samples do
    time = time + 1 + random(STEP)
    local cpu, pid = random(2), alive[1 + random(#alive)]
    local values = id(pid, cpu)
    values.ip, values.period, values.misc = 0x1000 * (1 + random(4)) + random(64), random(1000),
      2
    if random(1000) < (options.untimed or 0) then values.time = 0 end
    put(round_of(time, cpu), cpu, { "sample", 1, values })
    if random(40) == 0 then
      local change = changes(random, alive)
      cpu = random(2)
      if change then
        change[3] = id(change[2].pid, cpu)
        put(round_of(time, cpu) + (random(100) < (options.late or 0) and 8 or 0), cpu, change)
      end
    end
    if options.of_all_times and i % (samples // 4) == 0 then
      local path = "/k" .. i
      put(round_of(time, 0), 0, { "cgroup", { cgroup_id = 5, path = path }, id(0, 0) })
      put(round_of(time, 0), 0, { "mmap",
        { pid = -1, tid = 0, addr = 0x3000, len = 0x2000, filename = path, misc = 1 },
        id(0, 0) })
    end
  end
  return {
    events = { { name = "one", ids = { 10, 11 }, sample_type = parts } },
    features = { compressed = { version = 1, type = 1, level = 1, ratio = 3,
      mmap_len = 4096 } },
    head = {
      { "mmap", { pid = -1, tid = 0, addr = -4096, len = 4096,
        filename = "[kernel.kallsyms]_text", misc = 1 } },
      { "fork", { pid = 7, ppid = 1, tid = 7, ptid = 1 } },
      { "comm", { pid = 7, tid = 7, comm = "first" } },
      { "mmap2", { pid = 7, tid = 7, addr = 4096, len = 4096, prot = 5, filename = "/bin/sh",
        misc = 2 } },
    },
    rounds = rounds,
  }
end

return lively
