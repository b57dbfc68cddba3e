-- Call stacks as values: the key and the set `callchain`, as a loop over the samples finds
-- them.
local binaries = require "spec.support.binaries"
local builder = require "spec.support.builder"
local chains = require "spec.support.chains"
local containers = require "spec.support.containers"
local corpus = require "spec.support.corpus"
local files = require "spec.support.files"
local jitdump = require "spec.support.jitdump"
local mapped = require "spec.support.mapped"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local stacks = require "spec.support.model.stacks"

local KERNEL, USER = chains.KERNEL, chains.USER
local READ, TWICE, OTHER = chains.READ, chains.TWICE, chains.OTHER
local kernel, recording, chain = chains.kernel, chains.recording, chains.of
local options = chains.options()
local kallsyms = options.kallsyms

local function identity(kind, dso, build_id, address, symbol)
  if not dso or dso == "[unknown]" then return ("%s - %x"):format(kind, address) end
  return ("%s %s %x%s"):format(kind, build_id and build_id:gsub("00+$", "") or dso, address,
    kind == "jit" and tostring(symbol) or "")
end

local function identity_in(file, s, frame)
  local kind, dso, build_id, address = stacks.frame(file, s, frame)
  return identity(kind, dso, build_id, address, frame.symbol)
end

local function identity_of_frame(frame)
  return identity(frame.kind, frame.dso, frame.build_id, frame.address, frame.symbol)
end

