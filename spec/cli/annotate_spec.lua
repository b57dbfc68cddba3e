-- perflua annotate: code with its samples.
local binaries = require "spec.support.binaries"
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local run = require "spec.cli.run"

local WORDS <const> = "spec/fixtures/words"

-- Runs the tool with these words and returns its output.
local function annotate(...)
  local got = run.perflua { "annotate", ... }
  assert.same({ 0, "" }, { got.status, got.err })
  return got.out
end

local function words(...)
  return annotate("--symfs", WORDS, "--prefix", WORDS, WORDS .. "/perf.data", ...)
end

local function has(text, ...)
  for _, part in ipairs { ... } do
    assert(text:find(part, 1, true), ("%q is not in\n%s"):format(part, text))
  end
end

-- A recording of samples at addresses of a program that is mapped whole at 0x400000.
local function sampled(path, build_id, addresses)
  local b = binaries.of_here(builder.new())
  local event = b:event { name = "cpu-clock", type = 1, sample_type = { "ip", "tid", "time" } }
  b:record("mmap2", { pid = 7, tid = 7, addr = 0x400000, len = 0x10000, prot = 5, flags = 2,
    misc = 2, filename = path, build_id = build_id }, { pid = 7, tid = 7, time = 1 })
  for i, address in ipairs(addresses) do
    b:sample(event, { ip = 0x400000 + address, pid = 7, tid = 7, time = 10 + i, misc = 2 })
  end
  return b:write()
end

