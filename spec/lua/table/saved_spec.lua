-- Tables in files and streams.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local perflua = require "perflua"
local two_events = require "spec.support.two_events"

local function all(t)
  local list = {}
  for row in t:rows() do list[#list + 1] = row end
  return list
end

describe("a saved table", function()
  local file

  setup(function() file = assert(perflua.open(two_events.write())) end)
  teardown(function() file:close() end)

  local function counted()
    return file:samples():group_by("pid", "ip"):count():sum("period"):sort()
  end

  local function bytes_of(t)
    local path = files.temporary()
    assert(t:save(path))
    return files.read(path)
  end

  local function load_bytes(bytes) return perflua.load(files.temporary(bytes)) end

  it("is a line of printable text, whatever the names are", function()
    local b, nasty = builder.new(), "a\tb\nc|d\\e\r\0f\xff\u{e9}\27"
    b:event { name = "cycles", sample_type = { "ip", "tid", "time" }, ids = { 1 } }
    for i, filename in ipairs { nasty, "~", "t", "$1", '"', "1", "" } do
      b:record("mmap2", { pid = i, tid = i, addr = 0x1000, len = 16, filename = filename })
    end
    local other <close> = assert(perflua.open(b:write()))
    local t = other:records("mmap2"):group_by("filename"):count():distinct("filename")
      :first("filename"):sort()
    local bytes = bytes_of(t)
    assert.is_nil(bytes:sub(1, -2):find("[^ -~\t]"))
    assert.equal("\n", bytes:sub(-1))
    assert.same(all(t), all(load_bytes(bytes)))
  end)

  it("can be saved to an open file, and many can follow one another", function()
    local t, path = counted(), files.temporary()
    local out = assert(io.open(path, "wb"))
    for _ = 1, 3 do assert(t:save(out)) end
    out:close()
    assert.same(all(t:merge(t):merge(t)), all(assert(perflua.load(path))))
    local from <close> = assert(io.open(path, "rb"))
    assert.same(all(t:merge(t):merge(t)), all(assert(perflua.load(from))))
    assert.same(all(t),
      all(assert(load_bytes("\n\r\n" .. bytes_of(t):gsub("\n", "\r\n") .. "\n"))))
    assert.same(all(t), all(assert(load_bytes((bytes_of(t):gsub("\n", ""))))))
  end)

  it("can go to standard output and come from standard input", function()
    local run = require "spec.cli.run"
    local got = run.shell(([["$perflua" -e 'local f = perflua.open(%q)
      f:samples():group_by("pid"):count():sort():save "-"' | "$perflua" -e 'print(perflua.load "-")']])
      :format(run.demo))
    local demo <close> = assert(perflua.open(run.demo))
    assert.same({ 0, "" }, { got.status, got.err })
    assert.equal(tostring(demo:samples():group_by("pid"):count():sort()) .. "\n", got.out)
  end)

  it("keeps what the query asked: another is not merged with it", function()
    local one = load_bytes(bytes_of(file:samples():where("cpu == 1"):group_by("pid"):count()
      :sort()))
    local two = file:samples():group_by("pid"):count():sort()
    local bytes = bytes_of(one) .. bytes_of(two)
    assert.matches('tables of different queries: where: "cpu == 1" here',
      select(2, load_bytes(bytes)))
  end)

  it("holds no Lua functions", function()
    local function one() return 1 end
    local path = files.temporary() .. ".none"
    local t = file:samples():group_by({ x = one }):count():sort()
    assert.error_matches(function() t:save(path) end, "column 'x' is made by a Lua function")
    assert.is_false(files.exists(path))
    assert.has_no.errors(function() t:merge(t) end)
    local filtered = file:samples():where(one):group_by("pid"):count():sort()
    assert.equal(tostring(filtered), tostring(load_bytes(bytes_of(filtered))))
  end)

  it("is refused with the position of the fault", function()
    local good = bytes_of(counted())
    local function wrong(from, to, pattern)
      local changed, n = good:gsub(from, to, 1)
      assert.equal(1, n, from)
      local t, message, code = load_bytes(good .. changed)
      assert.is_nil(t)
      assert.equal("FORMAT", code)
      assert.matches(": table 2: damaged: .*" .. pattern, message)
    end
    wrong("\tend\n$", "\t5\tend\n", "byte %d+: the end expected")
    wrong("(\t%d+)(\t%d+\tend\n)$", "%2", "byte %d+: a %a+ expected")
    wrong("(\t%d+)(\t%d+\tend\n)$", "\tx%2", "byte %d+: a group expected")
    wrong("(\t%d+)(\t%d+\tend\n)$", "\t-1%2", "byte %d+: a group expected")
    wrong("\tend\n$", "\n", "its end is missing")
    wrong("S8:measures", "S8:measuxes", "description of a table")
    wrong("I1;S8:cycles:P", "I9;S8:cycles:P", "description of a table")
    wrong("S8:measures{I1;", "S8:measures{I0;", "description of a table")
    wrong("S6:signed", "S6:Signed", "description of a table")
    assert.matches("not a table saved by perflua", select(2, load_bytes(good .. "hello")))
    assert.matches("table 1: not a table", select(2, perflua.load("/dev/zero")))
  end)

  it("costs no more than its length, whatever it claims", function()
    local head = bytes_of(counted()):match("^(perflua table 2\t[^\t]*\t)")
    local names = {}
    for i = 1, 20000 do names[i] = "\"" .. i end
    for _, rest in ipairs {
      "9223372036854775807\tend", ("1"):rep(200000) .. "\tend", "1\t" .. ("\\"):rep(200000)
        .. "\tend",
      "1\t0\t" .. ("x"):rep(200000) .. "\tend", "50000\t" .. table.concat(names, "\t")
        .. "\tend",
      ("\t"):rep(200000) .. "\tend", "1\t0\t1\t1\t" .. ("1|"):rep(100000) .. "\t1\tend",
    } do
      local start = os.clock()
      assert.is_nil((load_bytes(head .. rest .. "\n")))
      assert.is_true(os.clock() - start < 2)
    end
  end)
end)
