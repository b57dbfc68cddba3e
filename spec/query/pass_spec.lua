-- How many threads read a recording, and how it lies in files, changes no answer.
local builder = require "spec.support.builder"
local containers = require "spec.support.containers"
local corpus = require "spec.support.corpus"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local run = require "spec.cli.run"
local shared = require "spec.support.shared"

local sanitized = run.binary:find("/san/", 1, true) ~= nil

---Returns the answer of one thread, asserted to be that of several.
local function agreed(path)
  local one = shared.answers(path, 1)
  for _, threads in ipairs { 2, 4 } do assert.same(one, shared.answers(path, threads)) end
  return one
end

local SAMPLE = 9 -- PERF_RECORD_SAMPLE

local recording = shared.recording(6000)
local plain

setup(function() plain = containers.list[1].write(recording) end)

describe("a recording that several threads read", function()
  it("is answered as by one, and as by Lua", function()
    assert.are.equal(4, shared.threads_of(plain, 4))
    local got = agreed(plain)
    assert.same({}, got.damage)
    assert.are.equal(6000, got.counts.types[SAMPLE].count)
    assert.same(shared.answers(plain, 1, true), got)
  end)

  it("is answered alike in every container", function()
    local expected = shared.answers(plain, 1).rows
    for _, c in ipairs(containers.list) do
      local tried = c.name:find "little" and not c.name:find "compressed2"
        and not c.name:find "directory of"
      if tried or c.name:find "^file, big" then
        local path = c.write(recording)
        if c.seekable then
          local got = agreed(path)
          assert.same({ c.name, {} }, { c.name, got.damage })
          assert.same({ c.name, expected }, { c.name, got.rows })
        else
          for i = 1, shared.QUESTIONS do
            local got = shared.answer(containers.through(c, path), i, 4)
            assert.same({ c.name, expected[i] }, { c.name, got })
          end
        end
      end
    end
  end)

  it("is answered alike with others beside it", function()
    local other = builder.new()
    local event = other:event { sample_type = { "tid", "time" } }
    for i = 1, 100 do other:sample(event, { pid = i, tid = i, time = i }) end
    agreed({ plain, other:write(), containers.list[2].write(shared.recording(500)) })
  end)

  it("may hold what looks like records", function()
    local b = builder.new()
    b:event(recording.events[1])
    b:event(recording.events[2])
    local id = { identifier = 10, ip = 9, pid = 1, tid = 1, time = 9, cpu = 0, period = 1 }
    local fake = b:apart(function()
      for _ = 1, 60 do
        b:record("comm", { pid = 1, tid = 1, comm = "nobody" }, id)
        b:sample(b.events[1], id)
      end
    end)
    -- with 4 bytes before them, as they come in raw data, they lie where records can
    for _, size in ipairs { #fake, 1000, 40 } do
      local raw = "\0\0\0\0" .. fake:sub(1, size // 8 * 8)
      local path = containers.list[1].write(shared.recording(1500, function() return raw end))
      local got = agreed(path)
      assert.same({}, got.damage)
      assert.same(shared.answers(path, 1, true), got)
      for _, row in ipairs(got.rows[1]) do assert.are_not.equal("nobody", row.comm) end
    end
  end)

  it("may hold traces after records", function()
    local with = shared.recording(3000)
    for i, round in ipairs(with.rounds) do
      round[0][#round[0] + 1] = { "auxtrace", { data = ("t"):rep(i * 1000) } }
    end
    assert.same({}, agreed(containers.list[1].write(with)).damage)
  end)

  it("is damaged in the same places for all", function()
    local size = #files.read(plain)
    for _, at in ipairs { 0.2, 0.5, 0.8 } do
      local path = shared.with(plain, math.floor(size * at), ("\255"):rep(2000))
      local got = agreed(path)
      assert.is_true(#got.damage > 0)
      assert.is_false(got.complete)
    end
  end)

  it("may be cut off", function()
    local path = files.temporary(files.read(plain):sub(1, 1500001))
    local got = agreed(path)
    assert.is_true(#got.damage > 0)
  end)
end)

describe("the recordings of the corpus", function()
  it("are answered by four threads as by one", function()
    if not corpus.root then return end
    for path in files.lines("find " .. files.quote(corpus.root)
        .. " -size +1000k -size -8000k -name '*.data*' -not -path '*/expected/*'") do
      agreed(path)
    end
  end)
end)

describe("a file that changes while threads read it", function()
  it("is damaged, or cannot be read", function()
    local path = files.temporary(files.read(plain))
    local got = run.shell_with([[
      (for i in 1 2 3 4 5 6 7 8 9 10 11 12; do truncate -s 700000 "$1"; sleep 0.01; cat "$3" >"$1"; sleep 0.01; done) &
      "$perflua" "$2" "$1"; code=$?; wait; exit $code]], path, run.script [[
      warn "@off"
      local perflua = require "perflua"
      for i = 1, 30 do
        pcall(function()
          local file <close> = assert(perflua.open(arg[1], { jobs = 4 }))
          require("perflua.core").count(file)
          file:samples():group_by("comm"):count():sort()
        end)
      end
      print "done"
    ]], plain)
    assert.are.equal("done\n", got.out)
  end)
end)

describe("a recording that is larger than memory may be", function()
  if sanitized then return end

  needs.it("this architecture", "is read", function()
    -- the records of the plain one again and again
    local bytes = files.read(plain)
    local offset, size = string.unpack("<I8I8", bytes, 41)
    local times, path = 120, files.temporary()
    local out = assert(io.open(path, "wb"))
    -- no features
    out:write(bytes:sub(1, 48), string.pack("<I8", size * times), bytes:sub(57, 72),
      ("\0"):rep(32))
    out:write(bytes:sub(105, offset))
    for _ = 1, times do out:write(bytes:sub(offset + 1, offset + size)) end
    out:close()
    for _, threads in ipairs { 1, 4 } do
      local got = run.shell_with('ulimit -v 190000; "$perflua" "$1" "$2" ' .. threads, run.script [[
        local file = assert(require "perflua".open(arg[1], { jobs = tonumber(arg[2]) }))
        print(#file.damage, require("perflua.core").count(file).types[9].count)
        for row in file:samples():all_events():group_by("cpu"):count():sort():rows() do print(row.cpu, row.count) end
      ]], path)
      assert.are.equal("", got.err)
      assert.matches("^0\t720000\n", got.out)
    end
    os.remove(path)
  end)
end)
