-- Lines below results at the prompt, for events that share a name.
local builder = require "spec.support.builder"
local perflua = require "perflua"
local quality = require "perflua.cli.quality"

-- A recording of a frequency: samples of the kernel, a function of which has a name.
local function recording(frequency, ...)
  local b = builder.new()
  local event = b:event { name = "cycles", type = 0, freq = true, sample_freq = frequency,
    sample_type = { "ip", "tid", "time", "period" } }
  b:record("ksymbol", { addr = -0x10000, len = 0x1000, ksym_type = 1, name = "known" },
    { pid = 0, tid = 0, time = 1 })
  for i, ip in ipairs { ... } do
    b:sample(event, { ip = ip, pid = 1, tid = 1, time = 10 + i, period = 1, misc = 1 })
  end
  return b:write()
end

describe("the lines below a result", function()
  it("are of each event that was recorded differently, and name what differs", function()
    local file <close> = assert(perflua.open { recording(999, -0x10000, 4096),
      recording(2000, -0x10000, -0x10000, -0x10000) })
    local lines, out = {}, {}
    function out.write(_, ...) lines[#lines + 1] = table.concat { ... } end
    quality.write(out, file:samples():group_by("symbol"):count():table())
    assert.same({
      "# event 'cycles' (-F 999): 2 samples recorded, none lost, 50 % without a function\n",
      "# event 'cycles' (-F 2000): 3 samples recorded, none lost, all have a function\n",
    }, lines)
  end)
end)
