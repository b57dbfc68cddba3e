-- A packed recording, scrubbed: its bundle has hashes for the names that the recording hides,
-- and is found by them.
local binaries = require "spec.support.binaries"
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local jitdump = require "spec.support.jitdump"
local perflua = require "perflua"
local reading = require "spec.support.reading"
local rewritten = require "spec.support.rewritten"
local run = require "spec.cli.run"
local scrubbed = require "spec.support.scrubbed"

local MAGIC <const>, HEADER <const> = "PERFLUAB", 12
local WORDS <const> = files.fixture "words"

-- The path of a packed copy of a recording; options are those of pack.
local function packed(path, ...)
  local out = rewritten.path()
  local result = run.perflua({ "pack", path, "-o", out, ... }, { env = "HOME=/nonexistent" })
  assert.equal(0, result.status, result.err)
  return out
end

-- The parts of the bundle that a recording has; nil: it has none.
local function parts_of(path)
  local at = files.read(path):find(MAGIC, 1, true)
  return at and files.output(("tail -c +%d %s | zstd -q -d -c 2>/dev/null"):format(at + HEADER,
    files.quote(path)))
end

-- Scrubs a recording; returns the copy's path, and functions that find what became of a name,
-- and of the name of the file of a path.
local function scrub(path, options)
  local file <close> = assert(perflua.open(path))
  local copied, summary = scrubbed.write(file, options)
  local shown = {}
  for _, name in ipairs(summary.scrubbed.names) do
    shown[name[3]] = name[1]
    shown[name[3]:match "[^/]*$"] = name[1]:match "[^/]*$"
  end
  return copied, function(text) return shown[text] or text end, summary.scrubbed
end

-- The rows of a report as lines; `show` says what became of a name. Without `field` they have
-- source lines.
local function rows_of(path, show, field)
  local file <close> = assert(perflua.open(path))
  local groups = file:samples():group_by("comm", "dso", "symbol", field or "srcline")
  local lines = {}
  for row in groups:count():table():rows() do
    local place, line = (row.srcline or ""):match "^(.*):(%d+)$"
    lines[#lines + 1] = table.concat({ show(row.comm), show(row.dso), show(row.symbol or ""),
      place and show(place) .. ":" .. line or "", row.count }, " ")
  end
  table.sort(lines)
  return lines
end

local function same(text) return text end

