-- Addresses in a scrubbed recording that are relative to their binary.
local builder = require "spec.support.builder"
local busy = require "spec.support.busy"
local containers = require "spec.support.containers"
local files = require "spec.support.files"
local perflua = require "perflua"
local reading = require "spec.support.reading"
local rewritten = require "spec.support.rewritten"
local run = require "spec.cli.run"
local scrubbed = require "spec.support.scrubbed"
local tracing = require "spec.support.builder_tracing"

local KERNEL <const> = 0xffffffff9e600000
local FIRST <const>, SECOND <const>, HEAP <const> = 0x7f3322110000, 0x7f5544330000,
  0x55aa12340000

-- Two processes that map one file at different addresses, and their samples.
local function recording(endian)
  local b = builder.new { endian = endian }
  local event = b:event { name = "cycles", type = 0,
    sample_type = { "ip", "tid", "time", "addr", "callchain", "branch_stack", "phys_addr" } }
  local zero = { time = 1, pid = 1, tid = 1 }
  b:record("mmap", { pid = -1, tid = 0, addr = KERNEL, len = 0x1000000, pgoff = KERNEL,
    filename = "[kernel.kallsyms]_text", misc = 1 }, zero)
  for pid, start in ipairs { FIRST, SECOND } do
    b:record("mmap2", { pid = pid, tid = pid, addr = start, len = 0x2000, pgoff = 0x3000,
      filename = "/usr/bin/postgres", misc = 2 }, zero)
    b:record("mmap2", { pid = pid, tid = pid, addr = HEAP, len = 0x2000, pgoff = HEAP,
      filename = "//anon", misc = 2 }, zero)
  end
  b:record("ksymbol", { addr = KERNEL + 0x5000, len = 64, name = "bpf_prog_1" }, zero)
  for pid, start in ipairs { FIRST, SECOND } do
    b:sample(event, { ip = start + 0x123, pid = pid, tid = pid, time = 10 + pid, misc = 2,
      addr = 0x7eee00001234, phys_addr = 0x123456000,
      callchain = { -128, KERNEL + 0x77, -512, start + 0x123, HEAP + 0x20, 0x7eee00005678 },
      branch_stack = { { from = start + 0x10, to = KERNEL + 0x20 } } })
  end
  return b
end

local absolute = { KERNEL + 0x77, KERNEL + 0x20, KERNEL, KERNEL + 0x5000, FIRST, SECOND, HEAP,
  FIRST + 0x123, SECOND + 0x123, HEAP + 0x20, FIRST + 0x10, SECOND + 0x10, 0x7eee00001234,
  0x7eee00005678, 0x123456000 }

