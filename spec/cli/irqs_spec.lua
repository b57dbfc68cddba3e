-- Times of interrupts and softirqs are those of perf kwork, and of perf's text.
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local run = require "spec.cli.run"
local tool_rows = require "spec.support.tool_rows"

local EVENTS = "-a -e 'irq:*' -e 'irq_vectors:local_timer_*' -e 'irq_vectors:reschedule_*'"
local NEEDS = "cpus,irq_vectors:local_timer_entry"
local path = not needs.missing(NEEDS) and oracle.record_whole(1024, EVENTS,
  "sh -c 'perf bench sched messaging -g 2 -l 80 >/dev/null 2>&1; "
  .. "dd if=/dev/zero of=" .. files.temporary()
  .. " bs=64k count=200 oflag=direct 2>/dev/null; sleep 0.1'")

local function rows_of(...)
  local got = run.perflua { "irqs", "--csv", ... }
  assert.are.equal(0, got.status, got.err)
  return tool_rows(got.out)
end

local function integer(text) return math.tointeger(tonumber(text)) end

-- Returns from perf script's text, by "type number cpu": { count, total } of handlers, { first,
-- last } of raises.
local function of_text()
  local sums, entered, raised = {}, {}, {}
  local command = "perf script --ns -F cpu,time,event,trace -i " .. files.quote(path)
    .. " 2>/dev/null"
  for line in files.lines(command) do
    local cpu, s, ns, event, text =
      line:match "^%s*%[(%d+)%]%s+(%d+)%.(%d+):%s+([%w_:]+):%s*(.*)$"
    local time = integer(s .. ns)
    local kind, does = event:match "^irq:(%a+)_.-(%a+)$"
    local vector = event:match "^irq_vectors:(.*)_e%a+$"
    local key = ("%s %s %d"):format(kind or "vector", vector or text:match "=(%d+)", cpu)
    does = does or event:match "_(%a+)$"
    local sum = sums[key] or { count = 0, total = 0, first = 0, last = 0, raises = 0,
      waited = 0 }
    sums[key] = sum
    if does == "raise" then
      local r = raised[key] or { first = time }
      raised[key], r.last = r, time
      sum.raises = sum.raises + 1
    elseif does == "entry" then
      entered[key] = time
      local r = raised[key]
      if r then
        sum.first, sum.last, raised[key] = sum.first + time - r.first, sum.last + time - r.last,
          nil
        sum.waited = sum.waited + 1
      end
    elseif entered[key] then
      sum.count, sum.total, entered[key] = sum.count + 1, sum.total + time - entered[key], nil
    end
  end
  return sums
end

-- perf kwork's rows, of softirqs and interrupts: by "type number cpu" { ms, count }.
local function of_kwork(command)
  local rows = {}
  for line in files.lines(("perf kwork %s -i %s 2>/dev/null"):format(command,
      files.quote(path))) do
    local name, number, cpu, ms, count =
      line:match "^%s+(%S.-):(%d+)%s+|%s+(%d+)%s+|%s+(%d+%.%d+) ms |%s+(%d+) |"
    if name then
      local kind = name:find "^%(s%)" and "softirq" or "irq"
      rows[("%s %s %d"):format(kind, number, cpu)] = { tonumber(ms), tonumber(count) }
    end
  end
  return rows
end

needs.describe(NEEDS, "perflua irqs, of a recording made now", function()
  local function key_of(row)
    return ("%s %s %d"):format(row.type, row.type == "vector" and row.name
      or ("%d"):format(row.number), row.cpu)
  end

  it("has the times in handlers, and until softirqs began, that perf script's text "
    .. "has", function()
    local expected, got, kinds = {}, {}, {}
    for key, sum in pairs(of_text()) do
      if sum.count > 0 then
        expected[key] = ("%d %d %d %d"):format(sum.count, sum.total, sum.waited, sum.first)
      end
    end
    for row in rows_of(path) do
      local waited = tonumber(row.delays) or 0
      local delay = waited > 0 and row.avg_delay_us * 1000 * waited or 0
      got[key_of(row)], kinds[row.type] = ("%d %.0f %d %.0f"):format(row.count,
        row.total_ms * 1e6, waited, delay), true
    end
    assert.is_true(kinds.softirq and kinds.vector)
    assert.are.same(expected, got)
  end)

  it("has the times in handlers that perf kwork report has", function()
    local theirs, compared = of_kwork "report -k softirq,irq", 0
    for row in rows_of(path) do
      local perf = theirs[key_of(row)]
      assert.is_true(perf ~= nil or row.type == "vector")
      if perf then
        compared = compared + 1
        assert.are.equal(perf[2], row.count)
        assert.is_true(math.abs(perf[1] - row.total_ms) <= 0.001)
      end
    end
    assert.is_true(compared >= 2)
  end)

  -- perf kwork takes the last of several raises for the start, and keeps the others for entries
  -- that have none; a softirq waits from the first.
  it("has the delays that perf kwork latency has, but for softirqs that were raised "
    .. "again", function()
    local compared = 0
    local theirs, text = of_kwork "latency -k softirq", of_text()
    for row in rows_of(path) do
      local perf, sum = theirs[key_of(row)], text[key_of(row)]
      if perf and perf[2] == row.delays then
        assert.is_true(math.abs(perf[1] - sum.last / sum.waited / 1e6) <= 0.001)
        if sum.first == sum.last then
          compared = compared + 1
          assert.is_true(math.abs(perf[1] - row.avg_delay_us / 1e3) <= 0.001)
        end
      end
    end
    assert.is_true(compared >= 1)
  end)

  it("adds up by vector, and by processor", function()
    local whole = {}
    for _, by in ipairs { "vector", "cpu", "vector,cpu" } do
      local count = 0
      for row in rows_of("--by", by, path) do count = count + row.count end
      whole[#whole + 1] = count
    end
    assert.are.same({ whole[1], whole[1], whole[1] }, whole)
  end)
end)
