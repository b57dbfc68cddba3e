-- perflua report of recordings that are made to harm: names that would drive a terminal, trees
-- of a million calls, call chains of thousands of frames, recursion.
local binaries = require "spec.support.binaries"
local builder = require "spec.support.builder"
local builder_elf = require "spec.support.builder_elf"
local run = require "spec.cli.run"

-- A name of an event, a binary and a function.
local NAME <const> = "a\27[31mb\nc\td\r\127\u{9b}2Je"
local ESCAPED <const> = "a\\x1b[31mb\\x0ac\\x09d\\x0d\\x7f\\u{9b}2Je"

local chained = { "ip", "tid", "time", "period", "callchain" }

local function report(path, ...)
  local got = run.perflua { "report", path, "--timing=json", ... }
  assert.are.equal(0, got.status, got.err)
  return got.out, math.tointeger(tonumber(got.err:match '"peak_memory":(%d+)'))
end

-- Returns a recording of a function that calls itself once, and the directory of its binary.
local function with_harmful_names()
  local bytes, sections = builder_elf.pack { machine = 62,
    sections = { { name = ".text", data = ("\0"):rep(16), flags = 6 } },
    symbols = { { name = NAME, value = 0, size = 16, section = ".text" } } }
  local tree = binaries.tree()
  tree:write("lib/" .. NAME, bytes)
  local b = builder.new()
  local event = b:event { name = NAME, sample_type = chained }
  b:record("comm", { pid = 7, tid = 7, comm = "a\27[31mb\nc\td" }) -- 16 bytes at most
  b:record("mmap2", { pid = 7, tid = 7, addr = 0x400000, len = 0x10000, prot = 5, flags = 2,
    filename = "/lib/" .. NAME })
  local ip = 0x400000 + sections[1].offset
  b:sample(event, { ip = ip, pid = 7, tid = 7, time = 1, period = 1,
    callchain = { -512, ip, ip + 8 } })
  return b:write(), tree
end

describe("perflua report of names with control characters", function()
  local path, tree = with_harmful_names()

  it("escapes them in each form of text", function()
    for _, options in ipairs {
      "", "-g caller", "-g callee --no-children", "-g folded", "-g flat", "-g address",
      "-g srcline", "--hierarchy", "--hierarchy -g caller --no-children", "-p e -g caller",
      "-t ,", "-w 9,9,9", "--tasks", "--mmaps", "--stats", "-D", "--header", "-v", "--group",
      "-F overhead,sample,comm,dso,sym,symoff", "--json",
    } do
      local words = {}
      for word in options:gmatch "%S+" do words[#words + 1] = word end
      local got = run.perflua { "report", "--symfs", tree.path, path, table.unpack(words) }
      assert.are.equal(0, got.status, options .. got.err)
      local text = got.out .. got.err
      assert.is_nil(text:find "[\0-\8\11-\31\127]", options)
      assert.is_nil(text:find("\t", 1, true), options)
      assert.is_nil(text:find("\u{9b}", 1, true), options)
    end
    local out = report(path, "--symfs", tree.path, "-g", "caller")
    assert.matches("[.] " .. ESCAPED .. "\n", (out:gsub(" +\n", "\n")), 1, true)
    assert.matches("---" .. ESCAPED .. "\n", out, 1, true)
    assert.matches("of event '" .. ESCAPED .. "'", out, 1, true)
  end)
end)

describe("perflua report of harmful call chains", function()
  -- Returns a recording of samples whose chains, without the leaf, are chain(i) with i from 1.
  local function of_chains(n, chain)
    local b = builder.new()
    local event = b:event { sample_type = chained }
    for i = 1, n do
      b:sample(event, { ip = 0x10, pid = 1, tid = 1, time = i, period = 1,
        callchain = { -512, 0x10, table.unpack(chain(i)) } })
    end
    return b:write()
  end

  local forms = { { "-g", "callee,0", "--no-children" }, { "-g", "folded,0", "--no-children" },
    { "-g", "flat,0", "--no-children" }, { "-g", "caller,0" } }

  local function count_frames(text) return select(2, text:gsub("0x[1-9a-f]%x%x+", "")) end

  it("draws a tree of a million calls in memory for each of them", function()
    local CHAINS <const>, FRAMES <const> = 10000, 100
    local path = of_chains(CHAINS, function(i)
      local list = {}
      for k = 1, FRAMES do list[k] = 0x100000 + 16 * ((i - 1) * FRAMES + k) end
      return list
    end)
    local out, peak = report(path, "-s", "sym", table.unpack(forms[1]))
    assert.are.equal(CHAINS * FRAMES, count_frames(out))
    if not run.binary:find("/san/", 1, true) then
      assert.is_true(peak < 300 * CHAINS * FRAMES, peak)
    end
  end)

  it("draws 1024 frames of deep ones", function()
    local deep = {}
    for k = 1, 8000 do deep[k] = 0x10000 + 16 * k end
    local path = of_chains(3, function() return deep end)
    for k = 1, 3 do
      local out = report(path, "-s", "sym", table.unpack(forms[k]))
      assert.are.equal(1023, count_frames(out)) -- and the leaf
    end
  end)

  it("counts a function that called itself once for a sample", function()
    local path = of_chains(200, function(i)
      local list = {}
      for k = 1, 40 * i do list[k] = 0x10 end
      return list
    end)
    for _, form in ipairs(forms) do
      local out = report(path, "-q", "-s", "sym", table.unpack(form))
      assert.matches("^ +100.00%%[ 10.%%]- %[%.%] 0x0*10 *\n", out)
      assert.are.equal(1, select(2, out:gsub("%[%.%]", "")), form[2])
    end
  end)
end)
