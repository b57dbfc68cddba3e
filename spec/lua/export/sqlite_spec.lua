-- perflua.export(query, "sqlite"): a database whose answers are those of perflua report.
local builder = require "spec.support.builder"
local chains = require "spec.support.chains"
local core = require "perflua.core"
local exported = require "spec.support.exported"
local files = require "spec.support.files"
local mapped = require "spec.support.mapped"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local plan = require "perflua.plan"
local profiles = require "spec.support.profiles"
local run = require "spec.cli.run"

local WORDS <const> = "spec/fixtures/words"

-- Returns the lines that sqlite3 prints of a database.
local function ask(path, sql)
  local out, ok = files.output(("sqlite3 %s %s 2>&1"):format(files.quote(path),
    files.quote(sql)))
  assert(ok, out)
  return out
end

local function export(query)
  local out, written = exported.query(query, "sqlite")
  return out, assert(written)
end

-- Returns "NAME|period" of each row of a report, sorted.
local function report(column, ...)
  local got = run.perflua { "report", "--json", "--symfs", WORDS, "--sort", column, ...,
    WORDS .. "/perf.data" }
  local lines = {}
  for _, row in ipairs(profiles.json(got.out).events[1].rows) do
    lines[#lines + 1] = ("%s|%d\n"):format(row[column], row.children or row.period)
  end
  table.sort(lines)
  return table.concat(lines)
end

local function sorted(text)
  local lines = {}
  for line in text:gmatch "[^\n]+\n" do lines[#lines + 1] = line end
  table.sort(lines)
  return table.concat(lines)
end

needs.describe("sqlite3", "perflua.export to SQLite", function()
  it("answers five questions as perflua report does", function()
    local file <close> = assert(perflua.open(WORDS .. "/perf.data", { symfs = WORDS }))
    local path, written = export(file:samples())
    assert.same({ samples = 729, set_aside = 0 }, written)
    assert.equal("cpu-clock:u|nanoseconds|729|731193561\n", ask(path, "SELECT name, unit, "
      .. "count(*), sum(period) FROM samples JOIN events e ON e.id = event_id GROUP BY 1"))
    for _, column in ipairs { "comm", "binary", "symbol" } do
      assert.equal(report(column == "binary" and "dso" or column, "--no-children"),
        sorted(ask(path, ("SELECT %s, sum(period) FROM named_samples GROUP BY 1")
          :format(column == "binary"
            and "replace(binary, rtrim(binary, replace(binary, '/', '')), '')" or column))))
    end
    assert.equal(report("symbol", "--children"),
      sorted(ask(path, "SELECT symbol, period FROM functions")))
  end)

  it("has the samples added up, as the samples themselves say", function()
    local file <close> = assert(perflua.open(WORDS .. "/perf.data", { symfs = WORDS }))
    local path = export(file:samples():select("stack", "symoff"))
    local keys = "event_id, thread_id, symbol_id, stack_id"
    local sums = ask(path, ("SELECT %s, count(*), sum(period) FROM samples GROUP BY %s")
      :format(keys, keys))
    assert.equal(sums, ask(path, "SELECT * FROM profile ORDER BY " .. keys))
    assert.equal(ask(path, "SELECT stack, count(*) FROM samples GROUP BY 1"),
      ask(path, "SELECT stack, sum(samples) FROM folded GROUP BY 1"))
    assert.equal(file:samples():sum "symoff" .. "\n",
      ask(path, "SELECT sum(symoff) FROM samples"))
  end)

  it("keeps events, threads and callers apart, whatever their names are", function()
    local b = builder.new()
    local sample_type = { "ip", "tid", "time", "callchain", "period", "id" }
    local clock = b:event { name = "cpu-clock", type = 1, config = 0, ids = { 1 },
      sample_type = sample_type }
    local faults = b:event { name = "page-faults", type = 1, config = 2, ids = { 2 },
      sample_type = sample_type }
    mapped.add(b, { chains.kernel, "- map 7 1000-9000 /bin/<x>\xff'\"" })
    b:record("comm", { pid = 7, tid = 7, comm = "a'\"\xff\n" }, { time = 1 })
    local function sample(event, tid, period, ...)
      local chain = { ... }
      b:sample(event, { ip = chain[2], pid = tid, tid = tid, time = 10, period = period,
        misc = chain[1] == chains.KERNEL and 1 or 2, id = event == clock and 1 or 2,
        callchain = chain })
    end
    sample(clock, 7, 10, chains.KERNEL, chains.READ, chains.TWICE, chains.USER, 0x1010, 0x1020)
    sample(clock, 7, 11, chains.KERNEL, chains.READ, chains.TWICE, chains.TWICE)
    sample(clock, 8, 12, chains.USER, 0x1010)
    sample(clock, 8, (1 << 56) + 1, chains.USER, 0x1010)
    sample(faults, 7, 3, chains.KERNEL, chains.READ)
    local file <close> = assert(perflua.open(b:write(), chains.options()))
    local path, written = export(file:samples():select("period * 2", "comm", "id + 0"))
    assert.same({ samples = 4, set_aside = 1 }, written)
    assert.equal("cpu-clock|3|33\npage-faults|1|3\n",
      ask(path, "SELECT event, count(*), sum(period) FROM named_samples GROUP BY 1"))
    assert.equal("7|7|a'\"\u{fffd}\n\n8|8|:8\n",
      ask(path, "SELECT pid, tid, comm FROM threads"))
    assert.equal("[<x>\u{fffd}'\"];[<x>\u{fffd}'\"];twice;read|10\ntwice;twice;read|11\n"
      .. "[unknown]|12\nread|3\n",
      ask(path, "SELECT stack, period FROM folded ORDER BY event, period"))
    assert.equal("20|1\n22|1\n24|1\n6|2\n",
      ask(path, 'SELECT "period * 2", "id + 0" FROM samples'))
    assert.equal("read|kernel|21|21\ntwice|kernel|0|21\n", ask(path, "SELECT symbol, mode,"
      .. " self_period, period FROM functions WHERE symbol IN ('read', 'twice')"
      .. " AND event = 'cpu-clock' ORDER BY symbol"))
  end)

  it("has totals of functions that exceed 2^63 - 1 as floats", function()
    local b, sample = chains.recording { chains.kernel }
    for i = 1, 200 do
      sample((1 << 56) - 1, 7,
        { chains.KERNEL, chains.READ, i % 2 == 0 and chains.TWICE or nil })
    end
    local file <close> = assert(perflua.open(b:write(), chains.options()))
    local path = export(file:samples())
    assert.equal("read|1.44115188075856e+19|real\ntwice|7205759403792793500|integer\n",
      ask(path, "SELECT symbol, period, typeof(period) FROM functions ORDER BY symbol"))
  end)

  it("finds the sums of a function without a scan of those of others", function()
    local file <close> = assert(perflua.open(run.demo))
    local path, scans = export(file:samples()), {}
    for name in ask(path, "EXPLAIN QUERY PLAN SELECT * FROM functions")
        :gmatch "\n[|`]%-%-SCAN (%w+)" do
      scans[#scans + 1] = name
    end
    assert.same({ "k" }, scans)
  end)

  it("takes call chains that differ only in code without functions as one stack", function()
    local b, sample = chains.recording { chains.kernel, "- map 7 1000-9000 /bin/a" }
    sample(10, 7, { chains.USER, 0x1010, 0x1020, 0x20000 })
    sample(20, 7, { chains.USER, 0x1030, 0x1040, 0x30000 })
    sample(40, 7, { chains.USER, 0x1010, 0x20000 })
    sample(80, 7, { chains.KERNEL, chains.READ, chains.USER, 0x1010, 0x20000 })
    sample(160, 7, { chains.KERNEL, chains.READ + 8, chains.USER, 0x1020, 0x30000 })
    local file <close> = assert(perflua.open(b:write(), chains.options()))
    local path = export(file:samples():select "stack")
    assert.equal("1|[unknown];[a];[a]|30\n2|[unknown];[a]|40\n3|[unknown];[a];read|240\n",
      ask(path, "SELECT stack_id, stack, sum(period) FROM samples GROUP BY 1"))
    assert.equal("[unknown];[a]|40\n[unknown];[a];[a]|30\n[unknown];[a];read|240\n",
      ask(path, "SELECT stack, period FROM folded ORDER BY stack"))
    assert.equal("0x0000000000000010|50\n0x0000000000000030|20\nread|240\n", ask(path,
      "SELECT symbol, sum(period) FROM named_samples GROUP BY 1 ORDER BY 1"))
  end)

  it("has a row for each sample but those set aside, however many columns there are", function()
    local b, sample = chains.recording { chains.kernel }
    local times, n, sum = {}, 0, 0
    for i = 1, 200 do
      local period = i % 50 == 0 and (1 << 56) + i or i
      sample(period, 7, { chains.KERNEL, chains.READ })
      if period == i then n, sum, times[#times + 1] = n + 1, sum + i, i end
    end
    local file <close> = assert(perflua.open(b:write(), chains.options()))
    for _, width in ipairs { 0, 1, 7, 8, 40 } do
      local columns = {}
      for i = 1, width do columns[i] = ("time + %d"):format(i) end
      local path, written = export(width > 0 and file:samples():select(table.unpack(columns))
        or file:samples())
      assert.same({ samples = n, set_aside = 4 }, written)
      assert.equal(("%d|%d|%s\n"):format(n, sum, width > 0 and sum + n * width or ""),
        ask(path, ("SELECT count(*), sum(time), %s FROM samples"):format(width > 0
          and ('sum("time + %d")'):format(width) or "NULL")))
      assert.equal(("%d|%d\n"):format(n, sum), ask(path, "SELECT samples, period FROM profile"))
      assert.equal(table.concat(times, "\n") .. "\n",
        ask(path, "SELECT time FROM samples ORDER BY id"))
    end
  end)

  it("says what is wrong with a query and a path", function()
    local file <close> = assert(perflua.open(run.demo))
    local function fails(query, out, message)
      assert.has_error(function() perflua.export(query, "sqlite", out) end, message)
    end
    fails(file:samples(), io.stdout, "export: a database is a file: the path of one is needed")
    fails(file:samples():pair { open = "cpu-clock", close = "cpu-clock" }, "x",
      "export: a database takes samples, not spans or items; csv takes all")
    fails(file:samples():select "id", "x",
      "export: samples already has a column id; name it by an expression, id + 0")
    local got = run.perflua { "export", "--to", "sqlite", run.demo }
    assert.equal(2, got.status)
    assert.equal("perflua: export: a database is a file: -o FILE.db says where to write it\n",
      got.err)
    local done, message, code = perflua.export(file:samples(), "sqlite", "spec/fixtures")
    assert.same({ nil, "spec/fixtures: Is a directory", "EISDIR" }, { done, message, code })
  end)

  it("takes values for what they are, wherever the caller of the core says that they stand",
    function()
    local file <close> = assert(perflua.open(run.demo))
    local spec = core.query_spec(file:samples():select("time", "period"))
    local cursor <close> = plan.values(spec, spec.refs)
    local at = { chain = 2, event = 1, pid = 1, tid = 2, comm = 1, period = 2, time = 1 }
    local path = files.temporary()
    assert.equal(672, core.sqlite(cursor, path, { at = at, more = {}, most = math.maxinteger,
      notes = {} }))
    assert.equal("672|||\n", ask(path,
      "SELECT count(*), event_id, symbol_id, stack_id FROM samples GROUP BY 2, 3, 4"))
    for _, chain in ipairs { "names", "frames", "values", "callers" } do
      local other <close> = core.cursor(file, { types = { [9] = true },
        values = { { op = "field", kind = "stack",
          ref = { path = { "stack" }, chain = chain } } } })
      assert.has_error(function()
        core.sqlite(other, files.temporary(), { at = { chain = 1 }, more = {},
          most = math.maxinteger, notes = {} })
      end, "invalid query: the call chains are not those of functions")
    end
  end)

  it("leaves a file as it was where a function raises, which can be written again", function()
    local file <close> = assert(perflua.open(run.demo))
    local path, n = files.temporary "old", 0
    local query = file:samples():where(function()
      n = n + 1
      return n < 600 or error "no"
    end)
    collectgarbage "stop" -- it would close the database
    local ok = pcall(perflua.export, query, "sqlite", path)
    local left = files.read(path)
    local written = perflua.export(file:samples(), "sqlite", path)
    collectgarbage "restart"
    assert.is_false(ok)
    assert.equal("old", left)
    assert.same({ samples = 672, set_aside = 0 }, written)
  end)

  it("leaves a file as it was where there is no room, and needs the library", function()
    local dir = files.directory { ["libsqlite3.so.0"] = "" }
    local out = files.temporary "old"
    local function export_in(environment)
      return run.shell(("%s \"$perflua\" export --to sqlite %s -o %s"):format(environment,
        run.demo, out))
    end
    local got = export_in("LD_LIBRARY_PATH=" .. dir)
    assert.same({ 1, "perflua: libsqlite3 is not installed (Debian: libsqlite3-0)\n" },
      { got.status, got.err })
    got = export_in "ulimit -f 8; trap '' XFSZ;"
    assert.equal(1, got.status)
    assert.matches("^perflua: " .. out:gsub("%p", "%%%0") .. ": .*\n$", got.err)
    assert.equal("old", files.read(out))
    assert.equal(0, export_in("").status)
    assert.equal("457\n", ask(out, "SELECT count(*) FROM named_samples "
      .. "WHERE event = 'cpu-clock'"))
  end)
end)
