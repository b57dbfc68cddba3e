-- Descriptions of recordings: perflua dump --lua prints them, perflua build reads them.
local builder = require "spec.support.builder"
local containers = require "spec.support.containers"
local corpus = require "spec.support.corpus"
local described = require "spec.support.described"
local everything = require "spec.support.everything"
local files = require "spec.support.files"
local perflua = require "perflua"
local run = require "spec.cli.run"
local seen = require "spec.support.seen"

local silently = described.silently

local SWEEP = os.getenv "SWEEP"
local path = files.temporary()

local function check_bytes(bytes, what)
  files.write(path, bytes)
  local again, message = described.again(path)
  if again == nil then return message end
  assert.is_true(bytes == again, what .. ": the bytes are not the same")
end

describe("dump --lua and build", function()
  for endian in pairs { little = true, big = true } do
    it("give the same bytes of all that the builder writes, " .. endian .. "-endian", function()
      for _, container in ipairs { "file", "pipe" } do
        local b = everything.builder(endian)
        b.container = container
        assert.is_nil(check_bytes(b:bytes(), container))
      end
      for _, version in ipairs { 1, 2 } do
        local b = builder.new { endian = endian, version = version }
        b:sample(b:event { name = "one" }, { ip = 1, pid = 2, tid = 3, time = 4 })
        assert.is_nil(check_bytes(b:bytes(), "version " .. version))
      end
    end)

    it("describe records by their fields, " .. endian .. "-endian", function()
      local b = everything.builder(endian)
      files.write(path, b:bytes())
      local text = described.text(path)
      -- only what has no fields that are known
      for name in text:gmatch "\n(%l[%w_]*) {[^\n]-bytes = " do
        assert.is_truthy(({ feature = true, data = true, bytes_at = true, compressed = true,
          compressed2 = true, header_feature = true, record = true })[name], name)
      end
    end)

    it("give the same bytes of cut and damaged recordings, " .. endian .. "-endian", function()
      local bytes = everything.builder(endian):bytes()
      for n = 104, #bytes - 1, SWEEP and 1 or 37 do
        silently(check_bytes, bytes:sub(1, n), "cut at " .. n)
      end
      local random = 1
      for i = 1, SWEEP and 2000 or 150 do
        random = random * 6364136223846793005 + 1442695040888963407
        local at = 8 + (random >> 33) % (#bytes - 8)
        local byte = string.char((random >> 24) & 0xff)
        silently(check_bytes, bytes:sub(1, at) .. byte .. bytes:sub(at + 2), "damage " .. i)
      end
    end)
  end

  it("give the same bytes of recordings whose records lie nowhere", function()
    local b = builder.new()
    b:event { name = "one" }
    local bytes = b:bytes()
    for _, at in ipairs { 1 << 40, 1 << 62, -256 } do
      assert.is_nil(silently(check_bytes, bytes:sub(1, 40) .. string.pack("<I8", at)
        .. bytes:sub(49), "data at " .. at))
    end
  end)

  it("give the same bytes of strings that are several lines of the description", function()
    local b = builder.new()
    b:event { name = "one" }
    b:record("text_poke", { addr = 1, old = ("a\n"):rep(1500), new = ("\0"):rep(2000) })
    assert.is_nil(check_bytes(b:bytes(), "text_poke"))
  end)

  it("give the same bytes of recordings in every container", function()
    local recording = {
      events = { { name = "cycles", sample_type = { "ip", "tid", "time" }, ids = { 1 } } },
      head = { { "comm", { pid = 1, tid = 1, comm = "one" } } },
      rounds = { { [0] = { { "sample", 1, { ip = 16, pid = 1, tid = 1, time = 5 } } } } },
    }
    local n = 0
    for _, container in ipairs(containers.list) do
      local written = container.seekable and container.write(recording)
      local again, message
      if type(written) == "string" then again, message = described.again(written) end
      if again then
        n = n + 1
        assert.is_true(files.read(written) == again, container.name)
      elseif message then
        assert.matches("found a directory, expected one file; perflua convert", message)
      end
    end
    assert.is_true(n >= 4)
  end)

  it("give the same bytes of the recordings in the tree", function()
    for _, name in ipairs { "calls.perf.data", "demo.perf.data", "switches.perf.data",
      "words/perf.data", "perf-7.3/chains.data", "perf-7.3/compressed.data",
      "perf-7.3/dwarf.data", "perf-7.3/exits.data", "perf-7.3/group.data",
      "perf-7.3/memory.data", "perf-7.3/pipe.data", "perf-7.3/registers.data",
      "perf-7.3/switches.data", "perf-7.3/untimed.data" } do
      local from = files.fixture(name)
      assert.is_true(files.read(from) == described.again(from), name)
    end
  end)

  corpus.each_file(it, "give the same bytes", function(recording)
    local again, message = silently(described.again, recording.path)
    if again == nil then
      assert.is_nil(perflua.open(recording.path), message)
    else
      assert.is_true(files.read(recording.path) == again)
    end
  end)
end)

local SHORT <const> = [[
perf_data {}
event { attr = { type = 1, sample_type = 0x10047, sample_id_all = true, comm = true }, ids = { 7 } }
event { attr = { type = 1, config = 3, sample_type = 0x10047, sample_id_all = true }, ids = { 8, 9 } }
feature { name = "hostname", value = "box" }
comm { exec = true, pid = 1, tid = 2, comm = "one", sample_id = { time = 3, identifier = 7 } }
sample { event = 2, cpumode = "user", ip = 0x401000, pid = 1, tid = 2, time = 4 } -- by hand
]]

describe("a description", function()
  it("is a line for each part, in the order of the file", function()
    local b = builder.new {}
    local event = b:event { name = "cycles", type = 1, sample_type = { "ip", "tid", "callchain",
      "raw" }, ids = { 5, 6 } }
    b:feature("hostname", "box")
    b:record("comm", { pid = 1, tid = 2, comm = "a \"b\"\n" }, { pid = 1, tid = 2 })
    b:sample(event, { ip = 16, pid = 1, tid = 2, callchain = { -512, 16 }, raw = "\0\1\2\3" })
    b:record("exit", { pid = 1, ppid = 2, tid = -1, ptid = 0, time = 7 }, {})
    b:raw(200, 3, "unknown\0")
    local text = described.text(b:write())
    local lines = {}
    for line in text:gmatch "[^\n]+" do lines[#lines + 1] = line end
    assert.matches("^%-%- A recording, for perflua build", lines[1])
    assert.are.equal('perf_data { form = "file", version = 2, byte_order = "little", '
      .. "attr_size = 128 }", lines[2])
    assert.matches("^event { attr = { type = 1, size = 128, .*sample_type = 0x423, .*"
      .. "sample_id_all = true.* }, ids = { 5, 6 } }$", lines[3])
    local rest = table.concat(lines, "\n", 4)
    for _, line in ipairs {
      'feature { name = "hostname", value = "box" }',
      'comm { pid = 1, tid = 2, comm = "a \\"b\\"\\n", sample_id = { pid = 1, tid = 2 } }',
      'sample { cpumode = "user", ip = 0x10, pid = 1, tid = 2, callchain = { "user", 0x10 }, '
        .. 'raw = hex "00010203" }',
      "exit { pid = 1, ppid = 2, tid = -1, ptid = 0, time = 7 }",
      'record { type = 200, misc = 0x3, bytes = "unknown\\x00" }',
    } do
      assert.is_truthy(rest:find(line, 1, true), line .. "\n" .. rest)
    end
  end)

  it("is a chunk of Lua", function()
    local text = described.text(run.demo)
    local samples, names = 0, {}
    local env = { hex = function(digits) return (digits:gsub("..", function(byte)
      return string.char(tonumber(byte, 16))
    end)) end }
    setmetatable(env, { __index = function(_, name)
      return function(values)
        names[name] = true
        if name == "sample" then
          samples = samples + 1
          assert(math.type(values.time) == "integer" and values.ip)
        end
      end
    end })
    assert(load(text, "X.lua", "t", env))()
    local file <close> = perflua.open(run.demo)
    assert.are.equal(file:samples():count(), samples)
    assert.is_true(names.perf_data and names.event and names.feature and names.mmap2)
  end)

  it("can be written by hand, with as little as matters", function()
    local built, summary = described.build(SHORT)
    assert.are.same({ 2, 1, #files.read(built) },
      { summary.records, summary.samples, summary.bytes })
    local file <close> = assert(perflua.open(built))
    assert.are.equal(0, #file.damage)
    local s = file:samples():first()
    assert.are.same({ "context-switches", 0x401000, 1, 2, 4, 8, "user", "one" }, { s.event.name,
      s.ip, s.pid, s.tid, s.time, s.id, s.cpumode, s.comm })
    assert.are.equal("box", file.features.hostname)
    assert.is_true(file:records("comm"):first().exec)
  end)

  it("can be edited", function()
    local text = described.text(run.demo)
    local n
    text, n = text:gsub('(comm = )"sort"', '%1"a longer name"')
    assert.is_true(n > 0)
    local file <close> = assert(perflua.open((assert(described.build(text)))))
    local demo <close> = assert(perflua.open(run.demo))
    assert.are.equal(0, #file.damage)
    assert.are.equal(demo:samples():where("comm == 'sort'"):count(),
      file:samples():where("comm == 'a longer name'"):count())
    assert.are.equal(seen.of(demo.features.cmdline), seen.of(file.features.cmdline))
  end)

  it("cuts negative numbers to the bytes of their field", function()
    local built = assert(described.build [[
      perf_data {}
      event { attr = { sample_type = 0x1000001 } }
      sample { ip = -0, weight = -1, ins_lat = 2, retire_lat = -3 } ]])
    local file <close> = assert(perflua.open(built))
    local s = file:samples():first()
    assert.are.same({ 0, 0xffffffff, 2, 0xfffd }, { s.ip, s.weight, s.ins_lat, s.retire_lat })
  end)

  it("takes the bytes of an attr of any size", function()
    local bytes = string.pack("<I4I4", 1, 72) .. ("\0"):rep(64)
    local built = assert(described.build(([[
      perf_data { form = "pipe" }
      header_attr { attr = { bytes = hex "%s" }, ids = { 7 } } ]]):format((bytes:gsub(".",
      function(byte) return ("%02x"):format(byte:byte()) end)))))
    local file <close> = assert(perflua.open(built))
    assert.are.same({ 1, 72, 7 }, { file.events[1].type, file.events[1].attr_size,
      file.events[1].ids[1] })
  end)

  it("takes the literals of Lua", function()
    local built = assert(described.build [=[
      --[[ a comment
      of two lines ]] perf_data { form = 'pipe'; byte_order = "big", };
      header_attr { attr = { size = 64, sample_type = 1 }, ids = { 0x7 } }
      sample { ip = -1 } sample { ip = 0xFFFFFFFFFFFFFFFF, }
      comm { comm = "\65\x42\z
          C" } ]=])
    local file <close> = assert(perflua.open(built))
    local ips = {}
    for ip in file:samples():select "ip" do ips[#ips + 1] = ip end
    assert.are.same({ -1, -1 }, ips)
    assert.are.equal("ABC", file:records("comm"):first().comm)
    assert.are.same({ "pipe", "big" }, { file.mode, file.byte_order })
  end)

  for text, message in pairs {
    [""] = "X.lua: found no statement, expected perf_data { … }",
    ["sample {}"] = "line 1: sample: found it first, expected perf_data",
    ["perf_data {}\nperf_data {}"] = "line 2: perf_data: found a second one, expected one",
    ["perf_data { form = 1 }"] = 'line 1: perf_data.form: found 1, expected "file" or "pipe"',
    ["perf_data { version = 3 }"] = "perf_data.version: found 3, expected 1 or 2",
    ["perf_data { attr_size = 1 }"] = "found 1, expected a size from 64 to 65535 bytes",
    ["perf_data {}\n\nnonsense { }"] =
      "line 3: nonsense: found an unknown statement, expected perf_data, ",
    ["perf_data {}\nevent {}\nsample {\n  ipp = 1 }"] =
      "line 4: sample.ipp: found an unknown field, expected one that records of this form have",
    ["perf_data {}\nevent {}\nsample { event = 2 }"] =
      "line 3: sample.event: found 2, expected the number of an event before this statement",
    ["perf_data {}\nsample {}\nevent {}"] = "line 3: event: found it after records",
    ["perf_data { attr_size = 65535 }" .. ("\nevent {}"):rep(1024)] =
      "line 1025: event: found it after records, or too many, expected at most 65536 of 64 MB",
    ["perf_data {}\nexit { pid = 4294967296 }"] =
      "line 2: exit.pid: found 4294967296, expected an integer of 32 bits",
    ["perf_data {}\nexit { pid = 'x' }"] =
      "line 2: exit.pid: found a string of 1 bytes, expected an integer of 32 bits",
    ["perf_data {}\nexit { cpumode = 'x' }"] = 'exit.cpumode: found a string of 1 bytes, '
      .. 'expected "kernel", "user"',
    ["perf_data {}\nnamespaces { namespaces = { net = { dev = 1, inode = 2 } } }"] =
      "line 2: namespaces.namespaces.net.inode: found an unknown field, expected one",
    ["perf_data {}\nmmap2 { cpumode = 'x', build_id = 'abc' }"] =
      'line 2: mmap2.cpumode: found a string of 1 bytes, expected "kernel", "user"',
    ["perf_data {}\nmmap2 { build_id = '123456789012345678901' }"] =
      "mmap2.build_id: found a string of 21 bytes, expected a string of at most 20 bytes",
    ["perf_data {}\nfeature { name = 'hostname', bytes = { " .. ("'%s', "):rep(3):format(
      ("x"):rep(30 << 20), ("x"):rep(30 << 20), ("x"):rep(30 << 20)) .. "} }"] =
      "feature: found a statement of more bytes, expected at most 64 MB",
    ["perf_data {}\nbpf_event { tag = 'short' }"] =
      "bpf_event.tag: found a string of 5 bytes, expected a string of 8 bytes",
    ["perf_data {}\nthread_map { threads = { { comm = 'more than sixteen' } } }"] =
      "thread_map.threads.[].comm: found a string of 17 bytes, expected a string of at ",
    ["perf_data {}\ncomm { comm = { 1 } }"] = "comm.comm: found 1, expected a string",
    ["perf_data {}\nfeature { name = 'host' }"] =
      "feature.name: found a string of 4 bytes, expected the name of a header feature",
    ["perf_data {}\nfeature { name = 3 }\nfeature { name = 'hostname' }"] =
      "line 3: feature.name: found a string of 8 bytes, expected a number below 256",
    ["perf_data { form = 'pipe' }\nevent {}"] =
      "event: found it in a pipe, expected header_attr",
    ["perf_data {}\ncomm { comm = (1) }"] = "line 2: found '(', expected a value",
    ["perf_data {}\ncomm { comm = f() }"] = "line 2: found f, expected a number, a string",
    ["perf_data {}\ncomm { comm = nil }"] = "line 2: found nil, expected a number",
    ["perf_data {}\ncomm { ['comm'] = 1 }"] = "line 2: found '[', expected a value",
    ["perf_data {}\ncomm { comm = 1 .. 2 }"] = "line 2: found '.', expected ',' or '}'",
    ["perf_data {}\nwhile true do end"] = "line 2: found 't', expected '{' after the name",
    ["perf_data {}\n= 1"] = "line 2: found '=', expected a statement: NAME { … }",
    ["perf_data {}\ncomm { comm = 'a\n' }"] = "expected the end of a string",
    ["perf_data {}\ncomm { comm = 'a"] =
      "found the end of the file, expected the end of a string",
    ["perf_data {}\ncomm { pid = 18446744073709551616 }"] = "expected an integer of 64 bits",
    ["perf_data {}\ncomm { pid = 0x10000000000000000 }"] = "expected an integer of 64 bits",
    ["perf_data {}\ncomm { pid = 1x }"] = "line 2: found 1x, expected an integer of 64 bits",
    ["perf_data {}\ncomm { pid = 1.5 }"] =
      "comm.pid: found 1.5, expected an integer of 32 bits",
    ["perf_data {}\ncomm { comm = hex 'f' }"] = "line 2: found ''', expected a hex digit",
    ["perf_data {}\ncomm { comm = '\\q' }"] = "line 2: found 'q', expected an escape",
    ["perf_data {}\ncomm { comm = '\\300' }"] = "an escape of more than \\255",
    ["perf_data {}\n--[[ "] = "found the end of the file, expected the end of a comment, ]]",
    ["perf_data {" .. ("x={"):rep(20)] = "found tables in tables, expected at most 16 of them",
    ["perf_data {}\n" .. ("n"):rep(60) .. " {}"] = "found a name of more than 46 letters",
    ["perf_data {}\nrecord { type = 200, bytes = '" .. ("x"):rep(70000) .. "' }"] =
      "record: found a record of 70008 bytes, expected at most 65535",
    ["perf_data {}\n\0"] = "line 2: found the byte 0x00, expected a statement",
    ["perf_data { bitmap = 'x' }"] =
      "bitmap: found a string of 1 bytes, expected a string of 32",
    ["perf_data {}\nfeature { name = 3, gap = 5000 }"] = "found 5000, expected at most 4096",
  } do
    it("is refused with its line and field: " .. message:sub(1, 70), function()
      local built, found, code = described.build(text)
      assert.is_nil(built)
      assert.is_truthy(found:find(message, 1, true), found)
      assert.are.equal("FORMAT", code)
    end)
  end

  it("is refused, or built, wherever it is cut or damaged", function()
    local text = described.text(everything.builder("little"):write())
    local from = files.temporary()
    local function try(bytes)
      files.write(from, bytes)
      local built, message = described.build(bytes)
      if built then os.remove(built) else assert.is_string(message) end
    end
    for n = 0, #text, SWEEP and 7 or 997 do try(text:sub(1, n)) end
    local random = 7
    for _ = 1, SWEEP and 5000 or 200 do
      random = random * 6364136223846793005 + 1442695040888963407
      local at = (random >> 33) % #text
      try(text:sub(1, at) .. string.char(32 + (random >> 20) % 95) .. text:sub(at + 2))
    end
  end)

  it("may ask for no more than there is room for", function()
    local built, message, code = described.build "perf_data { data_at = 0x8000000000000000 }"
    assert.are.same({ nil, "EFBIG" }, { built, code })
    assert.matches("File too large", message)
    built = assert(described.build "perf_data { data_at = 0x100000000 }\nfinished_init {}")
    local file <close> = assert(perflua.open(built))
    assert.are.equal(0x100000000 + 8, file.size)
    os.remove(built)
  end)
end)

describe("perflua dump --lua, perflua build", function()
  it("make a file of a file", function()
    local to = os.tmpname()
    os.remove(to)
    local command = '"$perflua" dump --lua "$1" | "$perflua" build - -o "$2"'
    local got = run.shell_with(command, run.demo, to)
    assert.are.same({ 0, "" }, { got.status, got.err })
    assert.matches(": 672 samples in %d+ records, %d+.%d kB\n$", got.out)
    assert.is_true(files.read(run.demo) == files.read(to))
    got = run.shell_with(command, run.demo, to)
    assert.are.equal(1, got.status)
    assert.matches("the file exists; %-%-force replaces it", got.err)
    got = run.shell_with("echo 'perf_data {} x {}' | \"$perflua\" build - -o \"$1\" --force",
      to)
    assert.are.equal(1, got.status)
    assert.is_true(files.read(run.demo) == files.read(to), "a failure changed the old file")
    os.remove(to)
  end)

  it("make a pipe of a pipe", function()
    local pipe = files.fixture "perf-7.3/pipe.data"
    local got = run.shell_with("cat \"$1\" | \"$perflua\" dump --lua - "
      .. "| \"$perflua\" build - -o - | cmp - \"$1\" && echo same", pipe)
    assert.are.equal("same\n", got.out)
    got = run.shell_with("\"$perflua\" dump --lua \"$1\" | \"$perflua\" build - -o - | wc -c",
      run.demo)
    assert.matches("found the form of a file, expected \"pipe\"", got.err)
    assert.are.equal("0\n", got.out:match "%d+\n")
  end)

  it("say what they do not take", function()
    for words, message in pairs {
      ["dump --lua --json"] = "--lua describes the whole recording: without --json",
      ["dump --lua --type sample"] = "without --type",
      ["dump --lua --comm sh"] = "perflua cut writes a part of it first",
      ["build x.lua"] = "-o OUT says where to write the recording",
      ["build /nowhere.lua -o x"] = "/nowhere.lua: No such file or directory",
    } do
      local list = {}
      for word in words:gmatch "%S+" do list[#list + 1] = word end
      if list[1] == "dump" then list[#list + 1] = run.demo end
      local got = run.perflua(list)
      assert.is_true(got.status > 0, words)
      assert.is_truthy(got.err:find(message, 1, true), got.err)
    end
    local recording = files.temporary(files.read(run.demo))
    local got = run.shell_with("\"$perflua\" dump --lua \"$1\" | "
      .. "\"$perflua\" -e 'perflua.open(arg[1])' \"$1\"", recording)
    assert.are.equal(0, got.status)
  end)
end)
