-- Does one of the things that scripts do with a recording, for script.c, with its own errors
-- told from ours.
local core = require "perflua.core"
local perflua = require "perflua"

local check_message = dofile "spec/fuzz/internal.lua"
local root = dofile "spec/fuzz/root.lua"
local script_fields = require "perflua.script.fields"

local DEEP = 16 -- records that are read wholly, of each kind of pass

-- All that can be read of a value but its events, which are read once.
local function read(value, depth)
  depth = depth or 0
  local kind = type(value)
  if depth > 4 or kind ~= "table" and (kind ~= "userdata" or pairs(value) == next) then
    return
  end
  for key, v in pairs(value) do
    if key ~= "event" then read(v, depth + 1) end
  end
end

-- Calls fn; an error must be one for people.
local function try(fn, ...)
  local results = table.pack(pcall(fn, ...))
  if not results[1] then check_message(results[2], "") end
  return table.unpack(results, 2, results.n)
end

local function read_records(file, options)
  local n, kept = 0, {}
  for r in file:records(options):each() do
    n = n + 1
    if n <= DEEP then
      read(r)
      tostring(r)
      kept[n] = options.reuse and r:copy() or r
    end
  end
  for _, r in ipairs(kept) do
    read(r)
    assert(#r:bytes() == r.size)
  end
  return n
end

local function run(file)
  local n = 0
  local function count() n = n + 1 end
  file:run { sample = { "time", "pid", count }, comm = count, other = count,
    compressed = count }
  return n
end

local function queries(file)
  local samples = file:samples()
  local n = 0
  for _ in samples:select("time", "ip", "event", "callchain"):each() do n = n + 1 end
  assert(n == samples:count(), "select and count")
  try(function()
    tostring(samples:group_by("pid", "event"):count():sum("period"):hist("period"):top(5))
  end)
  try(function()
    tostring(samples:group_by { f = function(s) return s.cpu end }:quantile("period", 0.5))
  end)
  try(function() samples:where("period > 2 and time ~= nil"):between("10%", "60%"):first() end)
  try(function() samples:distinct "ip" end)
end

-- Every record as a line, and loops without a closing value.
local function dump(file)
  local out <close> = assert(io.open("/dev/null", "w"))
  for _, json in ipairs { false, true } do
    core.dump(file, out, { json = json, order = "time", container = true })
  end
  local query, n = file:records(), 0
  for _ in query do
    n = n + 1
    if n == DEEP then break end
  end
  local again = query()
  assert(not again or n > 0 and again.size >= 8)
end

local of_record = {
  "comm", "cgroup_path", "symbol", "symoff", "dso", "srcline", "map", "symbol_daddr",
  "dso_daddr", "stack",
  "machine_pid", "vcpu", "inlined",
}
local of_frame = { "ip", "cpumode", "symbol", "symoff", "dso", "srcline", "inlined" }
local of_branch = { "symbol_from", "symbol_to", "dso_from", "dso_to" }

-- Names that values of a kind have not are tried once: to find the closest that there are takes
-- its time.
local function read_names(value, names, absent)
  for _, name in ipairs(names) do
    if not absent[name] then
      local known = pcall(function() return value[name] end)
      try(function() read(value[name]) end)
      absent[name] = not known
    end
  end
end

-- Reads everything that the recorded system knows of a record: of its address, call chain,
-- branches.
local function resolve_record(file, r, absent)
  local kind = ("%s %s"):format(r.type_id, r.event and r.event.index)
  absent[kind] = absent[kind] or {}
  read_names(r, of_record, absent[kind])
  for _, frame in ipairs(r.callchain or {}) do read_names(frame, of_frame, {}) end
  for _, branch in ipairs(r.branch_stack or {}) do read_names(branch, of_branch, {}) end
  if math.type(r.ip) == "integer" and math.type(r.pid) == "integer" then
    try(function() read(file:resolve(r.pid, r.ip, r.time)) end)
    try(function() read(file:resolve(r.pid, r.ip)) end)
  end
end

local function resolve(file)
  local n, absent = 0, {}
  for r in file:records():each() do
    n = n + 1
    if n <= DEEP then resolve_record(file, r, absent) end
  end
  for i, thread in ipairs(file:threads()) do
    if i > DEEP then break end
    local last
    for _, map in ipairs(thread.maps()) do
      assert(not last or math.ult(last, map.start) or last == map.start,
        "maps lie over each other")
      last = map.start + map.len
    end
  end
  for _, binary in ipairs(file:missing()) do
    assert(type(binary.filename) == "string" and type(binary.reason) == "string"
      and #binary.tried >= 0)
  end
end

-- Lines as perf script has them, of every field.
local function lines(file)
  local out <close> = assert(io.open("/dev/null", "w"))
  for _, unwound in ipairs { false, true } do
    local classes = {}
    for class, one in pairs(assert(script_fields.parse())) do
      classes[class] = { fields = one.fields, chosen = false }
      if unwound then
        classes[class].fields = {}
        for i, field in ipairs(script_fields.all()) do classes[class].fields[i] = field.name end
      end
    end
    core.script(file, out, {
      classes = classes, order = "time", types = { [9] = true }, callchains = true,
      inlined = unwound,
    })
  end
end

-- Asks about the file as a whole.
local function describe(file)
  read(file.features)
  read(file.damage)
  read(core.health(file))
  for i, thread in ipairs(file:threads()) do
    if i <= DEEP then
      local again = file:thread(thread.tid, thread.start)
      assert(again and again.tid == thread.tid, "a thread is not found again")
    end
  end
  for _, event in ipairs(file.events) do
    read(event.ids)
    for _ in pairs(event) do end
    assert(event.leader and #event.members >= 0)
  end
end

-- Every pass over a recording has the same records.
local function passes(file)
  local known = #file.events
  local n = try(read_records, file, { order = "file" })
  local ordered = try(read_records, file, { order = "time", reuse = true })
  local counted = try(function() return file:records({ order = "file" }):count() end)
  -- what events there are decides what is damage
  assert(known ~= #file.events or n == ordered and n == counted,
    "not each pass has the same records")
end

local function containers(file) read_records(file, { order = "file", container = true }) end

-- The first byte of an input chooses: one thing at a time makes ten times as many inputs, and a
-- finding says which it is.
local things = { passes, containers, run, queries, dump, describe, resolve, lines }

collectgarbage "generational"

---@param input string a byte, a path
return function(input)
  local file, message, code = perflua.open(input:sub(2), root)
  if not file then
    assert(type(message) == "string" and type(code) == "string")
    return
  end
  try(things[input:byte() % #things + 1], file)
  file:close()
end
