-- Stacks keep source lines of the recordings that they are of, and no more.
local binaries = require "spec.support.binaries"
local chains = require "spec.support.chains"
local core = require "perflua.core"
local files = require "spec.support.files"
local finalizers = require "spec.support.finalizers"
local needs = require "spec.support.needs"
local perflua = require "perflua"

local recording, USER, KERNEL = chains.recording, chains.USER, chains.KERNEL

local function by_stack(file)
  return file:samples():group_by("callchain"):count():sort()
end

needs.describe("gcc -g", "the source lines of Stacks", function()
  local tree, path

  setup(function()
    tree = binaries.tree()
    tree:write("app/spin.c", files.read(files.fixture "clang/spin.c"))
    tree:sh "cd app && gcc -O2 -g -no-pie -Wl,--build-id -o spin spin.c"
    local program = tree:symbols "app/spin"
    tree:sh "objcopy -w -N 'in_*' app/spin"
    local b, sample = recording { ("- map 7 400000-500000 %s/app/spin"):format(tree.path) }
    sample(1, 7, { USER, 0x400000 + program.in_inner, 0x400000 + program.in_main })
    binaries.of_here(b)
    path = b:write()
  end)

  it("are nil after close() unless they were asked for", function()
    local file = assert(perflua.open(path))
    local stack = by_stack(file)[1].callchain
    assert.equal("spin.c:16", stack[1].srcline)
    file:close()
    assert.equal("spin.c:16", stack[1].srcline)
    assert.same({ { symbol = "inner", srcline = "spin.c:4" },
      { symbol = "middle", srcline = "spin.c:11" } }, stack[1].inlined)
    assert.is_nil(stack[2].srcline)
    assert.is_nil(stack[2].inlined)
    assert.equal("main", stack[2].symbol)
    file = nil -- luacheck: ignore 311
    collectgarbage()
    collectgarbage()
    assert.equal("spin.c:16", stack[1].srcline)
    assert.equal("inner", stack[1].inlined[1].symbol)
    assert.is_nil(stack[2].srcline)
  end)

  it("are those of a tree of calls after close() as far as they were asked for", function()
    local file = assert(perflua.open(path))
    local t = by_stack(file)
    local unread = by_stack(assert(perflua.open(path)))
    assert.equal("spin.c:22", t[1].callchain[2].srcline)
    file:close()
    local root = t:tree { by = "srcline" }
    assert.equal("spin.c:22", root[1].name)
    assert.equal("outer", root[1][1].name)
    assert.equal("spin.c:16", unread:tree { by = "srcline" }[1][1].name)
  end)

  it("stay readable without close(), though nobody keeps the file", function()
    local t = by_stack(assert(perflua.open(path)))
    collectgarbage()
    collectgarbage()
    assert.equal("spin.c:16", t[1].callchain[1].srcline)
  end)

  it("are those of a Table that others were merged into, and of loaded ones", function()
    local kept = files.temporary()
    local t = by_stack(assert(perflua.open(path)))
    assert(t:save(kept))
    local loaded = assert(perflua.load(kept))
    assert.is_nil(loaded[1].callchain[1].srcline)
    local merged = loaded:merge(t)
    assert.equal(1, #merged)
    assert.equal(2, merged[1].count)
    assert.equal("spin.c:16", merged[1].callchain[1].srcline)
  end)
end)

describe("a Table of Stacks", function()
  it("does not keep its file", function()
    local b, sample = recording { chains.kernel }
    sample(1, 7, { KERNEL, chains.READ })
    local weak = setmetatable({}, { __mode = "k" })
    local file = assert(perflua.open(b:write(), chains.options()))
    weak[file] = true
    local t = by_stack(file)
    file:close()
    file = nil -- luacheck: ignore 311
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(weak))
    assert.equal("read", t[1].callchain[1].symbol)
  end)

  -- The kernel of `symbols` (lines of kallsyms), or /bin/a, at the same addresses.
  local function of_kernel(symbols)
    local b, sample = recording { chains.kernel, "- map 7 1000-3000 /bin/a" }
    sample(1, 7, { KERNEL, chains.READ, USER, 0x1010 })
    local kallsyms = files.temporary()
    files.write(kallsyms, symbols)
    local file <close> = assert(perflua.open(b:write(), { kallsyms = kallsyms }))
    return by_stack(file)
  end

  it("adds up equal stacks of two files, and keeps functions of one address apart", function()
    local read = ("%x T _text\n%x T read\n"):format(chains.READ & ~0xfff, chains.READ - 4)
    local other = ("%x T _text\n%x T other\n"):format(chains.READ & ~0xfff, chains.READ - 4)
    local a, b = of_kernel(read), of_kernel(other)
    assert.equal("read", a[1].callchain[1].symbol)
    assert.equal("other", b[1].callchain[1].symbol)
    local merged = a:merge(of_kernel(read)):merge(b)
    local found = {}
    for row in merged:rows() do found[tostring(row.callchain)] = row.count end
    assert.same({ ["[a];read"] = 2, ["[a];other"] = 1 }, found)
    assert.is_true(a[1].callchain[2] == b[1].callchain[2])
    assert.is_false(a[1].callchain[1] == b[1].callchain[1])
  end)
end)

