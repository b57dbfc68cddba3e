-- However many workers print records, the text is that of one.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local run = require "spec.cli.run"

local quiet = "--symfs spec/fixtures/empty --kallsyms /dev/null"

local SAMPLES <const> = 12000
local KERNEL <const>, USER <const> = -128 & -1, -512 & -1

-- Returns a recording that is worth several workers: threads with call chains, that are forked,
-- change their names and what they have mapped, and exit; out of order here and there.
local function busy_recording()
  local b = builder.new()
  local parts = { "identifier", "ip", "tid", "time", "addr", "cpu", "period", "callchain",
    "data_src", "raw" }
  local event = b:event { name = "cycles", ids = { 1 }, sample_type = parts }
  b:event { name = "faults", ids = { 2 }, sample_type = parts }
  local function map(pid, at, i)
    b:record("mmap2", { pid = pid, tid = pid, addr = 0x400000 + (i % 5) * 0x1000, len = 0x3000,
      prot = 5, filename = "/bin/a" .. i % 7 }, { time = at, event = event })
  end
  for i = 1, SAMPLES do
    local at, pid = 1000 + 10 * i, 7 + i // 400
    if i % 400 == 1 then
      b:record("fork", { pid = pid, ppid = pid - 1, tid = pid, ptid = pid - 1, time = at },
        { time = at, event = event })
      map(pid, at, i // 400)
    elseif i % 400 == 150 then
      b:record("comm", { pid = pid, tid = pid, comm = "named" .. i % 11 },
        { time = at, event = event })
      map(pid, at, i // 3)
    elseif i % 400 == 399 then
      b:record("exit", { pid = pid, ppid = pid - 1, tid = pid, ptid = pid - 1, time = at },
        { time = at, event = event })
    end
    local chain = { KERNEL, 0xffffffff81000000 + i % 13, USER }
    for level = 1, i * 7 % 50 do chain[#chain + 1] = 0x400000 + 0x100 * (i * level % 61) end
    b:sample(event, { id = 1 + i % 2, ip = chain[2], pid = pid - i // 3 % 2,
      tid = pid - i // 3 % 2, time = at + i * 37 % 60, cpu = i % 4, period = i, addr = i,
      callchain = chain, data_src = i % 97, misc = 1, raw = ("x"):rep(i % 9 * 8 + 4) })
  end
  return b:write()
end

describe("text that several workers print", function()
  local path, cut
  setup(function()
    path = busy_recording()
    cut = files.temporary(files.read(path):sub(1, -20000))
  end)

  local function same(words, of)
    local expected
    for _, workers in ipairs { 1, 2, 4 } do
      local script = ("$perflua -j %d %s \"$1\""):format(workers, words)
      local got = run.shell_with(script, of or path)
      expected = expected or got
      assert.equal(expected.err, got.err)
      assert.equal(expected.status, got.status)
      assert.is_true(expected.out == got.out, words .. " with -j " .. workers)
    end
    return expected
  end

  for _, words in ipairs { "", "-F +srcline", "-F ip,sym,dso -G", "--as 6.1", "--as 6.12",
    "--max-stack 33", "--reltime", "--deltatime", "-F +data_src", "--json",
    "--comm named3,named5" } do
    it("is that of one: script " .. words, function()
      local got = same(("script %s %s"):format(quiet, words))
      assert.is_true(#got.out > 50000)
    end)
  end

  for _, words in ipairs { "dump", "dump --json --names", "dump --where 'cpu == 1'",
    "export --to csv", "export --to jsonl --fields comm,symbol,stack,time",
    "export --to csv --where 'cpu > 1' --fields cpu,event,addr" } do
    it("is that of one: " .. words, function()
      assert.is_true(#same(words .. " " .. quiet).out > 50000)
    end)
  end

  it("is that of one where the recording is damaged", function()
    local got = same("dump", cut)
    assert.not_equal("", got.err)
    same("script " .. quiet, cut)
  end)

  it("ends when its reader does", function()
    local got = run.shell_with("$perflua -j 4 script " .. quiet .. " \"$1\" | head -1", path)
    assert.equal(1, select(2, got.out:gsub("\n", "")))
    assert.equal("", got.err)
  end)

  it("ends when it cannot be written", function()
    local got = run.shell_with("$perflua -j 4 dump \"$1\" >/dev/full", path)
    assert.equal(1, got.status)
    assert.truthy(got.err:find("cannot write to standard output: No space left", 1, true))
  end)
end)
