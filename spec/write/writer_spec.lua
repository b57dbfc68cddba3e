-- perflua.writer: recordings to which a script writes record by record.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local oracle = require "spec.support.oracle"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local rewritten = require "spec.support.rewritten"
local run = require "spec.cli.run"

local function named(query)
  local list = {}
  for s in query do
    list[#list + 1] = ("%s %d %s %s %s"):format(s.event, s.time, s.comm, s.dso, s.symbol)
  end
  return list
end

-- Writes what choose(record) accepts of all samples; returns the path and the summary.
local function write_samples(file, choose, options)
  local path = rewritten.path()
  local writer = assert(perflua.writer(path, file, options))
  for s in file:samples { expand = false } do
    if choose(s) then assert(writer:write(s)) end
  end
  return path, assert(writer:close())
end

local function is_third()
  local n = 0
  return function()
    n = n + 1
    return n % 3 == 0
  end
end

describe("perflua.writer", function()
  for name, options in pairs { file = {}, pipe = { pipe = true }, zstd = { compress = 1 } } do
    it("writes the samples that a script chooses, with their names: " .. name, function()
      local file <close> = assert(perflua.open(run.demo))
      local path, summary = write_samples(file, is_third(), options)
      local copy <close> = assert(perflua.open(path))
      local chosen, choose = {}, is_third()
      for _, line in ipairs(named(file:samples { expand = false })) do
        if choose() then chosen[#chosen + 1] = line end
      end
      assert.is_true(#chosen > 100)
      assert.are.same(chosen, named(copy:samples { expand = false }))
      assert.are.equal(#chosen, summary.samples)
      assert.are.equal(#files.read(path), summary.bytes)
      assert.are.equal(0, #copy.damage)
    end)
  end

  needs.it("perf script", "writes what perf reads without complaint", function()
    local file <close> = assert(perflua.open(run.demo))
    local path = write_samples(file, function(s) return s.comm == "sort" end)
    local cut = rewritten.path()
    assert(file:samples { expand = false }:where("comm == 'sort'"):write(cut))
    assert.are.same(oracle.script(cut, "comm,time,event,ip,sym"),
      oracle.script(path, "comm,time,event,ip,sym"))
  end)

  it("takes all records of a script that writes them all", function()
    local file <close> = assert(perflua.open(run.demo))
    for _, sideband in ipairs { true, false } do
      local path = rewritten.path()
      do
        local writer <close> = assert(perflua.writer(path, file, { sideband = sideband }))
        for r in file:records { container = true, order = "file" } do
          assert(writer:write(r))
        end
      end
      local copy <close> = assert(perflua.open(path))
      local expected, found = rewritten.both(file, copy, {})
      if sideband then
        table.sort(expected)
        table.sort(found)
      end
      assert.are.same(expected, found)
    end
  end)

  it("writes samples of callbacks, and one of several counter values once", function()
    local file <close> = assert(perflua.open(files.fixture "perf-7.3/group.data"))
    local path, n = rewritten.path(), 0
    local writer = assert(perflua.writer(path, file))
    file:run { sample = function(s) n = n + 1 assert(writer:write(s)) end }
    local summary = assert(writer:close())
    assert.is_true(n > 0)
    assert.is_true(n > summary.samples)
    assert.are.equal(file:samples { expand = false }:count(), summary.samples)
  end)

  it("takes records of another recording whose events are the same", function()
    local file <close> = assert(perflua.open(run.demo))
    local other <close> = assert(perflua.open(run.demo))
    local b = builder.new()
    b:sample(b:event { type = 1 }, { ip = 1, pid = 2, tid = 3, time = 4 })
    local foreign <close> = assert(perflua.open(b:write()))
    local path = rewritten.path()
    local writer = assert(perflua.writer(path, file))
    local first = other:samples():first()
    assert.is_true(writer:write(first))
    local ok, message, code = writer:write(foreign:samples():first())
    assert.are.same({ nil, "EINVAL" }, { ok, code })
    assert.matches("a record of another recording, whose event this one does not have", message)
    assert.are.same({ nil, message, code }, { writer:close() })
    assert.is_false(files.exists(path))
  end)

  it("leaves no file unless it is closed", function()
    local file <close> = assert(perflua.open(run.demo))
    local path = rewritten.path()
    local ok = pcall(function()
      local writer <close> = assert(perflua.writer(path, file))
      assert(writer:write(file:samples():first()))
      error "the script's own"
    end)
    assert.is_false(ok)
    assert(perflua.writer(path, file))
    collectgarbage()
    assert.is_false(files.exists(path))
    assert.are.equal("", run.shell_with("ls -A \"$1\"* 2>/dev/null", path).out)
  end)

  it("replaces a file only by force, and never the recording that is read", function()
    local path = files.temporary(files.read(run.demo))
    local file <close> = assert(perflua.open(path))
    local old = files.temporary "old"
    local refused = { perflua.writer(old, file) }
    assert.are.same({ nil, old .. ": the file exists", "EEXIST" }, refused)
    assert.are.equal("EBUSY", (select(3, perflua.writer(path, file, { force = true }))))
    assert(assert(perflua.writer(old, file, { force = true })):close())
    local copy <close> = assert(perflua.open(old))
    assert.are.equal(0, copy:samples():count())
    assert.is_true(copy:records():count() > 0)
  end)

  it("says what is wrong with a call", function()
    local file <close> = assert(perflua.open(run.demo))
    local path = rewritten.path()
    for message, call in pairs {
      ["a path expected, got a number"] = function() perflua.writer(1, file) end,
      ["a File expected, got a nil"] = function() perflua.writer(path) end,
      ["unknown option 'sidebands'"] = function()
        perflua.writer(path, file, { sidebands = true })
      end,
      ["compress: an integer from 1 to 2 expected, got 3"] = function()
        perflua.writer(path, file, { compress = 3 })
      end,
      ["a Writer has no method 'finish'"] = function()
        local _ = assert(perflua.writer(path, file, { force = true })).finish
      end,
      ["the Writer is closed"] = function()
        local writer = assert(perflua.writer(path, file, { force = true }))
        writer:close()
        writer:write(file:samples():first())
      end,
      ["record"] = function()
        assert(perflua.writer(path, file, { force = true })):write(7)
      end,
      ["closed"] = function()
        local other = assert(perflua.open(run.demo))
        local writer = assert(perflua.writer(path, other, { force = true }))
        local kept = other:samples():first():copy()
        other:close()
        writer:write(kept)
      end,
    } do
      assert.error_matches(call, message)
    end
    assert.matches("No such file", select(2, perflua.writer("/nowhere/at/all", file)))
  end)

  it("writes records of a stream, which it cannot read before", function()
    local script = run.script [[
      local file = assert(perflua.open "-")
      assert(not perflua.writer(arg[1], file, { sideband = true }))
      local writer = assert(perflua.writer(arg[1], file, { force = true }))
      for r in file:records { container = true, order = "file" } do assert(writer:write(r)) end
      print(assert(writer:close()).samples)
    ]]
    local pipe = files.temporary()
    local file <close> = assert(perflua.open(run.demo))
    assert(file:records { container = true }:write(pipe, { pipe = true, force = true }))
    local path = rewritten.path()
    local got = run.shell_with("cat \"$1\" | \"$perflua\" \"$2\" \"$3\"", pipe, script, path)
    assert.matches("^%d+\n$", got.out)
    local copy <close> = assert(perflua.open(path))
    assert.are.same(named(file:samples { expand = false }),
      named(copy:samples { expand = false }))
  end)
end)
