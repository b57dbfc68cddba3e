-- perflua io: times of requests are those of perf script's text, and what it makes of requests
-- that do not fit.
local dkjson = require "dkjson"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local run = require "spec.cli.run"
local switch_text = require "spec.support.switch_text"
local tool_rows = require "spec.support.tool_rows"
local tracing = require "spec.support.builder_tracing"

local workload = switch_text.never_idle [[
  f=$(mktemp ./io.XXXXXX)
  for i in 1 2; do
    dd if=/dev/zero of=$f bs=16k count=64 oflag=direct 2>&1; dd if=$f of=/dev/null bs=32k iflag=direct 2>&1
  done
  sync $f; rm $f]]

local NEEDS = "tracepoints,cpus,block requests"
local path = not needs.missing(NEEDS) and oracle.record_whole(2048,
  "-a -e 'block:block_rq_*'", workload)

-- "device flags" → { requests, bytes, total, max, queued, total and max in the queue }, in ns,
-- of perf's text.
local function of_perf()
  local rows, queue, given, waited = {}, {}, {}, {} -- waited: until they were given back
  for line in files.lines("perf script --ns -F time,event,trace -i " .. files.quote(path)
      .. " 2>/dev/null") do
    local s, ns, event, device, flags, rest =
      line:match "^%s*(%d+)%.(%d+):%s+block:block_rq_(%a+): (%d+,%d+) (%u+) (.*)$"
    if s then
      local time, sector, sectors = tonumber(s .. ns), rest:match "%(.-%) (%d+) %+ (%d+)"
      local key = device .. (sectors == "0" and "-" or sector)
      local one = given[key]
      if event == "insert" then
        queue[key] = time
      elseif event == "merge" then
        queue[key] = nil
      elseif event == "issue" then
        local last = queue[key] and time - queue[key]
        given[key] = { time = time, flags = flags, bytes = tonumber(rest:match "^%d+"),
          left = tonumber(sectors),
          queued = (last or waited[key]) and (last or 0) + (waited[key] or 0) }
        queue[key], waited[key] = nil, nil
      elseif event == "requeue" then
        given[key], waited[key] = nil, one and one.queued
      elseif event == "complete" and one and tonumber(sectors) < one.left then -- its first part
        one.left, given[key] = one.left - sectors, nil
        given[device .. math.tointeger(sector + sectors)] = one
      elseif event == "complete" and one then
        local name = device:gsub(",", ":") .. " " .. one.flags
        local row = rows[name] or { 0, 0, 0, 0, 0, 0, 0 }
        local took, queued = time - one.time, one.queued
        rows[name] = { row[1] + 1, row[2] + one.bytes, row[3] + took, math.max(row[4], took),
          row[5] + (queued and 1 or 0), row[6] + (queued or 0), math.max(row[7], queued or 0) }
        given[key] = nil
      end
    end
  end
  return rows
end

local function ns(value, factor) return math.floor((tonumber(value) or 0) * factor + 0.5) end

needs.describe(NEEDS, "perflua io, of a recording made now", function()
  local perf = path and of_perf()

  it("has the requests of each device and kind in perf script's text, their bytes and "
    .. "times", function()
    local got, n = {}, 0
    for row in tool_rows(run.perflua({ "io", "--csv", "--by", "device,flags", path }).out) do
      n = n + row.requests
      got[row.device .. " " .. row.flags] = { row.requests, row.bytes, ns(row.total_ms, 1e6),
        ns(row.max_us, 1e3),
        row.queued, ns(row.queue_avg_us, 1e3 * row.queued), ns(row.queue_max_us, 1e3) }
    end
    assert.is_true(n >= 100)
    assert.are.same(perf, got)
  end)

  it("has all of them in its histogram", function()
    local rows = dkjson.decode(run.perflua({ "io", "--json", "--hist", path }).out).rows
    for _, row in ipairs(rows) do
      local n = 0
      for _, bucket in ipairs(row.hist) do n = n + bucket.count end
      assert.are.equal(row.requests, n)
    end
  end)
end)

