-- Names as perf report prints them.
local names = require "perflua.report.names"

describe("a binary's short name", function()
  it("is what stands behind the last slash", function()
    assert.are.equal("libc.so.6", names.dso "/usr/lib/x86_64-linux-gnu/libc.so.6")
    assert.are.equal("x (deleted)", names.dso "/tmp/x (deleted)")
    assert.are.equal("anon", names.dso "//anon")
  end)

  it("is the name itself where that is no path", function()
    for _, name in ipairs { "[kernel.kallsyms]", "[ext4]", "[vdso]", "[unknown]", "a.out" } do
      assert.are.equal(name, names.dso(name))
    end
  end)

  it("tells whose code it is that was made at run time", function()
    assert.are.equal("[JIT] tid 4711", names.dso "/tmp/perf-4711.map")
  end)

  it("is [unknown] where there is no binary", function() assert.are.equal("[unknown]", names.dso(false)) end)
end)

describe("a function that is not known", function()
  it("is an address of 16 digits", function()
    assert.are.equal("0x000000000000ca69", names.symbol(0xca69))
    assert.are.equal("0xffffffff81000000", names.symbol(-0x7f000000))
  end)
end)
