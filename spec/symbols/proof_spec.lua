-- Which files of this machine are believed to be recorded ones that have no build-id.
local binaries = require "spec.support.binaries"
local corpus = require "spec.support.corpus"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"
local run = require "spec.cli.run"

local function uname(option) return files.output("uname " .. option):match "[^\n]*" end

local HOST, RELEASE, ARCH = uname "-n", uname "-r", uname "-m"

-- perf record that begins soon: BPF programs and the build-id cache take it most of its time.
local RECORD = "perf record -q -N --no-bpf-event "

local expected, nothing = { "first+0x0", "second+0x1" }, { "[unknown]", "[unknown]" }

local function program()
  local tree = binaries.tree()
  tree:sh "mkdir app"
  return tree, tree:program "app/prog"
end

--- A recording of a program without a build-id; change: more fields of its map.
local function recorded(tree, symbols, features, change)
  local map = { filename = tree.path .. "/app/prog", len = 0x4000 }
  for k, v in pairs(change or {}) do map[k] = v end
  return binaries.recorded({ map }, { 0x400000 + symbols.first, 0x400001 + symbols.second },
    { features = features })
end

--- Device, inode and generation of tree's app/prog, as the kernel records them: {maj, min, ino,
--- ino_generation}.
local function inode(tree)
  tree:sh(RECORD .. "-B -m 16 -c 1 -e page-faults:u -o inode app/prog || true")
  local file <close> = assert(perflua.open(tree.path .. "/inode"))
  for r in file:records { type = "mmap2" } do
    if r.filename == tree.path .. "/app/prog" and r.ino_generation then
      return { maj = r.maj, min = r.min, ino = r.ino, ino_generation = r.ino_generation }
    end
  end
end

local systems = {
  { "is of this host, release and architecture",
    { hostname = HOST, osrelease = RELEASE, arch = ARCH }, expected },
  { "is of another host", { hostname = "another", osrelease = RELEASE, arch = ARCH }, nothing },
  { "is of another kernel", { hostname = HOST, osrelease = "6.1.0-other", arch = ARCH },
    nothing },
  { "is of another architecture", { hostname = HOST, osrelease = RELEASE, arch = "sparc64" },
    nothing },
  { "does not say what it is of", {}, nothing },
}

local UNPROVEN =
  "^its build%-id was not recorded, and nothing proves that the recording is from this system "
    .. "%("
local REPLACED =
  "^its build%-id was not recorded, and the file here is not the mapped one %("

