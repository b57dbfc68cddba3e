-- write() with call chains that are made of copied stacks, or of chains that came later.
local binaries = require "spec.support.binaries"
local builder = require "spec.support.builder"
local containers = require "spec.support.containers"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"
local rewritten = require "spec.support.rewritten"
local run = require "spec.cli.run"
local stacked = require "spec.support.stacked"

local KERNEL, USER, DEFERRED = -128 & -1, -512 & -1, -640 & -1
local registers = stacked.registers

local function chains_of(file)
  local list = {}
  for s in file:samples { order = "file" } do
    local chain = {}
    for i, frame in ipairs(s.callchain) do chain[i] = frame.ip end
    list[#list + 1] = chain
  end
  return list
end

--- The words of a sample's call chain as recorded.
local function ips_of(sample)
  local list = {}
  for i, ip in ipairs(sample.callchain.ips) do list[i] = ip end
  return list
end

describe("write() with unwind", function()
  local tree, code

  setup(function()
    tree = binaries.tree()
    code = tree:program("a", "-O1", stacked.program)
  end)

  local function address(symbol, offset) return 0x400000 + code[symbol] + offset end

  --- The samples of those names.
  local function samples(names)
    local ret, root = address("bottom", 7), address("lost", 2)
    local regs = registers(0x7ffe0000, address("bottom", 1))
    local all = {
      whole = { callchain = { KERNEL, 0xffff1000 }, regs_user = regs,
        stack_user = { ret, root } },
      cut = { regs_user = regs, stack_user = { ret, ret } },
      guessed = { regs_user = registers(0x7ffe0000, address("bare", 1), 0x7ffe0008),
        stack_user = { 1, 0, ret, root } },
      start = { regs_user = registers(0x7ffe0000, address("bare", 1), 0),
        stack_user = { 1, 2 } },
      empty = { callchain = { KERNEL, 0xffff2000 }, regs_user = { abi = 0 }, stack_user = "" },
    }
    local list = {}
    for i, name in ipairs(names) do list[i] = all[name] end
    return list
  end

  local function written(names, form, like)
    local path = stacked.recorded(tree, code.build_id, samples(names), like)
    local file <close> = assert(perflua.open(path))
    local expected = chains_of(file)
    form = form or {}
    form.unwind = true
    local copy, summary = rewritten.open(file, form)
    assert.are.same(expected, chains_of(copy))
    assert.are.equal(0, #copy.damage)
    return copy, summary
  end

  it("drops registers and stacks from all samples if each leads to the outermost frame",
    function()
      local copy <close>, summary = written({ "whole", "empty", "whole", "start" }, nil,
        { exclude_callchain_user = true })
      assert.are.same({ 3, 0 }, { summary.unwound, summary.kept_stacks })
      local attr = copy.events[1]
      assert.are.equal(1 | 2 | 4 | 1 << 5, attr.sample_type)
      assert.are.same({ 0, 0 }, { attr.sample_regs_user, attr.sample_stack_user })
      assert.is_falsy(attr.exclude_callchain_user)
      local first = copy:samples { order = "file" }:first()
      assert.are.same({ KERNEL, 0xffff1000, USER, address("bottom", 1), address("bottom", 6),
        address("lost", 1) }, ips_of(first))
    end)

  for name, form in pairs { file = {}, pipe = { pipe = true }, compressed = { compress = 1 },
      sorted = { sort = true } } do
    it("keeps the bytes of a stack that leads to no outermost frame, or by a guess: " .. name,
      function()
        local copy <close>, summary = written({ "whole", "cut", "empty", "guessed" }, form)
        assert.are.same({ 1, 2 }, { summary.unwound, summary.kept_stacks })
        local sizes, abis = {}, {}
        for s in copy:samples { order = "file" } do
          sizes[#sizes + 1], abis[#abis + 1] = #s.stack_user, s.regs_user.abi
        end
        assert.are.same({ 0, 16, 0, 32 }, sizes)
        assert.are.same({ 0, 2, 0, 2 }, abis)
      end)
  end

  it("adds a call chain where none was recorded", function()
    local path = stacked.recorded(tree, code.build_id, samples { "whole", "cut" },
      { sample_type = { "ip", "tid", "time", "regs_user", "stack_user" } })
    local file <close> = assert(perflua.open(path))
    local copy <close> = rewritten.open(file, { unwind = true })
    local found = chains_of(copy)
    assert.are.same({ address("bottom", 1), address("bottom", 6), address("lost", 1) },
      found[1])
    assert.are.equal(address("bottom", 1), found[2][1])
    for s in copy:samples() do
      assert.are.equal(s.time == 2 and 16 or 0, #s.stack_user)
    end
  end)

  it("tells the attr in event_desc, too", function()
    local path = stacked.recorded(tree, code.build_id, samples { "whole" }, nil, function(b)
      b:feature("event_desc", b.events)
    end)
    local file <close> = assert(perflua.open(path))
    local copy <close> = rewritten.open(file, { unwind = true })
    assert.are.equal(1 | 2 | 4 | 1 << 5, copy.features.event_desc[1].attr.sample_type)
  end)

  -- Returns the samples of a text of `perf script`, without the names of slots of a PLT: perf
  -- 6.1 numbers these in the order of relocations, where libc has those of resolvers last.
  local function printed(path)
    local list = {}
    for sample in files.read(path):gsub(" [^ ]*@plt%+", " @plt+"):gmatch "(.-)\n\n" do
      list[#list + 1] = sample
    end
    return list
  end

  -- Leaves out the frames that perf does not find in samples that keep their stack: in a
  -- function without call frame information, such as _fini, it guesses one frame, of an address
  -- of -1 or of data, and ends the stack there.
  local function without_missed(found, perf, file)
    local i = 0
    for s in file:samples() do
      i = i + 1
      local guess = s.stack_user and #s.stack_user > 0 and perf[i] and perf[i]:find "\n[^\n]*$"
      local known = guess and perf[i]:sub(1, guess)
      if known and known:find "\n." and perf[i] ~= found[i]
          and (found[i] .. "\n"):sub(1, #known) == known then
        perf[i], found[i] = known, known
      end
    end
  end

  needs.it("record", "shows the chains of the original, to perf as well", function()
    local path = oracle.record("-F 1999 -e cpu-clock:u --call-graph dwarf",
      "bash -c 'for ((i = 0; i < 200000; i++)); do :; done'")
    local copy = rewritten.path()
    local got = run.shell_with([["$perflua" convert --unwind "$1" -o "$2" >"$2.said" || exit
      for i in "$1" "$2"; do
        "$perflua" script --no-inline "$i" >"$i.lines" || exit
      done
      cmp "$1.lines" "$2.lines" || exit
      perf script --no-inline -f -i "$2" 2>/dev/null >"$2.perf"]], path, copy)
    assert.are.same({ 0, "", "" }, { got.status, got.err, got.out })
    local file <close> = assert(perflua.open(copy))
    local found, perf = printed(copy .. ".lines"), printed(copy .. ".perf")
    without_missed(found, perf, file)
    assert.is_true(#perf > 0)
    assert.are.same(perf, found)
    assert.is_true(#files.read(copy) < #files.read(path) // 2)
    assert.matches("samples unwound", files.read(copy .. ".said"))
  end)
end)

describe("write() with merge_callchains", function()
  --- Three samples: two of a chain that comes later, one of a chain that does not.
  local function recording(options)
    local b = builder.new(options)
    local event = b:event { sample_type = { "ip", "tid", "time", "callchain" },
      sample_id_all = true, defer_callchain = true, defer_output = true }
    for i, cookie in ipairs { 1, 2, 1 } do
      b:sample(event, { ip = 0xffff1000, pid = 7, tid = 7, time = i,
        callchain = { KERNEL, 0xffff1000, DEFERRED, cookie } })
    end
    b:sample(event, { ip = 0x5000, pid = 7, tid = 7, time = 4, callchain = { USER, 0x5000 } })
    b:record("callchain_deferred", { cookie = 1, ips = { USER, 0x1000, 0x2000 } },
      { pid = 7, tid = 7, time = 5 })
    return b:write()
  end

  for _, endian in ipairs { "little", "big" } do
    it("gives the samples the frames of a " .. endian .. "-endian recording", function()
      local file <close> = assert(perflua.open(recording { endian = endian }))
      local copy <close>, summary = rewritten.open(file, { merge_callchains = true })
      assert.are.same({ 2, 1 }, { summary.merged_callchains, summary.unmatched_callchains })
      local ips = {}
      for s in copy:samples { order = "file" } do ips[#ips + 1] = ips_of(s) end
      local whole = { KERNEL, 0xffff1000, USER, 0x1000, 0x2000 }
      assert.are.same({ whole, { KERNEL, 0xffff1000 }, whole, { USER, 0x5000 } }, ips)
      assert.are.equal(0, copy:records("callchain_deferred"):count())
      assert.is_falsy(copy.events[1].defer_callchain)
      assert.is_falsy(copy.events[1].defer_output)
    end)
  end

  it("takes a recording that can be read again", function()
    warn "@off"
    local path = containers.through({}, recording { container = "pipe" })
    local file <close> = assert(perflua.open(path))
    local ok, message, code = file:records():write(rewritten.path(),
      { merge_callchains = true })
    assert.are.same({ nil, "ESPIPE" }, { ok, code })
    assert.matches("save the stream to a file", message)
  end)
end)
