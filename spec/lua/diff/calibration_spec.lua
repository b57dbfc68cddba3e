-- The figures of the manual are those that were measured, and keep what perflua.diff promises.
local calibration = require "perflua.diff.calibration"
local files = require "spec.support.files"

local manual = files.read "docs/topics/comparisons.md"

local function part(row) return 100 * (row.found or row.flagged) / row.comparisons end

describe("the calibration of perflua.diff", function()
  it("flags at most 5 % of comparisons of equal work, three runs against three", function()
    assert.is_true(calibration.runs.comparisons >= 200)
    assert.is_true(part(calibration.runs) <= 5)
  end)

  it("finds large functions that are 20 % slower in 95 % of comparisons", function()
    local n = 0
    for _, row in ipairs(calibration.power) do
      if row.share >= 30 and row.slower >= 20 and row.runs == 3 then
        n = n + 1
        assert.is_true(part(row) >= 95)
      end
    end
    assert.equal(1, n)
  end)

  it("is in the manual as it was measured", function()
    for runs, row in pairs { [1] = calibration.single, [3] = calibration.runs } do
      local line = ("| %d %s against %d | %d of %d |"):format(runs, runs == 1 and "run"
        or "runs", runs, row.flagged, row.comparisons)
      assert.truthy(manual:find(line, 1, true), line)
    end
    local lines = {}
    for _, row in ipairs(calibration.power) do
      local key = ("| %2d %%, slower by %2d %% |"):format(row.share, row.slower)
      lines[key] = (lines[key] or key) .. (" %.3g %% |"):format(part(row))
    end
    for _, line in pairs(lines) do assert.truthy(manual:find(line, 1, true), line) end
  end)
end)
