local fmt = require "perflua.text.fmt"
local units = require "perflua.text.units"

describe("a number with a unit", function()
  it("has three significant digits", function()
    local function durations(...)
      local list = {}
      for i, x in ipairs { ... } do list[i] = units.format(x, "duration") end
      return table.concat(list, " ")
    end
    assert.equal("0ns 1ns 999ns 1.00us 9.99us 10.0us 99.9us 100us 999us",
      durations(0, 1, 999, 1000, 9994, 9996, 99940, 99960, 999499))
    assert.equal("1.00ms 1.00ms 1.23ms 1.00s 59.9s 3600s 1718s",
      durations(999500, 1000000, 1234567, 999999999, 59949999999, 3600000000000, 1718320000000))
    assert.equal("-1.50ms 0.5ns 12.3ns 123ns", durations(-1500000, 0.5, 12.34, 123.4))
    assert.equal("0B", units.format(0, "bytes"))
    assert.equal("1023B", units.format(1023, "bytes"))
    assert.equal("1.00KiB", units.format(1024, "bytes"))
    assert.equal("1023KiB", units.format(1023 << 10, "bytes"))
    assert.equal("1.00MiB", units.format((1 << 20) - 1, "bytes"))
    assert.equal("8.00EiB", units.format(0x1p63, "bytes"))
    assert.equal("999 1.00k 1.23M 4.57G 0.5", ("%s %s %s %s %s"):format(units.format(999, "si"),
      units.format(1000, "si"), units.format(1234567, "si"), units.format(4567890123, "si"),
        units.format(0.5, "si")))
  end)

  it("is read without a sign if it has none", function()
    assert.equal("18.4E", units.format(-1, "si", true))
    assert.equal("-1", units.format(-1, "si"))
    assert.equal("-9.22E", units.format(math.mininteger, "si"))
    assert.equal("16.0EiB", units.format(-1, "bytes", true))
  end)

  it("has all digits in a table if it was not measured", function()
    local function shown(x, unit)
      local columns = { { name = "x", kind = "any", unit = unit } }
      return fmt.table(columns, { { x } }):match "\n%s*(%S+)\n$"
    end
    assert.equal("555498.770739s", shown(555498770739000, "duration"))
    assert.equal("1732260000.123456789s", shown(1732260000123456789, "duration"))
    assert.equal("999.5us", shown(999500, "duration"))
    assert.equal("1s", shown(1000000000, "duration"))
    assert.equal("1.5KiB", shown(1536, "bytes"))
    assert.equal("12.345k", shown(12345, "si"))
    assert.equal("-0.25ns", shown(-0.25, "duration"))
  end)

  it("may be none", function()
    assert.equal("inf", units.format(math.huge, "si"))
    assert.matches("nan", units.format(0 / 0, "duration"))
  end)
end)
