-- The differences that `make compare` finds between the outputs of two builds.
local differences = require "spec.compare.differences"

local BEFORE = "\n\1report\n60 %  a\n20 %  b\n20 %  c\n\nstatus 0\n"
  .. "\n\1report --json\n[{\"a\":1},{\"b\":2},{\"c\":2}]\n\nstatus 0\n"

local function find(after) return differences.find(BEFORE, after) end

-- Replaces the first occurrence of a plain text.
local function altered(text, replacement)
  local from, to = BEFORE:find(text, 1, true)
  return BEFORE:sub(1, from - 1) .. replacement .. BEFORE:sub(to + 1)
end

describe("the comparison of outputs", function()
  it("finds no difference between equal outputs", function()
    local count, list = find(BEFORE)
    assert.are.equal(2, count)
    assert.are.same({}, list)
  end)

  it("names the job and the first line that differ", function()
    local _, list = find(altered("20 %  b", "21 %  b"))
    assert.are.equal(1, #list)
    local found = list[1]
    assert.are.equal("report: 2: 20 %  b, 21 %  b",
      ("%s: %d: %s, %s"):format(found.job, found.line, found.before, found.after))
    assert.is_falsy(found.only_order)
  end)

  it("finds another status, a line that is missing and one byte at the end", function()
    for _, after in ipairs { altered("status 0", "status 1"), altered("20 %  c\n", ""),
      BEFORE .. " " } do
      local _, list = find(after)
      assert.are.equal(1, #list)
      assert.is_falsy(list[1].only_order)
    end
  end)

  it("tells the same rows in another order, as lines and as JSON", function()
    local _, list = find(altered("20 %  b\n20 %  c", "20 %  c\n20 %  b"))
    assert.are.same({ "report", true }, { list[1].job, list[1].only_order })
    _, list = find(altered('{"b":2},{"c":2}', '{"c":2},{"b":2}'))
    assert.are.same({ "report --json", true }, { list[1].job, list[1].only_order })
  end)

  it("finds jobs that only one build ran", function()
    local count, list = find(BEFORE:match "^(.-)\n\1report %-%-json")
    assert.are.equal(2, count)
    assert.are.same({ "report --json", "(this job was not run)" },
      { list[1].job, list[1].after })
    count, list = find(BEFORE .. "\n\1stat\nsamples 1\n")
    assert.are.equal(3, count)
    assert.are.same({ "stat", "(this job was not run)" }, { list[1].job, list[1].before })
  end)

  it("shows a long line near the first byte that differs", function()
    local long = ("x"):rep(1000)
    local _, list = differences.find("\n\1stat\n" .. long .. "1" .. long,
      "\n\1stat\n" .. long .. "2" .. long)
    local around = ("x"):rep(60)
    local function cut(byte) return ("…%s%s%s…"):format(around, byte, around) end
    assert.are.same({ cut "1", cut "2" }, { list[1].before, list[1].after })
  end)

  it("shows control characters of a line escaped", function()
    local _, list = find(altered("20 %  b", "20 %  \27[2J"))
    assert.are.equal("20 %  \\x1b[2J", list[1].after)
  end)
end)
