-- Which process started which, what it was called from exec to exec, and how long it lived.
--
-- usage: perflua examples/process_tree.lua [perf.data]
--
-- $ perflua examples/process_tree.lua spec/fixtures/demo.perf.data
-- 10662 perf-exec > sh
--   10664 find 21.0 ms
--   10665 sort 36.9 ms
--   10666 gzip 41.9 ms
--   10667 wc 41.2 ms
--   10668 head 55.6 ms
--   10669 gzip 56.2 ms
--   10670 md5sum 56.0 ms
--   10671 sleep 21.2 ms
--   10672 seq 4.1 ms
--   10673 sort 241.8 ms
--   10674 awk 241.8 ms

local file <close> = assert(perflua.open(arg[1]))

local processes, roots = {}, {}

local function add(pid, siblings, start)
  processes[pid] = { pid = pid, names = {}, children = {}, start = start }
  table.insert(siblings, processes[pid])
  return processes[pid]
end

local function find(pid)
  return processes[pid] or add(pid, roots)
end

-- not their other threads
for r in file:records({ type = { "fork", "comm", "exit" } }):where("pid == tid") do
  if r.type == "fork" then
    add(r.pid, find(r.ppid).children, r.time)
  elseif r.type == "comm" then
    table.insert(find(r.pid).names, r.comm)
  else
    find(r.pid).stop = r.time
  end
end

local function show(process, indent)
  local life = process.start and process.stop
    and (" %.1f ms"):format((process.stop - process.start) / 1e6)
  print(("%s%d %s%s"):format(indent, process.pid, table.concat(process.names, " > "),
    life or ""))
  for _, child in ipairs(process.children) do
    show(child, indent .. "  ")
  end
end

for _, root in ipairs(roots) do
  show(root, "")
end
