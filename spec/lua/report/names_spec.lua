-- Names as perf report prints them.
local names = require "spec.support.model.report.names"

local known = { ["/lib/modules/6.1/fs/ext4.ko"] = "[ext4]",
  ["/tmp/perf-4711.map"] = "[JIT] tid 4711" }
local name_of = names.dsos(known)

describe("a binary's short name", function()
  it("is the part after the last slash", function()
    assert.are.equal("libc.so.6", name_of "/usr/lib/x86_64-linux-gnu/libc.so.6")
    assert.are.equal("x (deleted)", name_of "/tmp/x (deleted)")
    assert.are.equal("anon", name_of "//anon")
  end)

  it("is the whole name if that is not a path", function()
    for _, name in ipairs { "[kernel.kallsyms]", "[ext4]", "[vdso]", "[unknown]", "a.out" } do
      assert.are.equal(name, name_of(name))
    end
  end)

  it("is the core's name for modules and for code made at run time", function()
    assert.are.equal("[ext4]", name_of "/lib/modules/6.1/fs/ext4.ko")
    assert.are.equal("[JIT] tid 4711", name_of "/tmp/perf-4711.map")
  end)

  it("is [unknown] where there is no binary", function()
    assert.are.equal("[unknown]", name_of(false))
  end)
end)

describe("an unknown function", function()
  it("is an address of 16 digits", function()
    assert.are.equal("0x000000000000ca69", names.symbol(0xca69))
    assert.are.equal("0xffffffff81000000", names.symbol(-0x7f000000))
  end)
end)
