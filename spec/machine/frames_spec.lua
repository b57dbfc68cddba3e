-- The frames of call chains, whichever way they were recorded.
local builder = require "spec.support.builder"
local corpus = require "spec.support.corpus"
local needs = require "spec.support.needs"
local perflua = require "perflua"

local KERNEL, USER, GUEST = -128 & -1, -512 & -1, -2560 & -1

describe("the frames of a call chain", function()
  it("have the mode of the marker before them, which is none of them", function()
    local b = builder.new()
    local event = b:event { sample_type = { "ip", "tid", "time", "callchain" } }
    b:sample(event, { ip = 1, pid = 7, callchain = { 1, KERNEL, 2, USER, 3, GUEST, 4 } })
    local file <close> = assert(perflua.open(b:write()))
    local list = {}
    for i, frame in ipairs(file:samples():first().callchain) do
      list[i] = frame.ip .. " " .. frame.cpumode
    end
    assert.same({ "1 user", "2 kernel", "3 user", "4 guest_user" }, list)
  end)

  it("are each sample's own where its bytes are in the place of another's", function()
    local b = builder.new()
    local event = b:event { sample_type = { "ip", "tid", "time", "callchain", "branch_stack" },
      branch_sample_type = { "user", "call_stack" } }
    for i = 1, 50 do
      b:sample(event, { ip = 0x2000 + i, pid = 7, time = i, callchain = { USER, 9 },
        branch_stack = { { from = 0x1000 + i, to = 0x2000 } } })
    end
    local file <close> = assert(perflua.open(b:write()))
    local n = 0
    file:run {
      sample = function(s)
        n = n + 1
        assert.equal(0x2000 + s.time, s.callchain[1].ip)
        assert.equal(0x1000 + s.time, s.callchain[2].ip)
        assert.equal(0x2000 + s.time, s.callchain[1].ip)
      end,
    }
    assert.equal(50, n)
  end)

  needs.it("corpus", "can be had of every sample of every real recording", function()
    local frames = 0
    for _, recording in ipairs(corpus.recordings()) do
      local file = perflua.open(recording.path)
      for s in file and file:samples { order = "file" } or function() end do
        for _, frame in ipairs(s.callchain or {}) do
          frames = frames + (frame.ip and 1)
        end
      end
      if file then
        file:close()
      end
    end
    assert.is_true(frames > 100000)
  end)
end)
