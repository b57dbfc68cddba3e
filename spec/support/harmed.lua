-- A small recording for cutting and damaging it in every container, and which of its records
-- are there afterwards.
local containers = require "spec.support.containers"
local files = require "spec.support.files"
local perflua = require "perflua"

local harmed = {}

harmed.SEARCHED = 65536 -- bytes after damage that may be lost to it

local function sample(event, cpu, time, raw)
  return { "sample", event,
    { identifier = event * 10 + cpu, ip = time, pid = 7, tid = 7, time = time, cpu = cpu,
      raw = raw } }
end

local function comm(cpu, time)
  return { "comm", { pid = 7, tid = 8, comm = "sh" },
    { identifier = 10 + cpu, pid = 7, tid = 8, time = time, cpu = cpu } }
end

--- The recording; large: so that it goes on for longer than damage may reach.
function harmed.recording(large)
  local parts = { "identifier", "ip", "tid", "time", "cpu" }
  local last = { sample(1, 0, 95), comm(0, 97) }
  if large then
    for i = 1, 45 do
      last[#last + 1] = sample(2, 0, 100 + i, ("x"):rep(1996))
    end
  end
  return {
    events = {
      { name = "one", ids = { 10, 11 }, sample_type = parts },
      { name = "two", type = 1, ids = { 20, 21 },
        sample_type = { "raw", table.unpack(parts) } },
    },
    features = { hostname = "here", nrcpus = { available = 2, online = 2 } },
    head = {
      { "thread_map", { threads = { { pid = 7, comm = "sh" } } } },
      { "mmap", { pid = 7, tid = 7, addr = 4096, len = 4096, filename = "/bin/sh" } },
    },
    rounds = {
      { [0] = { sample(1, 0, 10), comm(0, 30) },
        [1] = { sample(2, 1, 20, "raw!"), { "cpu_map", { cpus = { 0 } } } } },
      { [0] = { sample(2, 0, 40, "raw?"), { "auxtrace", { data = "trace!!!" } }, comm(0, 60) },
        [1] = { comm(1, 50) } },
      { [0] = last, [1] = { comm(1, 70), sample(1, 1, 90) } },
    },
  }
end

--- All records in file order, and the file, which is to be closed; nil if it is refused.
local function read(path)
  local file, message, code = perflua.open(path)
  if not file then
    assert(type(message) == "string" and type(code) == "string")
    return nil
  end
  return file:records({ order = "file", container = true }):collect(), file
end

local function key(r)
  return ("%s %d+%s"):format(r.type, r.offset, r.chunk_offset or "")
end

local Subject = {}
Subject.__index = Subject

-- The files of what a container wrote: one, those of a directory, or several.
local function paths_in(path)
  if type(path) == "table" then
    return path
  elseif files.exists(path .. "/data") then
    return { path .. "/data", path .. "/data.0", path .. "/data.1" }
  end
  return { path }
end

-- Records of a part: each with the byte it begins at, that after which its own bytes have been
-- seen, and that after which all of it has. What lies in compressed ones has been seen with
-- that in which it ends, which comes before it.
local function part_of(list, from, to)
  local part, outer = {}, nil
  for i = from, to do
    local r = list[i]
    local compressed = r.type:find "compressed"
    local payload = compressed and 0 or r.data_size or 0
    local place = { key = key(r), from = r.offset, own = r.offset + r.size,
      to = r.offset + r.size + payload }
    if r.chunk_offset then
      place.own, place.to, place.inside = outer.own, outer.to, true
    elseif compressed then
      place.own = r.offset + 8
      outer = place
    end
    part[#part + 1] = place
  end
  return part
end

-- How many records there are in the last of these files.
local function count_of(path, paths, n)
  local list, file = read(path)
  local all = #list
  file:close()
  local bytes = files.read(paths[n])
  files.write(paths[n], "")
  list, file = read(path)
  file:close()
  files.write(paths[n], bytes)
  return all - #list
end

---Returns what a container wrote of a recording: parts, an array of its files, each {path,
---bytes,
function harmed.subject(container, recording)
  local s = setmetatable({ path = container.write(recording), parts = {} }, Subject)
  local list, file = read(s.path)
  local paths = paths_in(s.path)
  local left = #list
  for i = #paths, 1, -1 do
    local n = left
    if file.mode == "directory" and i > 1 then
      n = count_of(s.path, paths, i)
    elseif i > 1 then
      n = #file:records({ order = "file", container = true }):where { source = i }:collect()
    end
    s.parts[i] = { path = paths[i], bytes = files.read(paths[i]),
      records = part_of(list, left - n + 1, left) }
    left = left - n
  end
  file:close()
  return s
end

--- Where the records of a part begin, and end.
function Subject:range(part)
  local records = self.parts[part].records
  return records[1].from, records[#records].to
end

-- The order of time has the same records.
local function check_order(file, keys)
  local timed, sorted = {}, table.move(keys, 1, #keys, 1, {})
  for r in file:records({ container = true }):each() do
    timed[#timed + 1] = key(r)
  end
  table.sort(timed)
  table.sort(sorted)
  assert(table.concat(sorted, "\n") == table.concat(timed, "\n"),
    "in the order of time there are other records")
end

--- With other bytes as one of its parts: the keys of this part's records, whether nothing is
--- said to be missing, and how much damage is listed; nil if it is refused. Those of the other
--- parts must be as they were.
function Subject:with(part, bytes)
  local own = self.parts[part]
  files.write(own.path, bytes)
  local list, file <close> = read(self.path)
  if not list then
    files.write(own.path, own.bytes)
    return nil
  end
  local keys = {}
  for i, r in ipairs(list) do
    keys[i] = key(r)
  end
  check_order(file, keys)
  files.write(own.path, own.bytes)
  local from, to = 1, #keys
  for i, other in ipairs(self.parts) do
    if i < part then
      from = from + #other.records
    elseif i > part then
      to = to - #other.records
    end
  end
  assert(to >= from - 1, "records of other files are missing")
  return table.move(keys, from, to, 1, {}), file.complete, #file.damage
end

--- Containers for harm: streams are what pipes are, but for how they are opened.
function harmed.containers()
  local list = {}
  for _, c in ipairs(containers.list) do
    if c.seekable then
      list[#list + 1] = c
    end
  end
  return list
end

return harmed
