-- The threads that perf report --tasks lists, each below the one that made it, and with --mmaps
-- what they had mapped at the end.

local fmt = require "perflua.text.fmt"
local has_difference = require("perflua.recording").has_difference

local tasks = {}

local USER <const>, CPUMODE <const> = 2, 7 -- PERF_RECORD_MISC_…
local FORK_EXEC <const>, MMAP_BUILD_ID <const> = 1 << 13, 1 << 14
local READ <const>, WRITE <const>, EXEC <const> = 1, 2, 4 -- PROT_…
local SHARED <const>, HUGETLB <const> = 1, 0x40000 -- MAP_…
local ANY <const> = -1 -- of the flags

-- Threads by their ids. Those of a process share their maps, as do those of which it is not
-- known whose they are.
local function find_thread(threads, pid, tid)
  local thread = threads[tid]
  if not thread then
    local leader = pid ~= tid and pid and pid >= 0 and find_thread(threads, pid, pid)
    thread = { pid = pid or -1, tid = tid, ppid = -1, maps = leader and leader.maps or {} }
    threads[tid] = thread
  elseif pid and thread.pid < 0 then
    thread.pid = pid
  end
  return thread
end

-- Returns a map with other ends.
local function cut_map(map, first, last)
  return { first = first, last = last, offset = map.offset + first - map.first,
    name = map.name, prot = map.prot, flags = map.flags, inode = map.inode }
end

