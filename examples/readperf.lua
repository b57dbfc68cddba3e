-- Writes the four tables of readperf, the program of the first report on this format (Urs
-- Fässler, "perf file format", CERN openlab, 2011). It handles any number of events, finds
-- symbols in the same process, and never holds the whole file in memory.
--
-- usage: perflua examples/readperf.lua [perf.data [directory [symfs]]]
--
-- It writes into the directory, by default the current one:
--
--   stat.csv       record, count: the number of records of each type
--   overview.csv   nr, type, pid, tid, time, info: the records sorted by time; nr is the index
--                  in the file, the number of records before it (as perflua dump lists them)
--   processes.csv  pid, comm, #mmap, fork, exit, samples, period, event: the processes
--   results.csv    period, samples, filename, function, event: the functions and source files
--
-- Times are nanoseconds, addresses hexadecimal. Info has these fields, separated by spaces:
-- file, address, size and offset of a mapping, the name of a COMM, the parent of a FORK, ip,
-- period and event of a sample. A value of two events takes two lines. The recording is read in
-- time order and in file order, so it cannot be a stream.
--
-- $ W=spec/fixtures/words; perflua examples/readperf.lua $W/perf.data "$(mktemp -d)" $W
-- cpu-clock:u
--    per       period samples function
--  48.56    355065186     354 compare
--  26.06    190571710     190 find_in_tree
--   6.72     49147441      49 random_below
--   5.90     43129387      43 find_in_list
--   4.12     30090270      30 hash
--   3.84     28084252      28 find_in_table
--   1.92     14042126      14 next_word
--   1.10      8024072       8 count_with_tree

local path, directory, symfs = arg[1], arg[2] or ".", arg[3]
local file <close> = assert(perflua.open(path, { symfs = symfs }))

-- A table: the function it returns writes a line. Text is quoted, what is absent is empty.
local function create(name, header)
  local out = assert(io.open(directory .. "/" .. name, "w"))
  out:write(header, "\n")
  return function(...)
    local values = table.pack(...)
    for i = 1, values.n do
      local value = values[i]
      if type(value) == "string" then
        value = '"' .. value:gsub('"', '""') .. '"'
      end
      values[i] = value == nil and "" or tostring(value)
    end
    out:write(table.concat(values, ","), "\n")
  end
end

local function sorted(map)
  local keys = {}
  for key in pairs(map) do
    table.insert(keys, key)
  end
  table.sort(keys)
  return keys
end

-- A second pass, in the order of the file, finds the index of each record. It goes as far as it
-- has to: `ahead` has the indexes of records that it met and the pass in the order of time did
-- not yet. In a directory each file has offsets of its own, so several records may have one
-- key.
local in_file = file:records({ order = "file", container = true })
  :select("offset", "chunk_offset", "time", "type"):each()
local ahead, n_met = {}, 0

local function key_of(offset, chunk_offset, time)
  return offset .. " " .. (chunk_offset or "") .. " " .. (time or "")
end

local function look_ahead()
  local offset, chunk_offset, time, kind = in_file()
  if not offset then return false end -- ^C ends both passes
  if kind ~= "finished_round" then -- there are many of these, and the other pass has none
    local key = key_of(offset, chunk_offset, time)
    ahead[key] = ahead[key] or {}
    table.insert(ahead[key], n_met)
  end
  n_met = n_met + 1
  return true
end

local last_key, last_index

-- Returns a record's index, and whether it is another record than the one before: a record of a
-- group of events may be delivered as several samples.
local function index_of(r)
  local key = key_of(r.offset, r.chunk_offset, r.time)
  if key == last_key then return last_index, false end
  while not ahead[key] and look_ahead() do end
  local same = ahead[key]
  if not same or not same[2] then ahead[key] = nil end
  last_key, last_index = key, same and table.remove(same, 1)
  return last_index, true
end

-- stat.csv: a count for each type.
local counts = {}

local function count(r)
  counts[r.type] = (counts[r.type] or 0) + 1
end

-- overview.csv: what info is depends on the type.
local function hex(number) return number and perflua.hex(number) or "-" end

local function mapping(r)
  return ("%s %s %s %s"):format(r.filename, hex(r.addr), hex(r.len), hex(r.pgoff))
