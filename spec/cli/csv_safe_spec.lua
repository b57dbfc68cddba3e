-- The forms of CSV: cells that a spreadsheet would take for formulas, ends of lines, UTF-8.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local perflua = require "perflua"
local row_output = require "perflua.table.row_output"
local run = require "spec.cli.run"

local function recording()
  local b = builder.new()
  local one = b:event { name = "cycles", sample_type = { "ip", "tid", "time" } }
  for i, comm in ipairs { "=1+1", "@sum", "-f(x)", "sh", "+2", "\t3", "a\xffb" } do
    b:record("comm", { pid = i, tid = i, comm = comm }, { time = i })
    b:sample(one, { ip = 1, pid = i, tid = i, time = 10 + i })
  end
  return b:write()
end

describe("a cell of CSV", function()
  it("begins with a ' if a spreadsheet would evaluate it and --csv-safe is given", function()
    local function cell(text, safe)
      local parts = {}
      row_output.csv({ write = function(self, part) parts[#parts + 1] = part return self end },
        { { name = "a", kind = "string" } }, { { text } }, { safe = safe })
      return table.concat(parts):match "^a\n(.*)\n$"
    end
    local cells = { ["=1"] = "'=1", ["+x"] = "'+x", ["@a,b"] = [["'@a,b"]], ["\tx"] = "'\tx",
      ["-x"] = "'-x", ["\t1"] = "'\t1", ["\r1"] = "\"'\r1\"", ["\n1"] = "\"'\n1\"",
      ["\u{ff1d}1"] = "'\u{ff1d}1" }
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
      assert.matches("," .. comm .. ",1,1\n", plain.out, 1, true)
      assert.matches(",'" .. comm .. ",1,1\n", safe.out, 1, true)
    end
    assert.matches(",sh,1,1\n", safe.out, 1, true)
    local rows = run.perflua { "export", "--to", "csv", "--csv-safe", "--fields", "comm,tid",
      path }
    assert.are.same({ status = 0, err = "", out = "comm,tid\n'=1+1,1\n'@sum,2\n'-f(x),3\nsh,4\n"
      .. "+2,5\n'\t3,6\na\u{fffd}b,7\n" }, rows)
    local script =
      run.script "return function(file) return file:samples():group_by('comm'):count() end"
    assert.matches("\n'=1+1,1\n", run.perflua({ "map", "--csv-safe", script, path }).out, 1,
      true)
  end)

  it("is made safe by an option of Table:csv", function()
    local file <close> = assert(perflua.open(recording()))
    local out = os.tmpname()
    assert(file:samples():group_by("comm"):count():sort():csv(out, { safe = true }))
    local text = io.open(out, "rb"):read "a"
    os.remove(out)
    assert.matches("'@sum,1\n", text, 1, true)
  end)
end)

describe("a line of CSV", function()
  it("ends with LF, or with CR LF if --crlf or an option asks for it", function()
    local path = recording()
    local script =
      run.script "return function(file) return file:samples():group_by('comm'):count() end"
    local commands = {
      { "report", "--sort", "comm", "--csv", path }, { "map", "--csv", script, path },
      { "timeline", "--csv", files.fixture "demo.perf.data" },
      { "faults", "--csv", files.fixture "demo.perf.data" }, { "export", "--to", "csv", path },
    }
    for _, words in ipairs(commands) do
      local plain = run.perflua(words).out
      table.insert(words, 2, "--crlf")
      assert.matches("^[^\r\n]+\n[^\r]+\n$", plain, 1, false, words[1])
      assert.are.equal(plain:gsub("\n", "\r\n"), run.perflua(words).out, words[1])
    end
    local file <close> = assert(perflua.open(path))
    local parts = {}
    local out = { write = function(self, text) parts[#parts + 1] = text return self end }
    file:samples():where "tid == 4":group_by("comm"):count():top(1):csv(out, { crlf = true })
    assert.are.equal("comm,count\r\nsh,1\r\n", table.concat(parts))
  end)

  it("has a form in exports of CSV only", function()
    for _, option in ipairs { "--crlf", "--csv-safe" } do
      assert.are.same({ status = 2, out = "", err = ("perflua: export: %s is of csv; folded "
        .. "does not take it\n"):format(option) },
        run.perflua { "export", "--to", "folded", option, recording() })
    end
  end)
end)
