local tracing = require "spec.support.builder_tracing"
local everything = require "spec.support.everything"
local files = require "spec.support.files"
local perflua = require "perflua"
local reading = require "spec.support.reading"
local small = require "spec.support.small_pipe"

local HEADER = 16

--- Finds from the bytes alone where each of a pipe's records ends, without and with its
--- payload.
local function places(bytes, endian)
  local order = endian == "big" and ">" or "<"
  local list, at = {}, HEADER
  while at < #bytes do
    local kind, size = string.unpack(order .. "I4xxI2", bytes, at + 1)
    local payload = kind == 66 and string.unpack(order .. "I4", bytes, at + 9)
      or kind == 71 and string.unpack(order .. "I8", bytes, at + 9) or 0
    list[#list + 1] = { own = at + size, finish = at + size + payload }
    at = at + size + payload
  end
  return list
end

reading.either_order(describe, function(endian)
  it("delivers the records before any cut in pipe mode, whose payload may be "
    .. "cut", function()
    warn "@off"
    local b = endian == "little" and small { endian = endian } or everything.builder(endian)
    b.container = "pipe"
    b:feature("tracing_data", tracing.new({ endian = endian }):bytes())
    b:record("auxtrace", { data = "trace!!!" })
    local bytes = b:bytes()
    local list, whole = places(bytes, endian), 0
    local path = files.temporary()
    local wrong = {}
    for n = HEADER, #bytes, endian == "little" and 1 or 13 do
      while list[whole + 1] and list[whole + 1].own <= n do
        whole = whole + 1
      end
      files.write(path, bytes:sub(1, n))
      local file <close> = assert(perflua.open(path))
      local at_end = n == HEADER or whole > 0 and list[whole].finish == n
      local got = file:records({ container = true }):count()
      if got ~= whole or file.complete ~= at_end or (#file.damage == 0) ~= at_end then
        wrong[#wrong + 1] =
          ("cut at byte %d: %d of %d records, complete %s, expected %s, %d damaged")
          :format(n, got, whole, file.complete, at_end, #file.damage)
      end
    end
    assert.are.same({}, wrong)
  end)

  it("is refused in pipe mode if not even its header is whole", function()
    local bytes = small({ endian = endian }):bytes()
    for n = 0, HEADER - 1 do
      local file, message, code = perflua.open(files.temporary(bytes:sub(1, n)))
      assert.is_nil(file)
      assert.are.equal("FORMAT", code, message)
    end
    assert.are.equal(0, assert(perflua.open(files.temporary(bytes:sub(1, HEADER)))):records()
      :count())
  end)

  it("survives damage anywhere in pipe mode", function()
    warn "@off"
    local b = everything.builder(endian)
    b.container = "pipe"
    local bytes = b:bytes()
    local path = files.temporary()
    local seed = 20240501
    local function random(n)
      seed = (seed * 6364136223846793005 + 1442695040888963407)
      return (seed >> 33) % n
    end
    for _ = 1, 60 do
      local damaged = bytes
      for _ = 0, random(4) do
        local at = HEADER + 1 + random(#damaged - HEADER)
        local noise = random(3) == 0 and ("\255"):rep(1 + random(8)) or string.char(random(256))
        damaged = damaged:sub(1, at - 1) .. noise .. damaged:sub(at + #noise)
      end
      files.write(path, damaged)
      local file <close> = assert(perflua.open(path))
      for r in file:records({ container = true }):each() do
        everything.read(r)
      end
      everything.read(file.features)
    end
  end)
end)