needs.describe("capstone", "perflua annotate", function()
  it("shows instructions, shares and source lines of a function", function()
    has(words "compare",
      "# code: " .. WORDS .. "/usr/local/bin/words (x86-64), build-id "
      .. "2166e090d498ad2b806ad2cf2b7ff2cf61fd7d23\n",
      "# lines: " .. WORDS .. "/usr/local/bin/words\n",
      "Samples: 354  of event 'cpu-clock:u', 997 Hz, Event count (approx.): 355065186, "
      .. "[percent: local period]\ncompare() /usr/local/bin/words\nPercent\n",
      [[

            while (*a && *a == *b)
 13.84        movzbl (%rdi), %eax
 23.16        testb  %al, %al
            ↓ je     1a
 14.41 ┌ 7:   cmpb   %al, (%rsi)
       │    ↓ jne    1a
]], "\n       └    ↑ jne    7\n", "\n  5.08      ← retq\n")
  end)

  it("hides lines with small shares, but as context of others", function()
    local function shown(...)
      local list = {}
      for percent in words("compare", "--stdio", ...):gmatch "\n +([%d.]+) :" do
        list[#list + 1] = percent
      end
      return list
    end
    assert.are.same({ "13.84", "23.16", "14.41", "15.25" }, shown("--percent-limit", "10"))
    assert.are.same({ "13.84", "23.16", "0.00" },
      shown("--percent-limit", "20", "--context", "1"))
  end)

  it("adds up samples by source line", function()
    has(words("compare", "-l"), [[

# samples by source line
   59.60 words.c:70  while (*a && *a == *b)
   18.36 words.c:72  return *a - *b;
   16.95 words.c:71  a++, b++;
    5.08 words.c:73  }
]])
  end)

  it("lists source lines for editors, hottest first", function()
    assert.are.equal(WORDS .. "/words.c:70: 59.60% of compare: while (*a && *a == *b)",
      words("--quickfix"):match "[^\n]*")
    assert.are.equal(4, select(2, words("compare", "--quickfix"):gsub("\n", "")))
  end)

  it("writes JSON with each instruction and source line", function()
    local text = words("compare", "--json")
    has(text, '[{"address":"0x4010ff","between":0,"build_id":"2166e090d498ad2b806ad2cf2b7ff',
      '"lines":[{"address":"0x4010ff","bytes":"0fb607","events":[{"event":"cpu-clock:u",'
      .. '"index":1,"period":49147441,"samples":49,"share":13.841',
      '"jump":26,"kind":"jump","line":70,',
      '"sources":[{"events":[{"event":"cpu-clock:u",', '"line":70,"path":"./words.c"')
    assert.are.equal(14, select(2, text:gsub('"offset":', "")))
  end)

  it("names the functions that are called", function()
    has(words "find_in_tree", "→ callq  compare\n", "→ callq  new_entry\n",
      "→ callq  find_in_tree\n")
  end)

  it("has a layout of addresses", function()
    has(words("compare", "--stdio"),
      " Percent |\tSource code & Disassembly of words for cpu-clock:u (354 samples, "
      .. "percent: local period)\n" .. ("-"):rep(98) .. "\n",
      "         : 70   while (*a && *a == *b)\n",
      "   13.84 :   4010ff:   movzbl (%rdi), %eax\n",
      "    0.00 :   401104:   je     401119 <compare+0x1a>\n")
  end)

  it("has four kinds of shares", function()
    local function share(kind)
      return tonumber(words("compare", "--percent-type", kind):match "([%d.]+) +← retq")
    end
    local file <close> = assert(perflua.open(WORDS .. "/perf.data", { symfs = WORDS }))
    local query = file:samples():where "symbol == 'compare'"
    local last = query:where "symoff == 0x22"
    for kind, part in pairs {
      ["local-period"] = { last:sum "period", query:sum "period" },
      ["local-hits"] = { last:count(), query:count() },
      ["global-period"] = { last:sum "period", file:samples():sum "period" },
      ["global-hits"] = { last:count(), file:samples():count() },
    } do
      assert.are.equal(("%.2f"):format(100 * part[1] / part[2]),
        ("%.2f"):format(share(kind)), kind)
    end
  end)

  it("shows the hot parts of the hottest functions without a name", function()
    local text = words "--context=1"
    local shown = {}
    for name in text:gmatch "\n([%w_]+)%(%) /" do shown[#shown + 1] = name end
    local file <close> = assert(perflua.open(WORDS .. "/perf.data", { symfs = WORDS }))
    local rows = file:samples():where "symbol ~= nil":group_by("symbol"):sum "period"
    local expected, all = {}, file:samples():sum "period"
    for row in rows:sort "period":rows() do
      if row.period >= all / 200 then expected[#expected + 1] = row.symbol end
    end
    assert.are.same(expected, shown)
    has(text, "\n        ...\n")
    assert.are.equal("compare", words("--min-share", "30"):match "\n([%w_]+)%(%) /")
  end)

  it("writes a page with the source beside the instructions, and a policy", function()
    local path = files.temporary ""
    assert.are.equal("", words("compare", "--html", "-o", path))
    local text = files.read(path)
    has(text, '<tr class="h4" data-line="70"><td class="share">59.60</td>'
      .. '<td class="number">70</td><td class="text">        while (*a &amp;&amp; *a == *b)',
      '<td class="number">401102</td><td class="place">words.c:70</td>'
      .. '<td class="text">testb  %al, %al</td>')
    local script = text:match "<script>(.-)</script>"
    local style = text:match "<style>(.-)</style>"
    local page = require "perflua.flame.page"
    has(text, ("default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'"):format(
      page.sha256(script), page.sha256(style)))
    assert.is_nil(text:find "style=")
  end)

  it("shows the events of a group beside each other", function()
    local b = binaries.of_here(builder.new())
    local event = { type = 1, sample_type = { "ip", "tid", "identifier" } }
    local events = {}
    for i, name in ipairs { "cpu-clock", "page-faults" } do
      events[i] = b:event { name = name, type = 1, config = i, sample_type = event.sample_type }
    end
    b:feature("group_desc", { { name = "", leader = 0, members = 2 } })
    local binary = files.read(WORDS .. "/usr/local/bin/words")
    assert(#binary > 0)
    b:record("mmap2", { pid = 7, tid = 7, addr = 0x401000, len = 0x1000, pgoff = 0x1000,
      prot = 5, flags = 2, misc = 2, filename = "/usr/local/bin/words",
      build_id = "2166e090d498ad2b806ad2cf2b7ff2cf61fd7d23" }, { pid = 7, tid = 7 })
    b:sample(events[1], { ip = 0x4010ff, pid = 7, tid = 7, misc = 2 })
    b:sample(events[2], { ip = 0x401102, pid = 7, tid = 7, misc = 2 })
    local text = annotate("--symfs", WORDS, "--group", b:write(), "compare")
    has(text, "events 'anon group { cpu-clock, page-faults }'",
      "\n100.00   0.00        movzbl (%rdi), %eax\n",
      "\n  0.00 100.00        testb  %al, %al\n")
  end)

  it("shows the events after several groups, too", function()
    local b = binaries.of_here(builder.new())
    local events = {}
    for i = 1, 6 do
      events[i] = b:event { name = "event" .. i, type = 1, config = i,
        sample_type = { "ip", "tid", "identifier" } }
    end
    b:feature("group_desc", { { name = "", leader = 0, members = 2 },
      { name = "", leader = 2, members = 3 } })
    b:record("mmap2", { pid = 7, tid = 7, addr = 0x401000, len = 0x1000, pgoff = 0x1000,
      prot = 5, flags = 2, misc = 2, filename = "/usr/local/bin/words",
      build_id = "2166e090d498ad2b806ad2cf2b7ff2cf61fd7d23" }, { pid = 7, tid = 7 })
    for i = 1, 6 do b:sample(events[i], { ip = 0x4010ff, pid = 7, tid = 7, misc = 2 }) end
    local text = annotate("--symfs", WORDS, "--group", b:write(), "compare")
    has(text, "{ event1, event2 }", "{ event3, event4, event5 }", "of event 'event6'")
  end)

  it("takes only the samples that options choose", function()
    has(words("compare", "--time", "0%-10%"), "Samples: 3")
    has(words("compare", "--comm", "tree"), "compare() /usr/local/bin/words")
  end)

  it("says which source files were not found", function()
    local text = annotate("--symfs", WORDS, WORDS .. "/perf.data", "compare")
    has(text, "\n            words.c:70\n", "# source ./words.c: No such file or directory\n")
  end)

  it("has instructions and source text as fields of samples", function()
    local file <close> = assert(perflua.open(WORDS .. "/perf.data", { symfs = WORDS }))
    local rows = file:samples():where "symbol == 'compare'"
      :group_by("symoff", "insn", "insnlen", "disasm"):count():sort("symoff", "asc")
    local listing = file:annotate "compare"
    local samples = listing[1].samples["cpu-clock:u"]
    assert.are.same({ 0, "0f b6 07", 3, "movzbl (%rdi), %eax", samples },
      { rows[1].symoff, rows[1].insn, rows[1].insnlen, rows[1].disasm, rows[1].count })
    for row in rows:rows() do
      local same = false
      for _, line in ipairs(listing) do
        same = same or line.offset == row.symoff and line.text == row.disasm
          and line.size == row.insnlen and line.samples["cpu-clock:u"] == row.count
      end
      assert.is_true(same, row.disasm)
    end
    assert.are.equal(0, file:samples():where "srccode ~= nil":count()) -- ./words.c is not here
  end)

  it("has the instructions of functions without symbols", function()
    local dir = files.temporary()
    os.remove(dir)
    assert(os.execute(("cp -r %s %s && strip -K main %s/usr/local/bin/words")
      :format(WORDS, dir, dir)))
    local counts = {}
    for i, symfs in ipairs { WORDS, dir } do
      local file <close> = assert(perflua.open(WORDS .. "/perf.data", { symfs = symfs }))
      counts[i] = file:samples():where "insn ~= nil":count()
      assert.are.equal(i == 1, file:samples():where "symbol == 'compare'":count() > 0)
    end
    assert.is_true(counts[1] > 600)
    assert.are.equal(counts[1], counts[2])
  end)

  it("names the closest function if none of that name has samples", function()
    local got = run.perflua { "annotate", "--symfs", WORDS, WORDS .. "/perf.data", "compere" }
    assert.same({ 1, "" }, { got.status, got.out })
    has(got.err, "no sample is in a function 'compere'", "compare")
  end)

  it("refuses what its options cannot be", function()
    for _, words_of in ipairs { { "--percent-type", "local" }, { "--context", "x" },
      { "--min-share", "-1" }, { "--stdio", "--stdio2" },
      { "--json", "--quickfix" }, { "a", "b" } } do
      local got = run.perflua { "annotate", WORDS .. "/perf.data", table.unpack(words_of) }
      assert.are.equal(2, got.status, table.concat(words_of, " "))
    end
  end)
end)

needs.describe("capstone,this architecture", "the head of perflua annotate", function()
  local tree = binaries.tree()
  local CODE <const> = [[
    __asm__(".text\n.globl odd\n.type odd, @function\nodd: nop\nmovl $1, %eax\n"
      ".byte 0x06, 0x07\nafter: ret\n.size odd, . - odd\n"
      ".globl wide\n.type wide, @function\nwide: .byte 0x62, 0xf3, 0x6d, 0x22, 0x3e, 0x0f, 0x04\n"
      ".byte 0xc5, 0xfb, 0x93, 0xc1\n.byte 0x62, 0xf1, 0x7c, 0x48, 0x10, 0x44, 0x24, 0x01\nret\n"
      ".size wide, . - wide\n");
  ]]
  local program = tree:program("odd", "-g -m64", CODE)
  local path = tree.path .. "/odd"

  it("counts samples between instructions, which are those of the covering one", function()
    local at = program.odd
    local text = annotate(sampled(path, program.build_id, { at, at + 1, at + 3, at + 3 }),
      "odd")
    has(text, "# 2 samples between instructions, shown at the one that covers them\n",
      " 25.00       nop\n", " 75.00       movl  $1, %eax\n")
  end)

  it("counts bytes that cannot be decoded, which are one line", function()
    local text = annotate(sampled(path, program.build_id, { program.odd, program.odd + 8 }),
      "odd")
    has(text, "# 2 bytes unknown to libcapstone ", "             .byte 0x06, 0x07\n",
      " 50.00     ← retq\n")
  end)

  it("knows the size of AVX instructions that libcapstone lacks", function()
    local recording = sampled(path, program.build_id, { program.wide })
    local file <close> = assert(perflua.open(recording))
    local sizes = {}
    for _, line in ipairs(file:annotate "wide") do sizes[#sizes + 1] = line.size end
    assert.are.same({ 7, 4, 8, 1 }, sizes)
    assert.are.equal("62 f3 6d 22 3e 0f 04", file:samples():first().insn)
  end)

  it("marks source files that are newer, shorter, or may not be read", function()
    local name = tree.path .. "/source"
    local source = tree:program("source", "-g")
    local recording = sampled(name, source.build_id, { source.first })
    local function notes(script)
      tree:sh(script)
      local text = annotate(recording, "first")
      return text:match "# source [^\n]*: ([^\n]*)", text
    end
    assert.is_nil((notes "touch -d '1 hour ago' source.c"))
    assert.are.equal("its lines may be others", (notes "touch -d '1 hour' source.c"))
    local none, text = notes ": > source.c; touch -d '1 hour ago' source.c"
    assert.is_nil(none)
    has(text, "\n           source.c:") -- lines beyond its end
    assert.are.equal("larger than 64 MB",
      (notes "rm source.c; truncate -s 65M source.c"))
    assert.are.equal("is a FIFO, not a file", (notes "rm source.c; mkfifo source.c"))
    assert.matches("^is a .*device, not a file$",
      (notes "rm source.c; ln -s /dev/zero source.c"))
  end)

  it("says that only a debug file was found", function()
    tree:sh "objcopy --only-keep-debug odd odd.debug && mkdir -p fs && cp odd.debug fs/odd"
    local recording = sampled("/odd", program.build_id, { program.odd, program.odd + 6 })
    local got = run.perflua { "annotate", "--symfs", tree.path .. "/fs", recording, "odd" }
    has(got.out, "# no instructions: only a debug file was found, which has no code\n")
  end)

  it("shows inlined functions as they are nested", function()
    local nested = tree:program("nested", "-g -O2", [[
      static inline __attribute__((always_inline)) int deep(volatile int *n) { return *n += 5; }
      static inline __attribute__((always_inline)) int over(volatile int *n) { return deep(n); }
      __attribute__((noinline)) int wide(volatile int *n) { return over(n) * 2; }
      int (*kept)(volatile int *) = wide;
    ]])
    has(annotate("--inline", sampled(tree.path .. "/nested", nested.build_id,
      { nested.wide, nested.wide + 2 }), "wide"),
      "wide():\n", "  over() inlined at nested.c:3:\n", "    deep() inlined at nested.c:2:\n")
  end)

  it("knows no function of a binary that was cut off", function()
    tree:write("cut", files.read(path):sub(1, program.odd + 3))
    assert.are.equal("# no sample is in a known function\n", annotate(sampled(tree.path
      .. "/cut", program.build_id, { program.odd })))
  end)
end)

describe("perflua annotate without code", function()
  it("says that no sample is in a known function", function()
    assert.are.equal("# no sample is in a known function\n",
      annotate("--symfs", "spec/fixtures/empty", WORDS .. "/perf.data"))
  end)

  it("shows sampled offsets, and says why", function()
    local b = builder.new()
    local event = b:event { name = "cpu-clock", type = 1, sample_type = { "ip", "tid" } }
    b:record("mmap", { pid = -1, tid = 0, addr = 0xffffffff81000000, len = 0x2000000,
      pgoff = 0xffffffff81000000, filename = "[kernel.kallsyms]_text", misc = 1 })
    b:sample(event, { ip = 0xffffffff81000010, pid = 0, tid = 0, misc = 1 })
    b:sample(event, { ip = 0xffffffff81000018, pid = 0, tid = 0, misc = 1 })
    local list = files.temporary "ffffffff81000000 T _text\nffffffff81000000 T idle\n"
    local text = annotate("--kallsyms", list, b:write(), "idle")
    has(text, "# no instructions: neither the kernel's file (vmlinux) nor a kcore",
      "\n 50.00 ", "10:", "18:")
  end)
end)