---Counts the samples of a file by event and identity of their stacks: { n, text }.
local function loop(file)
  local found = {}
  for s in file:samples() do
    local parts = {}
    for i, frame in ipairs(stacks.frames(s)) do parts[i] = identity_in(file, s, frame) end
    local key = tostring(s.event and s.event.name) .. "\n"
      .. (#parts > 0 and table.concat(parts, "\n") or "none")
    found[key] = found[key] or { n = 0, text = s.stack or "none" }
    found[key].n = found[key].n + 1
  end
  return found
end

local function grouped(file)
  local found = {}
  for row in file:samples():group_by("callchain", "event"):count():sort():rows() do
    local parts, stack = {}, row.callchain
    for i = 1, stack and #stack or 0 do parts[i] = identity_of_frame(stack[i]) end
    local key = tostring(row.event) .. "\n" .. (stack and table.concat(parts, "\n") or "none")
    assert.is_nil(found[key], "one stack in two rows")
    found[key] = { n = row.count, text = stack and tostring(stack) or "none" }
  end
  return found
end

--- The first few stacks in which two results differ.
local function differences(expected, got)
  local list = {}
  for key, one in pairs(expected) do
    local other = got[key] or {}
    if one.n ~= other.n or one.text ~= other.text then
      list[#list + 1] = { key, expected = one, got = other }
    end
  end
  for key, other in pairs(got) do
    if not expected[key] then list[#list + 1] = { key, got = other } end
  end
  return table.move(list, 1, 3, 1, {})
end

local function same(path, how)
  local opened = { jobs = 1 }
  for name, value in pairs(how or options) do opened[name] = value end
  local one <close> = assert(perflua.open(path, opened))
  local expected, n = loop(one), 0
  assert.same({}, differences(expected, grouped(one)))
  for _ in pairs(expected) do n = n + 1 end
  opened.jobs = 2
  local two <close> = assert(perflua.open(path, opened))
  assert.same({}, differences(expected, grouped(two)))
  if n > 0 and two.size then
    local rows = 0
    for row in two:samples():all_events():group_by("callchain"):sort():rows() do
      rows = rows + (row.callchain and 1 or 0)
    end
    assert.equal(rows, two:samples():distinct "callchain")
  end
  return n
end

describe("group_by 'callchain'", function()
  for _, n in ipairs { 2, 9 } do
    it("has a row for each stack as mapped at its time, with " .. n .. " frames", function()
      local b, sample = chains.of_processes(n)
      mapped.add(b, { "50 map 8 1000-2000 /bin/child",
        "60 map 12 41000-42000@1000 /bin/child" })
      local moved = chain(n)
      for i = 2, #moved do moved[i] = moved[i] + 0x40000 end
      for _, time in ipairs { 49, 50, 51 } do sample(time, 8, chain(n)) end
      sample(61, 12, moved)
      assert.equal(7, same(b:write()))
    end)
  end

  it("tells addresses of one function apart, and the kernel from a process", function()
    local b, sample = recording { kernel, "- map 7 1000-3000 /bin/a" }
    for i, leaf in ipairs { READ, READ + 4, TWICE, OTHER } do
      sample(i, 7, { KERNEL, leaf, TWICE, USER, 0x1010, 0x1020, 0x1030 })
      sample(i, 7, { USER, leaf, TWICE, 0x1010, 0x1020, 0x1030 })
    end
    assert.equal(8, same(b:write()))
  end)

  it("has the ip alone where there are no frames, and nothing without an ip", function()
    local b = builder.new()
    local with = b:event { name = "one",
      sample_type = { "ip", "tid", "time", "id", "callchain" }, ids = { 1 } }
    local plain = b:event { name = "two", sample_type = { "ip", "tid", "time", "id" },
      ids = { 2 } }
    local without = b:event { name = "three", sample_type = { "id", "tid", "time" },
      ids = { 3 } }
    mapped.add(b, { "- map 7 1000-3000 /bin/a" })
    for _, list in ipairs { {}, { USER }, { USER, 0x1000 } } do
      b:sample(with, { pid = 7, tid = 7, time = 1, ip = 0x1000, id = 1, misc = 2,
        callchain = list })
    end
    b:sample(plain, { pid = 7, tid = 7, time = 1, ip = 0x1000, id = 2, misc = 2 })
    b:sample(without, { pid = 7, tid = 7, time = 1, id = 3 })
    local path = b:write()
    assert.equal(3, same(path))
    local file <close> = assert(perflua.open(path, options))
    assert.equal(1, file:samples():distinct "callchain")
    assert.equal(2, #file:samples():all_events():group_by("callchain"):sort())
  end)

  it("has code that moved as what it was then, and one function for a map of perf's", function()
    local tree, pid, code = binaries.tree(), 0x3ffff0, 0x7f0000000000
    local name = ("%s/jit-%d.dump"):format(tree.path, pid)
    files.write(name, jitdump {
      { "load", 5, "first", code, 0x20, 1 }, { "load", 15, "second", code, 0x20, 2 },
    })
    local b, sample = recording {
      ("- map %d 7f0000000000-7f0000010000 //anon"):format(pid),
      ("- map %d 1000-3000 /bin/a"):format(pid),
      ("- map %d 7f0000100000-7f0000101000 %s"):format(pid, name),
    }
    for _, time in ipairs { 6, 16, 7, 17, 4 } do
      for _, n in ipairs { 1, 7 } do sample(time, pid, chain(n, code + 8)) end
    end
    binaries.of_here(b)
    local path = b:write()
    assert.equal(6, same(path, { kallsyms = kallsyms }))
    local file <close> = assert(perflua.open(path, { kallsyms = kallsyms }))
    local names = {}
    for row in file:samples():where "#callchain == 1":group_by("callchain"):count():sort()
        :rows() do
      assert.equal("jit", row.callchain[1].kind)
      names[row.callchain[1].symbol or "none"] = row.count
    end
    assert.same({ first = 2, second = 2, none = 1 }, names)
  end)

  it("takes binaries for one by their build-id, else by their path", function()
    local b = builder.new()
    local event = b:event { sample_type = { "ip", "tid", "time", "callchain" } }
    local function map(pid, filename, build_id)
      b:record("mmap2", {
        pid = pid, tid = pid, addr = 0x1000, len = 0x1000, filename = filename, prot = 5,
        misc = 2, build_id = build_id,
      })
    end
    local one, other = ("\x11"):rep(20), ("\x22"):rep(20)
    map(1, "/bin/a", one)
    map(2, "/mnt/a", one)
    map(3, "/bin/a", other)
    map(4, "/bin/b")
    map(5, "/bin/b")
    for pid = 1, 5 do
      b:sample(event, { pid = pid, tid = pid, time = pid, ip = 0x1010, misc = 2,
        callchain = { USER, 0x1010 } })
    end
    local file <close> = assert(perflua.open(b:write(), options))
    local counts = {}
    for row in file:samples():group_by("callchain"):count():sort():rows() do
      local frame = row.callchain[1]
      counts[("%s %s"):format(frame.dso, frame.build_id)] = row.count
    end
    assert.same({
      ["/bin/a " .. ("11"):rep(20)] = 2, ["/bin/a " .. ("22"):rep(20)] = 1, ["/bin/b nil"] = 2,
    }, counts)
  end)
end)

describe("a Stack", function()
  local file, rows

  local function write()
    local b, sample = recording { kernel, "- map 7 1000-3000 /bin/a",
      "- map 8 5000-7000 /bin/a" }
    sample(1, 8, { KERNEL, READ, USER, 0x5010, 0x5020, 0x5030 })
    sample(2, 7, { KERNEL, READ, USER, 0x1010, 0x1020, 0x1030 })
    sample(3, 7, { KERNEL, TWICE, USER, 0x1010, 0x1020, 0x1030 })
    sample(4, 7, { USER, 0x1010, 0x9000 })
    return b:write()
  end

  setup(function()
    file = assert(perflua.open(write(), options))
    rows = file:samples():group_by("pid", "callchain"):count():sort("pid", "asc")
  end)
  teardown(function() file:close() end)

  it("is one object for equal stacks of a Table", function()
    local seen, n = {}, 0
    for row in rows:rows() do
      local key = tostring(row.callchain)
      assert.equal(seen[key] or row.callchain, row.callchain)
      assert.is_true(rawequal(seen[key] or row.callchain, row.callchain))
      seen[key], n = row.callchain, n + 1
    end
    assert.equal(4, n)
    assert.is_true(rawequal(rows[1].callchain, rows[1].callchain))
  end)

  it("has frames with the fields of the first one seen", function()
    local stack
    for row in rows:rows() do
      if tostring(row.callchain) == "[a];[a];[a];read" then stack = row.callchain end
    end
    assert.equal(4, #stack)
    local list = {}
    for i, frame in ipairs(stack) do
      list[i] = { frame.kind, frame.dso, frame.symbol or false, frame.symoff or false,
        frame.address, frame.ip }
    end
    assert.same({
      { "kernel", "[kernel.kallsyms]", "read", 4, READ, READ },
      { "user", "/bin/a", false, false, 0x10, 0x5010 },
      { "user", "/bin/a", false, false, 0x20, 0x5020 },
      { "user", "/bin/a", false, false, 0x30, 0x5030 },
    }, list)
    assert.is_nil(stack[0])
    assert.is_nil(stack[5])
    assert.is_nil(stack[1.5])
    assert.is_nil(stack[2].srcline)
    assert.is_nil(stack[2].inlined)
    assert.is_true(stack[2] == stack[2])
    assert.is_false(stack[2] == stack[3])
  end)

  it("is walked over by pairs, and so are its frames", function()
    local t = file:samples():where "pid == 8":group_by("callchain"):count():sort()
    local found = {}
    for i, frame in pairs(t[1].callchain) do
      found[i] = {}
      for name, value in pairs(frame) do found[i][name] = value end
    end
    assert.same({ kind = "kernel", dso = "[kernel.kallsyms]", symbol = "read", symoff = 4,
      address = READ, ip = READ },
      found[1])
    assert.same({ kind = "user", dso = "/bin/a", address = 0x30, ip = 0x5030 }, found[4])
  end)

  it("says which names it does not have", function()
    local stack = rows[1].callchain
    assert.error_matches(function()
      return stack[1].symbl
    end, "a frame has no field 'symbl'; did you mean 'symbol'?")
    assert.error_matches(function() return stack.symbol end, "no field 'symbol'")
  end)

  it("stays when the file is closed", function()
    local other = assert(perflua.open(write(), options))
    local t = other:samples():group_by("callchain"):count():sort("callchain", "asc")
    other:close()
    assert.same({ "[unknown];[a]", "[a];[a];[a];read", "[a];[a];[a];twice" }, (function()
      local texts = {}
      for row in t:rows() do texts[#texts + 1] = tostring(row.callchain) end
      table.sort(texts)
      return { texts[3], texts[1], texts[2] }
    end)())
    assert.equal("/bin/a", t[1].callchain[#t[1].callchain - 1].dso)
    assert.is_nil(t[1].callchain[1].srcline)
  end)

  it("is in an order, equal to itself in other Tables and in no other way", function()
    local t = file:samples():group_by("callchain"):count():sort("callchain", "asc")
    local again = file:samples():where "pid == 7":group_by("callchain"):count()
      :sort("callchain", "asc")
    assert.equal(3, #t)
    for i = 1, #t - 1 do
      assert.is_true(t[i].callchain < t[i + 1].callchain)
      assert.is_false(t[i + 1].callchain < t[i].callchain)
    end
    for i = 1, 3 do
      for k = 1, 3 do
        assert.equal(i == k, t[i].callchain == again[k].callchain)
        assert.is_false(rawequal(t[i].callchain, again[k].callchain))
      end
    end
  end)

  needs.it("gcc -g",
    "has the lines and the inlined functions of its code while the file is open", function()
    local tree = binaries.tree()
    tree:write("app/spin.c", files.read(files.fixture "clang/spin.c"))
    tree:sh "cd app && gcc -O2 -g -no-pie -Wl,--build-id -o spin spin.c"
    local program = tree:symbols "app/spin"
    tree:sh "objcopy -w -N 'in_*' app/spin"
    local b, sample = recording { ("- map 7 400000-500000 %s/app/spin"):format(tree.path) }
    sample(1, 7, { USER, 0x400000 + program.in_inner, 0x400000 + program.in_main })
    binaries.of_here(b)
    local spin <close> = assert(perflua.open(b:write()))
    local stack = spin:samples():group_by("callchain"):count():sort()[1].callchain
    local found = {}
    for i, frame in ipairs(stack) do
      for _, one in ipairs(frame.inlined or {}) do
        found[#found + 1] = one.symbol .. " " .. one.srcline
      end
      found[#found + 1] = ("%d %s %s"):format(i, frame.symbol, frame.srcline)
    end
    assert.same({ "inner spin.c:4", "middle spin.c:11", "1 outer spin.c:16",
      "2 main spin.c:22" }, found)
  end)
end)

describe("tables of Stacks", function()
  local function write(shift, n)
    local b, sample = recording { kernel,
      ("- map 7 %x-%x /bin/a"):format(0x1000 + shift, 0x3000 + shift),
      "- map 9 100000-102000 /tmp/a,b;c|d%e" }
    for i = 1, n do
      local list = { KERNEL, READ + i % 3, USER }
      for k = 1, i % 5 do list[#list + 1] = 0x1000 + shift + 0x10 * k + i % 2 end
      sample(i, 7, list)
      sample(i, 9, { USER, 0x100000 + i % 2, 0x9000 })
    end
    return b:write()
  end

  local function made(path)
    local file <close> = assert(perflua.open(path, options))
    return file:samples():group_by("callchain", "pid"):count():sum("period")
      :distinct("callchain"):sort()
  end

  local function rows_of(t)
    local found = {}
    for row in t:rows() do
      local parts = {}
      for i, frame in ipairs(row.callchain) do
        parts[i] = identity_of_frame(frame) .. " " .. tostring(frame.symbol)
      end
      found[table.concat(parts, "\n") .. row.pid] = { row.count, row.period,
        row.distinct_callchain }
    end
    return found
  end

  local function counted(a, b)
    local found = rows_of(a)
    for key, values in pairs(rows_of(b)) do
      local own = found[key] or { 0, 0, 1 }
      found[key] = { own[1] + values[1], own[2] + values[2], 1 }
    end
    return found
  end

  it("are saved and read as they are", function()
    local t, path = made(write(0, 30)), files.temporary()
    assert(t:save(path))
    local read = assert(perflua.load(path))
    assert.equal(tostring(t), tostring(read))
    assert.same(rows_of(t), rows_of(read))
    assert.is_nil(files.read(path):sub(1, -2):find "[^ -~\t]")
    assert.matches("^perflua table 3\t", files.read(path))
    local again = files.temporary()
    assert(read:save(again))
    assert.equal(files.read(path), files.read(again))
    assert.is_nil(read[1].callchain[1].ip)
    assert.is_nil(read[1].callchain[1].srcline)
  end)

  it("are put together, wherever their binaries were mapped", function()
    local a, b = made(write(0, 30)), made(write(0x40000, 41))
    local path = files.temporary()
    local out = assert(io.open(path, "wb"))
    assert(a:save(out))
    assert(b:save(out))
    out:close()
    local expected = counted(a, b)
    local before = rows_of(a)
    assert.same(expected, rows_of(a:merge(b)))
    assert.same(expected, rows_of(b:merge(a)))
    assert.same(expected, rows_of(assert(perflua.load(path))))
    assert.same(before, rows_of(a))
    local seen = {}
    for row in a:merge(b):sort("callchain"):rows() do
      local key = {}
      for i, frame in ipairs(row.callchain) do key[i] = identity_of_frame(frame) end
      key = table.concat(key, "\n")
      assert.is_true(rawequal(seen[key] or row.callchain, row.callchain))
      seen[key] = row.callchain
    end
  end)

  it("are refused where they are damaged", function()
    local t, path = made(write(0, 12)), files.temporary()
    assert(t:save(path))
    local text = files.read(path)
    local function refused(from, to)
      local changed, n = text:gsub(from, to, 1)
      assert.equal(1, n)
      local loaded, message = perflua.load(files.temporary(changed))
      assert.is_nil(loaded)
      assert.matches("damaged: byte %d+: a call stack before here expected", message)
    end
    refused("@kernel;", "@kernal;")
    refused("@kernel;", "@99,kernel;")
    refused("@kernel;", "@0,kernel;")
    refused(";0x", ";x")
    refused(";0xf", ";0x12345678901234567f")
    refused('user;"', "user;")
    refused(';~;', ";\"1;")
    refused(';~;', ";\"0g;")
  end)

  it("are CSV with the text of the stack, and JSON with frames", function()
    local csv, json_path = files.temporary(), files.temporary()
    local b, sample = recording { kernel, "- map 7 1000-3000 /bin/a" }
    sample(1, 7, { KERNEL, READ, USER, 0x1010 })
    local file <close> = assert(perflua.open(b:write(), options))
    local t = file:samples():group_by("callchain"):count():sort()
    assert(t:csv(csv))
    assert.equal("callchain,count\n[a];read,1\n", files.read(csv))
    assert(t:json(json_path))
    assert.equal([[
[
{"callchain":[{"address":"0xffffffff81000104","dso":"[kernel.kallsyms]","ip":"0xffffffff81000104","kind":"kernel",]]
      .. [["symbol":"read","symoff":4},{"address":"0x10","dso":"/bin/a","ip":"0x1010","kind":"user"}],"count":1}
]
]], files.read(json_path))
  end)

end)

describe("Stacks in every container", function()
  --- Samples of processes that have the same binary at different addresses, enough for several
  --- workers.
  local function shared(n)
    local rounds, head = {}, { { "comm", { pid = 1, tid = 1, comm = "one" } } }
    for pid = 1, 8 do
      head[#head + 1] = { "mmap", { pid = pid, tid = pid, addr = pid << 20, len = 1 << 16,
        filename = "/bin/sh" } }
    end
    for i = 1, n do
      local round, cpu, pid = (i - 1) // 100 + 1, i // 7 % 2, i % 8 + 1
      rounds[round] = rounds[round] or { [0] = {}, {} }
      local list = { USER }
      for k = 1, i % 11 do list[#list + 1] = (pid << 20) + k * 16 + i // 100 % 3 end
      table.insert(rounds[round][cpu], { "sample", 1, {
        identifier = 1, ip = list[2] or 4096, pid = pid, tid = pid, time = 1000 + 10 * i,
        cpu = cpu, period = i % 5,
        callchain = list, raw = ("x"):rep(i % 40 * 16 + 4),
      } })
    end
    return {
      events = { { name = "one", ids = { 1 },
        sample_type = { "identifier", "ip", "tid", "time", "cpu", "period", "callchain",
          "raw" } } },
      head = head, rounds = rounds,
    }
  end

  local function answer(path, jobs)
    local file <close> = assert(perflua.open(path, { jobs = jobs }))
    local found = {}
    for row in file:samples():group_by("cpu", "callchain"):sum("period"):distinct("callchain")
        :sort():rows() do
      local parts = { row.cpu }
      for _, frame in ipairs(row.callchain or {}) do
        parts[#parts + 1] = identity_of_frame(frame)
      end
      found[table.concat(parts, "\n")] = { row.period, row.distinct_callchain }
    end
    return found
  end

  it("are the same", function()
    local what = shared(2000)
    local expected = answer(containers.list[1].write(what), 1)
    for _, c in ipairs(containers.list) do
      local path = not c.old and c.write(what)
      for _, jobs in ipairs(path and { 1, 3 } or {}) do
        assert.same({ c.name, expected }, { c.name, answer(containers.through(c, path), jobs) })
      end
    end
  end)

  it("have the ip of the first record, by however many workers", function()
    local path = containers.list[1].write(shared(20000))
    local function ips(jobs)
      local file <close> = assert(perflua.open(path, { jobs = jobs }))
      local found = {}
      for row in file:samples():group_by("callchain"):count():sort():rows() do
        for _, frame in ipairs(row.callchain) do found[frame.address] = frame.ip end
      end
      return found
    end
    local one = ips(1)
    assert.equal(2 << 20 | 16, one[16])
    assert.same(one, ips(2))
    assert.same(one, ips(4))
  end)
end)

describe("callchain as a key", function()
  it("needs a recording that has call chains", function()
    local b = builder.new()
    b:event { sample_type = { "ip", "tid" } }
    local file <close> = assert(perflua.open(b:write()))
    assert.error_matches(function()
      file:samples():group_by "callchain"
    end, "no record .* has a field 'callchain'")
  end)

  it("is counted, not measured in other ways", function()
    local b, sample = recording { kernel }
    sample(1, 7, { KERNEL, READ })
    local file <close> = assert(perflua.open(b:write(), options))
    for _, name in ipairs { "min", "max", "sum", "first", "last" } do
      assert.error_matches(function()
        local query = file:samples():group_by "pid"
        return query[name](query, "callchain")
      end, "cannot measure callchain")
    end
    assert.equal(1, file:samples():where "callchain ~= nil":group_by("callchain"):count()
      :sort()[1].count)
    assert.error_matches(function() file:samples():group_by "callchain[1]" end, "is a view")
  end)
end)

describe("Stacks of real recordings", function()
  for _, name in ipairs {
    "recorded/amd64-7.2/defer-z.data", "recorded/amd64-7.2/dwarf.data",
    "recorded/arm64/fp-g.data",
    "recorded/armhf/fp-g.data",
    "collected/CaoYucong__CWM-project/assignment1/perf.data.old",
    "collected/NanXiao__images/perf/perf.data",
  } do
    needs.it("corpus", "are those of the samples: " .. name, function()
      assert.is_true(same(corpus.root .. "/" .. name,
        { symfs = "spec/fixtures/empty", kallsyms = "/dev/null" }) > 0)
    end)
  end
end)
