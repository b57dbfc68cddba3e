-- Questions that the specs of shared queries ask of a recording, and recordings worth sharing.
local core = require "perflua.core"
local files = require "spec.support.files"
local perflua = require "perflua"
local interpret = require("spec.support.model").interpret

local shared = {}

local questions = {
  function(q) return q:group_by("type", "comm", "misc"):count():min("time"):max("time") end,
  function(q)
    return q:group_by("pid", "bucket(cpu, 2)"):sum("period"):avg("ip"):distinct("comm")
  end,
  function(q)
    return q:where "comm ~= 'nobody' and time > 100":group_by("comm", "event")
      :quantile("ip", 0.5)
  end,
  function(q) return q:group_by("cpu"):all_events():first("time"):last("ip"):avg("ip / 3") end,
}

local function rows(t)
  local list = {}
  for row in t:sort():rows() do list[#list + 1] = row end
  return list
end

---Returns what a recording (a path, or several) answers, by so many threads; or interpreted.
function shared.answers(path, threads, interpreted)
  warn "@off"
  local file <close> = assert(perflua.open(path, { jobs = threads }))
  local got = { rows = {}, counts = core.count(file) }
  for i, question in ipairs(questions) do
    local query = question(file:records())
    interpret(query, interpreted)
    got.rows[i] = rows(query)
  end
  got.damage, got.complete = file.damage, file.complete
  return got
end

--- One answer of one pass over what comes but once.
function shared.answer(path, number, threads)
  local file <close> = assert(perflua.open(path, { jobs = threads }))
  return rows(questions[number](file:records()))
end

shared.QUESTIONS = #questions

--- How many threads explain() says.
function shared.threads_of(path, threads)
  local file <close> = assert(perflua.open(path, { jobs = threads }))
  return tonumber(file:records():group_by("comm"):count():explain():match "workers%s+(%d+)")
end

--- A recording for containers.lua, of so many samples, with raw data of `raw(i)`.
function shared.recording(n, raw)
  local parts = { "identifier", "ip", "tid", "time", "cpu", "period" }
  local rounds, time = {}, 1000
  for i = 1, n do
    local round, cpu = (i - 1) // 100 + 1, i // 7 % 2
    local list = rounds[round] or { [0] = {}, {} }
    rounds[round] = list
    list = list[cpu]
    time = time + 10
    local pid = i // 13 % 9 + 1
    local values = { identifier = 10 + cpu, ip = i * 64, pid = pid, tid = pid, time = time,
      cpu = cpu, period = i % 5 }
    if i % 50 == 0 then
      list[#list + 1] = { "comm", { pid = pid, tid = pid, comm = "name " .. i // 50 % 7 },
        { identifier = 10 + cpu, pid = pid, tid = pid, time = time - 3, cpu = cpu } }
    end
    local event = i % 3 == 0 and 1 or 2
    if event == 2 then
      values.identifier, values.raw = 20 + cpu, raw and raw(i) or ("x"):rep(i % 40 * 16 + 4)
    end
    list[#list + 1] = { "sample", event, values }
  end
  return {
    events = {
      { name = "one", ids = { 10, 11 }, sample_type = parts },
      { name = "two", type = 1, ids = { 20, 21 },
        sample_type = { "raw", table.unpack(parts) } },
    },
    head = {
      { "event_update", { type = "unit", id = 10, unit = "bananas" } },
      { "comm", { pid = 7, tid = 7, comm = "first" } },
      { "mmap", { pid = 7, tid = 7, addr = 4096, len = 4096, filename = "/bin/sh" } },
    },
    rounds = rounds,
  }
end

--- The bytes of a file with some of them replaced, as another file.
function shared.with(path, at, bytes)
  local whole = files.read(path)
  return files.temporary(whole:sub(1, at) .. bytes .. whole:sub(at + #bytes + 1))
end

return shared
