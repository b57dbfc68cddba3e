-- The order of time where several threads find out what lies where: of large recordings.
local builder = require "spec.support.builder"
local core = require "perflua.core"
local files = require "spec.support.files"
local in_order = require "spec.support.in_order"
local perflua = require "perflua"
local timed = require "spec.support.timed"

local NONE, NEVER, PERFS = timed.NONE, timed.NEVER, timed.PERFS

-- All kinds of order: long enough for many partitions, some of which begin, and one of which is
-- all, without a time.
local function mixed(seed)
  local random, times = timed.random(seed), timed.rounds(7000)
  local function add(n, fn)
    for i = 1, n do times[#times + 1] = fn(i) end
  end
  add(4000, function()
    return ({ [0] = NONE, PERFS, NEVER })[random(5)] or 1 + random(2000000000)
  end)
  add(5000, function() return random(2) == 0 and NONE or PERFS end)
  add(4000, function(i) return 1000000000 + i // 100 end)
  add(3000, function() return 1 + random(20000) end)
  add(3000, function(i) return i % 3 == 0 and 4000 - i or PERFS end)
  return times
end

local function written(times, after)
  local b = timed.builder()
  local stream = timed.add(b, times, after)
  return b:write(), stream
end

local function read(path, threads, options)
  local file <close> = assert(perflua.open(path, { jobs = threads }))
  return timed.read(file, options), file.damage, file.complete
end

describe("a large recording", function()
  local path, stream = written(mixed(1), 0)

  it("is in the order of time, however many threads there are", function()
    assert.is_true(#files.read(path) > 1 << 20)
    local expected = timed.pids_of(in_order.exactly { stream })
    for _, threads in ipairs { 1, 2, 3, 7 } do
      local found, damage = read(path, threads)
      timed.same(expected, found)
      assert.same({}, damage)
    end
  end)

  it("is so if the pass that counts its records finds out what lies where", function()
    local expected = timed.pids_of(in_order.exactly { stream })
    for _, threads in ipairs { 1, 2, 3 } do
      local file <close> = assert(perflua.open(path, { jobs = threads, timing = true }))
      core.count(file, { names = true, order = true })
      timed.same(expected, timed.read(file))
      local names = {}
      for i, pass in ipairs(file:timing().passes) do names[i] = pass.what end
      assert.same({ "counts of records", "loop" }, names)
    end
  end)

  it("is so beside another one", function()
    local second, other = written(mixed(2), #stream)
    local expected = timed.pids_of(in_order.exactly { stream, other })
    for _, threads in ipairs { 1, 4 } do
      timed.same(expected, (read({ path, second }, threads)))
    end
  end)

  it("is read by one thread if it is damaged", function()
    warn "@off"
    local whole = files.read(path)
    local at = #whole // 2 // 8 * 8
    local damaged = files.temporary(whole:sub(1, at) .. ("\0"):rep(512) .. whole:sub(at + 513))
    local found, damage, complete = read(damaged, 1)
    assert.is_true(#damage > 0 and not complete)
    for _, threads in ipairs { 2, 4 } do
      local again, same = read(damaged, threads)
      timed.same(found, again)
      assert.same(damage, same)
    end
  end)

  it("is looped over with threads that explain() tells of", function()
    local function threads_of(of, threads)
      local file <close> = assert(perflua.open(of, { jobs = threads }))
      return file:records():select("pid"):explain():match "workers +([^\n]+)"
    end
    assert.equal("2: values are made ahead of the loop", threads_of(path, 4))
    assert.equal("1", threads_of(path, 1))
    assert.equal("1: the input is small", threads_of(written({ 1, 2 }), 4))
  end)

  it("is read once by several threads, even if the stacks that it copies hold records which "
    .. "lead from one copy to the next", function()
    local SIZE, AT, N = 512, 104, 6000
    local b = builder.new()
    local event = b:event { sample_type = { "ip", "tid", "time", "stack_user" },
      sample_stack_user = SIZE }
    for i = 1, N do
      -- a sample of the same size, which ends in the next copy before the sample there
      local stack = ("\0"):rep(AT - 8) .. ("<I8"):pack(64)
        .. ("<I4I2I2I8I4I4I8I8"):pack(9, 2, 48 + SIZE, 4096, 9, 9, i, SIZE)
      b:sample(event, { ip = 4096, pid = 7, tid = 7, time = 1000000 + i,
        stack_user = stack .. ("\0"):rep(SIZE - #stack), dyn_size = SIZE })
    end
    local of = b:write()
    local file <close> = assert(perflua.open(of, { jobs = 2, timing = true }))
    local rows = file:samples():group_by("tid"):count():collect()
    assert.same({ 1, 7, N }, { #rows, rows[1].tid, rows[1].count })
    local bytes = 0
    for _, stage in ipairs(file:timing().passes[1].stages) do
      bytes = bytes + (stage.bytes or 0)
    end
    assert.is_true(bytes < 1.1 * #files.read(of), bytes)
  end)
end)
