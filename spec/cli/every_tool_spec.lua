-- Every tool over every recording: it ends by itself, and what it cannot do it says in a line
-- of its own. SWEEP=1: with every command line of spec/support/every_tool.lua.
local builder = require "spec.support.builder"
local corpus = require "spec.support.corpus"
local everything = require "spec.support.everything"
local files = require "spec.support.files"
local run = require "spec.cli.run"

-- Texts of Lua's own errors (see spec/fuzz/internal.lua), and what the library says of a nil.
local faults = { "attempt to", "bad argument", "traceback", "table index is",
  "number has no integer", "overflow", "misspelt global" }

--- Runs every tool over these recordings in one process, as they are or damaged in so many
--- ways.
local function every_tool(paths, mutations, seed)
  local got =
    run.shell_with(
      ("LUA_PATH='./?.lua;;' \"$perflua\" spec/support/every_tool.lua %d %d \"$@\""):format(
    seed or 0, mutations), table.unpack(paths))
  local last = got.out:match "(run[^\n]*)\n[^\n]*$" or got.out
  assert(got.status == 0, ("status %s: %s %s"):format(got.status, last, got.err:sub(-500)))
  local doing = ""
  for line in (got.out .. got.err):gmatch "[^\n]+" do
    if line:find "^run" then doing = line end
    for _, fault in ipairs(faults) do assert(not line:find(fault), doing .. ": " .. line) end
  end
  assert.is_true(select(2, got.out:gsub("run\t", "")) >= 30 * #paths * math.max(1, mutations))
end

describe("every tool", function()
  it("reads the recordings that come with perflua", function()
    local list = { run.demo, "spec/fixtures/calls.perf.data", "spec/fixtures/words/perf.data" }
    for path in files.lines "ls spec/fixtures/perf-7.3/*.data" do list[#list + 1] = path end
    every_tool(list, 0)
  end)

  it("reads everything that there can be, in every container", function()
    local list = {}
    for _, endian in ipairs { "little", "big" } do
      list[#list + 1] = everything.builder(endian):write()
    end
    local b = builder.new { container = "pipe" }
    list[#list + 1] = b:write()
    b:record("finished_round")
    list[#list + 1] = b:write()
    every_tool(list, 0)
  end)

  it("reads damaged recordings", function()
    local list = {}
    for _, endian in ipairs { "little", "big" } do
      list[#list + 1] = everything.builder(endian):write()
    end
    every_tool(list, 25, 1)
    every_tool({ "spec/fixtures/perf-7.3/dwarf.data" }, 10, 100)
    every_tool({ "spec/fixtures/perf-7.3/pipe.data", "spec/fixtures/perf-7.3/switches.data" },
      3, 200)
  end)

  if corpus.root then
    it("reads the corpus, as it is and damaged", function()
      local list, small = {}, {}
      for i, recording in ipairs(corpus.recordings()) do
        list[#list + 1] = recording.path
        if i % 8 == 0 and #files.read(recording.path) < 200000 then
          small[#small + 1] = recording.path
        end
      end
      every_tool(list, 0)
      every_tool(small, 2, 300)
    end)
  end
end)