-- Adds a map, which replaces the parts of others that it overlaps.
local function add_map(maps, new)
  local low, high = 1, #maps + 1 -- the first one that ends after the new one begins
  while low < high do
    local middle = (low + high) // 2
    if math.ult(new.first, maps[middle].last) then high = middle else low = middle + 1 end
  end
  local parts, at = {}, low
  while maps[at] and math.ult(maps[at].first, new.last) do
    local map = maps[at]
    if math.ult(map.first, new.first) then
      table.insert(parts, 1, cut_map(map, map.first, new.first))
    end
    if math.ult(new.last, map.last) then
      parts[#parts + 1] = cut_map(map, new.last, map.last)
    end
    at = at + 1
  end
  local is_cut = parts[1] and math.ult(parts[1].first, new.first)
  table.insert(parts, is_cut and 2 or 1, new)
  local n = #maps
  table.move(maps, at, n, low + #parts)
  for i = n - (at - low) + #parts + 1, n do maps[i] = nil end
  table.move(parts, 1, #parts, low, maps)
end

local NO_FILES <const> = { "//anon", "/dev/zero (deleted)", "/anon_hugepage", "[stack", "/SYSV",
  "[heap]" }

-- Returns the name of a mapped file; code that is in none is what a JIT compiler may describe.
local function name_map(record, prot)
  local name = record.filename
  local is_anonymous = (record.flags or 0) & HUGETLB ~= 0
  for _, start in ipairs(NO_FILES) do
    is_anonymous = is_anonymous or name:sub(1, #start) == start
  end
  return is_anonymous and prot & EXEC ~= 0 and ("/tmp/perf-%d.map"):format(record.pid) or name
end

local handlers = {}

function handlers.comm(threads, record)
  find_thread(threads, record.pid, record.tid).comm = record.comm
end

function handlers.fork(threads, record)
  local parent = find_thread(threads, record.ppid, record.ptid)
  threads[record.tid] = nil -- an id that is used again
  local child = find_thread(threads, record.pid, record.tid)
  child.ppid, child.comm = parent.tid, parent.comm
  if record.pid ~= record.ppid and record.misc & FORK_EXEC == 0 then
    child.maps = table.move(parent.maps, 1, #parent.maps, 1, {})
  end
end

function handlers.mmap2(threads, record)
  if record.misc & CPUMODE ~= USER then return end
  local is_vdso = record.filename == "[vdso]"
  local prot = record.prot or record.data and 0 or EXEC
  add_map(find_thread(threads, record.pid, record.tid).maps, {
    first = record.addr, last = record.addr + record.len,
    offset = is_vdso and 0 or record.pgoff, name = name_map(record, prot),
    prot = prot, flags = record.flags or 0,
    inode = record.misc & MMAP_BUILD_ID == 0 and not is_vdso and record.ino or 0,
  })
end
handlers.mmap = handlers.mmap2

-- Reads the records of threads, in the order of their times.
local function read_threads(file, has_maps)
  local threads = { [0] = { pid = 0, tid = 0, ppid = -1, comm = "swapper", maps = {} } }
  local types = has_maps and { "comm", "fork", "mmap", "mmap2" } or { "comm", "fork" }
  for record in file:records { type = types } do handlers[record.type](threads, record) end
  return threads
end

-- Returns the threads below each, by its id, and those that no record says the maker of, in
-- the order of their ids; by_list: in that of older perfs, which keep them in 256 lists,
-- and put each thread and then those above it below their makers.
local function list_children(threads, by_list)
  local all, children, roots, is_listed = {}, {}, {}, {}
  for _, thread in pairs(threads) do all[#all + 1] = thread end
  table.sort(all, function(a, b)
    local x, y = a.tid % 256, b.tid % 256
    if by_list and x ~= y then return x < y end
    return a.tid < b.tid
  end)
  for _, thread in ipairs(all) do
    while thread and not is_listed[thread] do
      local maker = threads[thread.ppid]
      local list = maker and children[maker] or not maker and roots or {}
      if maker then children[maker] = list end
      list[#list + 1], is_listed[thread] = thread, true
      thread = by_list and maker
    end
  end
  return children, roots, all
end

-- shared: the flags of which one makes perf call a map shared.
local function describe_map(map, shared)
  local function letter(bit, text) return map.prot & bit ~= 0 and text or "-" end
  return ("  %x-%x %s%s%s%s %08x %d %s\n"):format(map.first, map.last, letter(READ, "r"),
    letter(WRITE, "w"), letter(EXEC, "x"), map.flags & shared ~= 0 and "s" or "p", map.offset,
    map.inode, fmt.escape(map.name))
end

local function write_maps(maps, shared, indent, out)
  local blanks = (" "):rep(indent)
  for _, map in ipairs(maps) do
    -- processes that were forked share maps
    map.text = map.text or describe_map(map, shared)
    out:write(blanks, map.text)
  end
end

-- Writes a thread and those below it, but for those that were written. shared: as above; nil:
-- maps are not written.
local function write_tree(root, level, children, out, shared, written)
  local stack = { { { root }, 0 } } -- a list, and the place in it
  while stack[1] do
    local top = stack[#stack]
    top[2] = top[2] + 1
    local thread = top[1][top[2]]
    if not thread then
      stack[#stack] = nil
    elseif not written[thread] then
      written[thread] = true
      local start = ("  %8d %8d %8d |%s"):format(thread.pid, thread.tid, thread.ppid,
        (" "):rep(level + #stack - 1))
      out:write(start, fmt.escape(thread.comm or (":%d"):format(thread.tid)), "\n")
      if shared then write_maps(thread.maps, shared, #start, out) end
      stack[#stack + 1] = { children[thread] or {}, 0 }
    end
  end
end

---Writes the threads.
---@param file perflua.File
---@param out file*
---@param has_maps boolean?
function tasks.write(file, out, has_maps)
  local threads, ordered = read_threads(file, has_maps), has_difference(file, "task_order")
  local children, roots, all = list_children(threads, not ordered)
  local shared, written = has_maps and (ordered and ANY or SHARED) or nil, {}
  local function write_all(list, level)
    for _, thread in ipairs(list or {}) do
      write_tree(thread, level, children, out, shared, written)
    end
  end
  out:write(("# %8s %8s %8s  %s\n"):format("pid", "tid", "ppid", "comm"))
  if ordered then -- swapper is above all, those that it made come last
    local swapper = threads[0]
    local made = children[swapper]
    children[swapper] = nil
    write_all({ swapper }, 0)
    write_all(roots, 1)
    write_all(made, 1)
  else
    write_all(roots, 0)
  end
  -- ids that are used again may make a circle of makers
  write_all(all, ordered and 1 or 0)
end

return tasks
