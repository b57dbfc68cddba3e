-- A Query hides its description.
local perflua = require "perflua"

describe("a Query", function()
  local file <const> = assert(perflua.open("spec/fixtures/demo.perf.data"))

  local function queries()
    local spans = file:samples():pair { open = "cpu-clock", close = "page-faults" }
    return { file:samples(), file:records("comm"):select("pid"), file:samples():group_by("comm")
      :count(), spans }
  end

  it("has no members of its own", function()
    for _, query in ipairs(queries()) do
      query()
      assert.error_matches(function() return next(query) end, "table expected")
      assert.error_matches(function() return rawget(query, 0) end, "table expected")
      assert.error_matches(function()
        query.spec = 1
      end, "attempt to index a perflua.Query value")
    end
  end)

  it("has the methods of the manual only", function()
    for _, query in ipairs(queries()) do
      for _, name in ipairs { "spec", "cursor", "start", "measure" } do
        assert.error_matches(function()
          return query[name]
        end, "a Query has no method '" .. name .. "'", 1, true)
      end
    end
  end)

  it("has counts if it is one of spans", function()
    local list = queries()
    list[4]:count()
    assert.is_nil(list[1].counts)
    assert.is_number(list[4].counts.unopened)
  end)
end)
