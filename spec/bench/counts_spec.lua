-- The figures of `make counts`: how they are read, written and compared.
local figures = require "spec.bench.counts.figures"

local function jobs(...)
  local list = {}
  for i, job in ipairs { ... } do
    list[i] = { name = job[1], instructions = job[2] * 1e6, peak = job[3] * 1024 }
  end
  return list
end

describe("the figures of make counts", function()
  it("are read as they were written", function()
    local known = {
      ["x86_64, gcc 12"] = jobs({ "start", 12.25, 6000 }, { "report -b", 576, 9 }),
      ["arm64, gcc 14"] = jobs({ "start", 10.5, 5000 }),
    }
    assert.are.same(known, figures.read(figures.text(known)))
  end)

  it("name the line that cannot be read", function()
    assert.error_matches(function() figures.read "a machine\n   1.0 many  start\n" end,
      "counts.txt, line 2: found .*many.* expected instructions")
    assert.error_matches(function() figures.read "   1.0 5  start\n" end,
      "counts.txt, line 1: a job before the versions of a machine")
  end)

  it("allow 3 % more instructions and 10 % more memory", function()
    local old = jobs({ "start", 100, 20000 }, { "report", 100, 20000 }, { "stat", 1, 1500 })
    local _, too_much = figures.compare(old,
      jobs({ "start", 102.9, 21999 }, { "report", 50, 100 }, { "stat", 1, 1649 }))
    assert.are.equal(0, too_much)
    local text
    text, too_much = figures.compare(old,
      jobs({ "start", 103.1, 20000 }, { "report", 1, 22001 }, { "stat", 1, 1649 }))
    assert.are.equal(2, too_much)
    assert.matches("%+3.1 %% .* start  more instructions", text)
    assert.matches("report  more memory", text)
  end)

  it("count a job without figures and figures without a job", function()
    local text, too_much = figures.compare(jobs({ "start", 1, 1 }, { "gone", 1, 1 }),
      jobs({ "start", 1, 1 }, { "new", 1, 1 }))
    assert.are.equal(2, too_much)
    assert.matches("new  not in counts.txt", text)
    assert.matches("gone is in counts.txt, but no job", text)
  end)

  it("compare nothing on a machine that has none", function()
    local text, too_much = figures.compare(nil, jobs({ "start", 1, 1 }))
    assert.are.equal(0, too_much)
    assert.are.equal("      1.00 M        1 kB  start", text)
  end)
end)
