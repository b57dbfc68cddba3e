-- What Stacks keep of the recordings that they are of: their source lines, and no more.
local binaries = require "spec.support.binaries"
local chains = require "spec.support.chains"
local files = require "spec.support.files"
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
