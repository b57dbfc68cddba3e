-- The figures of the manual are those that were measured, and keep what perflua.diff promises.
local calibration = require "perflua.diff.calibration"
local files = require "spec.support.files"

local manual = files.read "docs/topics/comparisons.md"
local LOADS <const> = { "idle", "loaded" }

local function part(row) return 100 * (row.found or row.flagged) / row.comparisons end

local function change_of(load, runs, slower)
  for _, row in ipairs(calibration[load].changes) do
    if row.runs == runs and row.slower == slower then return row end
  end
end

describe("the calibration of perflua.diff", function()
  it("flags at most 5 % of comparisons of equal work, of single runs if nothing else ran",
    function()
      for _, load in ipairs(LOADS) do
        for _, row in ipairs(calibration[load].equal) do
          assert.is_true(row.comparisons >= 200)
          if row.runs > 1 or load == "idle" then assert.is_true(part(row) <= 5, load) end
        end
      end
    end)

  it("finds functions that are slower or gone", function()
    assert.is_true(part(change_of("idle", 1, 20)) >= 100 * 20 / 60)
    assert.is_true(part(change_of("idle", 3, 20)) >= 100 * 55 / 60)
    for _, load in ipairs(LOADS) do
      assert.is_true(part(change_of(load, 3, -100)) >= 100 * 59 / 60, load)
    end
  end)

  it("has intervals that cover 94 to 98 % of differences", function()
    local rows, covered = 0, 0
    for _, load in ipairs(LOADS) do
      local one = calibration[load].intervals
      rows, covered = rows + one.rows, covered + one.covered
    end
    assert.is_true(covered / rows >= 0.94 and covered / rows <= 0.98)
  end)

  it("is in the manual as it was measured", function()
    local lines = {}
    for i, row in ipairs(calibration.idle.equal) do
      local other = calibration.loaded.equal[i]
      lines[#lines + 1] = ("| %d %s against %d | %d of %d | %d of %d |"):format(row.runs,
        row.runs == 1 and "run" or "runs", row.runs, row.flagged, row.comparisons,
        other.flagged, other.comparisons)
    end
    for _, load in ipairs(LOADS) do
      local by = {}
      for _, row in ipairs(calibration[load].changes) do
        by[row.slower] = (by[row.slower] or ("| %d %% (%d samples a run), %s"):format(row.share,
          row.samples, row.slower == -100 and "gone"
          or ("slower by %d %%"):format(row.slower))) .. (" | %.3g %%"):format(part(row))
      end
      for _, line in pairs(by) do lines[#lines + 1] = line .. " |" end
      local one = calibration[load].intervals
      lines[#lines + 1] = ("%.3g %% (%d of %d)"):format(100 * one.covered / one.rows,
        one.covered, one.rows)
    end
    for load, kinds in pairs(calibration.priors) do
      for kind, prior in pairs(kinds) do
        lines[#lines + 1] = ("| %s, %s | %s | %.3g %% | %d |"):format(kind, load,
          tostring(prior.dispersion), 100 * prior.drift, prior.freedom)
      end
    end
    for _, line in ipairs(lines) do assert.truthy(manual:find(line, 1, true), line) end
  end)
end)
