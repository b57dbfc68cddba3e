-- Rows inside records: what a loop over the view of each sample counts.
local builder = require "spec.support.builder"
local chains = require "spec.support.chains"
local containers = require "spec.support.containers"
local corpus = require "spec.support.corpus"
local files = require "spec.support.files"
local items_of = require("spec.support.model.items").of
local mapped = require "spec.support.mapped"
local needs = require "spec.support.needs"
local perflua = require "perflua"

local KERNEL, USER, kernel = chains.KERNEL, chains.USER, chains.kernel
local EMPTY = "spec/fixtures/empty"
local options = chains.options()

local prefixes = { callchain = "frame", branch_stack = "branch", read = "counter",
  regs_user = "reg" }

local function shown(value)
  if type(value) == "userdata" then return value.name end
  return tostring(value)
end

--- Counts in a loop: text of the keys → { rows, sum of periods }; and the period of all
--- samples.
local function loop(file, view, keys, once, where)
  local found, whole = {}, {}
  local together = table.concat(keys, " "):find "%f[%w]event" -- the counter's is a key
  for s in file:samples { expand = view ~= "read" } do
    local event, seen = not together and s.event and s.event.name or "none", {}
    whole[event] = (whole[event] or 0) + (s.period or 0)
    for _, item in ipairs(items_of[view](s)) do
      if not where or where(item, s) then
        local value = once and (item[once] == nil and "absent" or shown(item[once])) or #seen
        if not once or not seen[value] then
          seen[value] = true
          local parts = { event }
          for i, key in ipairs(keys) do
            local record_key = key:match "^:(.*)$"
            local part = item[key]
            if record_key then part = s[record_key] end
            parts[i + 1] = shown(part)
          end
          local text = table.concat(parts, "\t")
          found[text] = found[text] or { 0, 0 }
          found[text][1], found[text][2] = found[text][1] + 1, found[text][2] + (s.period or 0)
        end
      end
    end
  end
  return found, whole
end

--- Asks the query for that; and for the share of each row, which is of the samples.
local function asked(file, view, keys, once, where, as)
  local prefix, names = as or prefixes[view], {}
  for i, key in ipairs(keys) do names[i] = key:match "^:(.*)$" or prefix .. "." .. key end
  local query = file:samples():unnest(view, { once = once and prefix .. "." .. once, as = as })
  if where then query = query:where(where) end
  local found, shares = {}, {}
  for row in query:group_by(table.unpack(names)):count():sum("period"):share("period"):sort()
    :rows() do
    local parts = { row.event or "none" }
    for i, name in ipairs(names) do parts[i + 1] = shown(row[name]) end
    local text = table.concat(parts, "\t")
    found[text], shares[text] = { row.count, row.period }, row.share_period
  end
  return found, shares
end

local function compare(path, how, view, keys, once, where, test)
  local opened = { jobs = 1 }
  for name, value in pairs(how or options) do opened[name] = value end
  local one <close> = assert(perflua.open(path, opened))
  local expected, whole = loop(one, view, keys, once, test)
  opened.jobs = 3
  local several <close> = assert(perflua.open(path, opened))
  for _, file in ipairs { one, several } do
    local found, shares = asked(file, view, keys, once, where)
    assert.same(expected, found)
    for text, share in pairs(shares) do
      local total = whole[text:match "^[^\t]*"]
      assert.near(100 * expected[text][2] / total, share, 1e-9)
    end
  end
  assert.is_not_nil(next(expected))
end

