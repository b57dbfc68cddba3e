-- Exit statuses of tools: the same for the same case, as docs/topics/interpreter.md says.
local for_all_tools = require "spec.support.for_all_tools"
local INTERRUPT = require "spec.support.interrupting"
local files = require "spec.support.files"
local run = require "spec.cli.run"

-- Tools that read no recording, its header only, or a stream, or need a terminal; and what
-- others need beside its path.
local WITHOUT = { browse = true, build = true, completion = true, help = true, list = true,
  map = true, record = true, reduce = true, stubs = true, top = true }
local WORDS = { check = { files.temporary "expect(samples()):above(-1)" },
  export = { "--to", "folded" }, flame = { "-o", "-" }, timechart = { "-o", "-" },
  convert = { "-o", "-" }, cut = { "--where", "period >= 0", "-o", "-" },
  inject = { "-b", "-o", "-" }, merge = { "-o", "-" },
  pack = { "--force", "-o", files.temporary() }, repair = { "-o", "-" },
  scrub = { "-o", "-" } }
local OPERANDS = { symbol = { "401000" }, -- that path
  diff = { for_all_tools.builder(50):write() },
  merge = { for_all_tools.builder(50):write() } }

-- Tools that have no result without samples.
local NEEDS_SAMPLES = { cut = true, diff = true }

-- Options that choose samples, and the tools that have them.
local WHERE = { dump = true, flame = true, fold = true, report = true, script = true }
local EVENT = { flame = true, fold = true, report = true, script = true }

-- Tools that read several recordings, or whose second operand is of any kind.
local SEVERAL = { annotate = true, cgroups = true, check = true, doctor = true, dump = true,
  export = true, faults = true, fields = true, flame = true, fold = true, merge = true,
  overview = true, report = true, script = true, stat = true }

-- Tools that no recording can lack anything for.
local FOR_ANY = { annotate = true, check = true, convert = true, cut = true, doctor = true,
  dump = true, export = true, faults = true, fields = true, flame = true, fold = true,
  gen = true, header = true, inject = true, merge = true, offcpu = true, overview = true,
  pack = true, repair = true, report = true, script = true, scrub = true, stat = true,
  symbol = true, timeline = true }

local tools = {}
for name in run.perflua({ "help" }).out:match "\ntools:\n(.-)\n\n"
    :gmatch "%f[^\n%z]  (%l[%w-]*) " do
  if not WITHOUT[name] then tools[#tools + 1] = name end
end

local function status_of(name, path, ...)
  local words = { name, table.unpack(WORDS[name] or {}) }
  for _, word in ipairs { ... } do words[#words + 1] = word end
  words[#words + 1] = path
  for _, word in ipairs(OPERANDS[name] or {}) do words[#words + 1] = word end
  return run.perflua(words)
end

-- The bytes of a recording with a record in the middle that claims to have three bytes.
local function damaged(path)
  local bytes = files.read(path)
  local at = string.unpack("<I8", bytes, 41)
  for _ = 1, 20 do at = at + string.unpack("<I2", bytes, at + 7) end
  return files.temporary(bytes:sub(1, at + 6) .. "\3\0" .. bytes:sub(at + 9))
end

describe("the exit status of a tool", function()
  local whole, empty = for_all_tools.builder(50):write(), for_all_tools.builder(0):write()
  local harmed = damaged(whole)

  it("is looked at for all tools", function()
    assert.is_true(#tools >= 22, table.concat(tools, " "))
  end)

  for _, name in ipairs(tools) do
    local function is(status, got, what)
      assert.equal(status, got.status, ("%s: %s: %s"):format(name, what, got.err))
    end

    it("is 0 when there is a result, also without (matching) samples: " .. name, function()
      is(0, status_of(name, whole), "a whole recording")
      is(NEEDS_SAMPLES[name] and 1 or 0, status_of(name, empty), "a recording without samples")
      if WHERE[name] then
        is(0, status_of(name, whole, "--where", "pid == 99"), "no samples match")
      end
      if EVENT[name] then
        is(0, status_of(name, whole, "--event", "page-faults"), "no samples of an event")
      end
    end)

    it("is 0 for a damaged recording, with a warning; 3 for doctor: " .. name, function()
      local got = status_of(name, harmed)
      is(name == "doctor" and 3 or 0, got, "damaged")
      if name == "overview" then
        assert.matches("\n  damage +damaged in 1 place\n", got.out)
      elseif name ~= "doctor" and name ~= "header" then
        assert.matches("size of a record: found 3", got.err, 1, true)
      end
    end)

    it("is 1 if there is no recording, or it lacks what is needed: " .. name, function()
      is(1, status_of(name, "/no/such/file"), "no file")
      is(1, status_of(name, files.temporary "no recording"), "no recording")
      if not FOR_ANY[name] then is(1, status_of(name, run.demo), "lacks something") end
    end)

    it("is 2 for unknown words: " .. name, function()
      is(2, status_of(name, whole, "--no-such-option"), "an option")
      is(SEVERAL[name] and 1 or 2, status_of(name, whole, "a second recording"), "operands")
      if WHERE[name] then
        is(2, status_of(name, whole, "--where", "no_such_field == 1"), "a field")
      end
      if EVENT[name] then
        is(2, status_of(name, whole, "--event", "no-such-event"), "an event")
      end
    end)

    it("is 130 after an interrupt, which is said: " .. name, function()
      local words = { "-e", INTERRUPT .. "interrupt()", name,
        table.unpack(WORDS[name] or {}) }
      words[#words + 1] = whole
      for _, word in ipairs(OPERANDS[name] or {}) do words[#words + 1] = word end
      local got = run.perflua(words)
      is(130, got, "interrupted")
      -- reads no records
      if name ~= "header" then assert.matches("interrupted", got.out .. got.err, 1, true) end
    end)
  end
end)
