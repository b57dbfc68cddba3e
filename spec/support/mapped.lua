-- Recordings of mappings, written as lines of text. Addresses are hexadecimal.
--
--   "- map 7 1000-3000 /bin/a"          what perf found when it began: a record without a time
--   "10 map 7 1000-3000@2000 /bin/a"    of a process, with an offset in the file; "data"
--   "10 mmap 7 1000-3000 /bin/a"        the same as an old kind of record
--   "- kernel 1000-3000@1000 [kernel.kallsyms]_text"
--   "10 ksymbol 1000-3000 bpf_prog_1"   "10 unksymbol 1000-3000 bpf_prog_1"
--   "10 fork 8 from 7"                  "- found 8 from 7": perf found it
--   "20 sample 7 1234 in /bin/a"        the expected binary; "ksample": in the kernel
local oracle = require "spec.support.oracle"
local system = require "spec.support.system"

local mapped = {}

local function range(text)
  local from, to, pgoff = text:match "^(%x+)%-(%x+)@?(%x*)"
  local start = tonumber(from, 16)
  return { addr = start, len = tonumber(to, 16) - start, pgoff = tonumber(pgoff, 16) or 0 }
end

local KERNEL, USER = 1, 2

local function process_map(type, prot, data)
  return function(b, rest, id)
    local pid, where, name = rest:match "^(%S+) (%S+) (.*)$"
    local r = range(where)
    r.pid, r.tid, r.filename, r.prot, r.data, r.misc = tonumber(pid), tonumber(pid), name, prot,
      data, USER
    b:record(type, r, id)
  end
end

local function ksymbol(unregister)
  return function(b, rest, id)
    local where, name = rest:match "^(%S+) (.*)$"
    local r = range(where)
    b:record("ksymbol", { addr = r.addr, len = r.len, ksym_type = 1, name = name,
      unregister = unregister }, id)
  end
end

local function fork(exec)
  return function(b, rest, id)
    local pid, ppid = rest:match "^(%d+) from (%d+)$"
    pid, ppid = tonumber(pid), tonumber(ppid)
    b:record("fork", { pid = pid, tid = pid, ppid = ppid, ptid = ppid, time = id and id.time
      or 0, exec = exec }, id)
  end
end

local function sample(mode)
  return function(b, rest, id, dsos)
    local pid, ip, dso = rest:match "^(%-?%d+) (%x+) ?i?n? ?(.*)$"
    pid = tonumber(pid)
    b:sample(b.events[1], {
      ip = tonumber(ip, 16), pid = pid, tid = pid, time = id and id.time or 0, misc = mode,
    })
    dsos[#dsos + 1] = dso ~= "" and dso or nil
  end
end

local kinds = {
  map = process_map("mmap2", 5), data = process_map("mmap2", 3, true),
  mmap = process_map "mmap",
  fork = fork(), found = fork(true), ksymbol = ksymbol(), unksymbol = ksymbol(true),
  sample = sample(USER), ksample = sample(KERNEL),
  kernel = function(b, rest, id)
    local where, name = rest:match "^(%S+) (.*)$"
    local r = range(where)
    r.pid, r.tid, r.filename, r.misc = -1, 0, name, KERNEL
    b:record("mmap", r, id)
  end,
}

--- Adds the records of these lines; returns the binaries of the samples among them.
function mapped.add(b, lines)
  local dsos = {}
  for _, line in ipairs(lines) do
    local time, kind, rest = line:match "^(%S+) (%a+) (.*)$"
    time = tonumber(time)
    local pid = tonumber(rest:match "^%d+ " or 0)
    assert(kinds[kind], line)(b, rest, time and { pid = pid, tid = pid, time = time }, dsos)
  end
  return dsos
end

--- The path of a recording of these lines, and the binaries of its samples.
function mapped.written(lines, options, sample_type)
  local b = system.builder(options, sample_type)
  local dsos = mapped.add(b, lines)
  return b:write(), dsos
end

--- The binaries of a file's samples, in the order of the file.
function mapped.dsos(file)
  return file:samples({ order = "file" }):select("dso"):collect()
end

--- {time, dso} of each sample, as perf script prints them.
function mapped.of_perf(path)
  local list = {}
  for _, line in ipairs(oracle.script(path, "time,ip,dso")) do
    local sec, ns, dso = line:match "^%s*(%d+)%.(%d+):%s+%x+ %((.*)%)%s*$"
    list[#list + 1] = { math.tointeger(tonumber(sec .. ns)), dso }
  end
  return list
end

return mapped
