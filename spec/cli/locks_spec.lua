-- Waits for locks are those of perf lock contention.
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"
local run = require "spec.cli.run"
local tool_rows = require "spec.support.tool_rows"

local EVENTS = "--call-graph=fp,8 -e lock:contention_begin,lock:contention_end"
local NEEDS = "lock:contention_begin"
local WAITS <const> = 100 -- at least, or there is little to compare

-- Records writers of one pipe, which wait for its mutex on every kernel; for longer where they
-- waited less often, as on a busy machine.
local function record_waits()
  for _, bytes in ipairs { 20, 80, 320 } do
    local path = oracle.record_whole(2048, EVENTS, ("sh -c 'perf bench futex hash -r 1 -t 8 "
      .. ">/dev/null 2>&1; perf bench sched messaging -g 4 -l 150 >/dev/null; { for i in 1 2 3 "
      .. "4; do head -c %d000000 /dev/zero & done; wait; } | cat >/dev/null'"):format(bytes))
    local file <close> = assert(perflua.open(path))
    if bytes == 320 or file:samples(NEEDS):count() > 12 * WAITS then return path end
  end
end

local path = not needs.missing(NEEDS) and record_waits()

local function locks(...)
  local got = run.perflua { "locks", ... }
  assert.are.equal(0, got.status, got.err)
  return got.out
end

local units = { ns = 1, us = 1e3, ms = 1e6, s = 1e9, m = 60e9 }

-- perf lock contention's rows: { count, total and max in ns, what follows }.
local function of_perf(options)
  local rows = {}
  for line in files.lines(("perf lock contention %s -i %s 2>&1"):format(options,
      files.quote(path))) do
    local count, total, unit, max, max_unit, rest =
      line:match "^%s*(%d+)%s+(%d+%.%d+) (%a+)%s+(%d+%.%d+) (%a+)%s+%d+%.%d+ %a+%s+(%S.-)%s*$"
    if count then
      rows[#rows + 1] = { count = tonumber(count), total = tonumber(total) * units[unit],
        max = tonumber(max) * units[max_unit], error = units[unit] / 100, text = rest }
    end
  end
  return rows
end

-- Both as { count, total, max } by a key; perf prints totals in two decimals of its unit.
local function compare(theirs, ours)
  for key, perf in pairs(theirs) do
    local own = assert(ours[key], key)
    assert.are.equal(perf.count, own.count, key)
    local said = ("%s: %s and %s, perf: %s and %s"):format(key, own.total, own.max, perf.total,
      perf.max)
    assert.is_true(math.abs(perf.total - own.total) <= perf.error, said)
    assert.is_true(math.abs(perf.max - own.max) <= perf.max / 100 + 10, said)
    ours[key] = nil
  end
  assert.is_nil(next(ours))
end

local function added(rows, key_of)
  local sums = {}
  for row in rows do
    local key = key_of(row)
    local sum = sums[key] or { count = 0, total = 0, max = 0, error = 0 }
    sums[key], sum.count, sum.total = sum, sum.count + row.count, sum.total + row.total
    sum.max, sum.error = math.max(sum.max, row.max), sum.error + (row.error or 0)
  end
  return sums
end

local function each(list)
  local i = 0
  return function()
    i = i + 1
    return list[i]
  end
end

local function in_ns(next_row)
  return function()
    local row = next_row()
    if row then row.total, row.max = row.total_ms * 1e6, row.max_us * 1e3 end
    return row
  end
end

needs.describe(NEEDS, "perflua locks, of a recording made now", function()
  -- perf leaves out three frames, whatever they are, before it looks for one outside of
  -- .sched.text and .spinlock.text; --stack-skip 0 has it look at all. It has a row for each
  -- call chain after that, which are added up here.
  it("has the waits of each caller and type that perf lock contention --stack-skip 0 "
    .. "has", function()
    local perf = of_perf "--stack-skip 0"
    local total = 0
    for _, row in ipairs(perf) do total = total + row.count end
    assert.is_true(total > WAITS, total .. " waits")
    compare(added(each(perf), function(row) return (row.text:gsub("%s+", " ")) end),
      added(in_ns(tool_rows(locks("--csv", path))), function(row)
        return row.type .. " " .. row.caller
      end))
  end)

  it("has those of each thread", function()
    compare(added(each(of_perf "-t"), function(row) return row.text:match "^%d+" end),
      added(in_ns(tool_rows(locks("--csv", "--by", "thread", path))), function(row)
        return ("%d"):format(row.tid)
      end))
  end)

  it("has those of each lock in perf script's text", function()
    local expected, begun, got = {}, {}, {}
    local command = "perf script --ns -G -F tid,time,event,trace -i " .. files.quote(path)
      .. " 2>/dev/null"
    for line in files.lines(command) do
      local tid, s, ns, event, lock =
        line:match "^%s*(%d+)%s+(%d+)%.(%d+):%s+lock:contention_(%a+): (0x%x+)"
      local time, key = math.tointeger(tonumber((s or 0) .. (ns or 0))), tid and tid .. lock
      if event == "begin" then begun[key] = begun[key] or time end
      if event == "end" and begun[key] then
        expected[lock], begun[key] = (expected[lock] or 0) + time - begun[key], nil
      end
    end
    for row in tool_rows(locks("--csv", "--by", "lock", path)) do
      got[row.lock] = (got[row.lock] or 0) + math.floor(row.total_ms * 1e6 + 0.5)
    end
    local named = {}
    for lock, sum in pairs(expected) do named[tonumber(lock)] = sum end
    assert.are.same(named, got)
  end)
end)
