-- pair() gives the same spans whatever a recording lies in, and of keys as long as a record.
local builder = require "spec.support.builder"
local containers = require "spec.support.containers"
local perflua = require "perflua"

-- Samples { event, tid, time, addr }, two or more for each processor and round.
local rounds = {
  { [0] = { { "open", 7, 100, 1 }, { "tick", 7, 130, 1 } }, [1] = { { "open", 8, 120, 2 } } },
  { [0] = { { "open", 9, 240, 1 }, { "close", 7, 260, 1 } },
    [1] = { { "tick", 8, 205, 2 }, { "close", 9, 270, 3 } } },
  { [0] = { { "open", 7, 300, 4 }, { "tick", 7, 310, 2 } },
    [1] = { { "close", 8, 330, 2 }, { "open", 8, 340, 5 } } },
  { [0] = { { "open", 7, 400, 6 }, { "close", 7, 460, 6 } }, [1] = { { "tick", 8, 420, 1 } } },
}

local names = { "open", "close", "tick" }

local function recording()
  local made = { events = {}, features = {}, head = {}, rounds = {} }
  local numbers = {}
  for i, name in ipairs(names) do
    numbers[name] = i
    made.events[i] = { name = name, type = 1, config = i, ids = { i }, sample_period = 1,
      sample_type = { "identifier", "ip", "tid", "time", "cpu", "addr" } }
  end
  for i, round in ipairs(rounds) do
    made.rounds[i] = {}
    for cpu, rows in pairs(round) do
      made.rounds[i][cpu] = {}
      for _, row in ipairs(rows) do
        table.insert(made.rounds[i][cpu], { "sample", numbers[row[1]], {
          identifier = numbers[row[1]], ip = 1, pid = row[2], tid = row[2], time = row[3],
          addr = row[4], cpu = cpu } })
      end
    end
  end
  return made
end

-- Options of pair(), each with the values of spans that are compared.
local asked = {
  { { open = "open", close = "close" }, "key", "start", "duration", "close.addr" },
  { { open = "open", close = { event = "close", where = "addr == open.addr" } }, "key",
    "start", "addr" },
  { { open = { event = "open", again = "keep" }, close = "close" }, "start", "duration" },
  { { open = "open", close = "close", unfinished = true }, "key", "start", "so_far" },
  { { open = { event = "open", state = "a" }, close = "close", slice = 50,
      change = { { event = "tick", where = "addr == 1", state = "b" },
        { event = "tick", where = "addr == 2", state = "c" } } },
    "start", "stop", "cut", "in_a", "in_b", "in_c" },
  { { open = "open", close = "close", window = { "@0.00000025", "@0.00000045" } }, "start",
    "duration", "cut" },
}

local function rows_of(file, one)
  local list = {}
  local spans = file:samples():pair(one[1])
  for a, b, c, d, e, f in spans:select(table.unpack(one, 2)):each() do
    list[#list + 1] = table.concat({ tostring(a), tostring(b), tostring(c), tostring(d),
      tostring(e), tostring(f) }, " ")
  end
  return list, spans.counts
end

describe("pair()", function()
  local reference = assert(perflua.open(containers.list[1].write(recording())))

  for _, c in ipairs(containers.list) do
    it("gives the same spans of a " .. c.name, function()
      local made = c.write(recording())
      for i, one in ipairs(asked) do
        local file <close> = assert(perflua.open(containers.through(c, made)))
        local expected, counts = rows_of(reference, one)
        local got, got_counts = rows_of(file, one)
        assert.is_true(#expected > 0)
        -- a span never crosses from one recording to another
        if type(made) ~= "table" then
          assert.same(expected, got, "number " .. i)
          assert.same(counts, got_counts, "number " .. i)
        else
          assert.is_true(#got <= #expected)
        end
      end
    end)
  end
end)

describe("keys of 60 000 bytes", function()
  local KEYS <const>, SIZE <const> = 40, 60000

  local function file_of(options)
    local b = builder.new(options)
    local event = b:event { name = "e", sample_type = { "tid", "time" } }
    b:sample(event, { pid = 7, tid = 7, time = 1 })
    for round = 1, 2 do
      for i = 1, KEYS do
        b:record("mmap2", { pid = 7, tid = 7, addr = 0x1000 * i, len = 1, pgoff = round,
          filename = ("n"):rep(SIZE) .. i }, { pid = 7, tid = 7, time = 100 * round + i })
      end
    end
    return assert(perflua.open(b:write()))
  end

  it("pair records that differ in the last byte", function()
    for _, container in ipairs { "file", "pipe" } do
      local file <close> = file_of { container = container }
      local spans = file:records { type = "mmap2" }:pair {
        open = { where = "pgoff == 1" }, close = { where = "pgoff == 2 and addr ~= 0x3000" },
        key = "filename", unfinished = true,
      }
      local n = 0
      for key, duration, addr in spans:select("key", "duration", "addr"):each() do
        n = n + 1
        assert.equal(("n"):rep(SIZE) .. addr // 0x1000, key)
        assert.equal(addr ~= 0x3000 and 100, duration)
      end
      assert.equal(KEYS, n)
      assert.same({ KEYS - 1, 1 }, { spans.counts.pairs, spans.counts.unfinished })
    end
  end)
end)
