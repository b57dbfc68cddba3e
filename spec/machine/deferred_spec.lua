-- Call chains whose user part was recorded later.
local builder = require "spec.support.builder"
local corpus = require "spec.support.corpus"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local perflua = require "perflua"

local KERNEL, USER, DEFERRED = -128 & -1, -512 & -1, -640 & -1

local function chain_of(sample)
  local chain = {}
  for i, frame in ipairs(sample.callchain) do
    chain[i] = frame.ip
  end
  return chain
end

local function chains_of(path, order)
  local list = {}
  local file <close> = assert(perflua.open(path))
  for s in file:samples { order = order } do
    list[#list + 1] = chain_of(s)
  end
  return list
end

--- A builder and a function that adds a sample of a thread whose chain ends with a cookie.
local function recording(options)
  local b = builder.new(options)
  local event = b:event { sample_type = { "ip", "tid", "time", "callchain" },
    defer_callchain = true }
  return b, function(tid, time, cookie)
    b:sample(event, { ip = 0xffff1000, pid = 7, tid = tid, time = time,
      callchain = { KERNEL, 0xffff1000, DEFERRED, cookie } })
  end
end

local function later(b, tid, time, cookie, ips)
  b:record("callchain_deferred", { cookie = cookie, ips = ips },
    { pid = 7, tid = tid, time = time })
end

describe("a call chain whose user part comes later", function()
  it("has it, of the thread and the cookie", function()
    local b, sample = recording()
    sample(7, 10, 1)
    sample(8, 11, 1)
    sample(7, 12, 1)
    later(b, 7, 20, 1, { USER, 0x1000, 0x2000 })
    later(b, 8, 21, 1, { USER, 0x3000 })
    sample(7, 30, 2)
    later(b, 7, 40, 2, { USER, 0xffffffff0, 0x10, 0x7fffffffffff })
    assert.same({
      { 0xffff1000, 0x1000, 0x2000 }, { 0xffff1000, 0x3000 }, { 0xffff1000, 0x1000, 0x2000 },
      { 0xffff1000, 0xffffffff0, 0x10, 0x7fffffffffff },
    }, chains_of(b:write()))
  end)

  it("has what is known when it does not come", function()
    local b, sample = recording()
    sample(7, 10, 1)
    later(b, 7, 20, 2, { USER, 0x1000 })
    assert.same({ { 0xffff1000 } }, chains_of(b:write()))
  end)

  it("is user code, and what the file holds stays what it is", function()
    local b, sample = recording()
    sample(7, 10, 5)
    later(b, 7, 20, 5, { USER, 0x1000 })
    local file <close> = assert(perflua.open(b:write()))
    local chain = file:samples():first().callchain
    assert.equal("kernel", chain[1].cpumode)
    assert.equal("user", chain[2].cpumode)
    assert.equal(4, #chain.ips)
    assert.equal(5, chain.cookie)
  end)

  it("is found in either order, byte order and container", function()
    for _, options in ipairs { {}, { endian = "big" }, { container = "pipe" } } do
      local b, sample = recording(options)
      sample(7, 10, 1)
      later(b, 7, 20, 1, { USER, 0x1000 })
      local path = b:write()
      assert.same({ { 0xffff1000, 0x1000 } }, chains_of(path, "time"))
      assert.same({ { 0xffff1000, 0x1000 } }, chains_of(path, "file"))
    end
  end)

  it("comes with many others", function()
    local b, sample = recording()
    local expected = {}
    for i = 1, 3000 do
      local ips = { USER }
      for depth = 1, i % 30 do
        ips[depth + 1] = 0x7f0000000000 + i % 97 * 4096 + depth * depth
      end
      sample(i % 10, 2 * i, i)
      later(b, i % 10, 2 * i + 1, i, ips)
      expected[i] = { 0xffff1000, table.unpack(ips, 2) }
    end
    assert.same(expected, chains_of(b:write()))
  end)

  it("does not believe a count that the record has not", function()
    local b, sample = recording()
    sample(7, 10, 1)
    b:raw(22, 2, string.pack("<I8I8I8I4I4I8", 1, 1 << 61, 0x1000, 7, 7, 20))
    assert.same({ { 0xffff1000 } }, chains_of(b:write()))
  end)

  needs.it("corpus", "is as the recording's own perf has it", function()
    local root = corpus.root .. "/recorded/amd64-7.2/"
    for _, name in ipairs { "defer.data", "defer-z.data" } do
      local perfs, ours, key = {}, {}, nil
      for line in files.lines("gzip -dc "
          .. files.quote(root .. "expected/" .. name .. ".script.txt.gz")) do
        local tid, time = line:match "^%S.-%s(%d+)%s[%s%d%[%]]-%s(%d+%.%d+):"
        if tid then
          key = tid .. " " .. time
          perfs[key] = {}
        elseif line:match "^%s+%x+ " then
          table.insert(perfs[key], tonumber(line:match "^%s+(%x+) ", 16))
        end
      end
      local file <close> = assert(perflua.open(root .. name))
      for s in file:samples() do
        ours[("%d %d.%06d"):format(s.tid, s.time // 1000000000, s.time % 1000000000 // 1000)] =
          chain_of(s)
      end
      assert.same(perfs, ours)
    end
  end)
end)
