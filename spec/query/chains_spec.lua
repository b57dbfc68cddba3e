-- Call chains as keys: the groups of `stack` and `frames` are those of the texts that each
-- record has.
local binaries = require "spec.support.binaries"
local builder = require "spec.support.builder"
local chains = require "spec.support.chains"
local corpus = require "spec.support.corpus"
local files = require "spec.support.files"
local jitdump = require "spec.support.jitdump"
local mapped = require "spec.support.mapped"
local needs = require "spec.support.needs"
local perflua = require "perflua"

local KERNEL, USER = chains.KERNEL, chains.USER
local kernel, recording, chain = chains.kernel, chains.recording, chains.of
local options = chains.options()
local kallsyms = options.kallsyms

--- The groups of a key as a table text → count, by the core, and as the texts of the records
--- say them.
local function groups(file, key)
  local count, texts, seen = {}, {}, {}
  local t = file:samples():group_by(key):count():sort()
  for i = 1, #t do
    local row = t[i]
    local text = row[key] or false
    local of = tostring(row.event) .. " " .. tostring(text)
    assert.is_nil(seen[of], "a chain that is two groups")
    seen[of] = true
    count[text] = (count[text] or 0) + row.count
  end
  for s in file:samples() do
    local text = s[key] or false
    texts[text] = (texts[text] or 0) + 1
  end
  return count, texts
end

local function same(path, how)
  local file <close> = assert(perflua.open(path, how))
  for _, key in ipairs { "stack", "annotated_stack", "frames" } do
    local ours, theirs = groups(file, key)
    assert.same(theirs, ours)
  end
  return (groups(file, "stack"))
end

