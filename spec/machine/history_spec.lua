-- file:history(): what was at an address over time.
local mapped = require "spec.support.mapped"
local perflua = require "perflua"
local system = require "spec.support.system"

-- The ranges as "from-to binary", and whose address it is.
local function history(lines, ...)
  local b = system.builder()
  mapped.add(b, lines)
  local file <close> = assert(perflua.open(b:write(),
    { symfs = "spec/fixtures/empty", kallsyms = "/dev/null" }))
  local list, kind = file:history(...)
  local texts = {}
  for i, stay in ipairs(list) do
    texts[i] = ("%s-%s %s"):format(stay.from or "", stay.to or "",
      stay.binary and stay.binary.name or "nothing")
  end
  return texts, kind
end

describe("file:history()", function()
  it("has a range for each map that an address was in, without gaps", function()
    local list, kind = history({
      "10 map 7 1000-3000 /bin/a", "20 map 7 5000-6000 /bin/elsewhere",
      "30 map 7 2000-3000 /bin/b", "40 sample 7 1000",
    }, 7, 0x2000)
    assert.same({ "-10 nothing", "10-30 /bin/a", "30- /bin/b" }, list)
    assert.equal("user", kind)
  end)

  it("gives the one range with a time", function()
    local lines = { "10 map 7 1000-3000 /bin/a", "30 map 7 2000-3000 /bin/b",
      "40 sample 7 1000" }
    local ranges = { [9] = "-10 nothing", [10] = "10-30 /bin/a", [29] = "10-30 /bin/a",
      [30] = "30- /bin/b" }
    for time, range in pairs(ranges) do
      assert.same({ range }, (history(lines, 7, 0x2000, time)))
    end
  end)

  it("is that of the parent before a fork, as far as the child mapped nothing", function()
    local lines = {
      "10 map 7 1000-3000 /bin/a", "20 fork 8 from 7", "25 map 7 1000-3000 /bin/b",
      "30 map 8 1000-2000 /bin/c",
      "40 sample 8 1000",
    }
    assert.same({ "-20 nothing", "20-30 /bin/a", "30- /bin/c" }, (history(lines, 8, 0x1000)))
    assert.same({ "-20 nothing", "20- /bin/a" }, (history(lines, 8, 0x2000)))
  end)

  it("is the kernel's without a process, and at its addresses", function()
    local lines = {
      "- kernel ffffffff81000000-ffffffff82000000@ffffffff81000000 [kernel.kallsyms]_text",
      "10 ksymbol ffffffffa0000000-ffffffffa0001000 prog",
      "20 unksymbol ffffffffa0000000-ffffffffa0001000 prog",
      "30 sample 7 1000",
    }
    for _, pid in ipairs { 7, false } do
      local list, kind = history(lines, pid or nil, 0xffffffffa0000010)
      assert.same({ "-10 nothing", "10-20 prog", "20- nothing" }, list)
      assert.equal("kernel", kind)
    end
    assert.same({ "- nothing" }, (history(lines, nil, 0x1000)))
  end)

  it("agrees with what samples know of their ip", function()
    local seen = 0
    for path, options in pairs {
      ["spec/fixtures/words/perf.data"] = { symfs = "spec/fixtures/words" },
      ["spec/fixtures/demo.perf.data"] = {},
      ["spec/fixtures/calls.perf.data"] = {},
    } do
      local file <close> = assert(perflua.open(path, options))
      for s in file:samples():each() do
        local stay = file:history(s.pid, s.ip, s.time)[1]
        local symbol, line = stay.covered, stay.lines and stay.lines[1]
        assert.same({ s.symbol, s.symoff, s.srcline, s.map and s.map.start, s.map and s.dso }, {
          symbol and symbol.symbol, symbol and stay.address - symbol.start,
          line and line.srcline,
          stay.map and stay.map.start, stay.binary and stay.binary.name })
        seen = seen + (symbol and 1 or 0)
      end
    end
    assert.is_true(seen > 700)
  end)

  it("takes numbers of processes and addresses", function()
    assert.error_matches(function() history({}, 1 << 40, 1) end, "not a process id")
    assert.error_matches(function() history({}, 7) end, "number expected")
    assert.error_matches(function()
      history({}, 7, 1, nil, -1)
    end, "not a process id of a guest")
  end)
end)
