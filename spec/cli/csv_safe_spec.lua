-- Cells that a spreadsheet would take for formulas.
local builder = require "spec.support.builder"
local output = require "perflua.table.output"
local perflua = require "perflua"
local run = require "spec.cli.run"

local function recording()
  local b = builder.new()
  local one = b:event { name = "cycles", sample_type = { "ip", "tid", "time" } }
  for i, comm in ipairs { "=1+1", "@sum", "-f(x)", "sh", "+2" } do
    b:record("comm", { pid = i, tid = i, comm = comm }, { time = i })
    b:sample(one, { ip = 1, pid = i, tid = i, time = 10 + i })
  end
  return b:write()
end

describe("a cell of CSV", function()
  it("begins with a ' if a spreadsheet would evaluate it and --csv-safe is given", function()
    local function cell(text, safe)
      local parts = {}
      output.csv({ write = function(self, part) parts[#parts + 1] = part return self end },
        { { name = "a", kind = "string" } }, { { text } }, safe)
      return table.concat(parts):match "^a\r\n(.*)\r\n$"
    end
    local cells = { ["=1"] = "'=1", ["+x"] = "'+x", ["@a,b"] = [["'@a,b"]], ["\tx"] = "'\tx",
      ["-x"] = "'-x" }
    for text, safe in pairs(cells) do
      assert.are.equal(safe, cell(text, true))
      assert.are_not.equal(safe, cell(text))
    end
    for _, text in ipairs { "-1", "-1.5", "+3", "sh", "a=b", "" } do
      assert.are.equal(text, cell(text, true))
    end
  end)

  it("is made safe by --csv-safe of the tools", function()
    local path = recording()
    local plain = run.perflua { "report", "--csv", "--sort", "comm", path }
    local safe = run.perflua { "report", "--csv-safe", "--sort", "comm", path }
    assert.are.equal(0, safe.status)
    for _, comm in ipairs { "=1+1", "@sum", "-f(x)" } do
      assert.matches("," .. comm .. ",1,1\r\n", plain.out, 1, true)
      assert.matches(",'" .. comm .. ",1,1\r\n", safe.out, 1, true)
    end
    assert.matches(",sh,1,1\r\n", safe.out, 1, true)
    local script =
      run.script "return function(file) return file:samples():group_by('comm'):count() end"
    assert.matches("\n'=1+1,1\r\n", run.perflua({ "map", "--csv-safe", script, path }).out, 1,
      true)
  end)

  it("is made safe by an option of Table:csv", function()
    local file <close> = assert(perflua.open(recording()))
    local out = os.tmpname()
    assert(file:samples():group_by("comm"):count():sort():csv(out, { safe = true }))
    local text = io.open(out, "rb"):read "a"
    os.remove(out)
    assert.matches("'@sum,1\r\n", text, 1, true)
  end)
end)
