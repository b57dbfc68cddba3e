local builder = require "spec.support.builder"
local files = require "spec.support.files"
local run = require "spec.cli.run"

-- The sum of the weights of folded lines, which are in order and each there once.
local function sum(text)
  local total, last = 0, ""
  for line in text:gmatch "[^\n]*\n" do
    local stack, value = line:match "^(.+) (%d+)\n$"
    assert.is_truthy(stack, line)
    assert.is_true(stack > last)
    total, last = total + math.tointeger(value), stack
  end
  return total
end

-- A recording of two events by two commands.
local function recording()
  local b = builder.new()
  local sample_type = { "ip", "tid", "time", "period", "id" }
  local cycles = b:event { name = "cycles", sample_type = sample_type, ids = { 1 } }
  local faults = b:event { name = "faults", sample_type = sample_type, ids = { 2 }, type = 1,
    config = 2 }
  b:record("comm", { pid = 7, tid = 7, comm = "a;b\27[2J" }, { time = 1 })
  b:record("comm", { pid = 8, tid = 9, comm = "Web Content" }, { time = 1 })
  for i = 1, 3 do
    b:sample(cycles, { ip = 0x1000, pid = 7, tid = 7, time = 10 * i, period = 100 * i, id = 1 })
    b:sample(faults, { ip = 0x1000, pid = 8, tid = 9, time = 10 * i + 1, period = 1, id = 2 })
  end
  b:sample(cycles, { ip = 0x1000, pid = 8, tid = 9, time = 50, period = 5, id = 1 })
  return b:write()
end

describe("perflua fold", function()
  it("weighs a recording's call chains by their periods", function()
    local got = run.perflua { "fold", run.demo }
    assert.are.equal(0, got.status)
    local script = ("print(perflua.open(%q):samples('cpu-clock'):sum('period'))")
      :format(run.demo)
    assert.are.equal(run.perflua({ "-e", script }).out, sum(got.out) .. "\n")
    assert.are.equal(
      "perflua: fold: using samples of cpu-clock; --event selects another: page-faults, "
        .. "context-switches\n",
      got.err)
  end)

  it("counts them instead with --count", function()
    assert.are.equal(457, sum(run.perflua({ "fold", "--count", run.demo }).out))
    local faults = run.perflua { "fold", "--count", "--event=page-faults", run.demo }
    assert.are.equal(39, sum(faults.out))
    assert.are.equal("", faults.err)
  end)

  it("never adds events together", function()
    local path = recording()
    local one, other = run.perflua { "fold", path },
      run.perflua { "fold", path, "--event", "faults" }
    assert.are.equal(605, sum(one.out))
    assert.matches("using samples of cycles; --event selects another: faults", one.err, 1, true)
    assert.are.equal(3, sum(other.out))
    local both = run.perflua { "fold", "--event", "*", path }
    assert.are.equal(605, sum(both.out))
    assert.matches("using samples of cycles; --event selects another: faults", both.err, 1,
      true)
  end)

  it("reads a stream as it reads a file", function()
    local file = run.perflua { "fold", run.demo }
    local stream = run.shell(("cat %s | \"$perflua\" fold -"):format(run.demo))
    assert.are.equal(file.out, stream.out)
    assert.are.equal(file.err, stream.err)
  end)

  it("has commands cleaned of what separates frames, with process and thread on "
    .. "request", function()
    local path = recording()
    local function fold(by) return run.perflua({ "fold", "--by", by, path }).out end
    assert.are.equal(run.perflua({ "fold", path }).out, fold "comm")
    assert.matches("^Web Content;[^;]+ 5\na:b%?%[2J;[^;]+ 600\n$", fold "comm")
    assert.matches("^Web Content%-8;[^;]+ 5\na:b%?%[2J%-7;[^;]+ 600\n$", fold "pid")
    assert.matches("^Web Content%-8/9;[^;]+ 5\na:b%?%[2J%-7/7;[^;]+ 600\n$", fold "tid")
    assert.matches("^[^;]+ 605\n$", fold "none")
  end)

  it("takes the samples that match --where", function()
    local path = recording()
    assert.are.equal(500,
      sum(run.perflua({ "fold", "--where", "pid == 7 and period > 100", path }).out))
    local got = run.perflua { "fold", "--where", "pid == 77", path }
    assert.are.equal(0, got.status)
    assert.matches("no samples that the options choose", got.err, 1, true)
  end)

  it("writes to a file with -o", function()
    local path = files.temporary()
    local got = run.perflua { "fold", run.demo, "-o", path }
    assert.are.same({ 0, "" }, { got.status, got.out })
    assert.are.equal(run.perflua({ "fold", run.demo }).out, files.read(path))
    local full = run.perflua { "fold", run.demo, "-o", "/no/such/place" }
    assert.are.equal(1, full.status)
    assert.matches("/no/such/place", full.err, 1, true)
  end)

  it("refuses wrong words with status 2 and says which there are", function()
    local wrong = {
      { "no 'com'; the closest is 'comm'", "--by", "com" },
      { "option '--event' needs EVENT", "--event" },
      { "unrecognized option '--folded'", "--folded" },
      { "unrecognized option '--count=3'", "--count=3" },
    }
    for _, words in ipairs(wrong) do
      local got = run.perflua { "fold", run.demo, table.unpack(words, 2) }
      assert.are.equal(2, got.status)
      assert.matches(words[1], got.err, 1, true)
    end
    local got = run.perflua { "fold", "--event", "page-fault", run.demo }
    assert.are.equal(2, got.status)
    assert.matches("this recording has no event 'page-fault'; the closest is 'page-faults'",
      got.err, 1, true)
    got = run.perflua { "fold", "--where", "comm = 'x'", run.demo }
    assert.are.equal(2, got.status)
    assert.matches("^perflua: fold: %-%-where: [^\n]*column 6[^\n]*\n$", got.err)
  end)
end)
