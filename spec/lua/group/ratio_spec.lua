-- Sums of a field over the records of two events, divided.
local perflua = require "perflua"
local two_events = require "spec.support.two_events"

local raises, rows = two_events.raises, two_events.rows

describe("ratio", function()
  local file

  setup(function() file = assert(perflua.open(two_events.write())) end)
  teardown(function() file:close() end)

  it("is of all records of two events, by the period", function()
    assert.same({ { pid = 7, ["cycles/faults"] = 400.0 },
      { pid = 9, ["cycles/faults"] = 300.0 },
      { pid = -1, ["cycles/faults"] = 0.0 } },
      rows(file:samples():group_by("pid"):ratio("cycles", "faults"):sort("cycles/faults")))
  end)

  it("has no value where there is nothing to divide by", function()
    assert.same({ { pid = 9, ["faults/cycles"] = 2 / 600 },
      { pid = 7, ["faults/cycles"] = 1 / 400 }, { pid = -1 } },
      rows(file:samples():group_by("pid"):ratio("faults", "cycles"):sort()))
  end)

  it("sums another field, or an expression", function()
    local t = file:samples():group_by("pid"):ratio("cycles", "faults", "1"):as("records")
      :ratio("cycles", "faults", "cpu"):sort("pid", "asc")
    assert.same({ { pid = -1, records = 0.0, ["cycles/faults"] = 0.0 },
      { pid = 7, records = 2.0 },
      { pid = 9, records = 2.0, ["cycles/faults"] = 6.0 } }, rows(t))
  end)

  it("stands beside other measures, which add up all events then", function()
    assert.same({ { type = "sample", count = 7, ["faults/cycles"] = 10 / 1000,
      period = 1010 } },
      rows(file:samples():group_by("type"):count():ratio("faults", "cycles"):sum("period")
        :sort()))
  end)

  it("takes names as they are recorded, globs and Events", function()
    local q = file:samples():group_by("type")
    assert.equal(100.0, q:ratio("cycles:P", "faults"):sort()[1]["cycles:P/faults"])
    assert.equal(100.0, q:ratio("cyc*", "fau*"):sort()[1]["cyc*/fau*"])
    assert.equal(100.0, q:ratio(file.events[1], file.events[2]):sort()[1]["cycles:P/faults"])
    assert.equal(1.0, q:ratio("cycles", "cycles"):sort()[1]["cycles/cycles"])
  end)

  it("merges by the two sums", function()
    local function of(filter)
      return file:samples():where(filter):group_by("type"):ratio("cycles", "faults"):sort()
    end
    local t = of("pid == 7"):merge(of("pid == 9")):merge(of("pid == -1"))
    assert.same(rows(of "true"), rows(t))
    assert.has_error(function()
      of("true"):merge(file:samples():group_by("type"):ratio("faults", "cycles")
        :as("cycles/faults"):sort())
    end)
  end)

  it("is shown as a number with decimals", function()
    assert.equal("type    cycles/faults\nsample         100.00",
      tostring(file:samples():group_by("type"):ratio("cycles", "faults"):sort()))
  end)

  it("is refused for events there are not, or that the query does not read", function()
    local q = file:samples():group_by("pid")
    local message =
      "^spec/lua/group/ratio_spec.lua:%d+: this recording has no event 'fault'; the closest "
        .. "is 'faults'"
    raises(message, function() q:ratio("cycles", "fault") end)
    raises("ratio: this query does not read event 'faults'", function()
      file:samples("cycles"):group_by("pid"):ratio("cycles", "faults")
    end)
    raises("ratio: an event's name expected, got a nil", function() q:ratio("cycles") end)
    raises("ratio: cannot measure event.name %(string%)", function()
      q:ratio("cycles", "faults", "event.name")
    end)
    raises("ratio comes after group_by", function()
      file:samples():ratio("cycles", "faults")
    end)
    raises("two columns named 'cycles/faults'", function()
      q:ratio("cycles", "faults"):ratio("cycles", "faults")
    end)
  end)
end)
