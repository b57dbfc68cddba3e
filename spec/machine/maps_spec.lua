-- Mappings over time.
local mapped = require "spec.support.mapped"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local system = require "spec.support.system"

local UNTIMED = { "ip", "tid" }

-- Cases of mappings and the binaries that samples get from them, in agreement with perf but for
-- `unlike_perf`.
local cases = {
  { "is the one that covers it, from its first byte to its last", {
    "- map 7 1000-3000 /bin/a",
    "- map 7 3000-4000 /bin/b",
    "10 sample 7 fff in [unknown]",
    "11 sample 7 1000 in /bin/a",
    "12 sample 7 2fff in /bin/a",
    "13 sample 7 3000 in /bin/b",
    "14 sample 7 4000 in [unknown]",
  } },
  { "is not known before it was mapped, nor of another process", {
    "10 sample 7 1000 in [unknown]",
    "20 map 7 1000-2000 /bin/a",
    "20 sample 7 1000 in /bin/a",
    "30 sample 8 1000 in [unknown]",
    "31 sample -1 1000 in [unknown]",
  } },
  { "is the last one, also where it covers a part of another", {
    "- map 7 1000-5000 /bin/a",
    "10 map 7 2000-3000 /bin/b",
    "20 sample 7 1fff in /bin/a",
    "21 sample 7 2000 in /bin/b",
    "22 sample 7 2fff in /bin/b",
    "23 sample 7 3000 in /bin/a",
    "30 map 7 0-2800 /bin/c",
    "31 sample 7 1000 in /bin/c",
    "32 sample 7 27ff in /bin/c",
    "33 sample 7 2800 in /bin/b",
    "40 map 7 2900-6000 /bin/d",
    "41 sample 7 2fff in /bin/d",
    "42 sample 7 4000 in /bin/d",
    "50 map 7 1000-5000 /bin/e",
    "51 sample 7 fff in /bin/c",
    "52 sample 7 5000 in /bin/d",
    "53 sample 7 4fff in /bin/e",
  } },
  { "is the last of those mapped at one time", {
    "10 map 7 1000-2000 /bin/a",
    "10 map 7 1000-2000 /bin/b",
    "10 sample 7 1000 in /bin/b",
  } },
  { "is inherited by a fork, as it was then", {
    "- map 7 1000-3000 /bin/a",
    "10 fork 8 from 7",
    "11 sample 8 1000 in /bin/a",
    "20 map 7 1000-2000 /bin/late",
    "21 sample 8 1000 in /bin/a",
    "22 sample 7 1000 in /bin/late",
    "30 map 8 2000-3000 /bin/own",
    "31 sample 8 2000 in /bin/own",
    "32 sample 8 1fff in /bin/a",
    "33 sample 7 2000 in /bin/a",
    "40 fork 9 from 8",
    "41 map 8 0-3000 /bin/new",
    "42 sample 9 1000 in /bin/a",
    "43 sample 9 2000 in /bin/own",
    "44 sample 8 2000 in /bin/new",
  } },
  { "is kept by exec where nothing else is mapped", {
    "- map 7 1000-3000 /bin/sh",
    "10 map 7 1000-2000 /bin/cat",
    "20 sample 7 1000 in /bin/cat",
    "21 sample 7 2000 in /bin/sh",
  } },
  { "is not inherited by what perf found running", {
    "- map 1 1000-2000 /sbin/init",
    "- found 8 from 1",
    "- map 8 3000-4000 /bin/a",
    "10 sample 8 1000 in [unknown]",
    "11 sample 8 3000 in /bin/a",
  } },
  { "is that of the new process when a pid is taken again", {
    "- map 5 1000-2000 /bin/sh",
    "- map 6 5000-6000 /bin/make",
    "10 fork 8 from 5",
    "11 map 8 3000-4000 /bin/a",
    "12 sample 8 3000 in /bin/a",
    "20 fork 8 from 6",
    "21 sample 8 3000 in [unknown]",
    "22 sample 8 1000 in [unknown]",
    "23 sample 8 5000 in /bin/make",
    "24 map 8 3000-4000 /bin/b",
    "25 sample 8 3000 in /bin/b",
  } },
  { "is where its records say, whatever their order in the file", {
    "40 sample 8 1000 in /bin/b",
    "25 sample 8 1000 in /bin/a",
    "30 map 8 1000-2000 /bin/b",
    "15 sample 8 1000 in /bin/sh",
    "20 map 8 1000-2000 /bin/a",
    "5 sample 8 1000 in [unknown]",
    "10 fork 8 from 7",
    "8 map 7 1000-2000 /bin/sh",
  }, unlike_perf = true },
  { "was there from the beginning, of what perf writes only at the end", {
    "10 sample 7 1000 in /bin/old",
    "11 sample 7 3000 in /lib/c",
    "20 map 7 1000-2000 /bin/new",
    "30 sample 7 1000 in /bin/new",
    "31 sample 7 1fff in /bin/new",
    "- map 7 1000-2000 /bin/old",
    "- map 7 3000-4000 /lib/b",
    "- map 7 3000-4000 /lib/c",
  }, unlike_perf = true },
  { "was not there of what perf found when the pid was another process", {
    "10 sample 8 3000 in [unknown]",
    "20 fork 8 from 7",
    "30 sample 8 3000 in /lib/c",
    "- map 8 3000-4000 /lib/c",
  }, unlike_perf = true },
  { "of old records is executable unless it is marked as data", {
    "10 mmap 7 1000-2000 //anon",
    "20 sample 7 1000 in /tmp/perf-7.map",
    "30 data 7 2000-3000 //anon",
    "40 sample 7 2000 in //anon",
  } },
  { "reaches up to the end of all addresses", {
    "10 map 7 1000-fffffffffffff000 /bin/a",
    "20 sample 7 ffffffffffffefff in /bin/a",
    "21 sample 7 fffffffffffff000 in [unknown]",
  } },
}

