-- perflua cut: chosen samples, and what they need.
local builder = require "spec.support.builder"
local core = require "perflua.core"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local rewritten = require "spec.support.rewritten"
local run = require "spec.cli.run"

local named = rewritten.named

describe("perflua cut", function()
  for _, case in ipairs {
    { "--time 20%-40%", "20%", "40%" }, { "--time 90%-99%", "90%", "99%" },
    { "--comm sort", nil, nil, "comm == 'sort'" },
    { "--where \"find(comm, 'o') and period > 0\"", nil, nil,
      "find(comm, 'o') and period > 0" },
  } do
    it("has the samples of " .. case[1] .. ", with their names", function()
      local path = rewritten.path()
      local got = run.shell_with(("\"$perflua\" cut %s \"$1\" -o \"$2\""):format(case[1]),
        run.demo, path)
      assert.are.same({ 0, "" }, { got.status, got.err })
      local file <close> = assert(perflua.open(run.demo))
      local copy <close> = assert(perflua.open(path))
      local query = file:samples { expand = false }
      if case[2] then query = query:between(case[2], case[3]) end
      if case[4] then query = query:where(case[4]) end
      local expected = named(query)
      assert.is_true(#expected > 0)
      assert.are.same(expected, named(copy:samples { expand = false }))
      assert.matches(("^%s: %d samples? in %%d+ records?, "):format(
        (path:gsub("%p", "%%%0")), #expected), got.out)
      assert.is_true(copy.size < file.size)
      assert.are.equal(0, #copy.damage)
      local times = copy.features.sample_time
      assert.are.same({ copy:samples():min "time", copy:samples():max "time" },
        { times.first, times.last })
    end)
  end

  it("makes parts that have all samples together", function()
    local file <close> = assert(perflua.open(run.demo))
    local parts, all = {}, {}
    local middle = file:samples():quantile("time", 0.5)
    for i, range in ipairs { { nil, middle }, { middle, nil } } do
      parts[i] = rewritten.open(file:samples { expand = false }:between(range[1], range[2]))
      for _, line in ipairs(named(parts[i]:samples { expand = false })) do
        all[#all + 1] = line
      end
    end
    table.sort(all)
    assert.are.same(named(file:samples { expand = false }), all)
  end)

  it("leaves out threads that no sample needs, but not their ancestors", function()
    local file <close> = assert(perflua.open(run.demo))
    local sort = file:samples { expand = false }:where "comm == 'sort'"
    local copy <close> = rewritten.open(sort)
    assert.are.same(rewritten.named(sort), rewritten.named(copy:samples { expand = false }))
    local needed, comms = {}, {}
    for s in sort do needed[s.tid] = true end
    for r in copy:records("comm") do comms[r.tid] = true end
    for tid in pairs(needed) do assert.is_true(comms[tid], tid) end
    local function count(from, kind) return from:records(kind):count() end
    assert.is_true(count(copy, "mmap2") < count(file, "mmap2"))
    assert.is_true(count(copy, "comm") < count(file, "comm"))
    local parents = {}
    for fork in file:records("fork") do parents[fork.tid] = fork.ptid end
    for fork in copy:records("fork") do
      local is_needed
      for tid in pairs(needed) do
        while tid and not is_needed do
          is_needed = tid == fork.tid
          tid = parents[tid]
        end
      end
      assert.is_true(is_needed, fork.tid)
    end
    local by_function = copy:samples():where(function() return true end)
    local whole <close> = rewritten.open(by_function)
    assert.are.equal(count(copy, "comm"), count(whole, "comm"))
  end)

  it("leaves out what came after the chosen time", function()
    local file <close> = assert(perflua.open(run.demo))
    local middle = file:samples():quantile("time", 0.5)
    local copy <close> = rewritten.open(file:samples { expand = false }:between(nil, middle))
    assert.is_true(copy:records():where("time ~= nil"):max "time" < middle)
    local comms = file:records("comm"):where(("time == nil or time < %d"):format(middle))
    assert.is_true(comms:count() >= copy:records("comm"):count())
  end)

  it("has what tells of threads and the kernel's code from before the chosen time", function()
    local b = builder.new {}
    local event = b:event { sample_type = { "ip", "tid", "time" }, sample_id_all = true }
    for tid = 7, 8 do
      b:record("namespaces", { pid = tid, tid = tid, namespaces = { { dev = 1, ino = tid } } },
        { pid = tid, tid = tid, time = tid })
    end
    b:record("mmap", { pid = 0, tid = 0, addr = 1, len = 2, filename = "[kernel.kallsyms]",
      misc = 1 })
    b:record("mmap", { pid = 8, tid = 8, addr = 1, len = 2, filename = "/bin/8", misc = 2 })
    b:record("text_poke", { addr = 1, old = "a", new = "b" }, { time = 9 })
    b:record("bpf_event", { bpf_type = 1, prog_id = 5, tag = "0123456789abcdef" }, { time = 9 })
    b:record("switch", {}, { pid = 7, tid = 7, time = 9 })
    b:sample(event, { ip = 1, pid = 7, tid = 7, time = 10 })
    b:sample(event, { ip = 1, pid = 7, tid = 7, time = 20 })
    local file <close> = assert(perflua.open(b:write()))
    local copy <close> = rewritten.open(file:samples():between(15, 25))
    local found = {}
    for r in copy:records() do found[#found + 1] = r.type .. " " .. r.tid end
    -- the mapping is the kernel's
    assert.are.same({ "namespaces 7", "mmap 0", "text_poke 0", "bpf_event 0", "sample 7" },
      found)
  end)

  local MIXED <const> = { { "identifier", "ip", "tid", "time" },
    { "identifier", "tid", "time", "period" } }
  local ALIKE <const> = { MIXED[1], MIXED[1] }

  -- Returns a recording that workers share: threads that fork others, and samples of two
  -- events, some of them out of the order of time, and some at time 0 if `parts` differ.
  local function large(parts, endian)
    local b = builder.new { endian = endian }
    local events = {}
    for i = 1, 2 do
      events[i] = b:event { config = i, ids = { i }, sample_type = parts[i],
        sample_id_all = true }
    end
    b:record("mmap2", { pid = 10, tid = 10, addr = 1, len = 2, filename = "/bin/10" })
    for i = 1, 30000 do
      local tid = 10 + i // 1000
      if i % 1000 == 0 then
        local trailer = { pid = tid - 1, tid = tid - 1, time = i, identifier = 1 }
        b:record("fork", { pid = tid, tid = tid, ppid = tid - 1, ptid = tid - 1, time = i },
          trailer)
        b:record("comm", { pid = tid, tid = tid, comm = "t" .. tid }, trailer)
        b:record("switch", {}, trailer)
        b:record("aux", { aux_offset = i, aux_size = 1, flags = 0 }, trailer)
        b:record("stat_round", { round_type = 1, time = i })
      end
      for _ = 1, i % 500 // 498 do b:record("finished_round", {}) end
      local has_time = parts == ALIKE or i % 7 > 0
      b:sample(events[i % 3 == 0 and 2 or 1], { identifier = i % 3 == 0 and 2 or 1, ip = i,
        pid = tid, tid = tid, period = i, time = has_time and i + i * 7919 % 50 or 0 })
      if i % 3000 < 2 then b:record("finished_round", {}) end
    end
    return b:write()
  end

  local function times_of(file, from, to)
    local found = {}
    for s in file:samples { order = "file" } do
      if s.time >= (from or 0) and s.time < (to or 1 << 40) then
        found[#found + 1] = s.tid .. s.event.index .. s.time
      end
    end
    return found
  end

  for name, path in pairs {
    ["events that differ"] = large(MIXED), ["events alike"] = large(ALIKE),
    ["the other byte order"] = large(ALIKE, "big"),
  } do
    it("is the same by time alone, and where another condition is tested: " .. name, function()
      local file <close> = assert(perflua.open(path))
      for _, range in ipairs { { 5010, 5020 }, { nil, 20123 }, { 29990, nil }, { 0, 1 << 40 } }
      do
        local chosen = file:samples { expand = false }:between(range[1], range[2])
        local paths = {}
        for i, query in ipairs { chosen, chosen:where "tid > 0" } do
          paths[i] = rewritten.path()
          assert(query:write(paths[i]))
        end
        assert.is_true(files.read(paths[1]) == files.read(paths[2]))
        local copy <close> = assert(perflua.open(paths[1]))
        local expected = times_of(file, range[1], range[2])
        assert.are.same(expected, times_of(copy))
        assert.is_true(#expected > 0)
      end
      local last <close> = rewritten.open(file:samples():between(29990, nil))
      local forks = {}
      for r in last:records("fork") do forks[#forks + 1] = r.tid end
      assert.are.equal(30, #forks) -- each is an ancestor of the last
      assert.are.equal(11, forks[1])
      local early <close> = rewritten.open(file:samples():between(5010, 5020))
      assert.are.equal(5, early:records("fork"):count())
    end)
  end

  it("copies what a time has without a second look at each record", function()
    local path = large(ALIKE)
    local got = run.shell_with('"$perflua" cut --timing --time "$1" "$2" -o "$3"', "0.1%-99%",
      path, rewritten.path())
    assert.are.equal(0, got.status)
    assert.matches("\n  outline ", got.err)
    assert.is_nil(got.err:find "groups")
    got = run.shell_with([["$perflua" cut --time 3%-9% "$1" -o - >"$2" 2>/dev/null
      "$perflua" cut --time 3%-9% --pipe "$1" -o "$2.file" && cmp "$2" "$2.file"
      "$perflua" cut --time 3%-9% "$1" -o - 2>/dev/null | cmp - "$2"]], path,
      rewritten.path())
    assert.are.same({ 0, "" }, { got.status, got.err })
  end)

  it("keeps what samples need whose event is not known", function()
    for parts, count in pairs { [{ "identifier", "tid", "time" }] = 2,
      [{ "identifier", "tid", "time", "period" }] = 1 } do
      local b = builder.new {}
      b:event { ids = { 1 }, sample_type = { "identifier", "tid", "time" } }
      b:event { ids = { 2 }, sample_type = parts }
      for tid = 7, 10 do
        b:record("comm", { pid = tid, tid = tid, comm = "t" .. tid })
      end
      for i = 1, 100 do
        local tid = i < 50 and 7 or 8
        b:sample(b.events[1], { identifier = tid == 7 and 5 or 1, pid = tid, tid = tid,
          time = i })
      end
      local file <close> = assert(perflua.open(b:write()))
      local copy <close> = rewritten.open(file:samples():between(1, 60))
      local comms = {}
      for r in copy:records "comm" do comms[#comms + 1] = r.comm end
      assert.are.same(count == 2 and { "t7", "t8" } or { "t8" }, comms)
      assert.are.equal(count == 2 and 59 or 10, copy:samples():count())
    end
  end)

  -- A recording of 16 MB, of which a range of time has all.
  local function dense()
    local b = builder.new {}
    b:event { ids = { 1 }, sample_type = { "identifier", "tid", "time" } }
    for i = 1, 1000 do b:sample(b.events[1], { identifier = 1, pid = 7, tid = 7, time = i }) end
    local bytes = b:bytes()
    local at, n = string.unpack("<I8I8", bytes, 41)
    return files.temporary(bytes:sub(1, 48) .. string.pack("<I8", 500 * n) .. bytes:sub(57, at)
      .. bytes:sub(at + 1, at + n):rep(500) .. bytes:sub(at + n + 1))
  end

  it("ends soon after an interrupt, with what was copied until then", function()
    local got = run.shell_with([[
      rm "$2" && mkfifo "$2"
      "$perflua" cut --time 0,1 "$1" -o - >"$2" 2>/dev/null & pid=$!
      { head -c 1 >/dev/null; kill -INT $pid; wc -c; } <"$2"
      wait $pid]], dense(), files.temporary())
    assert.are.equal(130, got.status)
    assert.is_true(tonumber(got.out) < 8e6, got.out)
  end)

  it("fails if the recording changes between the look at it and the copy", function()
    local outline = core.outline
    finally(function() core.outline = outline end)
    for how, said in pairs { ["r+b"] = "the recording changed", w = "found .- expected" } do
      local path, target = large(ALIKE), rewritten.path()
      files.output("touch -d 2020-01-01 " .. path)
      local file <close> = assert(perflua.open(path))
      core.outline = function(...)
        local found = outline(...)
        local changed <close> = assert(io.open(path, how))
        changed:seek("set", 100000)
        changed:write "other"
        return found
      end
      warn "@off"
      local ok, message = file:samples():between(5010, nil):write(target)
      warn "@on"
      assert.is_nil(ok)
      assert.matches(said, message)
      assert.is_false(files.exists(target))
    end
  end)

  it("says what is missing or wrong", function()
    local path = rewritten.path()
    for words, said in pairs {
      ["cut -o x"] = "an option that chooses samples is missing",
      ["cut --comm sort"] = "-o OUT says where to write the recording",
      ["cut --comm nobody -o " .. path] = "no sample is chosen: nothing is written",
      ["convert --level 99 -o x"] = "'99' is not a level from 1 to %d+",
      ["convert -o spec/write/cut_spec.lua"] = "cut_spec.lua: the file exists; %-%-force",
      ["convert -o /dev/full"] = "No space left on device",
    } do
      local got = run.shell_with(("\"$perflua\" %s \"$1\""):format(words), run.demo)
      assert.is_true(got.status ~= 0, words)
      assert.matches(said, got.err)
      assert.is_false(files.exists(path))
    end
    assert.are.equal(2, run.perflua { "cut", "-o", "x", run.demo }.status)
  end)

  needs.it("perf", "is read by perf as the same samples", function()
    local path = rewritten.path()
    local got = run.shell_with([[
      "$perflua" cut --time 20%-60% --compress "$1" -o "$2" >/dev/null || exit
      perf script -F comm,tid,time,event,ip,sym,dso --time 20%-60% -i "$1" >"$2.1" 2>/dev/null
      perf script -F comm,tid,time,event,ip,sym,dso -i "$2" >"$2.2" 2>/dev/null
      test -s "$2.1" && cmp "$2.1" "$2.2"]], run.demo, path)
    assert.are.same({ status = 0, out = "", err = "" }, got)
  end)
end)