-- A recording of { event, time, dev, sector, sectors, more arguments }, or { "lost", time }.
local function built(list, options)
  options = options or {}
  local t = tracing.new { endian = options.endian }
  local dev, where = { "dev_t", "dev" }, { "sector_t", "sector" }
  local size = { "unsigned int", "nr_sector" }
  local rwbs, comm = { "char", "rwbs", count = 10 }, { "char", "comm", count = 16 }
  local made, names = {}, options.events or { "insert", "issue", "complete", "requeue",
    "merge" }
  for i, name in ipairs(names) do
    local fields = { dev, where, size, { "unsigned int", "bytes" }, rwbs, comm }
    if name == "complete" then
      fields = { dev, where, size, { "int", options.error or "error" }, rwbs }
    end
    made[name], names[name] = t:event("block", "block_rq_" .. name, { fields = fields }), i
  end
  local b, events = t:recording()
  for _, one in ipairs(list) do
    local name, time, device, sector, sectors, more = table.unpack(one)
    local values = setmetatable(more or {},
      { __index = { dev = device, sector = sector, nr_sector = sectors,
      bytes = sectors and sectors * 512, rwbs = "WS", comm = "dd" } })
    if name == "lost" then
      b:record("lost", { id = 101, lost = 2 }, { time = time, id = 101 })
    else
      local raw = t:raw(made[name], values)
      b:sample(events[names[name]], { time = time, pid = 7, tid = 7, period = 1,
        raw = more and more.raw or raw })
    end
  end
  return b:write()
end

local function rows_of(list, options)
  local got = run.perflua { "io", "--json", "--by", options and options.by
    or "device,operation", built(list, options) }
  assert.are.equal("", got.err)
  return dkjson.decode(got.out)
end

local SDB <const>, NVME <const> = 8 << 20 | 16, 259 << 20 | 300000

