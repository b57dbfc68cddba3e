-- One recording in every container it can lie in.
--
-- A recording is
--   { events = { members of a builder's event, … }, features = { name = value },
--     head = { record, … },
--     rounds = { { [cpu] = { record, … } }, … } }
-- and a record { name, fields, id } as builder:record takes them, or { "sample", number of the
-- event, values }. head is what perf writes by itself before it begins; a round is what it
-- found in the buffers of all cpus, one after another. In a directory each cpu's runs are a
-- file of their own.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local records = require "spec.support.builder_records"
local zstd = require "spec.support.builder_zstd"

local containers = {}

local function start(recording, options)
  local b = builder.new(options)
  for _, members in ipairs(recording.events) do
    b:event(members)
  end
  for name, value in pairs(recording.features or {}) do
    b:feature(name, value)
  end
  return b
end

local function add(b, r)
  if r[1] == "sample" then
    b:sample(b.events[r[2]], r[3])
  else
    b:record(r[1], r[2], r[3])
  end
end

---Returns whether this record is one of the kernel's.
function containers.is_kernels(r)
  return r[1] == "sample" or records.types[r[1]].kernel
end

local function plain(b)
  return {
    add = function(r) add(b, r) end,
    flush = function() end,
  }
end

-- Payloads end anywhere: within a header, between its members, within a field.
local AWKWARD = { 1, 7, 8, 41, 2, 100, 3, 900, 5, 64, 13, 3000 }

--- Collects the kernel's records and writes them as compressed ones. perf's own lie outside, in
--- their place.
local function compressed(b, kind)
  local payload, held, cut = zstd.frame(), "", 0
  local out = {}
  function out.flush()
    while #held > 0 do
      cut = cut % #AWKWARD + 1
      b:record(kind, { data = payload(held:sub(1, AWKWARD[cut])) })
      held = held:sub(AWKWARD[cut] + 1)
    end
  end
  function out.add(r)
    if containers.is_kernels(r) then
      held = held .. b:apart(function() add(b, r) end)
    else
      out.flush()
      add(b, r)
    end
  end
  return out
end

local function writer(b, kind)
  return kind and compressed(b, kind) or plain(b)
end

local function cpus_of(recording)
  local most = 0
  for _, round in ipairs(recording.rounds) do
    for cpu in pairs(round) do
      most = math.max(most, cpu)
    end
  end
  return most
end

--- The rounds from..to as perf writes them to one file.
local function fill(b, recording, kind, from, to)
  local out = writer(b, kind)
  for i = from, to do
    for cpu = 0, cpus_of(recording) do
      for _, r in ipairs(recording.rounds[i][cpu] or {}) do
        out.add(r)
      end
    end
    out.flush()
    b:record "finished_round"
  end
end

local function fill_head(b, recording)
  for _, r in ipairs(recording.head) do
    add(b, r)
  end
  b:record "finished_init"
end

local function one_file(recording, options)
  local b = start(recording, options)
  fill_head(b, recording)
  fill(b, recording, options.compressed, 1, #recording.rounds)
  return b
end

--- No rounds here: nothing says when all buffers were read.
local function directory(recording, options)
  local b = start(recording, options)
  b.container = "directory"
  fill_head(b, recording)
  for cpu = 0, cpus_of(recording) do
    b:beside(cpu, function()
      local out = writer(b, options.compressed)
      for _, round in ipairs(recording.rounds) do
        for _, r in ipairs(round[cpu] or {}) do
          out.add(r)
        end
      end
      out.flush()
    end)
  end
  return b
end

--- Two recordings: the second goes on where the first ends, and repeats nothing.
local function pieces(recording, one, other)
  local half = #recording.rounds // 2
  local a, b = start(recording, one), start(recording, other)
  fill_head(a, recording)
  fill(a, recording, one.compressed, 1, half)
  fill(b, recording, other.compressed, half + 1, #recording.rounds)
  return a:write(), b:write()
end

--- A FIFO that the file at a path comes through, once.
function containers.stream(path)
  local dir = files.output "mktemp -d":match "%S+"
  local fifo = dir .. "/fifo"
  assert(os.execute("mkfifo " .. fifo))
  assert(os.execute(("{ timeout 300 cat %s >%s; rm -r %s; } >/dev/null 2>&1 &")
    :format(files.quote(path), fifo, dir)))
  return fifo
end

local list = {}

local function container(name, write, traits)
  local c = { name = name, write = write, seekable = true }
  for key, value in pairs(traits or {}) do
    c[key] = value
  end
  list[#list + 1] = c
end

local function written(make, options)
  return function(recording)
    return make(recording, options):write()
  end
end

for _, endian in ipairs { "little", "big" } do
  for _, kind in ipairs { false, "compressed", "compressed2" } do
    local what = (kind and " of " .. kind .. " records" or "") .. ", " .. endian .. "-endian"
    local function options(of)
      of.endian, of.compressed = endian, kind
      return of
    end
    local pipe = written(one_file, options { container = "pipe" })
    container("file" .. what, written(one_file, options {}))
    container("file in pipe mode" .. what, pipe)
    container("stream" .. what, pipe, { seekable = false })
    container("directory" .. what, written(directory, options {}))
    container("file of two pieces" .. what, function(recording)
      return { pieces(recording, options {}, options { container = "pipe" }) }
    end)
    -- attrs end with bp_len here, and old readers knew no compression
    if not kind then
      container("PERFFILE file" .. what, written(one_file, options { version = 1 }),
        { old = true })
      container("PERFFILE stream" .. what,
        written(one_file, options { version = 1, container = "pipe" }),
        { old = true, seekable = false })
    end
  end
end
container(
  "file of two pieces, plain and compressed, of either byte order, the later one "
    .. "first", function(recording)
  local a, b = pieces(recording, { endian = "big" }, { compressed = "compressed2" })
  return { b, a }
end)

--- Arrays of {name, write, seekable, old}: write(recording) gives a path, or paths to be opened
--- together; what is not seekable is to be opened through containers.through; an old one has
--- attrs of 64 bytes.
containers.list = list

---Returns the path to open for one pass over what a container wrote.
function containers.through(c, path)
  return c.seekable and path or containers.stream(path)
end

return containers
