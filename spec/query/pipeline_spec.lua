-- Compressed records are decompressed once, by a thread of its own, and sideband records are
-- read on the way. No answer is another for that: they are compared with those of the
-- interpreter, which reads the system before.
local core = require "perflua.core"
local answers = require "spec.support.query_answers"
local compressed = require "spec.support.compressed"
local containers = require "spec.support.containers"
local files = require "spec.support.files"
local lively = require "spec.support.lively"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"
local interpret = require("spec.support.model").interpret
local queries = require "spec.support.queries"
local query_fields = require "spec.support.query_fields"
local shared = require "spec.support.shared"
local zstd = require "spec.support.builder_zstd"

local SEED = math.tointeger(tonumber(os.getenv "QUERY_SEED")) or 1

local kinds = {}
for _, c in ipairs(containers.list) do
  if c.name:find "^file of compressed" and c.name:find "little" then kinds[#kinds + 1] = c end
end

-- Questions that ask for what changes while it is recorded.
local questions = {
  { { "group_by", "comm" }, { "count" }, { "sum", "period" } },
  { { "where", "starts(comm, 'name')" }, { "group_by", "pid", "comm" }, { "first", "time" },
    { "last", "time" } },
  { { "group_by", "dso", "map.filename", "comm" }, { "count" }, { "distinct", "tid" } },
  { { "group_by", "bucket(ip, 4096)", "map.start" }, { "avg", "period" } },
  { { "where", "symbol == nil" }, { "group_by", "map.len", "dso" }, { "count" } },
  { { "group_by", "cpu" }, { "min", "offset" }, { "max", "chunk_offset" }, { "count" } },
}

local function open(path, threads)
  return assert(perflua.open(path, { jobs = threads, symfs = "spec/fixtures/empty" }))
end

-- The answer of a recording that nothing is known of yet.
local function answer(path, threads, steps, interpreted)
  local file <close> = open(path, threads)
  return answers.of(file:samples(), steps, interpreted), file.damage
end

-- Finds an answer to be the same in all ways.
local function agreed(path, steps)
  local expected, damage = answer(path, 1, steps, true)
  for _, threads in ipairs { 1, 2, 4 } do
    local got, harmed = answer(path, threads, steps)
    local difference = answers.difference(expected, got, true)
    if difference then
      error(("%s: %s: %d threads: %s"):format(path, queries.spelled(steps), threads,
        difference), 0)
    end
    assert.are.equal(#damage, #harmed)
  end
  return expected
end

local function all_agreed(path)
  for _, steps in ipairs(questions) do agreed(path, steps) end
end

local function random_agreed(path, n)
  local about
  do
    local file <close> = open(path, 1)
    about = { fields = query_fields.of(file, file:samples()), events = { file.events[1].name } }
  end
  for seed = SEED, SEED + n - 1 do agreed(path, queries.steps(seed, about)) end
end

-- Three samples, the header of a record of this size, as simpleperf writes them, and n payloads
-- of 64 KB of samples, of 32 bytes each.
local function claiming(size, n)
  local b, payload = compressed.start(), zstd.frame()
  local function samples(from, to)
    return b:apart(function()
      for i = from, to do
        b:sample(b.events[1], { ip = 4096 * i, pid = i % 5, tid = i % 5, time = i })
      end
    end)
  end
  b:feature("compressed", { version = 1, type = 1, level = 1, ratio = 3, mmap_len = 4096 })
  b:feature(129, "") -- simpleperf's
  local header = b:apart(function() b:raw(0x8000, size >> 16, "", size & 0xffff) end)
  b:record("compressed2", { data = payload(samples(1, 3) .. header) })
  for i = 1, n do
    b:record("compressed2", { data = payload(samples(2000 * i, 2000 * i + 1999)) })
  end
  return b:write()
end

describe("a compressed recording", function()
  local recording = lively.recording(SEED, 9000, {})

  it("has the answers of the plain one", function()
    local plain = containers.list[1].write(recording)
    for _, kind in ipairs(kinds) do
      local path = kind.write(recording)
      for i = 1, 5 do
        local expected = answer(plain, 2, questions[i])
        assert.is_true(#expected.rows > 1 or i == 5)
        assert.is_nil(answers.difference(expected, answer(path, 2, questions[i])))
      end
      all_agreed(path)
    end
  end)

  it("has one answer to random questions", function()
    random_agreed(kinds[1].write(recording), 25)
  end)

  it("is counted as it is read", function()
    local path = kinds[2].write(recording)
    assert.same(shared.answers(path, 1, true), shared.answers(path, 2))
    local file <close> = open(path, 2)
    local all = file:records { container = true, order = "file" }
    interpret(all, true)
    local by_type = {}
    for r in all do by_type[r.type_id] = (by_type[r.type_id] or 0) + 1 end
    local counts = {}
    for type, count in pairs(core.count(file).types) do counts[type] = count.count end
    assert.same(by_type, counts)
  end)

  it("keeps what it learned of the system while a question was answered", function()
    local path = kinds[1].write(recording)
    local one <close> = open(path, 2)
    local other <close> = open(path, 2)
    one:samples():group_by("comm"):count():top(1)
    local function threads(file)
      local list = {}
      for i, t in ipairs(file:threads()) do
        local maps = {}
        for k, map in ipairs(t:maps()) do maps[k] = { map.start, map.len, map.filename } end
        list[i] = { t.pid, t.tid, t.comm, t.start or 0, t.exit or 0, maps }
      end
      return list
    end
    assert.is_true(#threads(other) > 10)
    assert.same(threads(other), threads(one))
  end)

  it("has the same answers if its rounds do not hold", function()
    all_agreed(kinds[1].write(lively.recording(SEED, 9000, { late = 5 })))
    all_agreed(kinds[2].write(lively.recording(SEED + 1, 9000, { late = 100 })))
  end)

  it("has the same answers if it says what holds for all times", function()
    all_agreed(kinds[1].write(lively.recording(SEED, 9000, { of_all_times = true })))
  end)

  it("has the same answers for samples without a time", function()
    all_agreed(kinds[1].write(lively.recording(SEED, 9000, { untimed = 2 })))
  end)

  it("has the same answers, and ends, if it is damaged or cut", function()
    local bytes = files.read(kinds[1].write(recording))
    for place = 2, 9 do
      local at = #bytes * place // 10
      local damaged = bytes:sub(1, at) .. ("\xff"):rep(8) .. bytes:sub(at + 9)
      agreed(files.temporary(damaged), questions[1])
      agreed(files.temporary(damaged), questions[4])
      agreed(files.temporary(bytes:sub(1, at)), questions[3])
    end
  end)

  it("has the same answers, and ends, if it claims a record larger than a payload's can "
    .. "be", function()
    -- after so many samples it would end
    for _, n in ipairs { 0x7fffffe, 16384, 12000, 2048 } do
      local path = claiming(8 + 32 * n, 20)
      assert.are.equal(3, #agreed(path, { { "group_by", "ip" }, { "count" } }).rows)
      agreed(path, questions[1])
    end
  end)

  it("says how many threads share it", function()
    local path = kinds[1].write(recording)
    assert.are.equal(1, shared.threads_of(path, 1))
    assert.are.equal(2, shared.threads_of(path, 2))
    assert.are.equal(2, shared.threads_of(path, 4))
  end)

  needs.it("cpus,kernel", "made now has the same answers", function()
    local load =
      "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do ls / >/dev/null & cat /proc/self/maps "
        .. ">/dev/null & wait; done"
    local path = oracle.record("-z -g -a -e cpu-clock -F 9000", "sh -c " .. files.quote(load))
    all_agreed(path)
    random_agreed(path, 8)
  end)
end)
