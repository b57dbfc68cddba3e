-- Payloads of AUXTRACE records: whole, cut, and said to be more than there is.
local core = require "perflua.core"
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local perflua = require "perflua"
local run = require "spec.cli.run"

local TRACE = ("trace!!!"):rep(20)

--- A recording with an AUXTRACE record between others; size: what it says of its payload.
local function build(container, size, after)
  warn "@off"
  local b = builder.new { container = container }
  b:event { name = "cycles", sample_type = { "ip", "tid", "time" } }
  b:record("comm", { comm = "before" })
  b:record("auxtrace", { data = TRACE, data_size = size, idx = 3 })
  for i = 1, after or 3 do
    b:record("comm", { comm = "after " .. i })
  end
  return b
end

local function unsigned(n)
  return n >= 0 and n or "18446744073709551608" -- -8, the only one here
end

local function comms(file)
  local list = {}
  for r in file:records():each() do
    list[#list + 1] = r.type == "comm" and r.comm or r.type
  end
  return list
end

for _, container in ipairs { "file", "pipe" } do
  describe(("the payload of an AUXTRACE record in a %s"):format(container), function()
    it("is the record's data, and counted by stat", function()
      local file <close> = assert(perflua.open(build(container):write()))
      assert.are.same({ "before", "auxtrace", "after 1", "after 2", "after 3" }, comms(file))
      assert.are.equal(TRACE, file:records("auxtrace"):first():data())
      assert.are.equal(#TRACE, core.count(file).payload)
      assert.are.equal(0, #file.damage)
    end)

    it("costs no other record if it cannot be as large as the record says", function()
      for _, size in ipairs { 1 << 20, 1 << 40, -8, math.maxinteger } do
        for after = 1, 3 do
          local b = build(container, size, after)
          local offsets = b:offsets()
          local file <close> = assert(perflua.open(b:write()))
          assert.are.same({ "before", "auxtrace",
            table.unpack({ "after 1", "after 2", "after 3" }, 1, after) },
            comms(file))
          assert.is_false(file.complete)
          assert.are.equal(1, #file.damage)
          assert.are.equal(offsets[2] + 48, file.damage[1].offset)
          assert.are.equal(#TRACE, file.damage[1].size)
          assert.matches(("found a size of %s, expected at most %%d+; records continue"):format(
            unsigned(size)),
            file.damage[1].reason)
          local record = file:records("auxtrace"):first()
          assert.are.equal(3, record.idx)
          assert.error_matches(function() record:data() end,
            ("offset %d: found %%d+ bytes up to the end of the recording, expected"):format(
              offsets[2] + 48))
          assert.are.equal(0, core.count(file).payload)
        end
      end
    end)

    it("costs not the record if it was cut", function()
      local b = build(container)
      local bytes, offsets = b:bytes(), b:offsets()
      local from = offsets[2] + 48
      for _, n in ipairs { from + 1, from + 8, from + #TRACE - 1 } do
        local file <close> = assert(perflua.open(files.temporary(bytes:sub(1, n))))
        assert.are.same({ "before", "auxtrace" }, comms(file))
        assert.is_false(file.complete)
        local damage
        for _, d in ipairs(file.damage) do
          damage = d.reason:find "payload" and d or damage
        end
        assert.are.same({ from, n - from }, { damage.offset, damage.size })
        assert.matches(("found %d bytes up to the end of the recording, expected %d$"):format(
          n - from, #TRACE),
          damage.reason)
        assert.error_matches(function() file:records("auxtrace"):first():data() end,
          ("found %d bytes up to the end of the recording, expected %d"):format(n - from,
            #TRACE))
      end
    end)
  end)
end

describe("the payload of an AUXTRACE record on a stream", function()
  local script = run.script [[
    local file = perflua.open("-")
    for r in file:records() do print(r.type == "comm" and r.comm or r.type) end
    print(file.complete)]]

  it("costs not the record if it was cut", function()
    local b = build "pipe"
    local n = b:offsets()[2] + 48 + 8
    local got = run.shell_with(('head -c %d "$1" | "$perflua" "$2" -'):format(n), b:write(),
      script)
    assert.are.equal("before\nauxtrace\nfalse\n", got.out)
    assert.matches(("found the end of the stream, expected %d more bytes"):format(#TRACE - 8),
      got.err)
  end)

  it("costs no other record if it cannot be as large as the record says", function()
    local got = run.shell_with('cat "$1" | "$perflua" "$2" -', build("pipe", -8):write(),
      script)
    assert.are.equal("before\nauxtrace\nafter 1\nafter 2\nafter 3\nfalse\n", got.out)
    assert.matches("records continue after the skipped bytes", got.err)
  end)
end)

describe("an AUXTRACE record inside a compressed one", function()
  it("has no payload", function()
    local zstd = require "spec.support.builder_zstd"
    local b = build "file"
    b:record("compressed2", { data = zstd.frame()(b:apart(function()
      b:record("auxtrace", { data_size = 64 })
    end)) })
    local file <close> = assert(perflua.open(b:write()))
    local inside = file:records("auxtrace"):collect()[2]
    assert.are.equal(0, inside.chunk_offset)
    assert.are.equal("", inside:data())
  end)
end)
