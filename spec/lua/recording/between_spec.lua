local between = require "perflua.recording.between"

describe("a time given to between()", function()
  local file = { first_time = 8590143543210, last_time = 8590143543210 + 999999999999 }

  local function time(text, is_end) return between.time(file, text, is_end or false) end

  it("is exact for seconds as perf prints them", function()
    assert.equal(8590143543000, time "@8590.143543")
    assert.equal(8590143543211, time "@8590.143543211")
    assert.equal(8590000000000, time "@8590")
    assert.equal(9007199254740993, time "@9007199.254740993") -- 2^53 + 1: no double holds it
    assert.equal(9223372036854775807, time "@9223372036.854775807")
    assert.equal(500000000, time "@.5")
    assert.equal(1, time "@0.0000000010")
  end)

  it("counts from the first sample", function()
    assert.equal(file.first_time + 1500000000, time "1.5s")
    assert.equal(file.first_time + 20000000, time "20ms")
    assert.equal(file.first_time + 3000, time "3us")
    assert.equal(file.first_time + 3, time "3 ns")
    assert.equal(file.first_time + 1, time "0.000000001s")
  end)

  it("is a share of the recording, the last sample within 100%", function()
    assert.equal(file.first_time, time "0%")
    assert.equal(file.last_time + 1, time("100%", true))
    assert.equal(file.last_time, time "100%")
    assert.equal(file.first_time + 99999999999, time "10%")
    assert.equal(file.first_time + 333333329999, time "33.333333%")
  end)

  it("does not overflow on long recordings", function()
    local long = { first_time = 0, last_time = math.maxinteger - 1 }
    assert.equal((math.maxinteger - 1) // 2, between.time(long, "50%", false))
    assert.equal(9223372036854775806 // 100000000 * 99999999 + 54775806 * 99999999 // 100000000,
      between.time(long, "99.999999%", false))
  end)

  it("is taken as it is when it is an integer", function()
    assert.equal(5, time(5))
    assert.equal(1000000000, time(1e9))
    assert.is_nil(time(nil))
  end)

  it("is refused in any other form", function()
    for _, wrong in ipairs { "", "5", "@", "@1.2.3", "@x", "1.5", "5m", "-1s", "101%", "-1%",
        "%", "1.00000001%",
      "1.5ns", "@99999999999", "s", "." } do
      assert.error_matches(function() time(wrong) end, "between \"", nil, nil)
    end
    assert.has_error(function() time(1.5) end)
    assert.has_error(function() time {} end)
  end)

  it("needs a recording with times for relative times", function()
    assert.error_matches(function()
      between.time({ size = 104 }, "10%", false)
    end, "has no times")
    assert.error_matches(function()
      between.time({ size = 104 }, "10ms", false)
    end, "has no times")
    assert.error_matches(function()
      between.time({}, "10ms", false)
    end, "the first time of a stream is not known")
    assert.equal(10, between.time({}, 10, false))
  end)
end)
