-- perflua pack --source: code and source text for perflua annotate, without their files.
local annotate = require "perflua.annotate"
local binaries = require "spec.support.binaries"
local files = require "spec.support.files"
local perflua = require "perflua"

local WORDS = files.fixture "words"

describe("perflua pack --source", function()
  local program = files.output('realpath "${PERFLUA:-build/perflua}"'):match "[^\n]+"

  --- A tree with the words recording, its binary and its source.
  local function words_tree()
    local tree = binaries.tree()
    local words = files.output "pwd":match "[^\n]+" .. "/" .. WORDS
    tree:sh("cp -r " .. files.quote(words) .. "/. .")
    return tree
  end

  local function pack_source(tree, out)
    tree:sh(("%s pack --source --symfs . perf.data -o %s"):format(program, out))
  end

  -- every layout, and parts of it
  local LAYOUTS <const> = { "", "--context 0", "--context 2 --percent-limit 5", "--stdio -l",
    "--inline", "--quickfix", "--json", "--html" }

  local function annotated(tree, path, options)
    local list = {}
    for i, layout in ipairs(LAYOUTS) do
      list[i] = tree:sh(("%s annotate %s %s %s"):format(program, options or "", layout, path))
    end
    return list
  end

  it("keeps the code and the source text of hot functions", function()
    local tree = words_tree()
    pack_source(tree, "packed")
    local there = annotated(tree, "perf.data", "--symfs .")
    tree:sh "rm -r usr words.c"
    for i, text in ipairs(annotated(tree, "packed")) do assert.equal(there[i], text) end
    assert.match("# code: ./usr/local/bin/words", there[1], 1, true)
    assert.match("static int compare%(", there[1])
    tree:sh(("%s pack packed -o again && cmp packed again"):format(program))
  end)

  it("keeps the lines before each line, of which a part of the code may begin", function()
    local tree = binaries.tree()
    local at = tree:program("prog", "-g", [[
      static inline __attribute__((always_inline)) void set(volatile int *n)
      {
        /* the line before */
        *n ^= 0x55;
      }
      int wide(volatile int *n)
      {
        *n += 7;
        set(n);
        return *n;
      }
    ]])
    local function recorded(offset)
      return binaries.recorded({ { filename = tree.path .. "/prog", build_id = at.build_id,
        misc = 2 | 1 << 14 } }, { 0x400000 + at.wide + offset })
    end
    local function offset_of(source)
      local file <close> = assert(perflua.open(recorded(0)))
      for _, line in ipairs(file:annotate "wide") do
        if (line.source or ""):find(source, 1, true) then return line.offset end
      end
    end
    local path = recorded(assert(offset_of "*n ^= 0x55"))
    tree:sh(("%s pack --source %s -o packed"):format(program, path))
    local there = annotated(tree, path)
    assert.match("the line before", there[2])
    tree:sh "rm prog prog.c"
    for i, text in ipairs(annotated(tree, "packed")) do assert.equal(there[i], text) end
  end)

  it("says that source was newer than the binary where it was packed", function()
    local tree = words_tree()
    tree:sh "touch -d '2020-01-01' words.c; touch -d '2019-01-01' usr/local/bin/words"
    pack_source(tree, "packed")
    local there = annotated(tree, "perf.data", "--symfs .")
    assert.match("# source %S*words.c is newer than the binary", there[1])
    tree:sh "rm words.c; touch usr/local/bin/words"
    for i, text in ipairs(annotated(tree, "packed")) do assert.equal(there[i], text) end
  end)

  it("keeps what proves code without a build-id", function()
    local tree = binaries.tree()
    local at = tree:program("prog", "-g")
    local path = binaries.recorded({ { filename = tree.path .. "/prog" } },
      { 0x400000 + at.first })
    tree:sh(("%s pack --any-binary --source %s -o packed"):format(program, path))
    local there = annotated(tree, path, "--any-binary -S first")
    assert.match("no build%-id recorded", there[1])
    tree:sh "rm prog prog.c"
    for i, text in ipairs(annotated(tree, "packed", "-S first")) do
      assert.equal(there[i], text)
    end
  end)

  it("shows the source text of each recording that is opened with others", function()
    local tree = words_tree()
    pack_source(tree, "one")
    tree:sh "sed -i 's/[*]a == [*]b/*b == *a/' words.c"
    pack_source(tree, "other")
    local file <close> = assert(perflua.open { tree.path .. "/one", tree.path .. "/other" })
    local read, shown = annotate.read(file, { symbol = "compare" }), {}
    for _, func in ipairs(read:hottest(1)) do
      shown[#shown + 1] = read:listing(func)[1].source:match "%*%a == %*%a"
    end
    table.sort(shown)
    assert.same({ "*a == *b", "*b == *a" }, shown)
  end)

  it("shows no lines of a source file here that is another version", function()
    local tree = words_tree()
    pack_source(tree, "packed")
    tree:write("script.lua", [[
      local file <close> = assert(perflua.open "packed")
      local listing = assert(file:annotate "compare")
      print(listing.sources:line(listing[1].path, 1))]])
    local script = program .. " script.lua"
    assert.equal("/*\n", tree:sh(script))
    tree:sh "sed -i 's/[*]a == [*]b/*b == *a/' words.c"
    assert.equal("nil\n", tree:sh(script))
  end)

  it("keeps the text when the file is closed", function()
    local tree = words_tree()
    pack_source(tree, "packed")
    local file <close> = assert(perflua.open(tree.path .. "/packed"))
    local listing = assert(file:annotate "compare")
    local line = listing[1]
    assert.match("%*a == %*b", line.source)
    file:close()
    assert.equal(line.source, listing.sources:line(line.path, line.number))
  end)
end)
