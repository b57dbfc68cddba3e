-- perflua.export(query, "csv" and "jsonl"): a line for each row.
local builder = require "spec.support.builder"
local chains = require "spec.support.chains"
local exported = require "spec.support.exported"
local files = require "spec.support.files"
local perflua = require "perflua"
local profiles = require "spec.support.profiles"
local run = require "spec.cli.run"

local HOSTILE <const> = "a\"b,\n\27[2J\xff"

-- Three samples, the last one of a thread whose name is a challenge.
local function recording()
  local b, sample = chains.recording { chains.kernel }
  b:record("comm", { pid = 7, tid = 7, comm = "sh" }, { time = 1 })
  b:record("comm", { pid = 8, tid = 8, comm = HOSTILE }, { time = 1 })
  sample(10, 7, { chains.KERNEL, chains.READ, chains.TWICE })
  sample(11, 7, { chains.KERNEL, chains.READ })
  sample(12, 8, { chains.KERNEL, 0xffffffff82000000 })
  return b:write()
end

local function open(path) return assert(perflua.open(path, chains.options())) end

local function export(query, format)
  local out, written = exported.query(query, format)
  return files.read(out), assert(written)
end

describe("perflua.export of rows", function()
  it("writes the most used fields of samples as CSV", function()
    local file <close> = open(recording())
    local text, written = export(file:samples(), "csv")
    assert.equal(table.concat({
      "time,event,comm,pid,tid,period,ip,symbol,dso",
      "10,cpu-clock,sh,7,7,10,0xffffffff81000104,read,[kernel.kallsyms]",
      "11,cpu-clock,sh,7,7,11,0xffffffff81000104,read,[kernel.kallsyms]",
      "12,cpu-clock,\"a\"\"b,\n\27[2J\u{fffd}\",8,8,12,0xffffffff82000000,,[unknown]", "",
    }, "\n"), text)
    assert.same({ samples = 3, set_aside = 0 }, written)
  end)

  it("writes an object for each sample as lines of JSON", function()
    local file <close> = open(recording())
    local lines = {}
    for line in export(file:samples(), "jsonl"):gmatch "[^\n]+" do
      lines[#lines + 1] = profiles.json(line)
    end
    assert.equal(3, #lines)
    assert.same({ time = 10, event = "cpu-clock", comm = "sh", pid = 7, tid = 7, period = 10,
      ip = "0xffffffff81000104", symbol = "read", dso = "[kernel.kallsyms]" }, lines[1])
    assert.equal("a\"b,\n\27[2J\u{ff}", lines[3].comm)
    assert.is_nil(lines[3].symbol)
  end)

  it("writes the fields and expressions that a query selects, as each is", function()
    local b = builder.new()
    local event = b:event { name = "cycles", ids = { 1 }, sample_type = { "ip", "tid", "time",
      "addr", "weight", "raw" } }
    b:sample(event, { ip = -1, pid = -1, tid = 3, time = 5, addr = -2, weight = -3,
      raw = "\0\xff" })
    local file <close> = open(b:write())
    local query = file:samples():select("pid", "addr", "weight", "raw", "weight / 2",
      "time == 5", "time / 5")
    local text = export(query, "csv")
    assert.equal("pid,addr,weight,raw,weight / 2,time == 5,time / 5\n"
      .. "-1,0xfffffffffffffffe,18446744073709551613,00ff,9.223372036854776e+18,true,1\n",
      (text:gsub("00ff0000", "00ff")))
    text = export(query, "jsonl")
    assert.matches('"addr":"0xfffffffffffffffe","weight":18446744073709551613,"raw":"00ff',
      text, 1, true)
    assert.matches('"time / 5":1.0}\n$', text)
  end)

  it("writes floats of many digits so that they read back as the same floats", function()
    local b = builder.new()
    local event = b:event { name = "cycles", ids = { 1 }, sample_type = { "tid", "time" } }
    local times = { 246913578024691, 1 << 53, 3 << 53, 10 }
    for _, time in ipairs(times) do b:sample(event, { pid = 1, tid = 1, time = time }) end
    local file <close> = open(b:write())
    local text = export(file:samples { order = "file" }:select("time", "-(time / 2)"), "jsonl")
    assert.equal('{"time":246913578024691,"-(time / 2)":-123456789012345.5}\n'
      .. '{"time":9007199254740992,"-(time / 2)":-4503599627370496.0}\n'
      .. '{"time":27021597764222976,"-(time / 2)":-13510798882111488.0}\n'
      .. '{"time":10,"-(time / 2)":-5.0}\n', text)
  end)

  it("writes spans, items, and what a function chooses", function()
    local file <close> = open(recording())
    local spans = file:samples():pair { open = { where = "time == 10" },
      close = { where = "time == 12" }, key = false }
    assert.equal("start,stop,duration\n10,12,2\n", export(spans, "csv"))
    local items = file:samples():unnest("callchain", { as = "frame" })
    assert.equal('{"time":10,"frame.symbol":"read"}\n{"time":10,"frame.symbol":"twice"}\n'
      .. '{"time":11,"frame.symbol":"read"}\n{"time":12,"frame.symbol":null}\n',
      (export(items:select("time", "frame.symbol"), "jsonl")))
    local chosen = file:samples():where(function(s) return s.time == 11 end)
    assert.equal("tid\n7\n", export(chosen:select "tid", "csv"))
  end)

  it("refuses what is not a row of cells", function()
    local file <close> = open(recording())
    assert.has_error(function() export(file:samples():select "callchain", "csv") end,
      "export: callchain is a view; a column takes one of its fields; stack is the "
        .. "whole chain as text")
    assert.has_error(function() export(file:samples():unnest "callchain", "csv") end,
      "export: select(…) says which fields of the items are written")
    assert.has_error(function() export(file:samples():group_by "comm", "jsonl") end,
      "export: a query of samples expected, this one is grouped")
    local done, message, code = perflua.export(file:samples(), "csv", "/dev/full")
    assert.same({ nil, "/dev/full: No space left on device", "ENOSPC" },
      { done, message, code })
  end)

  it("leaves no new file behind where a function raises", function()
    local file <close> = open(recording())
    local query = file:samples():where(function(s) return s.time < 12 or error "no" end)
    for _, format in ipairs { "csv", "speedscope" } do
      local path = files.temporary()
      os.remove(path)
      assert.error_matches(function() perflua.export(query, format, path) end, "no")
      assert.is_nil((io.open(path)))
    end
  end)

  it("names the file that is full before all rows are written", function()
    local b, sample = chains.recording { chains.kernel }
    for i = 1, 2000 do sample(i, 7, { chains.KERNEL, chains.READ }) end
    local file <close> = open(b:write())
    assert.same({ nil, "/dev/full: No space left on device", "ENOSPC" },
      { perflua.export(file:samples(), "jsonl", "/dev/full") })
  end)
end)

describe("perflua export of rows", function()
  it("takes the columns from --fields", function()
    local got = run.perflua { "export", "--to", "csv", "--fields", "time,period * 2",
      recording() }
    assert.equal("time,period * 2\n10,20\n11,22\n12,24\n", got.out)
    got = run.perflua { "export", "--to", "csv", "--fields", "time", "-o", "-", recording() }
    assert.equal("time\n10\n11\n12\n", got.out)
    for format, option in pairs { speedscope = "--fields=time", csv = "--count",
        chrome = "--timeline" } do
      got = run.perflua { "export", "--to", format, option, recording() }
      assert.equal(2, got.status)
      assert.matches("^perflua: export: " .. option:match "[%a-]+":gsub("%p", "%%%0"), got.err)
    end
    got = run.perflua { "export", "--to", "csv", "--fields", "tmie", recording() }
    assert.equal(2, got.status)
    assert.matches("^perflua: export: %-%-fields: .*tmie.*time", got.err)
  end)
end)
