-- growth.lua DIR [--only TEXT] [--rounds N]: how processor time and memory grow with a
-- recording: its records, groups, processes, binaries, processors and chains, and with the
-- number of workers. Called by make growth. Writes recordings to DIR, one at a time, and prints
-- a table in Markdown. Each job is a process of its own, of which the median is taken.

local builder = require "spec.support.builder"
local stopwatch = require "spec.bench.stopwatch"

local dir = assert(arg[1], "which directory may recordings be written to?")
local options = { only = "", rounds = "3" }
for i = 2, #arg, 2 do
  local name = arg[i]:match "^%-%-(%l+)$"
  assert(options[name] and arg[i + 1], "unknown option, or no value: " .. arg[i])
  options[name] = arg[i + 1]
end

local PERFLUA = assert(os.getenv "PERFLUA")
local PATH = dir .. "/growth.data"
local PARTS = { "ip", "tid", "time", "cpu", "period" }
local BASE = 250000 -- records
local BATCH = 8192 -- records that are written together

-- Writes records that `each` makes, from 1 to n, after a header without features.
local function write_recording(n, parts, each)
  local b = builder.new { event_desc = false }
  b:event { name = "cycles", sample_type = parts }
  local header = b:bytes()
  local file = assert(io.open(PATH, "wb"))
  file:write(header)
  local size, batch = 0, {}
  for i = 1, n do
    batch[#batch + 1] = each(i)
    if #batch >= BATCH or i == n then
      local bytes = table.concat(batch)
      file:write(bytes)
      size, batch = size + #bytes, {}
    end
  end
  file:seek("set", 40) -- data.offset, data.size
  file:write(("<I8I8"):pack(#header, size))
  assert(file:close())
end

local function record(type, misc, body)
  return ("<I4I2I2"):pack(type, misc, 8 + #body) .. body
end

-- Bytes of a sample; chain: more bytes.
local function sample(ip, pid, time, cpu, chain)
  return record(9, 2, ("<I8I4I4I8I4I4I8"):pack(ip, pid, pid, time, cpu, 0, 1) .. (chain or ""))
end

-- The trailer that sample_id_all adds to other records.
local function trailer(pid, time, cpu) return ("<I4I4I8I4I4"):pack(pid, pid, time, cpu, 0) end

local function text(s) return s .. ("\0"):rep(8 - #s % 8) end

local function comm(pid, time, name)
  return record(3, 0, ("<I4I4"):pack(pid, pid) .. text(name) .. trailer(pid, time, 0))
end

local function fork(pid, time)
  return record(7, 0, ("<I4I4I4I4I8"):pack(pid, 1, pid, 1, time) .. trailer(pid, time, 0))
end

local function exit(pid, time)
  return record(4, 0, ("<I4I4I4I4I8"):pack(pid, 1, pid, 1, time) .. trailer(pid, time, 0))
end

local function map(pid, time, at, size, name)
  return record(1, 0, ("<I4I4I8I8I8"):pack(pid, pid, at, size, 0) .. text(name)
    .. trailer(pid, time, 0))
end

-- Samples of a few processes with 1000 addresses each.
local function plain(i)
  return sample(0x400000 + i * 7919 % 1000, 7 + i % 50, i * 1000, i % 8)
end

-- A chain of `depth` frames, one of 5000.
local function chain_of(i, depth)
  local ips = { -512 }
  for level = 1, depth do
    ips[level + 1] = 0x400000 + 64 * (level + i * 7919 % 5000 % level * 131)
  end
  return ("<I8" .. ("i8"):rep(depth + 1)):pack(depth + 1, table.unpack(ips))
end

local CHAINED = { "ip", "tid", "time", "cpu", "period", "callchain" }

local function chained(depth)
  return function(i)
    return sample(0x400000, 7 + i % 50, i * 1000, i % 8, chain_of(i, depth))
  end
end

-- A sample whose chain has 50 frames that no other has, below the first caller of all.
local function branched(i)
  local ips = { -512, 0x400000 }
  for level = 1, 50 do ips[level + 2] = 0x500000 + 16 * (i * 50 + level) end
  ips[#ips + 1] = 0x400040
  return sample(0x400000, 7, i * 1000, 0,
    ("<I8" .. ("i8"):rep(#ips)):pack(#ips, table.unpack(ips)))
end

-- Runs code with `samples`, the query of all samples, in a process of its own.
local function query(code, workers)
  return { PERFLUA, "-j", ("%d"):format(workers or 2), "-e",
    ("local samples = perflua.open(%q):samples() %s"):format(PATH, code) }
end

local function tool(...)
  local words = { PERFLUA, "-j", "2", ... }
  words[#words + 1] = PATH
  return words
end

-- The rows: what grows, from which size to which; how a recording of a size is written (nil:
-- the one before is taken), and the jobs.
local growing = {
  { what = "records", sizes = { BASE, 2 * BASE, 4 * BASE, 8 * BASE },
    write = function(n) write_recording(n, PARTS, plain) end,
    jobs = {
      { "stat", function() return tool "stat" end },
      { "doctor", function() return tool "doctor" end },
      { "period by comm",
        function() return query "samples:group_by('comm'):sum('period'):top(1)" end },
      { "loop in the order of time",
        function() return query "for _ in samples:select('ip') do end" end },
      { "report", function() return tool "report" end },
    } },
  { what = "records with chains of 10", sizes = { BASE, 2 * BASE, 4 * BASE, 8 * BASE },
    write = function(n) write_recording(n, CHAINED, chained(10)) end,
    jobs = {
      { "fold", function() return tool "fold" end },
      { "report --children", function() return tool("report", "--children") end },
    } },
  { what = "frames of chains", sizes = { 8, 32, 127 },
    write = function(n) write_recording(BASE, CHAINED, chained(n)) end,
    jobs = {
      { "fold", function() return tool "fold" end },
      { "doctor", function() return tool "doctor" end },
    } },
  { what = "nodes of a tree of calls", sizes = { 10000, 100000, 1000000, 4000000 },
    write = function(n) write_recording(n // 50, CHAINED, branched) end,
    jobs = {
      { "report -g", function() return tool("report", "--no-children", "-g", "caller") end },
      { "report -g of all nodes",
        function() return tool("report", "--no-children", "-g", "caller,0") end },
      { "fold", function() return tool "fold" end },
    } },
  { what = "groups", sizes = { 100, 10000, 1000000, 10000000 },
    write = function(n)
      write_recording(math.max(n, 8 * BASE), PARTS,
        function(i) return sample(i * 7919 % n, 7, i * 1000, 0) end)
    end,
    jobs = {
      { "sum", function() return query "samples:group_by('ip'):sum('period'):top(1)" end },
      { "quantile",
        function() return query "samples:group_by('ip'):quantile('period', 0.5):top(1)" end },
    } },
  { what = "open spans", sizes = { 10000, 100000, 1000000, 10000000 },
    write = function(n)
      write_recording(math.max(n, BASE), PARTS,
        function(i) return sample(i % n, 7, i * 1000, 0) end)
    end,
    jobs = {
      { "spans that never close", function()
        return query("samples:pair { open = { where = 'cpu == 0' }, close = "
          .. "{ where = 'cpu == 1' }, key = 'ip' }:group_by('pid'):count():table()")
      end },
    } },
  { what = "short processes", sizes = { 10000, 100000, 1000000 },
    write = function(n)
      write_recording(n, PARTS, function(i)
        local pid, time = 100 + i, i * 1000
        return fork(pid, time) .. comm(pid, time + 1, "p" .. i % 100)
          .. sample(0x400000, pid, time + 2, 0) .. exit(pid, time + 3)
      end)
    end,
    jobs = {
      { "period by comm",
        function() return query "samples:group_by('comm'):sum('period'):top(1)" end },
      { "period by pid and comm",
        function() return query "samples:group_by('pid', 'comm'):sum('period'):top(1)" end },
    } },
  { what = "binaries", sizes = { 1000, 10000, 100000 },
    write = function(n)
      write_recording(n, PARTS, function(i)
        local at = i << 20
        return map(7, i * 1000, at, 1 << 16, "/none/" .. i)
          .. sample(at + 64, 7, i * 1000 + 1, 0)
      end)
    end,
    jobs = {
      { "period by binary",
        function() return query "samples:group_by('dso'):sum('period'):top(1)" end },
      { "period by symbol",
        function() return query "samples:group_by('symbol'):sum('period'):top(1)" end },
      { "doctor", function() return tool "doctor" end },
    } },
  { what = "processors", sizes = { 4, 64, 256 },
    write = function(n)
      -- perf copies the buffer of each processor as a run
      write_recording(4 * BASE, PARTS, function(i)
        local run, own = i // 100, i % 100
        return sample(0x400000 + i % 100, 7, (run // n * 100 + own) * 1000, run % n)
      end)
    end,
    jobs = {
      { "period by cpu",
        function() return query "samples:group_by('cpu'):sum('period'):top(1)" end },
      { "loop in the order of time",
        function() return query "for _ in samples:select('ip') do end" end },
    } },
  { what = "workers", sizes = { 1, 2, 4, 16 },
    write = function(n)
      if n == 1 then
        write_recording(8 * BASE, PARTS,
          function(i) return sample(i * 7919 % 10000, 7, i * 1000, 0) end)
      end
    end,
    jobs = {
      { "sum by 10 000 addresses",
        function(n) return query("samples:group_by('ip'):sum('period'):top(1)", n) end },
      { "quantile by 10 000 addresses",
        function(n)
          return query("samples:group_by('ip'):quantile('period', 0.5):top(1)", n)
        end },
    } },
}

local function measure(words)
  local runs = {}
  stopwatch.run(words) -- warms the page cache
  for i = 1, math.tointeger(options.rounds) do runs[i] = stopwatch.run(words) end
  return { cpu = stopwatch.median(runs, "cpu") / 1e9, peak = stopwatch.median(runs, "peak") }
end

local function cell(figures)
  return ("%.2f s, %.0f MB"):format(figures.cpu, figures.peak / 1e6)
end

local function measure_growth(row)
  local lines = {}
  for _, size in ipairs(row.sizes) do
    row.write(size)
    for i, job in ipairs(row.jobs) do
      lines[i] = lines[i] or {}
      table.insert(lines[i], cell(measure(job[2](size))))
    end
  end
  local sizes = {}
  for i, size in ipairs(row.sizes) do sizes[i] = ("%d"):format(size) end
  print(("| **%s** | %s |"):format(row.what, table.concat(sizes, " | ")))
  for i, job in ipairs(row.jobs) do
    print(("| %s | %s |"):format(job[1], table.concat(lines[i], " | ")))
  end
  io.stdout:flush()
end

for _, row in ipairs(growing) do
  if row.what:find(options.only, 1, true) then measure_growth(row) end
end
os.remove(PATH)