describe("perflua io", function()
  it("is a row for each device and operation", function()
    local list = {
      { "insert", 1000, SDB, 64, 8 }, { "issue", 3000, SDB, 64, 8 },
      { "issue", 4000, NVME, 64, 16, { rwbs = "RA" } },
      { "complete", 9000, NVME, 64, 16 }, { "complete", 10000, SDB, 64, 8 },
      { "issue", 11000, SDB, 0, 8 },
      { "complete", 12000, SDB, 0, 8, { error = -5 } },
    }
    local expected = [[
device      operation  requests  errors  bytes  total_ms  avg_us  max_us  queued  queue_avg_us  queue_max_us
8:16        write             2       1   8192     0.008    4.00    7.00       1          2.00          2.00
259:300000  read              1       0   8192     0.005    5.00    5.00       0             -             -
]]
    assert.are.equal(expected, run.perflua({ "io", built(list) }).out)
    assert.are.equal(expected, run.perflua({ "io", built(list, { endian = "big" }) }).out)
    list[#list][6] = { errors = -5 }
    assert.are.equal(expected, run.perflua({ "io", built(list, { error = "errors" }) }).out)
  end)

  it("counts a request that completes in parts once, until its last part", function()
    local got = rows_of { { "issue", 1000, SDB, 64, 24 }, { "complete", 2000, SDB, 64, 8 },
      { "complete", 3000, SDB, 72, 8, { error = -5 } }, { "complete", 6000, SDB, 80, 8 } }
    assert.are.equal(1, #got.rows)
    assert.are.same({ 1, 1, 24 * 512, 5, 0 },
      { got.rows[1].requests, got.rows[1].errors, got.rows[1].bytes,
      got.rows[1].max_us, got.unopened })
  end)

  it("knows requests of one position that are queued and at the device", function()
    local got = rows_of { { "insert", 1000, SDB, 64, 8 }, { "issue", 2000, SDB, 64, 8 },
      { "insert", 3000, SDB, 64, 8 }, { "complete", 4000, SDB, 64, 8 },
      { "issue", 5000, SDB, 64, 8 }, { "complete", 6000, SDB, 64, 8 } }
    assert.are.same({ 2, 2, 2, 0 }, { got.rows[1].requests, got.rows[1].queued,
      got.rows[1].queue_max_us, got.restarted })
  end)

  it("begins anew with a request that was given back, and leaves a merged one out of the "
    .. "queue", function()
    local got = rows_of { { "insert", 1000, SDB, 64, 8 }, { "insert", 1500, SDB, 72, 8 },
      { "merge", 1600, SDB, 72, 8 },
      { "issue", 2000, SDB, 64, 16 }, { "requeue", 3000, SDB, 64, 16 },
      { "issue", 5000, SDB, 64, 16 },
      { "complete", 6000, SDB, 64, 16 }, { "issue", 7000, SDB, 72, 8 },
      { "complete", 8000, SDB, 72, 8 } }
    -- the first waited from 1000 to 2000 before it was given to the device
    assert.are.same({ 2, 1, 1, 1, 0, 0 }, { got.rows[1].requests, got.rows[1].max_us,
      got.rows[1].queued, got.rows[1].queue_max_us, got.unclosed, got.restarted })
  end)

  it("reads recordings without events of requests that were given back or merged", function()
    local got = rows_of({ { "insert", 1000, SDB, 64, 8 }, { "issue", 2000, SDB, 64, 8 },
      { "complete", 4000, SDB, 64, 8 } }, { events = { "insert", "issue", "complete" } })
    assert.are.same({ 1, 2, 1 }, { got.rows[1].requests, got.rows[1].max_us,
      got.rows[1].queue_max_us })
  end)

  it("knows a flush, which is nowhere, and names operations and who asked", function()
    local none = -1
    local got = rows_of({ { "issue", 1000, SDB, 0, 0, { rwbs = "FF", comm = "kworker" } },
      { "complete", 2000, SDB, none, 0, { rwbs = "FF" } },
      { "insert", 2000, SDB, 8, 8, { comm = "a\27b" } },
      { "issue", 2500, SDB, 8, 8, { rwbs = "FWFS", comm = "kworker" } },
      { "complete", 3000, SDB, 8, 8 }, { "issue", 4000, SDB, 8, 8, { rwbs = "DE" } },
      { "complete", 5000, SDB, 8, 8 },
      { "issue", 6000, SDB, 8, 8, { rwbs = "?" } }, { "complete", 7000, SDB, 8, 8 } },
        { by = "operation,comm" })
    local names = {}
    for _, row in ipairs(got.rows) do names[row.operation .. " " .. row.comm] = row.requests end
    assert.are.same({ ["flush kworker"] = 1, ["write a\27b"] = 1, ["erase dd"] = 1,
      ["other dd"] = 1 }, names)
  end)

  it("says what it could not pair, what was lost, and what lacks a field", function()
    local got = rows_of { { "complete", 500, SDB, 8, 8 }, { "issue", 1000, SDB, 8, 8 },
      { "lost", 1500 },
      { "complete", 2000, SDB, 8, 8 }, { "issue", 3000, SDB, 8, 8 },
      { "issue", 3500, SDB, 8, 8 },
      { "complete", 4000, SDB, 8, 8 }, { "issue", 5000, SDB, 8, 8 },
      { "issue", 6000, SDB, 8, 8, { raw = "\0\0\0\0" } } }
    assert.are.same({ 1, 0.5 }, { got.rows[1].requests, got.rows[1].max_us })
    assert.are.same({ 2, 1, 1, 1, 1 },
      { got.unopened, got.restarted, got.lost, got.unclosed, got.unkeyed })
    local text = run.perflua { "io", built { { "complete", 500, SDB, 8, 8 } } }
    assert.matches("^# 0 requests; not counted: 1 end without a start\n", text.out)
  end)

  it("prints its query as a script, which gives the same rows", function()
    local file = built { { "insert", 1000, SDB, 64, 24 }, { "issue", 2000, SDB, 64, 24 },
      { "complete", 3000, SDB, 64, 8, { error = -5 } }, { "complete", 6000, SDB, 72, 16 } }
    local got, shown = run.perflua { "io", "--explain", "--comm", "dd", file }, nil
    assert(load(got.out, "=script", "t", setmetatable({ arg = { file },
      print = function(made) shown = made end }, { __index = _G })))()
    local row = shown:rows()()
    assert.are.same({ 1, 4000, 1, 12288, 1000 }, { row.count, row.took, row.errors, row.bytes,
      row.waited })
  end)

  it("says what it needs, and what is wrong with its options", function()
    local got = run.perflua { "io", run.demo }
    assert.are.equal(1, got.status)
    assert.matches("record it with: perf record -a -e 'block:block_rq_*' -- COMMAND", got.err,
      1, true)
    got = run.perflua { "io", "--by", "disk", built {} }
    assert.are.equal(2, got.status)
    assert.matches("--by: device, operation, flags, comm expected, got 'disk'", got.err, 1,
      true)
  end)
end)
