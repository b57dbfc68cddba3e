-- max_by(f, g): f of the record in which g is greatest.
local interpret = require("spec.support.model").interpret
local perflua = require "perflua"
local spanned = require "spec.support.spanned"
local two_events = require "spec.support.two_events"

local rows = {
  { "tick", 7, 100, 0, 3 }, { "tick", 7, 110, 0, 9 }, { "tick", 8, 120, 0, 0 },
  { "tick", 7, 130, 0, 9 }, { "tick", 9, 140, 0, 1 },
}

for _, where in ipairs { "in the core", "in Lua" } do
  describe("max_by, " .. where, function()
    local file = assert(perflua.open(spanned.write(rows)))
    local by_tid = interpret(file:samples("tick"), where == "in Lua"):group_by("tid", "event")

    it("has the field of the first record with the greatest value; 0 is none", function()
      local t = by_tid:max_by("time", "cpu"):as("at"):max("cpu"):sort("tid", "asc")
      assert.same({ { tid = 7, event = "tick", at = 110, max_cpu = 9 },
        { tid = 8, event = "tick", max_cpu = 0 },
        { tid = 9, event = "tick", at = 140, max_cpu = 1 } }, two_events.rows(t))
    end)

    it("shares the computed value of the measure before, also beside records without "
      .. "one", function()
      local t = by_tid:max("cpu * 2"):as("most"):max_by("time", "cpu * 2"):as("at")
        :sort("tid", "asc")
      assert.same({ { tid = 7, event = "tick", most = 18, at = 110 },
        { tid = 8, event = "tick", most = 0 },
        { tid = 9, event = "tick", most = 2, at = 140 } }, two_events.rows(t))
    end)

    it("is the same in tables that are saved and merged", function()
      local t = by_tid:max_by("time", "cpu"):table()
      local path = os.tmpname()
      assert(t:save(path))
      local merged = t:merge(assert(perflua.load(path)))
      os.remove(path)
      assert.same(two_events.rows(t:sort("tid", "asc")),
        two_events.rows(merged:sort("tid", "asc")))
    end)
  end)
end

describe("max_by", function()
  it("says what is wrong", function()
    local query = assert(perflua.open(spanned.write(rows))):samples()
    two_events.raises("max_by comes after group_by", function() query:max_by("time", "pid") end)
    two_events.raises("max_by: an integer expected, but comm is not one %(string%)",
      function() query:group_by("tid"):max_by("time", "comm") end)
    two_events.raises("a weight is an integer from 0 to 2%^63%-1",
      function() query:group_by("tid"):max_by("time", "0 - tid"):table() end)
  end)
end)
