local suggest = require "perflua.errors.suggest"

describe("the closest name", function()
  it("takes the fewest edits, swapped letters counting as one", function()
    assert.equal("period", suggest.closest("perdio", { "pid", "period", "perf" }))
    assert.equal("comm", suggest.closest("com", { "cpu", "comm", "command" }))
    assert.equal("mmap2", suggest.closest("MMAP2", { "mmap", "mmap2" }))
  end)

  it("is one that begins with at least three letters, if none is closer", function()
    assert.equal("samples", suggest.closest("samp", { "records", "samplings", "samples" }))
    assert.equal("same", suggest.closest("samp", { "samples", "same" }))
    assert.is_nil(suggest.closest("re", { "records" }))
  end)

  it("is the first in the alphabet among equals, and none of none", function()
    assert.equal("a", suggest.closest("x", { "b", "a" }))
    assert.is_nil(suggest.closest("x", {}))
    assert.equal("wrong", suggest.message("wrong", "x", {}))
  end)
end)