--- Samples with everything that can be unnested, and samples of an event without it.
local function write(n)
  local b = builder.new()
  local all = b:event {
    name = "all", ids = { 1 }, branch_sample_type = { "any" }, read_format = { "group", "id",
      "lost" },
    sample_regs_user = 0x30003,
    sample_type = { "identifier", "ip", "tid", "time", "period", "read", "callchain",
      "branch_stack",
      "regs_user" },
  }
  local few = b:event {
    name = "few", ids = { 2 }, sample_type = { "identifier", "ip", "tid", "time", "period" },
  }
  mapped.add(b, { kernel, "- map 7 1000-3000 /bin/a", "- map 8 5000-7000 /bin/a",
    "- map 8 9000-a000 /tmp/perf-8.map" })
  local leaves = { 0xffffffff81000104, 0xffffffff81000204, 0xffffffff81000304,
    0xffffffff81000100 }
  for i = 1, n do
    local pid = 7 + i % 2
    local base = pid == 7 and 0x1000 or 0x5000
    local chain, branches = { KERNEL }, {}
    for k = 1, i % 4 do chain[#chain + 1] = leaves[(i + k) % 4 + 1] end
    chain[#chain + 1] = USER
    for k = 1, i % 5 do chain[#chain + 1] = base + 16 * (k % 3) end
    if i % 7 == 0 then chain[#chain + 1] = 0x9010 end
    for k = 1, i % 6 do
      branches[k] = { from = base + k, to = leaves[k % 4 + 1], mispred = k % 2,
        cycles = i * k % 5 }
    end
    b:sample(all, {
      identifier = 1, ip = base, pid = pid, tid = pid, time = i, period = i % 9, misc = 2,
      callchain = i % 11 == 0 and {} or chain, branch_stack = branches,
      read = { { value = i, id = 1, lost = i % 2 }, { value = 2 * i, id = 2, lost = 0 } },
      regs_user = i % 5 == 0 and { abi = 0 } or { i, i % 3, 3, 4 },
    })
    if i % 3 == 0 then
      b:sample(few, { identifier = 2, ip = base, pid = pid, tid = pid, time = i, period = 1,
        misc = 2 })
    end
  end
  return b:write()
end

describe("unnest", function()
  local path, file

  setup(function()
    path = write(200)
    file = assert(perflua.open(path, options))
  end)
  teardown(function() file:close() end)

  it("has a row for each frame of a call chain, and for the ip of a sample without one",
    function()
    for _, keys in ipairs {
      { "symbol" }, { "dso", "kind" }, { "index", "ip" }, { "symbol", "symoff", ":pid" },
        { "inlined" },
      { ":comm", ":tid" },
    } do
      compare(path, nil, "callchain", keys)
    end
  end)

  it("has a row for each branch", function()
    for _, keys in ipairs {
      { "from", "to" }, { "symbol_from", "symbol_to" }, { "dso_from", "dso_to" }, { "mispred" },
      { "cycles", "index" }, { "predicted", "type", "in_tx", "abort" }, { ":pid", "to" },
    } do
      compare(path, nil, "branch_stack", keys)
    end
  end)

  it("has a row for each counter and register", function()
    compare(path, nil, "read", { "id" })
    compare(path, nil, "read", { "event", "lost" })
    compare(path, nil, "read", { "index", "value" })
    compare(path, nil, "regs_user", { "name" })
    compare(path, nil, "regs_user", { "name", "value" })
  end)

  it("keeps the first row of a record with each value", function()
    compare(path, nil, "callchain", { "symbol" }, "symbol")
    compare(path, nil, "callchain", { "symbol", "index" }, "symbol")
    compare(path, nil, "callchain", { "dso" }, "dso")
    compare(path, nil, "callchain", { "kind", "ip" }, "kind")
    compare(path, nil, "branch_stack", { "to" }, "symbol_to")
    compare(path, nil, "branch_stack", { "from" }, "mispred")
    compare(path, nil, "read", { "id" }, "lost")
  end)

  it("filters records before it, and rows after it", function()
    local function is_kernel(item) return item.kind == "kernel" end
    compare(path, nil, "callchain", { "symbol" }, nil, "frame.kind == 'kernel'", is_kernel)
    compare(path, nil, "callchain", { "symbol" }, "kind", "frame.kind == 'kernel' and pid == 7",
      function(item, s) return is_kernel(item) and s.pid == 7 end)
    compare(path, nil, "branch_stack", { "from" }, nil, "branch.mispred and branch.cycles > 1",
      function(item) return item.mispred and item.cycles > 1 end)
    compare(path, nil, "branch_stack", { "to" }, nil,
      "branch.symbol_to == nil or branch.index == 2",
      function(item) return item.symbol_to == nil or item.index == 2 end)
    compare(path, nil, "read", { "id", "value" }, nil, "counter.event == 'few'",
      function(item) return item.event and item.event.name == "few" end)
    local before = file:samples():where "pid == 7":unnest "callchain":count()
    local after = file:samples():unnest "callchain":where "pid == 7":count()
    assert.equal(before, after)
    assert.is_true(before > 0)
  end)

  it("has shares of the records that pass before it, with and without the event as a key",
    function()
    local all = file:samples():where "pid == 7":unnest "callchain":group_by("frame.dso")
      :share "period"
    local total = file:samples():where "pid == 7":sum "period"
    local period = file:samples():where "pid == 7":unnest "callchain"
      :where "frame.dso == '/bin/a'":sum "period"
    local found
    for row in all:all_events():sort():rows() do
      if row["frame.dso"] == "/bin/a" then found = row.share_period end
    end
    assert.near(100 * period / total, found, 1e-9)
    local by_event = {}
    for row in all:sort():rows() do
      by_event[row.event .. row["frame.dso"]] = row.share_period
    end
    local keyed = file:samples():where "pid == 7":unnest "callchain":group_by("event",
      "frame.dso")
      :share "period":sort()
    for row in keyed:rows() do
      assert.equal(by_event[row.event .. row["frame.dso"]], row.share_period)
    end
    assert.error_matches(function()
      file:samples():unnest "branch_stack":group_by("pid"):share "branch.cycles"
    end, "shares are of records")
  end)

  it("measures items, and counts Stacks beside them", function()
    local sum, most, n = 0, 0, 0
    for s in file:samples() do
      for _, item in ipairs(items_of.branch_stack(s)) do
        sum, most, n = sum + item.cycles, math.max(most, item.cycles), n + 1
      end
    end
    local query = file:samples():unnest "branch_stack"
    assert.same({ sum, most, n, sum / n },
      { query:sum "branch.cycles", query:max "branch.cycles", query:count(),
        query:avg "branch.cycles" })
    local names = {}
    for s in file:samples() do
      for _, item in ipairs(items_of.callchain(s)) do names[item.symbol or 1] = item.symbol
        and true end
    end
    local distinct = 0
    for _ in pairs(names) do distinct = distinct + 1 end
    assert.equal(distinct, file:samples():unnest "callchain":distinct "frame.symbol")
    assert.equal(file:samples():distinct "callchain", file:samples():unnest "callchain"
      :distinct "callchain")
  end)

  it("gives the values of rows to loops, in the order of the view", function()
    local got, expected = {}, {}
    for time, index, symbol, ip in file:samples():unnest "callchain"
      :select("time", "frame.index", "frame.symbol", "frame.ip") do
      got[#got + 1] = ("%s %s %s %s"):format(time, index, symbol, ip)
    end
    for s in file:samples() do
      for _, item in ipairs(items_of.callchain(s)) do
        expected[#expected + 1] = ("%s %s %s %s"):format(s.time, item.index, item.symbol
          or false, item.ip)
      end
    end
    assert.same(expected, got)
    local first = file:samples():unnest("branch_stack", { once = "branch.to" })
      :where "branch.index > 1"
      :select("branch.index", "branch.to"):first()
    assert.equal(2, first)
  end)

  it("calls functions of a script's with the record", function()
    local by_function, by_field = {}, {}
    local query = file:samples():unnest "callchain"
    for row in query:group_by({ odd = function(s) return s.pid % 2 end }, "frame.dso"):count()
      :sort():rows() do
      by_function[("%s %s %s"):format(row.event, row.odd, row["frame.dso"])] = row.count
    end
    for row in query:group_by("pid", "frame.dso"):count():sort():rows() do
      by_field[("%s %s %s"):format(row.event, row.pid % 2, row["frame.dso"])] = row.count
    end
    assert.same(by_field, by_function)
    assert.equal(query:where "pid == 7":count(), query:where(function(s) return s.pid == 7 end)
      :count())
  end)

  it("names items as it is told", function()
    local expected = asked(file, "callchain", { "symbol" }, "symbol")
    assert.same(expected, (asked(file, "callchain", { "symbol" }, "symbol", nil, "f")))
  end)

  it("says in explain() what rows are", function()
    local text = file:samples():where "pid > 1":unnest("callchain", { once = "frame.symbol" })
      :where "frame.kind == 'user'":group_by("frame.symbol"):explain()
    assert.matches("1  C    where pid > 1\n.*2  C    items of callchain as frame, "
      .. "once for each frame.symbol\n"
      .. ".*3  C    where frame.kind == 'user'", text)
  end)

  it("raises if the records that shares are of add up to too much", function()
    local b = builder.new()
    local event = b:event { ids = { 1 }, sample_type = { "ip", "tid", "period", "callchain" } }
    for i = 1, 3 do
      b:sample(event, { ip = i, pid = 1, tid = 1, period = 1 << 62,
        callchain = { USER, 0x1000 * i } })
    end
    local large <close> = assert(perflua.open(b:write(), { symfs = EMPTY }))
    assert.error_matches(function()
      large:samples():unnest "callchain":where "frame.ip == 4096":group_by("frame.ip")
        :share("period"):table()
    end, "a sum exceeds 2%^63%-1")
  end)

  it("selects addresses alone", function()
    local expected, got = {}, {}
    for s in file:samples() do
      for _, item in ipairs(items_of.callchain(s)) do expected[#expected + 1] = item.ip end
    end
    for ip in file:samples():unnest "callchain":select "frame.ip" do got[#got + 1] = ip end
    assert.is_true(#expected > 0)
    assert.same(expected, got)
  end)

  it("raises for what cannot be", function()
    local function raises(pattern, fn) assert.error_matches(fn, pattern) end
    local function q() return file:samples():unnest "callchain" end
    raises("a query can have one unnest", function() q():unnest "branch_stack" end)
    raises("before group_by", function() file:samples():group_by("pid"):unnest "callchain" end)
    raises("before select", function() file:samples():select("pid"):unnest "callchain" end)
    raises("got one over their items", function() q():pair { open = "all", close = "few" } end)
    raises("the items of 'call_chain' cannot be rows; .* 'callchain'", function()
      file:samples():unnest "call_chain"
    end)
    raises("the items of 'data_src' cannot be rows", function()
      file:samples():unnest "data_src"
    end)
    raises("no record .* has a field 'regs_intr'", function() file:samples()
      :unnest "regs_intr" end)
    raises("unknown field 'frame.symbl'; the closest is 'symbol'", function() q()
      :group_by "frame.symbl" end)
    raises("name a member of it", function() q():group_by "frame" end)
    raises("unknown field 'branch'", function() q():group_by "branch.from" end)
    raises("unknown option 'onse'", function() file:samples():unnest("callchain",
      { onse = "frame.ip" }) end)
    raises("'comm' is already the name of a field", function()
      file:samples():unnest("callchain", { as = "comm" })
    end)
    raises("`as`: expected a name", function()
      file:samples():unnest("callchain", { as = "a b" })
    end)
    raises("`inline` is an option for callchain", function()
      file:samples():unnest("read", { inline = true })
    end)
    raises("selected or grouped", function() q():each(print) end)
    raises("selected or grouped", function() q():collect() end)
    raises("selected or grouped", function() q():first() end)
  end)

  it("is kept by tables that are saved and merged, with what shares are of", function()
    local function half(from, to)
      return file:samples():between(from, to):unnest("callchain", { once = "frame.symbol" })
        :group_by("frame.symbol"):count():share("period"):sort()
    end
    local whole, saved = half(), files.temporary()
    assert.equal(tostring(whole), tostring(half(nil, "50%"):merge(half("50%", "100%"))))
    assert(whole:save(saved))
    assert.equal(tostring(whole), tostring(assert(perflua.load(saved))))
    local other = file:samples():group_by("comm"):as("frame.symbol"):count():share("period")
      :sort()
    assert.error_matches(function() whole:merge(other) end, "different queries")
  end)

  it("reads inlined functions as rows before their frame", function()
    local words <close> = assert(perflua.open("spec/fixtures/words/perf.data",
      { symfs = "spec/fixtures/words" }))
    local expected, got = {}, {}
    local function add(to, ...)
      local text = table.concat({ ... }, " ")
      to[text] = (to[text] or 0) + 1
    end
    for s in words:samples() do
      for i, frame in ipairs(s.callchain) do
        for _, one in ipairs(frame.inlined or {}) do
          add(expected, i, tostring(one.symbol), tostring(one.srcline), "true")
        end
        add(expected, i, tostring(frame.symbol), tostring(frame.srcline), "false")
      end
    end
    for i, symbol, line, inlined in words:samples():unnest("callchain", { inline = true })
      :select("frame.index", "frame.symbol", "frame.srcline", "frame.inlined") do
      add(got, i, symbol or "nil", line or "nil", tostring(inlined))
    end
    assert.same(expected, got)
    local rows = words:samples():unnest("callchain", { inline = true, once = "frame.symbol" })
      :group_by("frame.symbol"):count():sort()
    assert.equal(words:samples():count(), rows[1].count)
  end)
end)

describe("unnest over spans", function()
  local file

  --- Each span opens with a chain of its number of frames and closes with branches.
  setup(function()
    local b = builder.new()
    local parts = { "identifier", "ip", "tid", "time" }
    local open = b:event { name = "open", ids = { 1 },
      sample_type = table.move({ "callchain" }, 1, 1, #parts + 1, { table.unpack(parts) }) }
    local close = b:event { name = "close", ids = { 2 }, branch_sample_type = { "any" },
      sample_type = table.move({ "branch_stack" }, 1, 1, #parts + 1, { table.unpack(parts) }) }
    for i = 1, 40 do
      local chain, branches = { USER }, {}
      for k = 1, i % 5 do chain[k + 1] = 0x1000 * k end
      for k = 1, i % 3 do branches[k] = { from = k, to = i, cycles = k } end
      local tid = i % 4
      b:sample(open, { identifier = 1, ip = 0x1000, pid = 1, tid = tid, time = 100 * i,
        callchain = chain })
      b:sample(close, { identifier = 2, ip = 1, pid = 1, tid = tid, time = 100 * i + 7 * i,
        branch_stack = branches })
    end
    file = assert(perflua.open(b:write(), { symfs = EMPTY }))
  end)

  teardown(function() file:close() end)

  local function spans() return file:samples():pair { open = "open", close = "close" } end

  --- Counts items of one side in a loop over spans; the sum of the durations of spans.
  local function counted(side, view, member, once)
    local found, whole = {}, 0
    for span in spans() do
      local seen = {}
      whole = whole + span.duration
      for _, item in ipairs(items_of[view](span[side])) do
        local key = item[member]
        if not once or not seen[key] then
          found[key] = found[key] or { 0, 0 }
          found[key][1], found[key][2] = found[key][1] + 1, found[key][2] + span.duration
          seen[key] = true
        end
      end
    end
    return found, whole
  end

  local function grouped(query, key)
    local found, shares = {}, {}
    for row in query:group_by(key):count():sum("duration"):share("duration"):sort():rows() do
      found[row[key]], shares[row[key]] = { row.count, row.duration }, row.share_duration
    end
    return found, shares
  end

  it("counts the items of the record that opened a span, or closed it", function()
    assert.same(counted("open", "callchain", "ip"),
      grouped(spans():unnest "open.callchain", "frame.ip"))
    assert.same(counted("open", "callchain", "ip"),
      grouped(spans():unnest "callchain", "frame.ip"))
    assert.same(counted("close", "branch_stack", "from"),
      grouped(spans():unnest "close.branch_stack", "branch.from"))
    assert.same(counted("open", "callchain", "dso", true),
      grouped(spans():unnest("open.callchain", { once = "frame.dso" }), "frame.dso"))
  end)

  it("has shares of the spans, each counted once", function()
    local found, whole = counted("open", "callchain", "ip")
    local _, shares = grouped(spans():unnest "open.callchain", "frame.ip")
    for ip, share in pairs(shares) do assert.near(100 * found[ip][2] / whole, share, 1e-9) end
    assert.near(100, shares[0x1000], 1e-9) -- it is in every chain
  end)

  it("asks filters before it of spans, those after it of items", function()
    local expected, got = {}, {}
    for span in spans():where "duration > 100" do
      for _, item in ipairs(items_of.callchain(span.open)) do
        if item.index > 1 then
          expected[#expected + 1] = { span.start, span.close.time, item.ip }
        end
      end
    end
    for start, stop, ip in spans():where "duration > 100":unnest "open.callchain"
      :where "frame.index > 1":select("start", "close.time", "frame.ip") do
      got[#got + 1] = { start, stop, ip }
    end
    assert.is_true(#expected > 5)
    assert.same(expected, got)
  end)

  it("gives functions the span, once for each of its items", function()
    local seen, n = {}, 0
    spans():unnest "close.branch_stack":where(function(span)
      seen[span], n = true, n + 1
      return true
    end):group_by("branch.from"):count():table()
    local with_branches = 0
    for span in spans() do
      if #span.close.branch_stack > 0 then with_branches = with_branches + 1 end
    end
    local different = 0
    for _ in pairs(seen) do different = different + 1 end
    assert.equal(with_branches, different)
    assert.equal(spans():unnest("close.branch_stack"):count(), n)
  end)

  it("counts pairs as spans do", function()
    local query = spans():unnest "open.callchain"
    query:count()
    assert.equal(40, query.counts.pairs)
  end)

  it("is explained", function()
    local text = spans():where "duration > 5":unnest("open.callchain", { once = "frame.ip" })
      :where "frame.index > 1":group_by("frame.ip"):explain()
    assert.matches("1  C    where duration > 5\n"
      .. "  2  C    items of open.callchain as frame, once for each frame.ip\n"
      .. "  3  C    where frame.index > 1", text, nil, true)
  end)

  it("raises for what cannot be", function()
    local function raises(pattern, fn) assert.error_matches(fn, pattern) end
    raises("the items of 'open' cannot be rows", function() spans():unnest "open" end)
    raises("no record .* 'branch_stack'", function() spans():unnest "open.branch_stack" end)
    raises("the items of 'call' cannot be rows", function() spans():unnest "close.call" end)
    raises("records or spans expected, got one over records in", function()
      file:samples():within(spans()):unnest "callchain"
    end)
    raises("selected or unnested already", function()
      file:samples():within(spans():unnest "open.callchain")
    end)
    raises("already items of open.callchain", function()
      spans():unnest "open.callchain":unnest "open.callchain"
    end)
  end)
end)

describe("unnest over every container", function()
  local function recording(n)
    local rounds = {}
    for i = 1, n do
      local round, cpu = (i - 1) // 100 + 1, i // 7 % 2
      rounds[round] = rounds[round] or { [0] = {}, {} }
      local list = { USER }
      for k = 1, i % 11 do list[#list + 1] = 0x1000 + k % 4 * 16 end
      table.insert(rounds[round][cpu], { "sample", 1, {
        identifier = 1, ip = 4096, pid = 7, tid = 7, time = 1000 + 10 * i, cpu = cpu,
          period = i % 5,
        callchain = list, branch_stack = { { from = i % 10, to = 1 }, { from = 2,
          to = i % 3 } },
        raw = ("x"):rep(i % 40 * 16 + 4),
      } })
    end
    return {
      events = { { name = "one", ids = { 1 }, branch_sample_type = { "any" },
        sample_type = { "identifier",
        "ip", "tid", "time", "cpu", "period", "callchain", "raw", "branch_stack" } } },
      head = { { "mmap", { pid = 7, tid = 7, addr = 4096, len = 4096,
        filename = "/bin/sh" } } },
      rounds = rounds,
    }
  end

  local questions = {
    function(file)
      return file:samples():unnest("callchain", { once = "frame.ip" }):group_by("frame.ip",
        "frame.dso")
        :count():share("period")
    end,
    function(file)
      return file:samples():unnest "branch_stack":group_by("branch.from", "branch.to"):count()
        :sum("period")
    end,
  }

  it("is the same, by one worker and by several", function()
    local what, expected = recording(2000), {}
    for _, c in ipairs(containers.list) do
      local path = not c.old and c.write(what)
      for _, jobs in ipairs(path and { 1, 3 } or {}) do
        for i, question in ipairs(questions) do
          local file <close> = assert(perflua.open(containers.through(c, path),
            { jobs = jobs }))
          local text = tostring(question(file):sort())
          expected[i] = expected[i] or text
          assert.same({ c.name, expected[i] }, { c.name, text })
        end
      end
    end
  end)
end)

describe("unnest of real recordings", function()
  local how = { symfs = EMPTY, kallsyms = "/dev/null" }
  local function real(name, view, keys, once)
    needs.it("corpus", ("counts what a loop counts: %s of %s"):format(view, name), function()
      compare(corpus.root .. "/" .. name, how, view, keys, once)
    end)
  end
  local LBR = "collected/KDAB__perfparser/tests/auto/perfdata/vector_static_gcc/perf.lbr.data"
  local BOTH = "collected/google__perf_data_converter/src/quipper/testdata/"
    .. "perf.data.callgraph_and_branch-3.4"
  real(LBR, "branch_stack", { "from", "to", "mispred" })
  real(LBR, "callchain", { "dso", "ip" }, "ip")
  real(BOTH, "branch_stack", { "dso_from", "dso_to" })
  real(BOTH, "callchain", { "dso", "kind" }, "dso")
  real("collected/google__autofdo/testdata/perf-kernel.data", "branch_stack", { "from", "to" })
  real("recorded/arm64/fp-g.data", "callchain", { "ip", "dso" })
  real("recorded/amd64-7.2/dwarf.data", "callchain", { "dso" }, "dso")
  real("recorded/amd64-7.2/group.data", "read", { "event", "id" })
  real("recorded/i386/regs.data", "regs_user", { "name" })

  needs.it("corpus", "counts the branches that perf report -b counts", function()
    for _, name in ipairs { LBR, BOTH,
      "collected/google__autofdo/testdata/perf-kernel.data" } do
      local path = corpus.root .. "/" .. name
      local text = files.output(("perf report -f -b --stdio -n --sort symbol_from,symbol_to "
        .. "--symfs=%s "
        .. "--kallsyms=/dev/null -i %s 2>/dev/null"):format(files.quote(EMPTY),
          files.quote(path)))
      local theirs, ours = {}, {}
      for n in text:gmatch "\n +[%d.]+%% +(%d+) " do theirs[#theirs + 1] = tonumber(n) end
      local file <close> = assert(perflua.open(path, how))
      for row in file:samples():unnest "branch_stack":all_events():group_by("branch.from",
        "branch.to")
        :count():sort():rows() do
        ours[#ours + 1] = row.count
      end
      table.sort(theirs)
      table.sort(ours)
      assert.is_true(#theirs > 0)
      assert.same(theirs, ours)
    end
  end)
end)
