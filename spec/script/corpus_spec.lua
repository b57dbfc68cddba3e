-- perflua script prints what perf 6.1 and 7.2 printed of real recordings, without symbols of
-- the machine.
local corpus = require "spec.support.corpus"
local files = require "spec.support.files"
local lines = require "spec.script.lines"
local needs = require "spec.support.needs"

local quiet = "--symfs=spec/fixtures/empty --kallsyms=/dev/null"

-- Recordings that differ by nature, by the end of their names.
local differs = {
  ["dwarf.data"] = "a stack that cannot be unwound has one frame, not none",
  ["fork_static_gcc/perf.data.zstd"] = "the same",
  ["cpp-inlining.perf.data"] = "the same",
  ["perf_offcpu.data@798d6ba7"] = "the same",
  ["vector_static_gcc/perf.data"] = "the same",
  ["perf.data.true.v2"] = "the same",
  ["perf_with_ip_zero_in_callchain.data"] = "the same",
  ["perf.lbr.data"] =
    "where the branches say nothing perf shows the kernel's address as the user's",
  ["perf-hypercount.data"] = "perf leaves samples of guests out",
  ["perf.data.intel_pt-4.14"] = "perf decodes what the processor traced",
  ["dwarf.uncompress.data"] = "names of events are those that the recorder gave",
  ["fp.compress.data"] = "the same",
  ["perf.data.libreport"] = "the same",
  ["report_test.data"] = "the same",
  ["arm64/pipe.data"] = "perf finds callers of leaf functions in binaries of that machine",
  ["arm64/all.data"] = "the same",
  ["arm64/fp-g.data"] = "the same",
  ["probe.data.stream"] = "the format of a tracepoint names it",
  ["i386/tp.data"] = "what came too late perf prints late",
  ["amd64-7.2/tp.data"] = "the same",
  ["amd64-7.2/defer.data"] = "perf prints a sample when its deferred call chain comes",
  ["kmem.data"] = "texts have functions of that machine's kernel",
  ["stat.data"] = "no samples: perf prints counters",
  ["stat-i.data"] = "the same",
}

local function is_compared(name)
  for ending in pairs(differs) do
    if name:sub(-#ending) == ending then return false end
  end
  return true
end

--- Without functions, which were known on the machine itself: "… ffff name+0x1 (dso)" → "… ffff
--- (dso)". And a kernel goes as far as its functions.
local function without_function(line)
  return (line:gsub("(%s%x+) %S+ (%b())$", "%1 %2"):gsub("%(%[kernel.kallsyms%]%)$",
    "([unknown])"))
end

--- Without the binary of user code of pid 0, which perf looks for among the maps of all
--- processes outside a container.
local function without_outside(line)
  local head = line:match "^(%s*.-%s0 %[%d+%].* %x+ %S+) %b()$"
  return head and not head:find " ffff%x+ %S+$" and head .. " ([unknown])" or line
end

--- With the name that hiperf gave the event, and without what was mapped last: hiperf records
--- no times of mappings, and perf knows those that lie before the sample.
local function as_hiperf_recorded(line)
  return (line:gsub(" cycles:HG: ", " hw-cpu-cycles: "):gsub("%(%[heap%]%)$", "([unknown])"))
end

local changes = { ["@e54a8bc3"] = without_outside, ["perfnew.data"] = as_hiperf_recorded }

local function change_of(name)
  for ending, change in pairs(changes) do
    if name:sub(-#ending) == ending then return change end
  end
end

--- The version of the perf that printed what was kept: recordings made for the corpus name it
--- by their machine.
local function version_of(script)
  return script:find("[/-]7%.2") and "7.2" or "6.1"
end

--- perf's and our lines: what was kept of collected recordings is all; of those that were made
--- for the corpus it has functions.
local function kept_scripts()
  local list = {}
  for _, recording in ipairs(corpus.recordings()) do
    for _, script in ipairs(recording.expected.script or {}) do
      local recorded = recording.name:find "^recorded/" ~= nil
      if is_compared(recording.name) then
        local change = recorded and without_function or change_of(recording.name)
        list[#list + 1] = { recording, script, change, version_of(script) }
      end
    end
  end
  return list
end

needs.describe("corpus", "the lines of a real recording", function()
  local compared = 0

  for _, one in ipairs(kept_scripts()) do
    local recording, script, change, version = table.unpack(one)
    it(("are those of perf %s: %s"):format(version, recording.name), function()
      local theirs = lines.kept(script)
      if #theirs == 0 then return end -- perf failed
      lines.same(theirs, (lines.of_ours(recording.path, quiet, version)), change, nil, version)
      compared = compared + 1
    end)
  end

  it("were compared in many cases", function()
    assert.is_true(compared > 100, tostring(compared))
  end)

  it("show branches as perf does", function()
    local name = "/collected/GrapheneOS__platform_system_extras/simpleperf/testdata/perf_b.data"
    local ours = lines.of_ours(corpus.root .. name, quiet .. " -F comm,brstack")
    assert.are.equal(150, #ours)
    assert.matches("^             elf  0x400513/0x4004ed/P/%-/%-/0/  0x400523/0x400513/P/",
      ours[1])
    assert.is_true(files.exists(corpus.root .. name))
  end)
end)
