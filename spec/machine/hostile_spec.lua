-- Recordings nobody's kernel writes: names are found in them, too, and cost no more than
-- others.
local containers = require "spec.support.containers"
local files = require "spec.support.files"
local perflua = require "perflua"
local system = require "spec.support.system"

-- far more than it takes; what takes as much as the square of its size takes minutes
local SECONDS = 10

-- Records of system.builder's event; the builder takes too long for so many.
local pack = {
  comm = function(time, tid, name)
    name = name .. ("\0"):rep(8 - #name % 8)
    return string.pack("<I4I2I2I4I4", 3, 0, 32 + #name, tid, tid) .. name
      .. string.pack("<I4I4I8", tid, tid, time)
  end,
  fork = function(time, tid, ptid)
    return string.pack("<I4I2I2I4I4I4I4I8I4I4I8", 7, 0, 48, tid, ptid, tid, ptid, time, tid,
      tid, time)
  end,
  exit = function(time, tid)
    return string.pack("<I4I2I2I4I4I4I4I8I4I4I8", 4, 0, 48, tid, tid, tid, tid, time, tid, tid,
      time)
  end,
  ksymbol = function(time, addr, len)
    return string.pack("<I4I2I2I8I4I2I2c8I4I4I8", 17, 0, 48, addr, len, 1, 0, "program", 0, 0,
      time)
  end,
  sample = function(time, tid)
    return string.pack("<I4I2I2I8I4I4I8", 9, 2, 32, 4096, tid, tid, time)
  end,
}

--- A list of n records, each as fn(i) says: its kind and what that takes.
local function records(n, fn)
  local list = {}
  local function add(kind, ...)
    list[#list + 1] = pack[kind](...)
  end
  for i = 1, n do
    add(fn(i))
  end
  return list
end

--- Opens records and calls fn(names, file, way), within the time; in every way there is to read
--- them.
local function quickly(list, fn)
  local b = system.builder { container = "pipe" }
  b:raw(68, 0, "", nil, table.concat(list)) -- after a record that ends a round
  local path = b:write()
  for _, way in ipairs { "file", "time", "file order" } do
    local file <close> = assert(perflua.open(way == "file" and path or containers.stream(path)))
    local before = os.clock()
    local found = file:samples({ order = way == "file order" and "file" or "time" })
      :select("comm"):collect()
    fn(found, file, way)
    assert.is_true(os.clock() - before < SECONDS, way)
  end
end

local N = 100000

describe("names of threads", function()
  it("are found in a chain of very many forks", function()
    local list = records(N, function(i) return "fork", i, i + 1, i end)
    table.insert(list, 1, pack.comm(0, 1, "first"))
    list[#list + 1] = pack.sample(N + 1, N + 1) .. pack.sample(N + 2, 50)
    quickly(list, function(found, file)
      assert.are.same({ "first", "first" }, found)
      assert.are.equal(N + 1, #file:threads())
    end)
  end)

  it("are found for each process in a chain of very many forks", function()
    local list = { pack.comm(0, 1, "first") }
    for i = 1, N do
      list[#list + 1] = pack.fork(2 * i, i + 1, i)
      list[#list + 1] = pack.sample(2 * i + 1, i + 1)
    end
    quickly(list, function(found)
      assert.are.equal(N, #found)
      assert.are.same({ "first", "first" }, { found[1], found[N] })
    end)
  end)

  it("are found in a chain of nameless forks whose records come late", function()
    local list = records(N / 2, function(i) return "fork", i, i + 1, i end)
    for i = 1, N / 2 do
      list[#list + 1] = pack.exit(1, 1)
      list[#list + 1] = pack.sample(N + i, N / 2 + 1)
    end
    quickly(list, function(found)
      assert.are.same({ N / 2, ":" .. N // 2 + 1 }, { #found, found[1] })
    end)
  end)

  it("are found in a ring of forks", function()
    local list = records(N, function(i) return "fork", 10, 1 + i % 9, 1 + (i + 1) % 9 end)
    list[#list + 1] = table.concat(records(2000, function(i)
      return "sample", 20 + i, 1 + i % 9
    end))
    quickly(list, function(found)
      assert.are.equal(2000, #found)
      assert.are.equal(":2", found[1])
    end)
  end)

  for _, kind in ipairs { "comm", "fork", "exit" } do
    local function record(time, i)
      return kind, time, 7, kind == "comm" and "name " .. i or 7
    end

    it(("where one thread has very many %ss, their times descending"):format(kind), function()
      local list = records(N, function(i) return record(2 * N - 2 * i + 2, i) end)
      list[#list + 1] = table.concat(records(2000, function(i)
        return "sample", 2 * (i * 50 % N) + 3, 7
      end))
      quickly(list, function(found, file, way)
        assert.are.equal(2000, #found)
        if kind == "comm" and way == "file" then
          assert.are.equal("name " .. N - 50, file:samples({ order = "file" }):first().comm)
        end
      end)
    end)

    it(("where one thread has very many %ss at one time"):format(kind), function()
      local list = records(N, function(i) return record(10, i) end)
      list[#list + 1] = table.concat(records(2000, function(i)
        return "sample", 10 - i % 2, 7
      end))
      quickly(list, function(found)
        assert.are.same({ ":7", kind == "comm" and "name " .. N or ":7" },
          { found[1], found[2000] })
      end)
    end)
  end

  it("are found if every record is of another thread", function()
    local list = records(N, function(i) return "comm", i, i * 4096, "name " .. i end)
    list[#list + 1] = pack.sample(N + 1, 4096)
    quickly(list, function(found, file)
      assert.are.same({ "name 1" }, found)
      assert.are.equal(N, #file:threads())
    end)
  end)
end)

describe("binaries", function()
  it("are found if very many have one name and one address", function()
    local list = records(N, function(i) return "ksymbol", i, 1 << 63, i + 1 end)
    list[#list + 1] = pack.sample(N + 1, 7)
    quickly(list, function(_, file)
      local found = file:resolve(7, 1 << 63, N)
      assert.are.same({ "program", N + 1 }, { found.symbol, found.map.len })
    end)
  end)
end)

describe("a recording of threads that was damaged", function()
  it("anywhere, or cut, is read to what can be read of it", function()
    warn "@off"
    local list = { "- comm 7/7 sh" }
    for i = 1, 40 do
      table.move({
        ("%d fork %d/%d from 7/7"):format(i * 10, 10 + i, 10 + i),
        ("%d exec %d/%d name %d"):format(i * 10 + 1, 10 + i, 10 + i, i),
        ("%d sample %d/%d"):format(i * 10 + 2, 10 + i, 10 + i),
        ("%d exit %d/%d"):format(i * 10 + 3, 10 + i, 10 + i),
      }, 1, 4, #list + 1, list)
    end
    local path = system.written(list)
    local whole = files.read(path)
    local seed = 4711
    local function random(n)
      seed = seed * 6364136223846793005 + 1442695040888963407
      return (seed >> 33) % n
    end
    local opened = 0
    for _ = 1, 600 do
      local bytes = whole
      for _ = 1, 1 + random(4) do
        local at = random(#bytes)
        bytes = bytes:sub(1, at) .. string.char(random(256)) .. bytes:sub(at + 2)
      end
      files.write(path, random(3) == 0 and bytes:sub(1, random(#bytes)) or bytes)
      local file <close> = perflua.open(path)
      if file then
        opened = opened + 1
        for r in file:records():each() do
          assert.is_true(r.tid == nil and r.comm == nil or #r.comm >= 0)
        end
        for _, thread in ipairs(file:threads()) do
          assert.is_table(file:thread(thread.tid))
          file:thread(thread.tid, random(500))
        end
      end
    end
    assert.is_true(opened > 300, opened)
  end)
end)
