-- Groups of a Table put into those of another one.
local builder = require "spec.support.builder"
local perflua = require "perflua"
local regrouped = require("perflua.table").regrouped

describe("groups by what is shown of keys", function()
  local file, made

  before_each(function()
    local b = builder.new()
    local event = b:event { sample_type = { "ip", "tid", "time", "period" } }
    for i = 1, 9 do
      b:sample(event, { ip = i, pid = 1, tid = i % 3, time = i, period = 1 << i })
    end
    file = assert(perflua.open(b:write()))
    made = file:samples():group_by("ip", "tid"):sum("period"):count():table()
  end)

  after_each(function() file:close() end)

  -- Returns rows as { key or "-", period, count } in the order of their keys.
  local function rows_of(each)
    local list = {}
    for row in regrouped(made, { "name" }, each):rows() do
      list[#list + 1] = { row.name or "-", row.period, row.count }
    end
    table.sort(list, function(a, b) return tostring(a[1]) < tostring(b[1]) end)
    return list
  end

  it("have the sums of all groups with the same new keys, texts or numbers or none", function()
    assert.are.same({ { "-", 8 + 64 + 512, 3 }, { 7, 2 + 16 + 128, 3 },
      { "two", 4 + 32 + 256, 3 } }, rows_of(function(row, put)
      put { name = ({ [0] = nil, 7, "two" })[row.tid] }
    end))
  end)

  it("leave out a group, and count it in several places, with some of its sums", function()
    assert.are.same({ { "all", 1022 - 2, 0 }, { "odd", 8 + 32 + 128 + 512, 4 } },
      rows_of(function(row, put)
        if row.ip == 1 then return end
        if row.ip % 2 == 1 then put { name = "odd" } end
        put({ name = "all" }, { period = row.period })
      end))
  end)

  it("say that a sum is too large", function()
    assert.error_matches(function()
      rows_of(function(_, put) put({ name = "" }, { period = math.maxinteger }) end)
    end, "a sum exceeds 2^63-1", 1, true)
  end)
end)
