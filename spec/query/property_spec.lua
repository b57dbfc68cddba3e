-- Random queries have one answer, whoever gives it: the core with one thread, with several, and
-- the interpreter, which asks record by record in Lua. QUERY_SEED=n begins with that seed
-- instead of 1, SWEEP=1 asks many more queries of all recordings.
local needs = require "spec.support.needs"
local perflua = require "perflua"
local args_recording = require "spec.support.args_recording"
local answers = require "spec.support.query_answers"
local corpus = require "spec.support.corpus"
local many_records = require "spec.support.many_records"
local queries = require "spec.support.queries"
local oracle = require "spec.support.oracle"
local query_fields = require "spec.support.query_fields"
local reading = require "spec.support.reading"

local SWEEP = os.getenv "SWEEP" == "1"
local SEED = math.tointeger(tonumber(os.getenv "QUERY_SEED")) or 1
local MORE = SWEEP and 50 or 2 -- times as many queries as are needed at least
local RECORDINGS = 3 -- of the corpus, in turn
local LARGEST = 3 << 20

local Asked = {}
Asked.__index = Asked

local function open(path, threads)
  local file = perflua.open(path, { jobs = threads, symfs = "spec/fixtures/empty" })
  return file and file.mode == "file" and file or nil
end

-- A recording, opened for each way to ask it; nil if it can have no queries.
local function asked(path, type, type_id)
  local one, many = open(path, 1), open(path, 4)
  if not one then return nil end
  local self = setmetatable({ path = path, one = one, many = many, type = type }, Asked)
  self.about = { fields = query_fields.of(one, self:records(one), type_id and { type_id }),
    events = {} }
  for i, event in ipairs(one.events) do self.about.events[i] = event.name end
  return #self.about.fields > 8 and self or nil
end

function Asked:records(file) return self.type and file:records(self.type) or file:samples() end

-- Asks a random query in all ways; whether it had an answer.
function Asked:check(seed)
  local steps = queries.steps(seed, self.about)
  local function fail(how, difference)
    error(("%s: the interpreter and the core with %s differ:\n  %s\n"
      .. "  QUERY_SEED=%d perflua.open(%q):%s%s"):format(
      self.path, how, difference, seed, self.path,
      self.type and ("records(%q)"):format(self.type) or "samples()",
      queries.spelled(steps)), 0)
  end
  local lua = answers.of(self:records(self.one), steps, true)
  local difference = answers.difference(lua, answers.of(self:records(self.one), steps))
  if difference then fail("one thread", difference) end
  difference = answers.difference(lua, answers.of(self:records(self.many), steps))
  if difference then fail("several", difference) end
  return lua.rows
end

local function check(path, least, type, type_id)
  local one = asked(path, type, type_id)
  if not one then return end
  local answered = 0
  for seed = SEED, SEED + MORE * least - 1 do
    if one:check(seed) then answered = answered + 1 end
  end
  assert.is_true(answered > 0, path .. ": no query of many had an answer")
end

local function size_of(path)
  local f <close> = assert(io.open(path, "rb"))
  return f:seek "end"
end

-- Those of the corpus whose turn it is.
local function chosen()
  local list, turn = {}, {}
  for _, recording in ipairs(corpus.recordings()) do
    local size = size_of(recording.path)
    if recording.mode == "file" and size > 4096 and size <= LARGEST then
      list[#list + 1] = recording
    end
  end
  if SWEEP then return list end
  for i = 1, math.min(RECORDINGS, #list) do
    turn[i] = list[(SEED * RECORDINGS + i) % #list + 1]
  end
  return turn
end

describe("a random query", function()
  for _, path in ipairs { "spec/fixtures/demo.perf.data", "spec/fixtures/words/perf.data" } do
    it("has one answer, of " .. path, function() check(path, 20) end)
  end

  it("has one answer of records that several threads share", function()
    local path = many_records.write()
    check(path, 20)
  end)

  it("has one answer of arguments of tracepoints", function()
    check(args_recording.of():write(), 20)
    check(args_recording.of({ endian = "big", long_size = 4 }):write(), 20)
  end)

  needs.it("tracepoints", "has one answer of tracepoints as the kernel has them", function()
    local events =
      "-e sched:sched_switch,sched:sched_wakeup,irq:softirq_entry -e 'raw_syscalls:*'"
    check(oracle.record(events, "ls / /usr"), 20)
  end)

  it("has one answer of records that are not samples", function()
    check("spec/fixtures/demo.perf.data", 20, "mmap2", 10)
    check("spec/fixtures/demo.perf.data", 20, "comm", 3)
  end)

  for _, recording in ipairs(chosen()) do
    needs.it("corpus", "has one answer, of " .. recording.name, function()
      reading.quietly(check, recording.path, 10)
    end)
  end
end)