local function samples_of(file)
  local list = {}
  for sample in file:samples() do list[#list + 1] = sample end
  return list
end

local function chain_of(sample)
  local list = {}
  for i, entry in ipairs(sample.callchain) do list[i] = entry.ip end
  return list
end

describe("an address in a scrubbed recording", function()
  reading.either_order(describe, function(endian)
    it("tells only where it is in its binary", function()
      local file <close> = assert(perflua.open(recording(endian):write()))
      local path, summary = scrubbed.write(file, { addresses = true })
      local bytes = files.read(path)
      for _, address in ipairs(absolute) do
        local packed = string.pack((endian == "big" and ">" or "<") .. "i8", address)
        assert.is_nil(bytes:find(packed, 1, true), ("%#x"):format(address))
      end
      local copy <close> = assert(perflua.open(path))
      local one, other = table.unpack(samples_of(copy))
      assert.are.equal(one.ip, other.ip)
      assert.are.equal(0x3123, one.ip - one.map.start + one.map.pgoff)
      assert.are.equal(one.ip, one.map.start + 0x123)
      assert.are.equal(0, one.addr)
      assert.are.equal(0, one.phys_addr)
      local chain, second = chain_of(one), chain_of(other)
      assert.are.equal(chain[1], second[1]) -- in the kernel
      assert.are.equal(chain[2], one.ip)
      assert.are_not.equal(chain[3], second[3]) -- each process has its own
      assert.are.equal(0x20, chain[3] & 0xfff)
      assert.are.same({ 4, 0 }, { #chain, chain[4] })
      local kernel = copy:records("mmap"):first()
      assert.are.equal(0x77, chain[1] - kernel.addr)
      assert.are.equal(kernel.addr, kernel.pgoff)
      assert.are.equal(0x5000, copy:records("ksymbol"):first().addr - kernel.addr)
      assert.are.equal(0x20, one.branch_stack[1].to - kernel.addr)
      assert.are.equal(0x10, one.branch_stack[1].from - one.map.start)
      for _, kind in ipairs(summary.scrubbed.kinds) do
        if kind.name == "addresses" then assert.are.equal("relative", kind.action) end
      end
    end)
  end)

  it("is the same of a stream, and of a file in each order", function()
    local b, seen = recording "little", {}
    b.container = "pipe"
    local path, key = b:write(), files.temporary "key"
    for _, words in ipairs { '"$1"', '--sort "$1"', '- <"$1"' } do
      local copied = files.temporary()
      local result = run.shell_with(
        '"$perflua" scrub --force --addresses --key "$2" -o "$3" ' .. words, path, key, copied)
      assert.are.equal(0, result.status)
      local copy <close> = assert(perflua.open(copied))
      local text = {}
      for _, sample in ipairs(samples_of(copy)) do
        text[#text + 1] = table.concat(chain_of(sample), " ")
      end
      seen[table.concat(text, "\n")] = true
    end
    assert.is_nil(next(seen, next(seen)))
  end)

  for _, container in ipairs(containers.list) do
    if not container.name:find "pieces" then
      it("can be moved in a " .. container.name, function()
        local path = container.write(busy.recording(container.old or false))
        local file <close> = assert(perflua.open(path))
        local copied = scrubbed.write(file, { addresses = true })
        local copy <close> = assert(perflua.open(copied))
        assert.are.same({}, copy.damage)
        local first <close> = assert(perflua.open(path))
        assert.are.equal(first:samples { expand = false }:count(),
          copy:samples { expand = false }:count())
      end)
    end
  end

  it("gives the functions that it gave", function()
    local words = files.fixture "words/perf.data"
    local fold = '"$perflua" fold --symfs %s %s | sort'
    local path = files.temporary()
    local result = run.perflua { "scrub", "--force", "--addresses", "--keep",
      "binary,buildid,comm,kernel", words, "-o", path }
    assert.are.equal(0, result.status)
    local symfs = words:match "^(.*)/"
    local expected = run.shell(fold:format(symfs, words))
    local found = run.shell(fold:format(symfs, path))
    assert.is_true(#expected.out > 100)
    assert.are.equal(expected.out, found.out)
  end)

  it("is not told by breakpoints", function()
    for _, container in ipairs { "file", "pipe" } do
      local b = builder.new { container = container }
      b:event { name = ("mem:%#x:rw"):format(HEAP), type = 5, bp_type = 3, bp_addr = HEAP,
        bp_len = 4 }
      b:record("comm", { comm = "sh" })
      local file <close> = assert(perflua.open(b:write()))
      for _, form in ipairs { {}, { pipe = true } } do
        local path = scrubbed.write(file, { addresses = true }, form)
        local bytes = files.read(path)
        assert.is_nil(bytes:find(string.pack("<i8", HEAP), 1, true))
        assert.is_nil(bytes:find(("%x"):format(HEAP), 1, true))
        local copy <close> = assert(perflua.open(path))
        assert.matches("^mem:0x?0?:rw", copy.events[1].name)
      end
    end
  end)

  it("is not told by system calls", function()
    for _, endian in ipairs { "little", "big" } do
      local t = tracing.new { endian = endian }
      local enter = t:event("syscalls", "sys_enter_mprotect", { fields = {
        { "int", "__syscall_nr" }, { "unsigned long", "start" }, { "size_t", "len" } } })
      local exit = t:event("syscalls", "sys_exit_mmap", { fields = {
        { "int", "__syscall_nr" }, { "long", "ret" } } })
      local b, events = t:recording()
      local expected, found = { -12, 4096, 0 }, {}
      for i, ret in ipairs { -12, 4096, HEAP } do
        b:sample(events[2], { ip = 1, pid = 7, tid = 7, time = i,
          identifier = events[2].ids[1], raw = t:raw(exit, { __syscall_nr = 9, ret = ret }) })
      end
      b:sample(events[1], { ip = 1, pid = 7, tid = 7, time = 9, identifier = events[1].ids[1],
        raw = t:raw(enter, { __syscall_nr = 10, start = HEAP, len = 4097 }) })
      local file <close> = assert(perflua.open(b:write()))
      local copy <close> = assert(perflua.open((scrubbed.write(file, { addresses = true }))))
      for sample in copy:samples("syscalls:sys_exit_mmap") do
        found[#found + 1] = sample.args.ret
      end
      assert.are.same(expected, found)
      local args = copy:samples("syscalls:sys_enter_mprotect"):first().args
      assert.are.same({ 0, 4097 }, { args.start, args.len })
    end
  end)

  it("stays in call chains only if it can be one", function()
    for _, arch in ipairs { "x86_64", "aarch64", false } do
      local b = builder.new {}
      local event = b:event { name = "cycles", type = 0,
        sample_type = { "ip", "tid", "callchain" } }
      local text, cookie = string.unpack("<i8", "/usr/inc"), 0x0012000000000007
      b:record("callchain_deferred", { cookie = cookie, ips = { FIRST, text } })
      b:sample(event, { ip = FIRST, pid = 1, tid = 1,
        callchain = { -128, KERNEL, -512, FIRST, text, -640, cookie } })
      if arch then b:feature("arch", arch) end
      local file <close> = assert(perflua.open(b:write()))
      local path = scrubbed.write(file)
      assert.is_nil(files.read(path):find("/usr/inc", 1, true))
      local copy <close> = assert(perflua.open(path))
      assert.are.same({ KERNEL, FIRST, 0 },
        { table.unpack(chain_of(samples_of(copy)[1]), 1, 3) })
      local bytes = string.pack("<i8i8", -640, cookie)
      assert.is_truthy(files.read(path):find(bytes, 1, true))
    end
  end)

  for name, form in pairs { file = {}, ["compressed file"] = { compress = 1 },
    ["pipe"] = { pipe = true } } do
    it("stays in call chains of a " .. name .. " only if it is not a text", function()
      local function word(text) return (string.unpack("<i8", text .. ("\0"):rep(8 - #text))) end
      for _, endian in ipairs { "little", "big" } do
        local b = builder.new { endian = endian }
        local event = b:event { name = "cycles", type = 0,
          sample_type = { "ip", "tid", "callchain" } }
        local mapped, early = word "Nn!rZU", word "abc!rZU"
        local words = { mapped, early, word "sesame", word "ab12", word "\1abcd\1", word "abc",
          FIRST }
        b:record("mmap", { pid = 1, tid = 1, addr = mapped - 9, len = 99, filename = "/early" })
        b:record("mmap", { pid = -1, addr = word "kern", len = 9, misc = 1, filename = "[k]" })
        b:sample(event, { ip = FIRST, pid = 1, tid = 1,
          callchain = { -128, word "kern", -512, table.unpack(words) } })
        b:record("callchain_deferred", { cookie = 7, ips = words })
        b:record("mmap2", { pid = 2, tid = 2, addr = early, len = 1, filename = "/late" })
        b:feature("arch", "aarch64")
        local original <close> = assert(perflua.open(b:write()))
        local file <close> = rewritten.open(original, form)
        local copy <close> = assert(perflua.open((scrubbed.write(file))))
        local expected = { mapped, early, 0, 0, 0, word "abc", FIRST }
        local chain = chain_of(samples_of(copy)[1])
        assert.are.same({ word "kern", table.unpack(expected) }, chain)
        local rest = {}
        for i, ip in ipairs(copy:records("callchain_deferred"):first().ips) do rest[i] = ip end
        assert.are.same(expected, rest)
      end
    end)
  end

  it("is not made relative in what holds registers or stacks", function()
    local file <close> = assert(perflua.open(recording("little"):write()))
    assert.error_matches(function()
      scrubbed.write(file, { addresses = true, keep = "stacks" })
    end, "scrub: addresses: those in data of the kind stacks cannot be made relative", 1, true)
  end)
end)
