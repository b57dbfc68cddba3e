-- perflua pack: a recording that has the names of its addresses on any machine.
local binaries = require "spec.support.binaries"
local builder = require "spec.support.builder"
local chains = require "spec.support.chains"
local files = require "spec.support.files"
local jitdump = require "spec.support.jitdump"
local mapped = require "spec.support.mapped"
local perflua = require "perflua"
local run = require "spec.cli.run"
local tracing = require "spec.support.builder_tracing"

local MAGIC <const> = "PERFLUAB"

local function perflua_ok(...)
  local result = run.perflua({ ... }, { env = "HOME=/nonexistent" })
  assert.equal(0, result.status, result.err)
  return result
end

--- The path of a packed copy of a recording.
local function packed(path, ...)
  local out = files.temporary()
  os.remove(out)
  perflua_ok("pack", path, "-o", out, ...)
  return out
end

--- Returns the outputs of tools.
local function said(path, ...)
  local list = {}
  for _, words in ipairs {
    { "report", "--sort", "dso,symbol,srcline" },
    { "report", "--children", "-g" },
    { "report", "--sort", "dso_size,symbol,symbol_size" },
    { "script", "-F", "comm,tid,time,ip,sym,symoff,dso,srcline" },
    { "report", "--full-source-path", "--sort", "symbol,srcline" },
    { "fold", "--inline" }, { "flame", "-o", "-" },
    { "export", "--to", "speedscope", "-o", "-" },
  } do
    words[#words + 1] = path
    for _, option in ipairs { ... } do words[#words + 1] = option end
    list[#list + 1] = perflua_ok(table.unpack(words)).out:gsub(path, "FILE")
  end
  return list
end

local WORDS = files.fixture "words"

describe("perflua pack", function()
  local words = packed(WORDS .. "/perf.data", "--symfs", WORDS)

  it("keeps functions, lines and inlined functions of files that are gone", function()
    local there, here = said(WORDS .. "/perf.data", "--symfs", WORDS), said(words)
    for i, text in ipairs(there) do assert.equal(text, here[i]) end
    assert.match("count_with_list", here[2])
    assert.match("words.c:%d", here[1])
  end)

  it("changes nothing when it is run again, also where the files are gone", function()
    local again = packed(words, "--symfs", WORDS)
    assert.equal(files.read(words), files.read(again))
    assert.equal(files.read(words), files.read(packed(words)))
  end)

  it("leaves the records and the other features as they are", function()
    local from <close> = assert(perflua.open(WORDS .. "/perf.data"))
    local to <close> = assert(perflua.open(words))
    local function list(file)
      local lines = {}
      for record in file:records() do lines[#lines + 1] = tostring(record) end
      return lines
    end
    assert.same(list(from), list(to))
    for name, value in pairs(from.features) do assert.same(value, to.features[name]) end
  end)

  it("says that names are from the bundle, and what proved them", function()
    local file <close> = assert(perflua.open(words))
    local binary = file:binaries()[1]
    assert.equal("the bundle", binary.found)
    assert.equal("its build-id", binary.proof)
    assert.is_nil(binary.unproven)
    assert.match("%(the bundle: there its build%-id proved them%)",
      perflua_ok("doctor", words).out)
    local sample = file:samples():first():copy()
    assert.match("%(the bundle%)\n *where the recording was packed, its build%-id",
      perflua_ok("symbol", words, "--pid", tostring(sample.pid),
        ("0x%x"):format(sample.ip)).out)
  end)

  it("is kept by cut and convert, and said to be lost in a pipe", function()
    local out = files.temporary()
    perflua_ok("convert", "--force", words, "-o", out)
    assert.equal(said(words)[1], said(out)[1])
    perflua_ok("convert", "--force", "--byte-order", "big", words, "-o", out)
    assert.equal(said(words)[1], said(out)[1])
    perflua_ok("cut", "--force", "--time", "0%-60%", words, "-o", out)
    local file <close> = assert(perflua.open(out))
    assert.equal("the bundle", file:binaries()[1].found)
    local result = perflua_ok("convert", "--force", "--pipe", words, "-o", out)
    assert.match("features that a pipe cannot carry: .*names that were packed", result.out)
    result = run.perflua { "pack", words, "-o", "-" }
    assert.equal(1, result.status)
    assert.match("a pipe has no room for the names", result.err)
  end)

  it("prefers a proven file here to the bundle", function()
    local file <close> = assert(perflua.open(words, { symfs = WORDS }))
    assert.equal("recorded path", file:binaries()[1].found)
  end)
end)

describe("a packed recording", function()
  it("has the stacks that were unwound there", function()
    local tree = binaries.tree()
    tree:write("frames", files.read(files.fixture "arm64/frames"))
    local b = builder.new()
    local event = b:event {
      sample_type = { "ip", "tid", "time", "callchain", "stack_user", "regs_user" },
      sample_regs_user = 0x1ffffffff, sample_stack_user = 16,
    }
    local START <const>, FRAME <const>, LEAF <const> = 0x40023c, 0x400244, 0x400254
    local regs = { abi = 2 }
    for i = 1, 33 do regs[i] = 0 end
    regs[31], regs[32], regs[33] = FRAME + 8, 0x7ffe0000, LEAF
    b:feature("arch", "aarch64")
    b:record("mmap2", { pid = 7, tid = 7, addr = 0x400000, len = 0x100000, prot = 5, flags = 2,
      misc = 2 | 1 << 14, build_id = "960219c87c5a697883d167513075dbb43e06cef5",
      filename = tree.path .. "/frames" })
    b:sample(event, { ip = LEAF, callchain = {}, regs_user = regs, pid = 7, time = 1,
      stack_user = string.pack("<I8I8", 0, START + 4) })
    local path = b:write()
    local whole = { LEAF, FRAME + 7, START + 3 }
    assert.same(whole, binaries.chain(path))
    local copy = packed(path)
    tree:sh "rm frames"
    assert.same({ LEAF }, binaries.chain(path))
    assert.same(whole, binaries.chain(copy))
  end)

  --- A recording of a process that made code at run time, with samples of it at times.
  local function jitted(dump, times)
    local b = binaries.of_here(builder.new())
    local event = b:event { sample_type = { "ip", "tid", "time" }, use_clockid = true,
      clockid = 1 }
    b:record("mmap2", { pid = binaries.PID, tid = binaries.PID, addr = 0x7f0000000000,
      len = 4096, prot = 5, flags = 2, misc = 2, filename = dump })
    b:record("mmap2", { pid = binaries.PID, tid = binaries.PID, addr = 0x1000, len = 4096,
      prot = 5, flags = 2, misc = 2, filename = "//anon" })
    for _, time in ipairs(times) do
      b:sample(event, { ip = 0x1004, pid = binaries.PID, tid = binaries.PID, time = time })
    end
    return b:write()
  end

  local function names(of)
    local file <close> = assert(perflua.open(of))
    local list = {}
    for sample in file:samples() do list[#list + 1] = sample.symbol or "?" end
    return table.concat(list, " ")
  end

  it("has the names of code that was made at run time, at each time", function()
    local tree = binaries.tree()
    local dump = ("%s/jit-%d.dump"):format(tree.path, binaries.PID)
    files.write(dump, jitdump({
      { "load", 10, "first", 0x1000, 16, 1 }, { "load", 20, "second", 0x1000, 16, 2 },
    }))
    local path = jitted(dump, { 15, 25 })
    assert.equal("first second", names(path))
    local copy = packed(path)
    os.remove(dump)
    assert.equal("? ?", names(path))
    assert.equal("first second", names(copy))
  end)

  it("has the functions of the kernel that texts of tracepoints name", function()
    local t = tracing.new()
    local event = t:event("timer", "timer_start", { fields = { { "void *", "function" } },
      print_fmt = [["timer=%d function=%ps %-30pS", 7, REC->function, REC->function]] })
    local b, events = t:recording()
    mapped.add(b, {
      "- kernel ffffffff81000000-ffffffff81001000@ffffffff81000000 [kernel.kallsyms]_text" })
    b:sample(events[1], { ip = 0, pid = 7, tid = 7, time = 1000, cpu = 0, period = 1,
      raw = t:raw(event, { ["function"] = 0xffffffff81000108 }) })
    local path, options = b:write(), chains.options()
    local there = perflua_ok("script", "--kallsyms", options.kallsyms, path).out
    assert.match("function=read read%+0x8", there)
    local copy = packed(path, "--kallsyms", options.kallsyms)
    assert.equal(there, perflua_ok("script", copy).out)
  end)

  it("answers for itself alone beside others, and merged with them for none", function()
    local tree, copies = binaries.tree(), {}
    local dump = ("%s/jit-%d.dump"):format(tree.path, binaries.PID)
    for i, name in ipairs { "one", "other" } do
      files.write(dump, jitdump { { "load", 1, name, 0x1000, 16, 1 } })
      copies[i] = packed(jitted(dump, { 10 * i, 10 * i + 5 }))
    end
    os.remove(dump)
    assert.equal("one one other other", names(copies))
    assert.equal("? ? one one other other",
      names { copies[2], packed(jitted(dump, { 1, 2 })), copies[1] })
    local out = files.temporary()
    local result = perflua_ok("merge", "--force", copies[1], copies[2], "-o", out)
    assert.match("names that were packed left out: those of one recording may", result.out)
    assert.equal("? ? ? ?", names(out))
    assert.is_nil(files.read(out):find(MAGIC, 1, true))
  end)

  it("stays packed when parts of it are merged", function()
    local copy, parts = packed(WORDS .. "/perf.data", "--symfs", WORDS), {}
    for i, time in ipairs { "0%-50%", "50%-100%" } do
      parts[i] = files.temporary()
      perflua_ok("cut", "--force", "--time", time, copy, "-o", parts[i])
    end
    local out = files.temporary()
    local result = perflua_ok("merge", "--force", parts[1], parts[2], "-o", out)
    assert.is_nil(result.out:find("packed", 1, true))
    local file <close> = assert(perflua.open(out))
    assert.equal("the bundle", file:binaries()[1].found)
  end)
end)

describe("a damaged bundle", function()
  local words = packed(WORDS .. "/perf.data", "--symfs", WORDS)
  local bytes = files.read(words)
  local at = assert(bytes:find(MAGIC, 1, true))

  --- The recording with bytes replaced at a position of the section.
  local function changed(offset, with)
    return files.temporary(bytes:sub(1, at + offset - 1) .. with
      .. bytes:sub(at + offset + #with))
  end

  --- The rows without what is said of the recording above them.
  local function without_head(text) return (("\n" .. text):gsub("\n#[^\n]*", "")) end

  local bare = perflua_ok("report", "--sort", "symbol", WORDS .. "/perf.data").out

  for name, case in pairs {
    ["of another program"] = { 0, "OTHERONE", "it is not a bundle of perflua" },
    ["of another version"] = { 8, "\2", "it is a bundle of another version of perflua" },
    ["with another checksum"] = { #bytes - at, "\255\254", "checksum is wrong" },
    ["with a size of its own"] = { 12, "\1\2\3\4", "its size is not believable" },
  } do
    it(name .. " is not used, which is said", function()
      local path = changed(case[1], case[2])
      local result = run.perflua { "report", "--sort", "symbol", path }
      assert.equal(without_head(bare), without_head(result.out))
      assert.match("the bundle of names %(feature 250%) is not used: .*" .. case[3], result.err)
    end)
  end
end)
