-- Bundles as perflua pack does not write them: see src/symbols/bundle.h.
local builder = require "spec.support.builder"
local perflua = require "perflua"
local run = require "spec.cli.run"

local BUNDLE <const> = 250
local STRINGS <const>, BINARY <const> = 0, 1
local ID <const>, SYMBOLS <const>, LINES <const> = 0, 2, 4
local FUNCTION <const> = 4
-- numbers of strings
local FIRST <const>, SECOND <const>, FILE <const> = 2, 3, 4

local function numbers(list)
  local bytes = {}
  for _, number in ipairs(list) do
    while number < 0 or number > 127 do
      bytes[#bytes + 1] = string.char(number & 127 | 128)
      number = number >> 7
    end
    bytes[#bytes + 1] = string.char(number)
  end
  return table.concat(bytes)
end

local function part(number, bytes) return numbers { number, #bytes } .. bytes end

--- The section with these parts of the binary /prog; its zstd frame has one raw block.
local function bundle(parts, first)
  local id = numbers { 0, 0, 1 } .. ("\0"):rep(20)
  local bytes = part(STRINGS, table.concat({ "/prog", first or "first", "second", "g.c" }, "\0")
    .. "\0") .. part(BINARY, part(ID, id) .. parts)
  return "PERFLUAB" .. string.pack("<I4I4BI4I3", 1, 0xfd2fb528, 0xa0, #bytes, #bytes << 3 | 1)
    .. bytes
end

--- A recording with samples at offsets of /prog, which is not here.
local function recording(section, offsets)
  local b = builder.new()
  local event = b:event { sample_type = { "ip", "tid", "time" } }
  b:record("mmap2", { pid = 7, tid = 7, addr = 0x1000, len = 0x1000, prot = 5, flags = 2,
    misc = 2, filename = "/prog" })
  for i, offset in ipairs(offsets) do
    b:sample(event, { ip = 0x1000 + offset, pid = 7, tid = 7, time = i })
  end
  return b:feature(BUNDLE, section):write()
end

--- The values of a field of samples at offsets.
local function values(section, field, offsets)
  local file <close> = assert(perflua.open(recording(section, offsets)))
  local list = {}
  for sample in file:samples() do list[#list + 1] = sample[field] or "?" end
  return table.concat(list, " "), file:binaries()[1]
end

local function symbols(list) return part(SYMBOLS, numbers(list)) end

describe("a bundle", function()
  local both = symbols { 2, 8, 8, FIRST, FUNCTION, 8, 8, SECOND, FUNCTION }

  it("has symbols, by their distances", function()
    assert.equal("? first second ?", (values(bundle(both), "symbol", { 4, 8, 23, 24 })))
  end)

  for name, list in pairs {
    ["descend"] = { 2, 8, 8, FIRST, FUNCTION, -4, 8, SECOND, FUNCTION },
    ["have no size"] = { 2, 8, 8, FIRST, FUNCTION, 8, 0, SECOND, FUNCTION },
    ["end beyond 64 bits"] = { 1, 8, -1, FIRST, FUNCTION },
    ["have no name"] = { 1, 8, 8, 0, FUNCTION },
    ["have the name of no string"] = { 1, 8, 8, 9, FUNCTION },
    ["are more than their bytes"] = { 100, 8, 8, FIRST, FUNCTION },
  } do
    it("is not used for a binary whose symbols " .. name, function()
      local found, binary = values(bundle(symbols(list)), "symbol", { 8, 17 })
      assert.equal("? ?", found)
      assert.match("bundle is damaged", binary.tried[#binary.tried].verdict)
    end)
  end

  it("has lines up to an address that is repeated", function()
    local lines = numbers { 3, 8, 1, FIRST, FILE, 0, 7, 0, 1, FIRST, FILE, 0, 8,
      8, 1, SECOND, FILE, 0, 9 }
    assert.equal("g.c:7 ?", (values(bundle(both .. part(LINES, lines)), "srcline", { 8, 16 })))
  end)

  it("has no functions that are inlined without end", function()
    local function inlined(n)
      local lines = { 2, 8, n }
      for _ = 1, n do table.move({ FIRST, FILE, 0, 7 }, 1, 4, #lines + 1, lines) end
      table.move({ 8, 1, SECOND, FILE, 0, 9 }, 1, 6, #lines + 1, lines)
      return values(bundle(both .. part(LINES, numbers(lines))), "srcline", { 8, 16 })
    end
    assert.equal("g.c:7 g.c:9", (inlined(256)))
    assert.equal("? ?", (inlined(257)))
  end)

  it("takes no control of the terminal", function()
    local path = recording(bundle(both, "\27[31mred\n"), { 8 })
    local result = run.perflua { "report", "--sort", "symbol", path }
    assert.equal(0, result.status)
    assert.match("[31mred", result.out, 1, true)
    assert.is_nil(result.out:find("\27", 1, true))
  end)
end)