describe("a binary without a build-id, in a recording that", function()
  for _, system in ipairs(systems) do
    local title = system[1] .. (system[3] == nothing and ", has no symbols" or ", has symbols")
    needs.it("this architecture", title, function()
      local tree, symbols = program()
      local path = recorded(tree, symbols, system[2])
      local list, missing = binaries.found(path)
      assert.same(system[3], list)
      assert.equal(system[3] == nothing and 1 or 0, #missing)
      if missing[1] then assert.matches(UNPROVEN, missing[1].reason) end
    end)
  end

  for _, option in ipairs { "any_binary", "symfs" } do
    it("is of another host, has symbols with the option " .. option, function()
      local tree, symbols = program()
      local path = recorded(tree, symbols, systems[2][2])
      local list, missing = binaries.found(path, { any_binary = option == "any_binary" or nil,
        symfs = option == "symfs" and "/" or nil })
      assert.same(expected, list)
      assert.same({}, missing)
      if option == "symfs" then
        tree:sh("mkdir -p root" .. tree.path .. " && mv app root" .. tree.path)
        assert.same(expected, (binaries.found(path, { symfs = tree.path .. "/root" })))
      end
    end)
  end

  for tool, says in pairs {
    report = "%] first\n", script = " first%+0x0 ", fold = "first 1\n",
    doctor = "used without a recorded",
  } do
    it("is of another host, has symbols in the tool " .. tool
      .. " with --any-binary", function()
      local tree, symbols = program()
      local path = recorded(tree, symbols, { hostname = "another", build_id = {} })
      assert.is_nil(run.perflua({ tool, path }).out:find(says))
      local got = run.perflua { tool, "--any-binary", path }
      assert.equal("", got.err)
      assert.matches(says, got.out)
    end)
  end

  -- features, what of the inode is recorded otherwise, what is found
  local inodes = {
    { "of this system, with its inode", systems[1][2], {}, expected },
    { "of this system, with another inode", systems[1][2], { ino = 12 }, REPLACED },
    { "of this system, with another device", systems[1][2], { min = 0xfffff }, REPLACED },
    { "of this system, with its inode of another generation", systems[1][2],
      { ino_generation = 77 }, REPLACED },
    { "of this system, with its inode, as perf itself writes it", systems[1][2],
      { ino_generation = 0 }, expected },
    { "of any system, with its inode", {}, {}, expected },
    { "of any system, with its inode, as perf itself writes it", {}, { ino_generation = 0 },
      expected },
    { "of any system, with another inode", {}, { ino = 12 }, UNPROVEN },
    { "of any system, with its inode, mapped beyond its end", {}, { len = 1 << 20 }, UNPROVEN },
    { "of another host, with its inode and generation", systems[2][2], {}, expected },
    { "of another host, with its inode without a generation", systems[2][2],
      { ino_generation = 0 }, UNPROVEN },
    { "of another host, with its inode of another generation", systems[2][2],
      { ino_generation = 77 }, UNPROVEN },
    { "of another host, with its inode, mapped beyond its end", systems[2][2],
      { len = 1 << 20 }, UNPROVEN },
  }
  for _, case in ipairs(inodes) do
    local title = "is " .. case[1] .. (case[4] == expected and ", has symbols" or ", has none")
    needs.it("record,this architecture", title, function()
      local tree, symbols = program()
      local map = inode(tree)
      if map.ino_generation == 0 and case[1]:find "generation" then
        return pending "the file system has no generations of inodes"
      end
      for k, v in pairs(case[3]) do map[k] = v end
      local list, missing = binaries.found(recorded(tree, symbols, case[2], map))
      assert.same(case[4] == expected and expected or nothing, list)
      assert.equal(case[4] == expected and 0 or 1, #missing)
      if missing[1] then assert.matches(case[4], missing[1].reason) end
      if case[4] == REPLACED then
        assert.matches("/app/prog: found device %x+:%x+, inode %d+, recorded was ",
          missing[1].tried[1])
      end
    end)
  end
end)

describe("code made at run time", function()
  it("has no names in a recording of another host, though a perf map of its process is "
    .. "here", function()
    local pid = 0x3ffff1
    local own = ("/tmp/perf-%d.map"):format(pid)
    assert.is_false(files.exists(own))
    files.write(own, "7f0000000000 100 here\n")
    local map = { pid = pid, tid = pid, addr = 0x7f0000000000, len = 4096, filename = "//anon" }
    local answers, missing = {}, nil
    for i, system in ipairs { systems[1], systems[2] } do
      local path = binaries.recorded({ map }, { 0x7f0000000001 },
        { pid = pid, features = system[2] })
      answers[i], missing = binaries.found(path)
    end
    os.remove(own)
    assert.matches("^names of generated code may belong to another process",
      missing[1].reason)
    assert.same({ { "here+0x1" }, { "[unknown]" } }, answers)
  end)
end)

describe("a name of several files", function()
  local A, B = ("a1"):rep(20), ("b2"):rep(20)

  local function ids(rows, maps)
    local list = {}
    local path = binaries.recorded(maps, { 0x400000, 0x800000 },
      { features = { build_id = rows } })
    local file <close> = assert(perflua.open(path))
    for s in file:samples() do list[#list + 1] = s.map.build_id or "none" end
    return list
  end

  local row = { build_id = A, filename = "/bin/a" }
  local one, other = { filename = "/bin/a", ino = 7 },
    { filename = "/bin/a", ino = 8, addr = 0x800000 }
  local again = { filename = "/bin/a", ino = 7, addr = 0x800000 }

  it("has not the build-id of the table, which is that of one of them", function()
    assert.same({ A, A }, ids({ row }, { one, again }))
    assert.same({ "none", "none" }, ids({ row }, { one, other }))
  end)

  it("has that of the table if it names as many files, each on a device of its own", function()
    local function of(minor, ino, addr)
      return { filename = "/bin/a", maj = 0, min = minor, ino = ino, addr = addr }
    end
    local first, copy = of(50, 7), of(51, 9, 0x800000)
    assert.same({ A, A }, ids({ row, row }, { first, copy }))
    assert.same({ A, A }, ids({ row, row }, { first, copy, of(50, 7, 0x900000) }))
    local none <const> = { "none", "none" }
    assert.same(none, ids({ row }, { first, copy }))
    assert.same(none, ids({ row, { build_id = B, filename = "/bin/a" } }, { first, copy }))
    assert.same(none, ids({ row, row }, { first, of(50, 8, 0x800000) }))
    assert.same(none, ids({ row, row, row }, { first, of(51, 10, 0x900000), copy }))
    assert.same(none, ids({ row, row }, { first, of(52, 9, 0x900000), copy }))
  end)

  it("has no build-id where the table has several", function()
    assert.same({ "none", "none" },
      ids({ row, { build_id = B, filename = "/bin/a" } }, { one, again }))
    assert.same({ A, A }, ids({ row, row }, { one, again }))
  end)

  needs.it("record,this architecture", "is told from the other one in folded stacks", function()
    local tree, symbols = program()
    local here = inode(tree)
    here.filename, here.len = tree.path .. "/app/prog", 0x4000
    local gone = { filename = here.filename, len = 0x4000, maj = here.maj, min = here.min,
      ino = 12, ino_generation = here.ino_generation }
    for _, maps in ipairs { { here, gone }, { gone, here } } do
      maps[1].addr, maps[2].addr = nil, 0x800000
      local path = binaries.recorded(maps,
        { 0x400000 + symbols.first, 0x800000 + symbols.first }, { features = systems[1][2] })
      assert.equal("[prog] 1\nfirst 1\n", run.perflua({ "fold", "--by", "none", path }).out)
    end
  end)

  needs.it("record,this architecture",
    "is each of them, of which the one that is here has symbols", function()
    local tree, symbols = program()
    tree:sh [[
      mv app/prog v2
      sed 's/first/other_first/g; s/second/other_second/g; 1i int more(void) { return 1; }' app/prog.c >v1.c
      gcc -O1 -no-pie -Wl,--build-id -o app/prog v1.c
      perf record -q -B -N --no-bpf-event -m 64 -c 1 -e page-faults:u -o data \
        sh -c 'app/prog; mv v2 app/prog; app/prog; true']]
    local path, found = tree.path .. "/app/prog", {}
    local file <close> = assert(perflua.open(tree.path .. "/data"))
    for s in file:samples() do
      if s.dso == path then found[s.symbol or "[unknown]"] = true end
    end
    assert.is_true(found["[unknown]"])
    for name in pairs(found) do assert.is_nil(name:find "other") end
    local missing = file:missing()
    local reasons = {}
    for _, one_missing in ipairs(missing) do
      if one_missing.filename == path then reasons[#reasons + 1] = one_missing.reason end
    end
    assert.equal(1, #reasons)
    assert.matches(REPLACED, reasons[1])
    assert.is_truthy(symbols.first)
  end)
end)

-- Recordings of this machine that have no build-ids.
local recordings = {
  { "with -B",
    RECORD .. "-B -m 64 -g -e cpu-clock -F 4000 -o data sh work.sh >/dev/null 2>log" },
  { "compressed",
    RECORD .. "-z -m 64 -g -e cpu-clock -F 4000 -o data sh work.sh >/dev/null 2>log" },
  { "through a pipe",
    RECORD .. "-m 64 -g -e cpu-clock -F 4000 -o - sh work.sh 2>log | cat >data", true },
}

local work_trees = {} -- by command: the tree with what it recorded

-- Programs as they are installed, most of them without symbols, and one that has some.
local work = "ls -lR /usr/lib | sort | gzip | wc -c >&2\nseq 90000 | sort -R | md5sum >&2\n"
  .. "./busy || true"
local BUSY <const> = [[
  __attribute__((noinline)) static void spin(volatile long *n, int depth)
  {
    if (depth) spin(n, depth - 1);
    while (*n) --*n;
  }
  __attribute__((constructor)) void begin(void) { volatile long n = 150000000; spin(&n, 12); }]]

local function record_work(command)
  local tree = work_trees[command] or binaries.tree()
  if not work_trees[command] then
    tree:write("work.sh", work)
    tree:program("busy", "-fno-omit-frame-pointer", BUSY)
    tree:sh(command .. " || { cat log; exit 1; }")
    work_trees[command] = tree
  end
  return tree.path .. "/data"
end

-- Asserts that two texts are equal. There are very many of them, and words for an assertion
-- take longer.
local function assert_equal(expected_text, text)
  if expected_text ~= text then assert.equal(expected_text, text) end
end

local function frames_of_perf(path)
  local list = {}
  for line in files.lines("perf script -F ip,sym,dso -i " .. path .. " 2>/dev/null") do
    local symbol, dso = line:match "^%s*%x+ (.-) %((.-)%)$"
    if symbol and dso:sub(1, 1) == "/" then list[#list + 1] = symbol .. " " .. dso end
  end
  return list
end

local function frames_of_file(path, options)
  local list = {}
  local file <close> = assert(perflua.open(path, options))
  for s in file:samples() do
    for _, frame in ipairs(s.callchain) do
      if frame.dso and frame.dso:sub(1, 1) == "/" then
        list[#list + 1] = (frame.symbol or "[unknown]") .. " " .. frame.dso
      end
    end
  end
  return list
end

describe("a recording of this machine without build-ids", function()
  for _, case in ipairs(recordings) do
    needs.it("kernel,this architecture",
      case[1] .. " keeps its symbols, which are perf's", function()
      local path = record_work(case[2])
      local theirs, ours = frames_of_perf(path),
        frames_of_file(path, { demangle = not oracle.does.parameters })
      assert.is_true(#ours > 100, #ours .. " frames")
      local known = 0
      for i, line in ipairs(theirs) do
        -- perf takes entries of procedure linkage tables by their order, also where that is not
        -- theirs
        if not line:find "@plt" and not ours[i]:find "[@.]plt" then
          assert_equal(line, ours[i])
        end
        if not ours[i]:find("[unknown]", 1, true) then known = known + 1 end
      end
      assert.equal(#theirs, #ours)
      assert.is_true(known > #ours / 2, known .. " of " .. #ours)
    end)
  end

  -- The records of a recording with a generation of its files that no file here has: one of
  -- these device, inode and generation is the recorded one, whoever the host is.
  local function with_other_generations(path)
    local file <close> = assert(perflua.open(path))
    local bytes, at, parts = files.read(path), 0, {}
    for r in file:records { type = "mmap2", order = "file" }:each() do
      if not r.build_id then
        -- perf_event.h, PERF_RECORD_MMAP2: pid, tid, addr, len, pgoff, maj, min, ino follow
        local generation = r.offset + 8 + 4 + 4 + 8 + 8 + 8 + 4 + 4 + 8
        parts[#parts + 1] = bytes:sub(at + 1, generation)
        parts[#parts + 1] = string.pack("<I8", 0x5eed)
        at = generation + 8
      end
    end
    assert.is_true(#parts > 0)
    parts[#parts + 1] = bytes:sub(at + 1)
    files.write(path, table.concat(parts))
  end

  -- A copy of a recording, made one of another host.
  local function of_another_host(command)
    local path = files.temporary(files.read(record_work(command)))
    with_other_generations(path)
    local bytes = files.read(path)
    local name = string.pack("<I4", 64) .. HOST .. "\0"
    local at = assert(bytes:find(name, 1, true), "no host in the header")
    local other = string.pack("<I4", 64) .. ("x"):rep(#HOST) .. "\0"
    files.write(path, bytes:sub(1, at - 1) .. other .. bytes:sub(at + #name))
    return path
  end

  needs.it("record,this architecture",
    "is not unwound by the files here when it is of another host", function()
    local path = of_another_host(RECORD .. "-B -m 64 -F 2000 -o data "
      .. "--call-graph dwarf,4096 -e cpu-clock:u sh work.sh >/dev/null 2>log")
    local function longest(options)
      local file <close> = assert(perflua.open(path, options))
      local most = 0
      for s in file:samples() do
        local n = 0
        for _, frame in ipairs(s.callchain) do
          n = n + (frame.dso:sub(1, 1) == "/" and 1 or 0)
        end
        most = math.max(most, n)
      end
      return most
    end
    assert.equal(1, longest())
    assert.is_true(longest { any_binary = true } > 1)
  end)

  needs.it("kernel,this architecture",
    "names no user frames when it is of another host", function()
    local path = of_another_host(recordings[1][2])
    for _, line in ipairs(frames_of_file(path)) do
      if not line:find "^%[unknown%] " then assert.matches("^%[unknown%] ", line) end
    end
    local known = 0
    for _, line in ipairs(frames_of_file(path, { any_binary = true })) do
      if not line:find("[unknown]", 1, true) then known = known + 1 end
    end
    assert.is_true(known > 100, known .. " frames")
  end)

  local title = "has no symbols of the file here where another mount namespace had another one"
  needs.it("record,mount namespaces,this architecture", title, function()
    local tree = program()
    tree:sh [[
      sed 's/first/inner_first/g; s/second/inner_second/g' app/prog.c >inner.c
      gcc -O1 -no-pie -Wl,--build-id -o inner inner.c
      unshare --mount sh -c 'mount --bind inner app/prog
        perf record -q -B -N --no-bpf-event -m 64 -c 1 -e page-faults:u -o data app/prog' || true]]
    local file <close> = assert(perflua.open(tree.path .. "/data"))
    local samples = 0
    for s in file:samples() do
      if s.dso == tree.path .. "/app/prog" then
        samples = samples + 1
        assert.is_nil(s.symbol)
      end
    end
    assert.is_true(samples > 0)
  end)
end)

-- All of them were made elsewhere.
corpus.each_file(it, "takes no binary of this machine without a build-id", function(recording)
  local file <close> = perflua.open(recording.path)
  if not file or not pcall(function() file:samples():where("under('none')"):count() end) then
    return
  end
  local _, unproven = file:missing()
  assert.same({}, unproven)
end)