describe("call chains as keys", function()
  for _, n in ipairs { 2, 9 } do
    it("are those of the mappings at their time, with " .. n .. " frames", function()
      local b, sample = chains.of_processes(n)
      mapped.add(b, { "50 map 8 1000-2000 /bin/child" })
      for _, time in ipairs { 49, 50, 51 } do sample(time, 8, chain(n)) end
      local function all(name)
        return (("[%s]"):format(name) .. (";[%s]"):format(name):rep(n - 1))
      end
      assert.same({
        [all "old"] = 4, [all "new"] = 7, [all "newest"] = 2, [all "child"] = 2,
        [all "nine"] = 6,
        [all "unknown"] = 9,
      }, same(b:write(), options))
    end)
  end

  it("are one where their texts are, also of functions that are several", function()
    local b, sample = recording { kernel, "- map 7 1000-2000 /lib/a.so",
      "- map 7 2000-3000 /usr/lib/a.so" }
    local READ, ONE, OTHER = 0xffffffff81000100, 0xffffffff81000210, 0xffffffff81000310
    local times = 0
    local function add(...)
      times = times + 1
      sample(times, 7, { KERNEL, ... })
    end
    for _, more in ipairs { {}, { USER, 0x1010, 0x1020, 0x1030 },
        { USER, 0x2010, 0x2020, 0x2030 } } do
      for _, second in ipairs { ONE, OTHER, ONE + 4 } do
        add(READ, second, table.unpack(more))
      end
    end
    add(READ, 0xffffffff81000410)
    add(READ, 0xffffffff81000510)
    assert.same({
      ["twice;read"] = 3, ["[a.so];[a.so];[a.so];twice;read"] = 6, ["part:ing;read"] = 2,
    }, same(b:write(), options))
  end)

  it("are their ip where they have no frames, and begin with it in `frames`", function()
    local b, sample = recording { kernel, "- map 7 1000-3000 /bin/a",
      "- map 7 5000-6000 /bin/b" }
    for _, ip in ipairs { 0x1010, 0x5010, 0x9000 } do
      for _, list in ipairs { {}, { USER }, { USER, KERNEL, USER, KERNEL, USER, KERNEL },
          chain(2), chain(9) } do
        sample(ip, 7, list, ip)
      end
    end
    local many = ("[a];"):rep(8) .. "[a]"
    assert.same({ ["[a]"] = 3, ["[b]"] = 3, ["[unknown]"] = 3, ["[a];[a]"] = 3, [many] = 3 },
      same(b:write(), options))
  end)

  it("are annotated with what is the kernel's and what was made at run time", function()
    local b, sample = recording { kernel, "- map 7 1000-3000 /bin/a",
      "- map 7 5000-6000 /tmp/perf-7.map" }
    local READ = 0xffffffff81000100
    for i, more in ipairs { { 0x1010 }, { 0x1010, 0x5010, 0x5020, 0x1020, 0x1030 } } do
      sample(i, 7, { KERNEL, READ, READ + 4, USER, table.unpack(more) })
      -- such addresses are nothing of a process
      sample(i, 7, { USER, READ, READ + 4, table.unpack(more) })
    end
    local path = b:write()
    same(path, options)
    local file <close> = assert(perflua.open(path, options))
    assert.same({
      ["[a];read_[k];read_[k]"] = 1, ["[a];[unknown];[unknown]"] = 1,
      ["[a];[a];[perf-7.map]_[j];[perf-7.map]_[j];[a];read_[k];read_[k]"] = 1,
      ["[a];[a];[perf-7.map]_[j];[perf-7.map]_[j];[a];[unknown];[unknown]"] = 1,
    }, (groups(file, "annotated_stack")))
  end)

  it("are absent where a record has no ip", function()
    local b = builder.new()
    local with = b:event { name = "one", sample_type = { "ip", "tid", "time", "id" },
      ids = { 1 } }
    local without = b:event { name = "two", sample_type = { "id", "tid", "time" }, ids = { 2 } }
    b:sample(with, { pid = 7, tid = 7, time = 1, ip = 0x1000, id = 1 })
    b:sample(without, { pid = 7, tid = 7, time = 1, id = 2 })
    assert.same({ ["[unknown]"] = 1, [false] = 1 }, same(b:write(), options))
  end)

  it("are of the function that was at an address then, of code that is made and moved",
    function()
    local tree, pid, code = binaries.tree(), 0x3ffff0, 0x7f0000000000
    local name = ("%s/jit-%d.dump"):format(tree.path, pid)
    files.write(name, jitdump {
      { "load", 5, "first", code, 0x20, 1 }, { "load", 15, "second", code, 0x20, 2 },
    })
    local b, sample = recording {
      ("- map %d 7f0000000000-7f0000010000 //anon"):format(pid),
      ("- map %d 1000-3000 /bin/a"):format(pid),
      ("- map %d 7f0000100000-7f0000101000 %s"):format(pid, name),
    }
    for _, time in ipairs { 6, 16, 7, 17, 4 } do
      for _, n in ipairs { 1, 7 } do
        local list = chain(n, code + 8)
        sample(time, pid, list)
      end
    end
    binaries.of_here(b)
    local rest = ("[a];"):rep(6)
    local got = same(b:write(), { kallsyms = kallsyms })
    assert.same({ 2, 2, 2, 2 }, { got.first, got.second, got[rest .. "first"],
      got[rest .. "second"] })
  end)

  it("are of names in a perf map", function()
    local tree, pid, code = binaries.tree(), 0x3ffff0, 0x7f0000000000
    tree:write(("tmp/perf-%d.map"):format(pid),
      ("%x 10 one\n%x 10 two\n"):format(code, code + 0x10))
    local b, sample = recording {
      ("- map %d 7f0000000000-7f0000010000 //anon"):format(pid),
      ("- map %d 1000-3000 /bin/a"):format(pid),
    }
    for time = 1, 6 do
      sample(time, pid, { USER, code + time % 2 * 0x10, 0x1010 })
      sample(time, pid, chain(6, code + time % 3 * 0x10))
    end
    local got = same(b:write(), { kallsyms = kallsyms, symfs = tree.path })
    assert.same({ 3, 3, 2, 2 },
      { got["[a];one"], got["[a];two"], got[("[a];"):rep(5) .. "one"],
        got[("[a];"):rep(5) .. "two"] })
  end)

  it("are more than any table of them holds at a time", function()
    local b, sample = recording { kernel, "- map 7 1000-3000 /bin/a" }
    for i = 0, 8191 do
      local list = chain(6)
      for bit = 0, 12 do
        if i >> bit & 1 == 1 then list[#list + 1] = 0x5000 + bit end
      end
      sample(i // 2, 7, list)
    end
    local total = 0
    for _, n in pairs(same(b:write(), options)) do total = total + n end
    assert.equal(8192, total)
  end)
end)

describe("call chains of real recordings", function()
  local names = {
    "recorded/amd64-7.2/defer.data", "recorded/amd64-7.2/defer-z.data",
    "recorded/amd64-7.2/dwarf.data",
    "recorded/arm64/dwarf.data", "recorded/arm64/fp-g.data", "recorded/s390x/all.data",
    "recorded/armhf/fp-g.data",
  }
  for _, name in ipairs(names) do
    needs.it("corpus", "are grouped as their texts say: " .. name, function()
      same(corpus.root .. "/" .. name,
        { symfs = "spec/fixtures/empty", kallsyms = "/dev/null" })
    end)
  end
end)
