-- The recording in spec/fixtures and what perf counts in it: see the README there.
local files = require "spec.support.files"
local perflua = require "perflua"

describe("the demo recording", function()
  local file

  setup(function()
    file = assert(perflua.open(files.fixture "demo.perf.data"))
  end)

  teardown(function()
    file:close()
  end)

  it("has as many records of each type as perf counts", function()
    local counts = {}
    for r in file:records({ order = "file", container = true }):each() do
      counts[r.type] = (counts[r.type] or 0) + 1
    end
    assert.are.same({
      mmap = 1, mmap2 = 52, comm = 13, fork = 11, exit = 12, sample = 672, id_index = 1,
      thread_map = 1,
      cpu_map = 1, event_update = 2, finished_init = 1, finished_round = 1,
    }, counts)
  end)

  it("has as many samples of each event as perf counts", function()
    local names = {}
    for i, event in ipairs(file.events) do
      names[i] = event.name
    end
    assert.are.same({ "cpu-clock", "page-faults", "context-switches" }, names)
    assert.are.equal(457, file:samples("cpu-clock"):count())
    assert.are.equal(39, file:samples("page-faults"):count())
    assert.are.equal(176, file:samples("context-switches"):count())
    assert.are.equal(672, file:samples():count())
  end)

  it("says on what it was made and how", function()
    local features = file.features
    assert.are.equal("demo", features.hostname)
    assert.are.equal("x86_64", features.arch)
    assert.are.equal("6.1.187", features.version)
    assert.are.equal(2, features.nrcpus.online)
    assert.are.equal("record", features.cmdline[2])
    assert.are.equal("-F", features.cmdline[6])
    assert.are.equal("1200", features.cmdline[7])
    assert.is_true(features.cmdline[#features.cmdline]:find("sort -R", 1, true) ~= nil)
  end)

  it("has its first and last sample when perf says", function()
    assert.are.equal(1718320686, file.first_time // 1000)
    assert.are.equal(1718685844, file.last_time // 1000)
  end)

  it("has call chains that begin where the sample was", function()
    local with_chain = 0
    for s in file:samples("cpu-clock"):each() do
      if s.callchain and #s.callchain > 0 then
        with_chain = with_chain + 1
        assert.are.equal(s.ip, s.callchain[1].ip)
      end
    end
    assert.is_true(with_chain > 400)
  end)

  it("is complete and without damage", function()
    assert.is_true(file.complete)
    assert.are.equal(0, #file.damage)
  end)
end)
