-- Which memory is live: how much is remembered of it.
local live = require "perflua.waits.live"

local function row() return { allocs = 0, requested = 0, allocated = 0, frees = 0, freed = 0,
    moved = 0, left = 0,
  left_bytes = 0 } end

describe("memory that is live", function()
  it("is all that is remembered for long", function()
    local memory, all, most = live.new(), row(), 0
    memory:alloc(all, 1, 8, 8, 0)
    for ptr = 100, 100000 do
      memory:alloc(all, ptr, 8, 8, 0)
      memory:free(ptr, 0)
      most = math.max(most, memory.places)
    end
    memory:finish()
    assert.are.same({ 1, 8, 99901, 0 }, { all.left, all.left_bytes, all.frees, memory.unknown })
    assert.is_true(most <= 4096)
  end)

  it("is followed up to a limit, beyond which it is counted", function()
    local memory, all = live.new(), row()
    for ptr = 1, (1 << 20) + 5 do memory:alloc(all, ptr << 4, 8, 8, 0) end
    memory:alloc(all, 1 << 4, 8, 8, 0)
    memory:finish()
    assert.are.same({ 5, 1, 1 << 20 }, { memory.unfollowed, memory.unseen, all.left })
  end)
end)
