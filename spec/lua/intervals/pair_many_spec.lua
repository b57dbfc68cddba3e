-- Spans of many records: what is held of them, and that core and Lua say the same.
local perflua = require "perflua"
local needs = require "spec.support.needs"
local run = require "spec.cli.run"
local interpret = require("spec.support.model").interpret
local spanned = require "spec.support.spanned"

describe("pair() of many records", function()
  it("gives the same in the core and in Lua, of many keys, texts, and lost records", function()
    local b, events = spanned.builder()
    local state, open = 99, 0
    local function random(n)
      state = state * 6364136223846793005 + 1442695040888963407
      return (state >> 33) % n
    end
    for i = 1, 20000 do
      local tid, kind = random(700), random(100)
      if kind < 2 then
        spanned.add(b, events, { { "comm", tid, i * 10, ("n"):rep(random(14)) .. tid % 5 } })
      elseif kind < 3 and i % 17 == 0 then
        spanned.add(b, events, { { "lost", random(4), i * 10 } })
      else
        open = kind < 55 and open + 1 or open
        spanned.add(b, events, { { kind < 55 and "open" or "close", tid, i * 10, random(3),
          random(4) } })
      end
    end
    local file <close> = assert(perflua.open(b:write()))
    for _, key in ipairs { "tid", { "addr", "cpu" }, { "comm", "tid" }, { "cpu", "comm" },
        "tid / 2" } do
      local answers, counts = {}, {}
      for i, interpreted in ipairs { false, true } do
        local query = file:samples()
        interpret(query, interpreted)
        local spans = query:pair { open = "open", close = "close", key = key }
        answers[i] = spans:select("start", "duration", "comm", "close.comm", "open.event.name",
          "close.addr"):collect()
        counts[i] = spans.counts
      end
      assert.same(answers[2], answers[1])
      assert.same(counts[2], counts[1])
      assert.is_true(#answers[1] > 100 and counts[1].lost > 0)
      assert.equal(open, counts[1].pairs + counts[1].unclosed + counts[1].lost
        + counts[1].restarted)
    end
  end)

  it("keeps values of open spans where later ones are larger", function()
    local rows, addrs = {}, { 1, 5, 0xffffffff, 3, 1 << 32, 7, -1, 9, 1 << 63, 2 }
    for i, addr in ipairs(addrs) do
      rows[i] = { "open", i, i > 5 and 1 << 40 | i or i, addr }
    end
    for i in ipairs(addrs) do rows[#rows + 1] = { "close", i, (1 << 41) + i } end
    local answers = {}
    for i, key in ipairs { "tid", "(tid - 4) * 2000000000" } do
      local spans, file = spanned.pair(rows, { open = "open", close = "close", key = key })
      answers[i] = spans:select("tid", "start", "addr", "key"):collect()
      file:close()
    end
    for i, addr in ipairs(addrs) do
      local start = i > 5 and 1 << 40 | i or i
      assert.same({ i, start, addr, i }, answers[1][i])
      assert.same({ i, start, addr, (i - 4) * 2000000000 }, answers[2][i])
    end
  end)

  it("keeps long texts of open spans", function()
    local b, events = spanned.builder()
    for i = 1, 40 do
      local path = ("/%d"):format(i % 7):rep(60)
      local map = { pid = i, tid = i, addr = i << 20, len = 4096, filename = path }
      b:record("mmap2", map, { pid = i, tid = i, time = i })
      b:record("comm", { pid = i, tid = i, comm = "x" .. i },
        { pid = i, tid = i, time = 100 + i })
    end
    spanned.add(b, events, { { "tick", 1, 1000 } })
    local file <close> = assert(perflua.open(b:write()))
    local spans = file:records():pair { open = { type = "mmap2" }, close = { type = "comm" } }
    local list = spans:select("filename", "duration", "close.comm"):collect()
    assert.equal(40, #list)
    for i, one in ipairs(list) do
      assert.same({ ("/%d"):format(i % 7):rep(60), 100, "x" .. i }, one)
    end
    local by_name = file:records():pair { open = { type = "mmap2" }, close = { type = "mmap2" },
      key = "filename" }
    assert.equal(33, by_name:count())
    assert.equal(7, #by_name:group_by("key"):count():top(99))
  end)

  it("takes keys as long as records can be", function()
    local b, events = spanned.builder()
    local function path_of(i) return ("/%d"):format(i):rep(30000) end
    for i = 1, 4 do
      local map = { pid = 7, tid = 7, addr = i << 20, len = 4096, filename = path_of(i) }
      for round = 0, 1 do
        b:record("mmap2", map, { pid = 7, tid = 7, time = 10 * i + round })
      end
    end
    spanned.add(b, events, { { "tick", 1, 1000 } })
    local file <close> = assert(perflua.open(b:write()))
    local spans = file:records():pair { open = { type = "mmap2" }, close = { type = "mmap2" },
      key = "filename", unfinished = true }
    local list = spans:select("key", "duration", "so_far"):collect()
    assert.equal(8, #list)
    for i = 1, 4 do
      assert.same({ path_of(i), 1, false }, list[i])
      assert.same({ path_of(i), false, 1000 - 10 * i - 1 }, list[4 + i])
    end
  end)

  needs.it("no sanitizer", "holds little of each span that is open", function()
    local n, rows = 200000, {}
    for i = 1, n do rows[i] = { "open", i, i } end
    local path = spanned.write(rows)
    -- the least of three runs: the kernel may give a run huge pages that it hardly uses
    local function peak_of(query)
      local least = math.huge
      for _ = 1, 3 do
        local got = run.perflua { "-e", ([[print(%s) print(require "spec.support.peak"())]])
          :format(query), path }
        assert.equal("", got.err)
        local count, peak = got.out:match "^(%d+)\n(%d+)\n$"
        assert.equal(n, tonumber(count))
        least = math.min(least, tonumber(peak))
      end
      return least
    end
    local base = peak_of "file:samples { order = 'time' }:count()"
    local function bytes_of(options)
      return (peak_of(([[(function()
        local spans = file:samples():pair { %s, close = "close" }
        spans:count()
        return spans.counts.unclosed
      end)()]]):format(options)) - base) * 1024 / n
    end
    local plain, with_states = bytes_of [[open = "open"]],
      bytes_of [[open = { event = "open", state = "a" }, change = { event = "tick", state = "b" }]]
    assert.is_true(plain < 62 and with_states < 112,
      ("%.0f bytes for each span, %.0f with states"):format(plain, with_states))
  end)
end)
