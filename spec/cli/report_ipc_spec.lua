-- The column "IPC [IPC Coverage]" of perflua report -b. perf 7.3 prints the expected text for
-- the same recording; its coverage counts instructions that end blocks. The coverage of 6.1,
-- which crashes where functions are known, is worked out by hand.
local builder = require "spec.support.builder"
local core = require "perflua.core"
local files = require "spec.support.files"
local run = require "spec.cli.run"

local symfs <const> = files.fixture "words"

-- Blocks of compare() and find_in_list(): one that ends as a longer one does, one that begins
-- amid an instruction, and one that ends there.
local function recording(has_cycles)
  local b = builder.new()
  local event = b:event { name = "cycles", branch_sample_type = { "user", "any" },
    sample_type = { "ip", "tid", "time", "branch_stack" } }
  b:record("mmap2", { pid = 7, tid = 7, addr = 0x401000, len = 0x1000, pgoff = 0x1000,
    prot = 5, filename = "/usr/local/bin/words" })
  local function add(time, ...)
    local stack = {}
    for i, branch in ipairs { ... } do
      stack[i] = { from = branch[1], to = branch[2], cycles = has_cycles and branch[3] or 0 }
    end
    b:sample(event, { ip = 0x401121, pid = 7, tid = 7, time = time, misc = 2,
      branch_stack = stack })
  end
  add(1, { 0x401121, 0x401192, 2 }, { 0x401108, 0x401119, 5 }, { 0x40118d, 0x4010ff, 7 },
    { 0x4011a1, 0x401187, 6 })
  add(2, { 0x401121, 0x401192, 9 }, { 0x401108, 0x401119, 4 }, { 0x401117, 0x401106, 20 },
    { 0x40118d, 0x4010ff, 3 }, { 0x4011a1, 0x401188, 6 })
  add(3, { 0x4011a2, 0x401192, 4 }, { 0x401121, 0x401192, 3 }, { 0x40118d, 0x40111a, 1 })
  add(4, { 0x900000, 0x900100, 4 })
  return b:write()
end

local function report(path, ...)
  local got = run.perflua { "report", "-q", "-b", "--symfs", symfs, path, ... }
  assert.are.same({ 0, "" }, { got.status, got.err })
  return (got.out:gsub(" +\n", "\n"))
end

(core.capstone and describe or pending)("perflua report -b", function()
  local path = recording(true)

  it("shows the instructions per cycle of functions", function()
    assert.are.equal([[
    46.15%  [.] compare             0.64  [ 21.4%]
    46.15%  [.] find_in_list        0.43  [  3.0%]
     7.69%  [H] 0x0000000000900100  -
]], report(path, "--as", "7.3", "-s", "symbol"))
    assert.are.equal("    23.08%  [.] compare    0.64  [ 21.4%]\n"
      .. "    23.08%  [.] compare    0.43  [  3.0%]\n",
      report(path, "--as", "7.3", "-s", "symbol_from", "--count", "2"))
    assert.are.equal("    46.15%  [.] compare  0.64  [ 21.4%]\n",
      report(path, "--as", "7.3", "-s", "overhead,symbol", "--count", "1"))
  end)

  it("counts the instructions of blocks as covered, as perf before 6.12", function()
    assert.are.equal([[
    46.15%  [.] compare             0.58  [100.0%]
    46.15%  [.] find_in_list        0.82  [ 27.3%]
     7.69%  [H] 0x0000000000900100  -
]], report(path, "--as", "6.1", "-s", "symbol"))
  end)

  it("has the column with symbols by name, and recorded cycles, in text only", function()
    local plain = "    46.15%  [.] compare\n"
    assert.are.equal(plain, report(path, "-s", "sym", "--count", "1"))
    assert.are.equal(plain, report(recording(false), "-s", "symbol", "--count", "1"))
    local csv = run.perflua { "report", "-b", "--csv", "-s", "symbol", path }.out
    assert.is_falsy(csv:find "ipc")
    local piped = run.perflua({ "report", "-q", "-b", "-s", "symbol", "-" },
      { stdin = files.read(path) })
    assert.is_falsy(piped.out:find "%[ ")
  end)

  it("refuses ipc_lbr as a key", function()
    local got = run.perflua { "report", "-b", "-s", "ipc_lbr", path }
    assert.are.equal(2, got.status)
    assert.matches("report --branch-stack --sort symbol has it", got.err, 1, true)
  end)
end)