end

local info = {
  mmap = mapping,
  mmap2 = mapping,
  comm = function(r) return r.comm end,
  fork = function(r) return r.ppid end,
  sample = function(r)
    return ("%s %s %s"):format(hex(r.ip), r.period or "-", r.event and r.event.name or "-")
  end,
}

local overview = create("overview.csv", "nr,type,pid,tid,time,info")

local function log(r, index)
  local of_type = info[r.type]
  overview(index, r.type:upper(), r.pid, r.tid, r.time, of_type and of_type(r))
end

-- processes.csv: a process is known from its fork on, or from the first record that names it,
-- until it exits.
local processes, living = {}, {}

local function process_of(r)
  local process = living[r.pid]
  if not process or r.type == "fork" and r.pid == r.tid then
    process = { pid = r.pid, mmaps = 0, events = {} }
    living[r.pid] = process
    table.insert(processes, process)
  end
  return process
end

-- Adds a sample to the totals of its event.
local function add(totals, r)
  local event = r.event and r.event.name or ""
  local total = totals[event] or { samples = 0, period = 0 }
  totals[event] = total
  total.samples, total.period = total.samples + 1, total.period + (r.period or 0)
end

local function follow(r)
  if not r.pid then
    return
  end
  local process = process_of(r)
  process.comm = r.pid == r.tid and r.comm or process.comm
  if r.type == "sample" then
    add(process.events, r)
  elseif r.type == "mmap" or r.type == "mmap2" then
    process.mmaps = process.mmaps + 1
  elseif r.pid == r.tid and (r.type == "fork" or r.type == "exit") then
    process[r.type] = r.time
  end
end

-- results.csv: functions, and the file of their first line, which is looked for once for each.
local functions = {}

local function source_of(r)
  local start = file:resolve(r.pid, r.ip - r.symoff, r.time)
  return start and start.srcline and start.srcline:match("^(.*):")
end

local function function_of(r)
  local dso, symbol = r.symbol and r.dso or "", r.symbol or "" -- what is not known is one line
  local of_dso = functions[dso] or {}
  functions[dso] = of_dso
  of_dso[symbol] = of_dso[symbol] or { filename = r.symbol and source_of(r), events = {} }
  return of_dso[symbol]
end

file:run {
  other = function(r)
    local index, is_new = index_of(r)
    if is_new then count(r) end
    log(r, index)
    follow(r)
    if r.type == "sample" then
      add(function_of(r).events, r)
    end
  end,
}

local stat = create("stat.csv", "record,count")
for _, name in ipairs(sorted(counts)) do
  stat(name:upper(), counts[name])
end

local write = create("processes.csv", "pid,comm,#mmap,fork,exit,samples,period,event")
for _, p in ipairs(processes) do
  local names = sorted(p.events)
  for i = 1, math.max(1, #names) do
    local total = p.events[names[i]] or { samples = 0, period = 0 }
    write(p.pid, p.comm, p.mmaps, p.fork, p.exit, total.samples, total.period, names[i])
  end
end

-- The functions by event, greatest period first: to results.csv, and the first of each to the
-- terminal.
local results, whole = {}, {}
for _, of_dso in pairs(functions) do
  for symbol, f in pairs(of_dso) do
    for event, total in pairs(f.events) do
      table.insert(results, { event = event, total = total, name = symbol,
        filename = f.filename })
      whole[event] = (whole[event] or 0) + total.period
    end
  end
end
table.sort(results, function(a, b)
  if a.event ~= b.event then
    return a.event < b.event
  elseif a.total.period ~= b.total.period then
    return a.total.period > b.total.period
  end
  return a.name < b.name
end)

write = create("results.csv", "period,samples,filename,function,event")
local section
for _, f in ipairs(results) do
  write(f.total.period, f.total.samples, f.filename or "", f.name, f.event)
  if f.event ~= section then
    section = f.event
    print((section == "" and "[unknown]" or section)
      .. "\n   per       period samples function")
  end
  local percent = 100 * f.total.period / whole[f.event]
  if percent >= 1 then
    print(("%6.2f %12d %7d %s"):format(percent, f.total.period, f.total.samples, f.name))
  end
end
