-- perflua annotate of functions that are not as they should be.
local binaries = require "spec.support.binaries"
local builder_elf = require "spec.support.builder_elf"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local run = require "spec.cli.run"

local PATH <const> = "/opt/odd"

-- Returns a binary with this code, whose segment is mapped at 0x400000 below, and symbols.
local function elf(code, symbols, machine)
  local list = {}
  for i, one in ipairs(symbols) do
    list[i] = { name = one[1], value = one[2], size = one[3], section = ".text" }
  end
  return builder_elf.pack { machine = machine or 62, symbols = list, sections = {
    { name = ".text", data = code, flags = 6 },
    { name = ".rodata", data = ("\xcc"):rep(64), flags = 2 },
  } }
end

-- Writes the binary into a tree, and a recording of samples at offsets in its code. Returns
-- the words of the command.
local function sampled(tree, bytes, offsets)
  tree:write("opt/odd", bytes)
  local text <const> = 0x80 -- where builder_elf puts the first section
  local path = binaries.recorded({ { filename = PATH, len = 0x2000000 } },
    (function()
      local ips = {}
      for i, offset in ipairs(offsets) do ips[i] = 0x400000 + text + offset end
      return ips
    end)(), { misc = 2 })
  return { "annotate", "--symfs", tree.path, "--any-binary", path }
end

local function annotate(words, ...)
  local all = table.move(words, 1, #words, 1, {})
  local got = run.perflua(table.move({ ... }, 1, select("#", ...), #all + 1, all))
  assert.same({ 0, "" }, { got.status, got.err })
  return got.out
end

needs.describe("capstone", "perflua annotate", function()
  local tree = binaries.tree()

  it("shows what is there of a function that is larger than its code", function()
    local words = sampled(tree, elf("\x90\x90\x90\xc3", { { "large", 0, 100 } }), { 1, 50 })
    local text = annotate(words, "large")
    assert.matches("# the file lacks the last 96 bytes of the function\n", text, 1, true)
    assert.matches("# 1 sample beyond the code that is there\n", text, 1, true)
    assert.matches(" 50.00        nop\n", text, 1, true)
    assert.is_nil(text:find("int3", 1, true)) -- of the next section
    assert.are.equal(4, select(2, text:gsub("nop", "")) + select(2, text:gsub("retq", "")))
  end)

  it("counts each sample once where a function lies in another", function()
    local code = ("\x90"):rep(15) .. "\xc3"
    local words = sampled(tree, elf(code, { { "outer", 0, 16 }, { "inner", 4, 4 } }),
      { 1, 4, 6, 6, 9 })
    local file <close> = assert(perflua.open(words[5], { symfs = tree.path,
      any_binary = true }))
    local seen, sizes = {}, {}
    for _, name in ipairs { "outer", "inner" } do
      local listing = file:annotate(name)
      sizes[name] = #listing
      for _, line in ipairs(listing) do
        local n = line.samples["cpu-clock"]
        if n then seen[line.address & 0xff] = (seen[line.address & 0xff] or 0) + n end
      end
    end
    assert.are.same({ [0x81] = 1, [0x84] = 1, [0x86] = 2, [0x89] = 1 }, seen)
    assert.are.same({ outer = 16, inner = 4 }, sizes)
  end)

  it("shows the hot parts of a function of 10 MB", function()
    local size <const> = 10 << 20
    local code = ("\x90"):rep(size - 1) .. "\xc3"
    local words = sampled(tree, elf(code, { { "huge", 0, size } }), { 5 << 20, size - 1 })
    local text = annotate(words)
    assert.are.equal("...\nnop\nnop\nnop\nnop\n50.00 nop\nnop\nnop\nnop\nnop\n...\nnop\nnop\n"
      .. "nop\nnop\n50.00 ← retq\n", (text:match("Percent\n(.*)"):gsub(" *huge%(%):\n", "")
      :gsub(" +", " "):gsub("\n ", "\n"):gsub("^ ", "")))
  end)

  it("shows offsets of code that libcapstone does not know, and says so", function()
    local SPARC <const> = 43
    local words = sampled(tree, elf(("\0"):rep(16), { { "far", 0, 16 } }, SPARC), { 4, 8, 8 })
    local text = annotate(words, "far")
    assert.matches("# no instructions: libcapstone does not know the code of this machine: "
      .. tree.path .. PATH, text, 1, true)
    assert.matches("\n 33.33 +4: *\n 66.67 +8: *\n", text)
  end)
end)
