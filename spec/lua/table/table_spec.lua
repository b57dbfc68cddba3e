local perflua = require "perflua"
local files = require "spec.support.files"
local two_events = require "spec.support.two_events"

local function sink()
  local out = { text = "" }
  function out:write(text) self.text = self.text .. text end
  return out
end

describe("a table", function()
  local file

  setup(function() file = assert(perflua.open(two_events.write())) end)
  teardown(function() file:close() end)

  local function all(t)
    local list = {}
    for row in t:rows() do list[#list + 1] = row end
    return list
  end

  local function full()
    return file:samples():group_by("pid", "ip"):count():sum("period"):avg("period"):min("time")
      :max("cpu")
      :quantile("period", 0.5):hist("period"):distinct("cpu"):first("cpu"):last("time")
        :share("period")
  end

  it("is printed in a section for each event", function()
    local t = file:samples():group_by("pid"):sum("period"):share("period"):sort()
    assert.equal([[
# cycles:P
pid  period  share_period
  9     600        60.00%
  7     400        40.00%

# faults
pid  period  share_period
 -1       7        70.00%
  9       2        20.00%
  7       1        10.00%]], tostring(t))
  end)

  it("is printed without a section when there is one event", function()
    assert.equal([[
                ip  count
          0x401000      2
0xffffffff81000010      1
0xffffffff81000020      1]], tostring(file:samples("cycles"):group_by("ip"):count():top(3)))
  end)

  it("has rows by number", function()
    local t = file:samples("cycles"):group_by("pid"):sum("period"):top(1)
    assert.equal(1, #t)
    assert.same({ event = "cycles:P", pid = 9, period = 600 }, t[1])
    assert.is_nil(t[2])
  end)

  it("is written as CSV", function()
    local out = sink()
    file:samples():group_by("ip"):count():top(1):csv(out)
    assert.equal("event,ip,count\ncycles:P,0x401000,2\nfaults,0x402000,2\n", out.text)
    out = sink()
    file:records():group_by("type"):count():as("how \"many\""):top(1):csv(out)
    assert.equal("type,\"how \"\"many\"\"\"\nsample,7\n", out.text)
  end)

  it("is written as JSON", function()
    local out = sink()
    file:samples():group_by("ip"):count():avg("period"):top(1):json(out)
    assert.equal('[\n{"event":"cycles:P","ip":"0x401000","count":2,"avg_period":250.0},\n'
      .. '{"event":"faults","ip":"0x402000","count":2,"avg_period":4.5}\n]\n', out.text)
    out = sink()
    file:samples():where("pid == 99"):group_by("ip"):count():sort():json(out)
    assert.equal("[]\n", out.text)
  end)

  it("is written to a path, and says why it cannot be", function()
    local t, path = file:samples():group_by("pid"):count():sort(), files.temporary()
    assert(t:csv(path))
    assert.matches("^event,pid,count\n", files.read(path))
    for _, method in ipairs { "csv", "json", "save" } do
      local ok, message, code = t[method](t, "/nonexistent/directory/t.json")
      assert.is_nil(ok)
      assert.matches("nonexistent", message)
      assert.equal("ENOENT", code)
      assert.equal("EISDIR", select(3, t[method](t, "/")))
      assert.equal("ENOSPC", select(3, t[method](t, "/dev/full")))
    end
    local device <close> = assert(io.open("/dev/full", "w"))
    device:setvbuf("no")
    assert.equal("ENOSPC", select(3, t:csv(device)))
  end)

  it("says what is wrong with the arguments of csv and json", function()
    local t = file:samples("cycles"):group_by("pid"):count():sort()
    for _, method in ipairs { "csv", "json" } do
      for _, out in ipairs { 5, true, print, {}, 0 / 0 } do
        assert.has_error(function() t[method](t, out) end,
          "a path or an open file expected, got a " .. type(out))
      end
    end
    assert.has_error(function() t:csv(sink(), 5) end,
      "csv: a table of options expected, got a number")
    assert.has_error(function() t:csv(sink(), { saf = true }) end,
      "csv: unknown option 'saf'; the closest is 'safe'")
    local closed = assert(io.open "/dev/null")
    closed:close()
    assert.has_error(function() t:json(closed) end,
      "a path or an open file expected, got a closed file")
  end)

  it("outlives its file", function()
    local other = assert(perflua.open(two_events.write()))
    local t = other:samples("faults"):group_by("pid"):first("event"):sort()
    other:close()
    assert.equal("faults", t[1].first_event)
  end)

  it("comes back from a file as it was", function()
    local t, path = full():top(2, "count"), files.temporary()
    assert(t:save(path))
    local back = assert(perflua.load(path))
    assert.equal(tostring(t), tostring(back))
    assert.same(all(t), all(back))
    assert.same(all(t:sort()), all(back:sort()))
  end)

  it("is not loaded from other files", function()
    local function load_bytes(bytes) return perflua.load(files.temporary(bytes)) end
    local t, message, code = load_bytes("PERFILE2")
    assert.is_nil(t)
    assert.matches("not a table saved by perflua", message)
    assert.equal("FORMAT", code)
    assert.matches("version 7", select(2, load_bytes("perflua table 7\tT\n")))
    assert.matches("version 1", select(2, load_bytes("perflua table 1\n{}\n")))
    assert.matches("damaged", select(2, load_bytes("perflua table 2\t{}\n")))
    assert.matches("empty", select(2, load_bytes("\n")))
    assert.equal("ENOENT", select(3, perflua.load("/nonexistent")))
    assert.equal("EISDIR", select(3, perflua.load("/")))
    assert.error_matches(function() perflua.load(5) end, "a path or an open file expected")
  end)

  it("is not loaded when it is cut anywhere, nor crashes when it is damaged", function()
    local path = files.temporary()
    assert(full():sort():save(path))
    local text = files.read(path)
    for length = 0, #text - 2, 11 do
      files.write(path, text:sub(1, length))
      assert.is_nil((perflua.load(path)), length)
    end
    for _ = 1, 300 do
      local at = math.random(20, #text - 1)
      files.write(path, text:sub(1, at - 1) .. string.char(math.random(32, 126))
        .. text:sub(at + 1))
      local damaged = perflua.load(path)
      if damaged then pcall(tostring, damaged) end
    end
  end)

  it("does not let names move the cursor", function()
    local path = two_events.write(function(b)
      b:record("comm", { pid = 1, tid = 1, comm = "\27[2Jx" },
        { pid = 1, tid = 1, time = 3000000000 })
    end)
    local other <close> = assert(perflua.open(path))
    assert.matches("\\x1b[2Jx", tostring(other:records("comm"):group_by("comm"):count():sort()),
      1, true)
  end)
end)
