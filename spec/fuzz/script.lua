-- What script.c does with a recording: all that a script can, with its own errors told from ours.
local perflua = require "perflua"

local check_message = dofile "spec/fuzz/internal.lua"

local DEEP = 60 -- records that are read wholly, of each kind of pass

-- All that can be read of a value but its events, which are read once.
local function read(value, depth)
  depth = depth or 0
  local kind = type(value)
  if depth > 4 or kind ~= "table" and (kind ~= "userdata" or pairs(value) == next) then return end
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
  file:run { sample = { "time", "pid", count }, comm = count, other = count, compressed = count }
  return n
end

local function queries(file)
  local samples = file:samples()
  local n = 0
  for _ in samples:select("time", "ip", "event", "callchain"):each() do n = n + 1 end
  assert(n == samples:count(), "select and count")
  try(function() tostring(samples:group_by("pid", "event"):count():sum("period"):hist("period"):top(5)) end)
  try(function() tostring(samples:group_by { f = function(s) return s.cpu end }:quantile("period", 0.5)) end)
  try(function() samples:where("period > 2 and time ~= nil"):between("10%", "60%"):first() end)
  try(function() samples:distinct "ip" end)
end

-- Every record as a line, and loops without a closing value.
local function dump(file)
  local out <close> = assert(io.open("/dev/null", "w"))
  for _, json in ipairs { false, true } do
    file:dump(out, { json = json, order = "time", container = true })
  end
  local query, n = file:records(), 0
  for _ in query do
    n = n + 1
    if n == DEEP then break end
  end
  local again = query()
  assert(not again or n > 0 and again.size >= 8)
end

-- What is asked of the file as a whole.
local function describe(file)
  read(file.features)
  read(file.damage)
  read(file:health())
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

---@param path string
return function(path)
  local file, message, code = perflua.open(path)
  if not file then
    assert(type(message) == "string" and type(code) == "string")
    return
  end
  local known = #file.events
  local n = try(read_records, file, { order = "file" })
  local ordered = try(read_records, file, { order = "time", reuse = true })
  local counted = try(function() return file:records({ order = "file" }):count() end)
  -- what events there are decides what is damage
  assert(known ~= #file.events or n == ordered and n == counted, "not each pass has the same records")
  try(read_records, file, { order = "file", container = true })
  try(run, file)
  try(queries, file)
  try(dump, file)
  try(describe, file)
  file:close()
  collectgarbage "step"
end