-- Forks in a row; each process runs, and maps something of its own if `own`.
local function chain(own)
  local lines = { "- map 1 1000-2000 /bin/first" }
  for pid = 2, 1000 do
    local time = 10 * pid
    lines[#lines + 1] = ("%d fork %d from %d"):format(time, pid, pid - 1)
    if own then
      lines[#lines + 1] = ("%d map %d 3000-4000 /lib/%d"):format(time + 1, pid, pid)
    end
    lines[#lines + 1] = ("%d sample %d 1000 in /bin/first"):format(time + 2, pid)
    if own then
      lines[#lines + 1] = ("%d sample %d 3000 in /lib/%d"):format(time + 3, pid, pid)
    end
  end
  return lines
end

table.insert(cases, { "is inherited down a chain of a thousand forks", chain(false) })
table.insert(cases, { "is inherited down a chain of a thousand forks with maps of their own",
  chain(true) })
table.insert(cases, { "is not known where processes forked each other at one time", {
  "10 map 7 1000-2000 /bin/a",
  "20 fork 8 from 7",
  "20 fork 7 from 8",
  "30 sample 7 1000 in [unknown]",
  "31 sample 8 1000 in [unknown]",
  "32 map 8 1000-2000 /bin/b",
  "33 fork 9 from 8",
  "34 sample 9 1000 in /bin/b",
}, unlike_perf = true })

describe("what was mapped at an address", function()
  for _, case in ipairs(cases) do
    it(case[1], function()
      for _, options in ipairs { {}, { endian = "big" } } do
        local path, dsos = mapped.written(case[2], options)
        local file <close> = assert(perflua.open(path))
        assert.are.same(dsos, mapped.dsos(file))
      end
    end)

    if not case.unlike_perf then
      it(case[1] .. ", in a pipe and without times, too", function()
        local path, dsos = mapped.written(case[2], { container = "pipe" })
        local file <close> = assert(perflua.open(path))
        assert.are.same(dsos, mapped.dsos(file))
        local untimed <close> = assert(perflua.open((mapped.written(case[2], {}, UNTIMED))))
        assert.are.same(dsos, mapped.dsos(untimed))
      end)
    end

    if not case.unlike_perf then
      needs.it("perf", case[1] .. ", as perf says", function()
        local path = mapped.written(case[2])
        local file <close> = assert(perflua.open(path))
        assert.are.same(mapped.of_perf(path), file:samples():select("time", "dso"):collect())
      end)
    end
  end

  it("is shared by the threads of a process", function()
    local b = system.builder()
    mapped.add(b, { "- map 7 1000-2000 /bin/a" })
    system.add(b, { "10 fork 7/8 from 7/7" })
    mapped.add(b, { "20 map 7 3000-4000 /bin/b" })
    b:sample(b.events[1], { ip = 0x1000, pid = 7, tid = 8, time = 30, misc = 2 })
    b:sample(b.events[1], { ip = 0x3000, pid = 7, tid = 8, time = 31, misc = 2 })
    local file <close> = assert(perflua.open(b:write()))
    assert.are.same({ "/bin/a", "/bin/b" }, mapped.dsos(file))
  end)

  it("is not that of another recording whose clock differs", function()
    warn "@off"
    local paths = {}
    for i, name in ipairs { "/bin/a", "/bin/b" } do
      local b = system.builder()
      b:feature("hostname", "host " .. i)
      mapped.add(b, { "10 map 7 1000-2000 " .. name, "20 sample 7 1000" })
      paths[i] = b:write()
    end
    local file <close> = assert(perflua.open(paths))
    assert.are.same({ "/bin/a", "/bin/b" }, mapped.dsos(file))
  end)
end)

-- Maps, forks and samples of `processes` (4) at random, and the binary of each sample by a
-- replay of them. With `deep` most processes are forked from the last one that was.
local function at_random(n, processes, deep)
  local lines, spaces, latest = {}, {}, 1
  processes = processes or 4
  for pid = 1, processes do spaces[pid] = {} end
  for time = 1, n do
    local what, pid = math.random(10), math.random(processes)
    if what == 1 or deep and what < 6 and math.random(10) < 9 then
      local parent = deep and math.random(20) > 1 and latest or math.random(processes)
      latest = pid
      if parent ~= pid then
        lines[#lines + 1] = ("%d fork %d from %d"):format(time, pid, parent)
        spaces[pid] = table.move(spaces[parent], 1, #spaces[parent], 1, {})
      end
    elseif what < 7 then
      local start = math.random(0, 60)
      local map = { start, start + math.random(1, time % 5 == 0 and 60 or 8), "/lib/" .. time }
      lines[#lines + 1] = ("%d map %d %x-%x %s"):format(time, pid, map[1], map[2], map[3])
      table.insert(spaces[pid], map)
    else
      local address, dso = math.random(0, 80), "[unknown]"
      for _, map in ipairs(spaces[pid]) do
        if map[1] <= address and address < map[2] then
          dso = map[3]
        end
      end
      lines[#lines + 1] = ("%d sample %d %x in %s"):format(time, pid, address, dso)
    end
  end
  return lines
end

describe("what was mapped by many maps that overlap", function()
  it("is the last of them at each time", function()
    for seed = 1, 5 do
      math.randomseed(seed)
      local lines = at_random(seed * 600)
      for _, options in ipairs { {}, { container = "pipe" } } do
        local path, dsos = mapped.written(lines, options)
        local file <close> = assert(perflua.open(path))
        assert.are.same(dsos, mapped.dsos(file))
      end
    end
  end)

  it("is inherited down long chains of forks, some of them with maps", function()
    for seed = 1, 3 do
      math.randomseed(seed)
      local lines = at_random(3000, 500, true)
      for _, options in ipairs { {}, { container = "pipe" } } do
        local path, dsos = mapped.written(lines, options)
        local file <close> = assert(perflua.open(path))
        assert.are.same(dsos, mapped.dsos(file))
      end
    end
  end)

  it("is the same when they lie in the file in any order", function()
    for _, processes in ipairs { 4, 500 } do
      math.randomseed(7)
      local lines = at_random(2000, processes, processes > 4)
      for i = #lines, 2, -1 do
        local k = math.random(math.max(1, i - 40), i)
        lines[i], lines[k] = lines[k], lines[i]
      end
      for _, options in ipairs { {}, { container = "pipe" } } do
        local path, dsos = mapped.written(lines, options)
        local file <close> = assert(perflua.open(path))
        assert.are.same(dsos, mapped.dsos(file))
      end
    end
  end)
end)

describe("maps() of a thread", function()
  local function listed(maps)
    local list = {}
    for i, m in ipairs(maps) do
      list[i] = ("%x-%x@%x %s"):format(m.start, m.start + m.len, m.pgoff, m.filename)
    end
    return list
  end

  local path = mapped.written {
    "- found 7 from 1",
    "- map 7 1000-5000@100 /bin/a",
    "- data 7 7000-8000 [heap]",
    "10 fork 8 from 7",
    "20 map 8 2000-3000 /bin/b",
    "30 map 7 0-9000 /bin/all",
    "40 fork 8 from 9",
  }

  it("are those that hold then, by address, as later ones left them", function()
    local file <close> = assert(perflua.open(path))
    assert.are.same({ "1000-2000@100 /bin/a", "2000-3000@0 /bin/b", "3000-5000@2100 /bin/a",
      "7000-8000@0 [heap]" },
      listed(file:thread(8, 25).maps()))
    assert.are.same({ "1000-5000@100 /bin/a", "7000-8000@0 [heap]" },
      listed(file:thread(8, 15).maps()))
    assert.are.same({}, listed(file:thread(8).maps()))
    assert.are.same({ "0-9000@0 /bin/all" }, listed(file:thread(7).maps()))
  end)

  it("are those that resolve() finds", function()
    local file <close> = assert(perflua.open(path))
    local found = file:resolve(8, 0x3500, 25)
    assert.are.equal("/bin/a", found.dso)
    assert.are.equal(0x1000, found.map.start)
    assert.is_nil(file:resolve(8, 0x3500, 45))
    assert.are.equal("/bin/all", file:resolve(7, 0x3500).dso)
  end)
end)
