-- A query that finds nothing tells which names in its filters the recording does not have.
local builder = require "spec.support.builder"
local run = require "spec.cli.run"

-- Samples of a thread that was sh and became ls.
local function renamed()
  local b = builder.new()
  local event = b:event { name = "cycles", sample_type = { "ip", "tid", "time" } }
  for i, comm in ipairs { "sh", "ls" } do
    b:record("comm", { pid = 7, tid = 7, comm = comm }, { pid = 7, tid = 7, time = 10 * i })
    b:sample(event, { ip = 0x1000, pid = 7, tid = 7, time = 10 * i + 1 })
  end
  return b:write()
end

describe("a query that finds nothing", function()
  local path = renamed()

  local function warned(text, recording)
    local got = run.perflua { run.script("local q = perflua.open(arg[1]):samples()\n" .. text),
      recording or path }
    assert.equal(0, got.status, got.err)
    return got.err
  end

  local NO_LSS = "perflua: no thread is named 'lss'; the closest is 'ls'\n"

  it("names the closest thread, whatever asks it", function()
    for _, asks in ipairs { "q:count()", "q:sum 'period'", "q:max 'period'", "q:collect()",
        "q:first()", "q:each(print)", "for _ in q do end", "for _ in q:select 'ip' do end",
        "q:group_by('pid'):sort()", "for _ in q:group_by('pid'):count() do end" } do
      assert.equal(NO_LSS, warned([[q = q:where "comm == 'lss'" ]] .. asks), asks)
    end
  end)

  it("names those of all conditions that must hold, but for what must not be there", function()
    assert.equal(NO_LSS, warned "q:where { comm = 'lss' }:where 'pid == 7':count()")
    assert.equal(NO_LSS, warned [[q:where(
      "pid == 7 and comm in { 'lss', 'sh' } and pid == 8"):count()]])
    for _, condition in ipairs { "comm ~= 'lss' and pid == 8", "pid == 8",
        "not (comm == 'lss') and pid == 8", "comm == 'sh' and pid == 8" } do
      assert.equal("", warned(("q:where(%q):count()"):format(condition)), condition)
    end
    assert.equal("", warned "q:where(function() return false end):count()")
  end)

  it("names functions", function()
    assert.equal("perflua: no sample is of function 'mian'\n",
      warned([[q:where "under('mian')":count() q:where "symbol == 'mian'":count()]], run.demo))
    assert.equal("", warned([[q:where "under('m*')":count()]], run.demo))
  end)

  it("says it once, and says nothing of queries that find something", function()
    assert.equal(NO_LSS, warned [[for _ = 1, 3 do q:where "comm == 'lss'":count() end]])
    local text = [[
      require "perflua.core".methods("file").samples = function() print "a pass" end
      q:where "comm == 'ls' or symbol == 'mian'":count()
      q:where "comm == 'ls' or symbol == 'mian'":group_by("pid"):sort()
      for _ in q:where "comm == 'ls' or symbol == 'mian'" do end]]
    local got = run.perflua { run.script("local q = perflua.open(arg[1]):samples()\n" .. text),
      path }
    assert.same({ status = 0, out = "", err = "" }, got)
  end)

  it("says nothing where warnings are off, and in a tool only what the tool says", function()
    assert.equal("", warned [[warn "@off" q:where "comm == 'lss'":count()]])
    local got = run.perflua { "report", "--where", "comm == 'lss'", path }
    assert.same({ status = 0, err = "", out =
      "# no samples that the options choose: no thread is named 'lss'; the closest is 'ls'\n" },
      got)
  end)
end)