describe("the recorded system of a file", function()
  local function write()
    local b, sample = recording { chains.kernel, "- map 7 1000-3000 /bin/a",
      "- map 8 5000-7000 /bin/b" }
    b:record("comm", { pid = 7, tid = 7, comm = "a" }, { time = 1 })
    for i = 1, 20 do sample(i, 7, { KERNEL, chains.READ, USER, 0x1010, 0x1020, 0x1030 }) end
    return b:write()
  end

  local function resident()
    return tonumber(files.read("/proc/self/statm"):match "^%d+ (%d+)") * 4096
  end

  needs.it("no sanitizer", "is freed by close(), though file and a Table of Stacks are kept",
    function()
    local b, sample = recording { chains.kernel }
    sample(1, 7, { KERNEL, chains.READ })
    local lines = { ("%x T _text"):format(chains.READ & ~0xfff) }
    for i = 1, 100000 do
      lines[i + 1] = ("%x t function_of_the_kernel_%d"):format(chains.READ + i, i)
    end
    local kallsyms, path = files.temporary(table.concat(lines, "\n") .. "\n"), b:write()
    lines = nil -- luacheck: ignore 311
    local kept, grown = {}, {}
    for i = 1, 4 do
      local file = assert(perflua.open(path, { kallsyms = kallsyms }))
      kept[i] = { file, by_stack(file) }
      assert.equal("_text", kept[i][2][1].callchain[1].symbol)
      collectgarbage()
      collectgarbage()
      if i == 2 then grown[1] = resident() end
      file:close()
      collectgarbage()
      collectgarbage()
    end
    grown[2] = resident()
    -- each of them has 100 000 symbols
    assert.is_true(grown[2] - grown[1] < 2e6, grown[2] - grown[1])
  end)

  local looks = {
    threads = function(file) return #file:threads() end,
    thread = function(file) return #file:thread(7).maps() end,
    missing = function(file) return #file:missing() end,
    binaries = function(file) return #file:binaries() end,
    history = function(file) return #file:history(7, 0x1010) end,
    resolve = function(file) return file:resolve(7, 0x1010).map.start end,
    fields = function(file)
      for s in file:samples() do
        assert.is_string(s.symbol .. s.dso .. s.comm .. #s.callchain .. s.callchain[1].symbol)
        assert.is_string(s.map.filename)
      end
    end,
    values = function(file)
      for dso, stack in file:samples():select("dso", "stack") do assert(dso and stack) end
    end,
    script = function(file)
      return core.dump(file, assert(io.open("/dev/null", "w")), { names = { "symbol" } })
    end,
  }
  for name, look in pairs(looks) do
    it("may be closed by a finalizer while it is read: " .. name, function()
      local path, options, victim = write(), chains.options(), nil
      do
        local file <close> = assert(perflua.open(path, options))
        look(file)
      end
      finalizers.during(function()
        for _ = 1, 30 do
          victim = perflua.open(path, options)
          local ok, message = pcall(look, victim)
          message = tostring(message) -- of an assertion it is a table
          assert.is_true(ok or message:find("closed", 1, true) ~= nil, message)
        end
      end, function()
        if victim then victim:close() end
      end)
    end)
  end
end)
