-- perflua doctor: binaries whose symbols are not on this machine.
local binaries = require "spec.support.binaries"
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local helper = require "spec.cli.doctor"
local perflua = require "perflua"
local run = require "spec.cli.run"

local doctor, find = helper.examine, helper.find

local ID = ("5a"):rep(20)

-- A recording of maps { filename, at, build_id } of a process, and of samples at these
-- addresses.
local function recording(maps, addresses)
  local b = builder.new()
  local event = b:event { name = "cycles", sample_type = { "ip", "tid", "time" } }
  for _, map in ipairs(maps) do
    local kernel = map[2] < 0
    b:record("mmap2", {
      pid = kernel and -1 or 7, tid = kernel and 0 or 7, addr = map[2], len = 0x1000,
      pgoff = kernel and map[2] or 0,
      prot = 5, flags = 2, filename = map[1], build_id = map[3],
      misc = kernel and 1 or 2,
    }, { pid = 7, tid = 7, time = 1 })
  end
  for i, ip in ipairs(addresses) do
    b:sample(event, { ip = ip, pid = 7, tid = 7, time = 10 + i, misc = ip < 0 and 1 or 2 })
  end
  return b:write()
end

describe("a binary without symbols", function()
  local path = recording({ { "/nowhere/a", 0x1000, ID }, { "/nowhere/b", 0x8000 },
    { "/nowhere/c", 0x20000 } },
    { 0x1100, 0x1200, 0x1300, 0x8100 })

  it("is named with its build-id, why, and where it was looked for first, if samples hit "
    .. "it", function()
    local _, report = doctor(path)
    local found = find(report, "symbols")
    assert.are.equal("note", found.level)
    assert.are.equal("2 binaries without symbols here, with 100 % of the samples", found.text)
    assert.are.equal(2, #found.details)
    assert.matches("^/nowhere/a %(build%-id " .. ID
      .. "%): 75 %%, no [^;]+; tried first: /", found.details[1])
    assert.matches("^/nowhere/b: 25 %%, ", found.details[2])
    assert.matches("%-%-symfs", found.advice)
    assert.is_nil(found.advice:find("kallsyms", 1, true))
  end)

  it("is a row for machines, with all the paths", function()
    local _, report = doctor(path)
    local one, two = table.unpack(report.binaries)
    assert.are.same({ "/nowhere/a", ID, 3, 75 },
      { one.filename, one.build_id, one.samples, one.samples_percent })
    assert.are.same({ "/nowhere/b", 1 }, { two.filename, two.samples })
    assert.is_true(#one.tried > 1)
  end)

  it("is said to be a device where it is one, which is not opened", function()
    local _, report = doctor(recording({ { "/dev/null", 0x1000, ID } }, { 0x1100 }))
    local details = find(report, "symbols").details
    assert.matches("^/dev/null %(build%-id " .. ID
      .. "%): 100 %%, is a device, not a file; tried", details[1])
  end)

  it("is among the binaries that samples hit, with the source of their symbols", function()
    local got, report = doctor(path)
    assert.matches(
      "\n  binaries   75 % of the samples in /nowhere/a: no symbols: no file was found\n"
      .. "             25 % of the samples in /nowhere/b: no symbols: ", got.out, 1, true)
    local one = report.sources[1]
    assert.are.same({ "/nowhere/a", ID, "file", 3, 75, 0 },
      { one.name, one.build_id, one.kind, one.samples, one.samples_percent, one.symbols })
    assert.are.equal(2, #report.sources)
  end)

  it("does not make a recording a bad one", function()
    local got, report = doctor(path)
    assert.are.equal(0, got.status)
    assert.matches("^[^\n]*: healthy", got.out)
    assert.are.equal("notes", report.verdict)
  end)

  it("may be the kernel, which has options of its own", function()
    local kernel = -0x7f000000 -- 0xffffffff81000000
    local _, report = doctor(recording({ { "[kernel.kallsyms]_text", kernel, ID } },
      { kernel + 0x10 }))
    local found = find(report, "symbols")
    assert.matches("^1 binary without symbols here", found.text)
    assert.matches("^%[kernel%.kallsyms%]", found.details[1])
    assert.matches("^for the kernel, use %-%-kallsyms", found.advice)
  end)

  it("is not looked for in a stream, which has passed", function()
    local got = run.shell_with('cat "$1" | "$perflua" doctor --json -', path)
    assert.are.equal(0, got.status)
  end)
end)

describe("many binaries without symbols", function()
  -- The last and least of them is the kernel.
  local maps, addresses = {}, {}
  for i = 1, 8 do
    maps[i] = { "/nowhere/" .. i, i * 0x1000, ID }
    for _ = i, 8 do table.insert(addresses, i * 0x1000 + 16) end
  end
  local kernel = -0x7f000000 -- 0xffffffff81000000
  table.insert(maps, 3, { "[kernel.kallsyms]_text", kernel, ID })
  table.insert(addresses, kernel + 16)
  local got, report = doctor(recording(maps, addresses))

  it("are listed with most samples first, and all counted", function()
    local text = got.out
    assert.matches("\n             /nowhere/5 [^\n]*\n             and 4 more\n"
      .. "             %-> install [^\n]*; for the kernel, use [^\n]*\n", text)
    assert.matches("\n             [^\n]* of the samples in /nowhere/6: [^\n]*\n"
      .. "             and 3 more binaries\n$", text)
    assert.matches("9 binaries without symbols here, with 100 % of the samples", text, 1, true)
    local at = 0
    for i = 1, 6 do
      at = assert(text:find(" of the samples in /nowhere/" .. i .. ":", at + 1, true), i)
    end
  end)

  it("are all rows for machines", function()
    local names = {}
    for i, one in ipairs(report.sources) do names[i] = one.name end
    assert.same({ "/nowhere/1", "/nowhere/2", "/nowhere/3", "/nowhere/4", "/nowhere/5",
      "/nowhere/6", "/nowhere/7", "/nowhere/8", "[kernel.kallsyms]" }, names)
    assert.equal(9, #report.binaries)
    assert.same({ "/nowhere/8", 1 }, { report.binaries[8].filename,
      report.binaries[8].samples })
    local found = find(report, "symbols")
    assert.equal("and 4 more", found.details[6])
    assert.matches("; for the kernel, use ", found.advice, 1, true)
  end)
end)

describe("two binaries of one name without a build-id", function()
  it("count as one, with the samples in both", function()
    local b = builder.new()
    local event = b:event { name = "cycles", sample_type = { "ip", "tid", "time" } }
    for inode = 1, 2 do
      b:record("mmap2", { pid = 7, tid = 7, addr = inode * 0x1000, len = 0x1000, pgoff = 0,
        prot = 5, flags = 2, filename = "/nowhere/a", maj = 8, min = 1, ino = inode, misc = 2 },
        { pid = 7, tid = 7, time = inode })
    end
    for i = 1, 3 do
      b:sample(event, { ip = i < 3 and 0x1010 or 0x2010, pid = 7, tid = 7, time = 10 + i,
        misc = 2 })
    end
    local path = b:write()
    local _, report = doctor(path)
    assert.equal(1, #report.sources)
    assert.equal(1, #report.binaries)
    assert.same({ "/nowhere/a", 3, 100 }, { report.sources[1].name, report.sources[1].samples,
      report.sources[1].samples_percent })
    local file <close> = assert(perflua.open(path))
    local counts = {}
    for i, row in ipairs(file:binaries()) do counts[i] = row.samples end
    assert.same({ 3, 3 }, counts)
  end)
end)

describe("a binary without a build-id", function()
  local program = binaries.tree()
  program:sh "mkdir app"
  local first = 0x1000 + program:program("app/prog").first % 0x1000
  local name = program.path .. "/app/prog"

  -- Its samples, or samples elsewhere whose call chains lead there; of another host unless
  -- `here`.
  local function unproven(here, build_id, chain)
    local b = builder.new()
    local event = b:event { name = "cycles",
      sample_type = { "ip", "tid", "time", table.unpack(chain and { "callchain" } or {}) } }
    if here then binaries.of_here(b) end
    local at = { pid = 7, tid = 7, time = 1 }
    b:record("mmap2", { pid = 7, tid = 7, addr = 0x1000, len = 0x1000, pgoff = 0x1000, prot = 5,
      flags = 2,
      filename = name, build_id = build_id, misc = 2 }, at)
    b:record("mmap2", { pid = 7, tid = 7, addr = 0x9000, len = 0x1000, prot = 5, flags = 2,
      filename = "/nowhere/a",
      build_id = ID, misc = 2 }, at)
    b:sample(event, { ip = chain and 0x9000 or first, pid = 7, tid = 7, time = 2, misc = 2,
      callchain = chain and { -512, 0x9000, first } })
    return b:write()
  end

  it("is named if its file here was used, also if call chains alone meet it", function()
    for _, chain in ipairs { false, true } do
      local got, report = doctor(unproven(true, nil, chain))
      local found = find(report, "unproven")
      assert.are.equal("note", found.level)
      assert.are.equal(
        "1 binary was used without a recorded build-id: symbols come from the files on this "
          .. "machine",
        found.text)
      assert.are.same({ name }, found.details)
      assert.matches("%-%-buildid%-mmap", found.advice)
      assert.are.same({ { filename = name, path = name } }, report.unproven)
      assert.are.equal(0, got.status)
    end
  end)

  it("is not when it is proven, or not used, or not named at all", function()
    for _, path in ipairs {
      unproven(true, program:build_id "app/prog"), unproven(false),
      recording({ { name, 0x1000 } }, { 0x70000 }),
    } do
      local _, report = doctor(path)
      assert.is_nil(find(report, "unproven"))
      assert.are.same({}, report.unproven)
    end
  end)

  it("counts as one without symbols on another system, unless an option accepts it", function()
    local path = unproven(false)
    local _, report = doctor(path)
    local found = find(report, "symbols")
    assert.matches("prog: 100 %%, its build%-id was not recorded, and nothing proves",
      found.details[1])
    local got = run.perflua { "doctor", "--any-binary", path }
    assert.matches("1 binary was used without a recorded build%-id", got.out)
  end)
end)

describe("a recording whose binaries are all here", function()
  it("has no finding", function()
    local _, report = doctor(recording({ { "/nowhere/unused", 0x1000 } }, { 0x70000 }))
    assert.is_nil(find(report, "symbols"))
    assert.are.same({}, report.binaries)
  end)

  it("has no finding if its binaries are in the given directory", function()
    local got = run.perflua { "doctor", "--symfs", files.fixture "words",
      files.fixture "words/perf.data" }
    assert.matches("^[^\n]*: healthy\n", got.out)
    assert.matches(
      "\n  binaries   100 %% of the samples in /usr/local/bin/words: 27 symbols of [^\n]*"
      .. "words/usr/local/bin/words %(recorded path%)\n", got.out)
  end)

  it("has no finding if it has no samples", function()
    local b = builder.new()
    b:event { name = "cycles", sample_type = { "ip", "tid", "time" } }
    b:record("mmap2", { pid = 7, tid = 7, addr = 4096, len = 4096, prot = 5,
      filename = "/nowhere/a" })
    local _, report = doctor(b:write())
    assert.are.same({}, report.binaries)
  end)
end)
