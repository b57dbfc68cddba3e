-- perflua cut --every and --max-size: fewer samples, which stand for all.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local reading = require "spec.support.reading"
local rewritten = require "spec.support.rewritten"
local run = require "spec.cli.run"

local function sum_of_periods(file) return file:samples { expand = false }:sum "period" end

describe("samples that are thinned out", function()
  reading.either_order(describe, function(endian)
    local function recording(members, n)
      local b = builder.new { endian = endian, container = members.container }
      local event = b:event { name = "cycles", sample_type = members.type, ids = { 1 },
        sample_period = members.period, freq = members.freq }
      local rare = b:event { name = "rare", config = 7, sample_type = members.type, ids = { 2 },
        sample_period = 3 }
      for i = 1, n do
        b:sample(event, { id = 1, ip = i, time = i, period = 10 * i, pid = 7, tid = 7 })
      end
      b:sample(rare, { id = 2, ip = 1, time = n + 1, period = 5 })
      return assert(perflua.open(b:write()))
    end

    it("have the periods of those that are left out", function()
      local file <close> = recording({ type = { "id", "ip", "tid", "time", "period" } }, 10)
      local copy <close>, summary = rewritten.open(file:samples(), { every = 3 })
      local seen = {}
      for s in copy:samples() do
        seen[#seen + 1] = ("%s %d %d"):format(s.event.name, s.ip, s.period)
      end
      assert.are.same({ "cycles 2 60", "cycles 5 150", "cycles 8 240" }, seen)
      assert.are.equal(3, summary.every)
      assert.are.equal("| perflua cut --every 3", table.concat(copy.features.cmdline, " "))
      local same <close> = rewritten.open(file:samples(), { every = 1 })
      assert.are.equal(sum_of_periods(file), sum_of_periods(same))
    end)

    it("have those of the attr, if they carry none", function()
      for _, container in ipairs { "file", "pipe" } do
        local file <close> = recording({ type = { "id", "ip", "time" }, period = 1000,
          container = container }, 11)
        local copy <close> = rewritten.open(file:samples(), { every = 4 })
        assert.are.same({ 4000, 12 },
          { copy.events[1].sample_period, copy.events[2].sample_period })
        assert.are.equal(3, copy:samples():count())
        assert.are.equal(4000, copy.features.event_desc[1].attr
          and copy.features.event_desc[1].attr.sample_period
          or copy.features.event_desc[1].sample_period)
      end
    end)

    it("are an error if nothing says what they stand for", function()
      local file <close> = recording({ type = { "id", "ip", "time" }, period = 99,
        freq = true }, 3)
      warn "@off"
      local ok, message, code = file:samples():write(rewritten.path(), { every = 2 })
      assert.are.same({ nil, "FORMAT" }, { ok, code })
      assert.matches("nothing says what the samples of cycles stand for: they are of a "
        .. "frequency, and have no periods", message)
    end)

    it("count up to the same, if they have counter values", function()
      local b = builder.new { endian = endian }
      local event = b:event { name = "cycles", ids = { 1 },
        sample_type = { "identifier", "ip", "time", "read" }, read_format = { "id" } }
      for i = 1, 20 do
        b:sample(event, { identifier = 1, ip = 1, time = i, read = { value = i * i, id = 1 } })
      end
      local file <close> = assert(perflua.open(b:write()))
      local copy <close> = rewritten.open(file:samples(), { every = 4 })
      assert.are.equal(5, copy:samples():count())
      assert.are.equal(18 * 18, copy:samples():sum "period")
    end)
  end)

  it("are as many as a size has room for", function()
    local file <close> = assert(perflua.open(run.demo))
    for _, options in ipairs { {}, { compress = 1 }, { pipe = true } } do
      local _ <close>, whole = rewritten.open(file:samples { expand = false }, options)
      options.max_size = whole.bytes * 3 // 4
      local copy <close>, summary = rewritten.open(file:samples { expand = false }, options)
      assert.is_true(summary.bytes <= options.max_size and summary.every >= 2)
      local error_of_sum = sum_of_periods(copy) / sum_of_periods(file) - 1
      assert.is_true(math.abs(error_of_sum) < 0.2, error_of_sum)
    end
    local roomy <close>, of_all = rewritten.open(file:samples(), { max_size = 1 << 30 })
    assert.is_nil(of_all.every)
    assert.is_nil(roomy.features.cmdline[20])
  end)

  it("are an error if others alone take more", function()
    local path = rewritten.path()
    local got = run.perflua { "cut", "--max-size", "3k", run.demo, "-o", path }
    assert.are.equal(1, got.status)
    assert.matches("max_size: 3000 bytes are too few: the records that samples need take %d+",
      got.err)
    assert.is_false(files.exists(path))
    got = run.shell_with('"$perflua" cut --max-size 9k - -o "$2" <"$1"', run.demo, path)
    assert.are.equal(1, got.status)
    for words, said in pairs {
      ["--every 0"] = "'0' is not a number of samples", ["--every x"] = "'x' is not a number",
      ["--max-size 7x"] = "'7x' is not a size such as 800k, 20M or 1.5G",
      ["--max-size 0"] = "'0' is not a size",
    } do
      got = run.shell_with(('"$perflua" cut %s "$1" -o "$2"'):format(words), run.demo, path)
      assert.are.equal(2, got.status)
      assert.matches(said, got.err)
    end
  end)

  it("may be chosen before", function()
    local path = rewritten.path()
    local got = run.perflua { "cut", "--comm", "sort", "--every", "2", run.demo, "-o", path }
    assert.are.equal(0, got.status)
    assert.matches("1 of 2 samples of each event, with the period of all", got.out)
    local copy <close> = assert(perflua.open(path))
    local file <close> = assert(perflua.open(run.demo))
    local sort = file:samples { expand = false }:where "comm == 'sort'"
    assert.is_true(math.abs(copy:samples():count() - sort:count() / 2) <= 3)
  end)

  needs.it("perf", "are reported by perf as an estimate of the whole", function()
    local path = rewritten.path()
    local got = run.shell_with([[
      "$perflua" cut --every 3 "$1" -o "$2" >/dev/null || exit
      for file in "$1" "$2"; do
        perf report --stdio -i "$file" 2>/dev/null | awk '/Event count/ { print $NF; exit }'
      done]], run.demo, path)
    local whole, estimate = got.out:match "^(%d+)\n(%d+)\n$"
    assert.is_true(math.abs(estimate / whole - 1) < 0.02, got.out)
  end)
end)