local function leaks(path, ...)
  local parts, found = assert(parts_of(path)), {}
  for _, text in ipairs { ... } do
    if parts:find(text, 1, true) then found[#found + 1] = text end
  end
  return table.concat(found, " ")
end

-- A recording that was packed where its source text was, which tells the directory.
local function words_with_source()
  local tree, out = binaries.tree(), rewritten.path()
  local here = files.output "pwd":match "[^\n]+"
  tree:sh(("cp -r %s/. ."):format(files.quote(here .. "/" .. WORDS)))
  tree:sh(("%s pack --source --symfs . perf.data -o %s"):format(
    files.output('realpath "${PERFLUA:-build/perflua}"'):match "[^\n]+", files.quote(out)))
  return out
end

local function annotated(path)
  local result = run.perflua { "annotate", path }
  assert.equal(0, result.status, result.err)
  return (result.out:gsub("# %a+: [^\n]*", ""))
end

describe("the bundle of a scrubbed recording", function()
  local words = words_with_source()

  reading.either_order(describe, function(endian)
    local path = rewritten.path()
    local result = run.perflua { "convert", "--byte-order", endian, words, "-o", path }
    assert.equal(0, result.status, result.err)

    for name, options in pairs {
      ["by default"] = {}, ["by the preset share"] = { preset = "share" },
      ["without build-ids"] = { drop = "buildid" }, ["with a key"] = { key = "k" },
      ["with relative addresses"] = { addresses = true },
      ["with names of binaries"] = { keep = "binary" },
    } do
      it("names what the original's names, " .. name, function()
        local copied, show = scrub(path, options)
        local expected = rows_of(path, show)
        assert.is_true(#expected > 20)
        assert.same(expected, rows_of(copied, same))
      end)
    end

    it("has no names, paths, code and source text", function()
      assert.equal("words compare find_in_list words.c /usr/local/bin static int",
        leaks(path, "words", "compare", "find_in_list", "words.c", "/usr/local/bin",
          "static int"))
      local copied, show, summary = scrub(path)
      assert.equal("", leaks(copied, "words", "compare", "find_in_list", "words.c", "usr/local",
        "local/bin", "static int", "recorded path"))
      assert.equal("its build-id", leaks(copied, "its build-id"))
      assert.is_true(#leaks(copied, show "find_in_list") > 0)
      for _, kind in ipairs(summary.kinds) do
        if kind.name == "text" or kind.name == "code" then
          assert.equal("drop", kind.action)
          assert.is_true(kind.n > 0 and kind.bytes > 0)
        end
      end
    end)

    it("has base names by the preset share", function()
      local copied = scrub(path, { preset = "share" })
      assert.equal("", leaks(copied, "usr/local", "local/bin", "static int"))
      assert.equal("/words\0 compare /words.c\0",
        leaks(copied, "/words\0", "compare", "/words.c\0"))
    end)
  end)

  it("is not there without names of binaries, by which it is found", function()
    local copied = scrub(words, { drop = "binary" })
    assert.is_nil(parts_of(copied))
  end)

  it("has lines alone without names of functions", function()
    local copied = scrub(words, { drop = "function" })
    assert.equal("", leaks(copied, "compare", "find_in_list"))
    local file <close> = assert(perflua.open(copied))
    local sample = file:samples():first()
    assert.is_nil(sample.symbol)
    assert.matches("^x%x+:%d+$", sample.srcline)
  end)

  it("has functions alone without names of source files", function()
    local copied, show = scrub(words, { drop = "source", keep = { "text" } })
    assert.equal("", leaks(copied, "words.c", "static int"))
    assert.same(rows_of(words, show, "pid"), rows_of(copied, same, "pid"))
    for _, line in ipairs(rows_of(copied, same)) do assert.is_nil(line:find ":%d+ %d+$") end
  end)

  it("has code and source text for annotate if they are kept", function()
    local there = annotated(words)
    assert.matches("static int compare%(", there)
    assert.equal(there,
      annotated((scrub(words, { keep = "code,text,source,binary,function" }))))
  end)

  it("is left out if it is damaged, which is said", function()
    local bytes = files.read(words)
    local at = assert(bytes:find(MAGIC, 1, true)) + HEADER + 20
    local path = files.temporary(bytes:sub(1, at - 1) .. "\255\254" .. bytes:sub(at + 2))
    local result = run.perflua { "scrub", path, "-o", rewritten.path() }
    assert.equal(0, result.status, result.err)
    assert.matches("features that cannot be read: names that were packed", result.out)
  end)

  it("names code that was made at run time, wherever it is moved", function()
    local tree = binaries.tree()
    local dump = ("%s/jit-%d.dump"):format(tree.path, binaries.PID)
    files.write(dump, jitdump {
      { "load", 10, "first_made", 0x1000, 16, 1 }, { "load", 20, "second_made", 0x1000, 16, 2 },
      { "load", 20, "far", 0x70001000, 16, 3 },
    })
    local b = binaries.of_here(builder.new())
    local event = b:event { sample_type = { "ip", "tid", "time" }, use_clockid = true,
      clockid = 1 }
    b:record("mmap2", { pid = binaries.PID, tid = binaries.PID, addr = 0x7f0000000000,
      len = 4096, prot = 5, flags = 2, misc = 2, filename = dump })
    for _, addr in ipairs { 0x70001000, 0x1000 } do
      b:record("mmap2", { pid = binaries.PID, tid = binaries.PID, addr = addr, len = 4096,
        prot = 5, flags = 2, misc = 2, filename = "//anon" })
    end
    for time, ip in pairs { [15] = 0x1004, [25] = 0x1004, [26] = 0x70001004 } do
      b:sample(event, { ip = ip, pid = binaries.PID, tid = binaries.PID, time = time })
    end
    local path = packed(b:write())
    os.remove(dump)
    for _, options in ipairs { {}, { addresses = true } } do
      local copied, show = scrub(path, options)
      local expected = rows_of(path, show)
      assert.equal(3, #expected)
      assert.same(expected, rows_of(copied, same))
      assert.equal("", leaks(copied, "first_made", "second_made", "far\0"))
    end
  end)

  it("names the kernel, wherever it is moved", function()
    local START <const> = 0xffffffff9e600000
    local tree = binaries.tree()
    local list = tree:write("kallsyms", ("%x T _text\n%x T secret_entry\n%x T end_of_it\n")
      :format(START, START + 4096, START + 8192))
    local b = builder.new {}
    local event = b:event { sample_type = { "ip", "tid", "time" } }
    b:feature("arch", "x86_64")
    b:record("mmap", { pid = -1, addr = START, len = 0x1000000, pgoff = START, misc = 1,
      filename = "[kernel.kallsyms]_text" })
    b:sample(event, { ip = START + 4100, pid = 7, tid = 7, time = 9, misc = 1 })
    local path = packed(b:write(), "--kallsyms", list)
    for _, options in ipairs { {}, { addresses = true } } do
      local copied, show = scrub(path, options)
      local expected = rows_of(path, show)
      assert.matches("x%x+", expected[1])
      assert.same(expected, rows_of(copied, same))
      assert.equal("", leaks(copied, "secret_entry"))
    end
  end)

  it("unwinds copies of stacks if these are kept", function()
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
    local path = packed(b:write())
    tree:sh "rm frames"
    local whole = { LEAF, FRAME + 7, START + 3 }
    assert.same(whole, binaries.chain(path))
    assert.same(whole, binaries.chain(scrub(path, { keep = "stacks,registers" })))
    assert.same({}, binaries.chain(scrub(path)))
  end)
end)
