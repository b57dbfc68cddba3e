-- Writes inputs to begin with: seeds.lua DIRECTORY makes a directory for each target, with
-- small recordings of everything the builder knows, and those of $PERFLUA_CORPUS that are small
-- enough.
local builder = require "spec.support.builder"
local described = require "spec.support.described"
local everything = require "spec.support.everything"
local features = require "spec.support.builder_features"
local files = require "spec.support.files"
local jitdump = require "spec.support.jitdump"
local messages = require "spec.fuzz.messages"
local small_pipe = require "spec.support.small_pipe"
local two_events = require "spec.support.two_events"
local zstd = require "spec.support.builder_zstd"

local root = assert(arg[1], "seeds.lua: where to?")
local MAX = 64 * 1024

local function write(target, name, bytes)
  if #bytes <= MAX then
    files.write(("%s/%s/%s"):format(root, target, name), bytes)
  end
end

local targets =
  "file nomem pipe directory several script feature sample tracing args message filter expr "
    .. "query "
  .. "table result kallsyms perfmap jitdump bundle elf disasm write scrub build"
for target in targets:gmatch "%S+" do
  os.execute("rm -rf " .. files.quote(root .. "/" .. target))
  assert(os.execute("mkdir -p " .. files.quote(root .. "/" .. target)))
end

-- Recordings, by name; each is one for the targets file, pipe and directory.
local recordings = {}

local function pipe_of(endian)
  local b, one, two = everything.empty(endian)
  b.container = "pipe"
  for name, value in pairs(everything.features) do
    if features.bits[name] then b:feature(name, value) end
  end
  for _, r in ipairs(everything.records) do
    b:record(r[1], r[2], { time = 10, pid = 7, tid = 7 })
  end
  b:sample(one, everything.sample)
  b:sample(two, everything.sample)
  return b:bytes()
end

--- Records of two cpus, in rounds, whose times are out of order between them.
local function rounds(b, event, n)
  for i = 1, n do
    b:sample(event, { ip = i, pid = 7, time = 100 * (i // 4) + (i % 4 < 2 and i or 50 - i),
      cpu = i % 2 })
    if i % 8 == 0 then b:record("finished_round") end
  end
end

local function compressed(endian, name, container)
  local b = builder.new { endian = endian, container = container }
  local event = b:event { sample_type = { "ip", "tid", "time", "cpu" } }
  local frame = zstd.frame()
  local inner = b:apart(function(own) rounds(own, event, 16) end)
  b:feature("compressed", {})
  local pieces = { inner:sub(1, 100), inner:sub(101, 300), inner:sub(301) }
  for _, piece in ipairs(pieces) do
    b:record(name, { data = frame(piece) })
  end
  b:record("finished_round")
  return b:bytes()
end

local function ordered(container, overwrite)
  local b = builder.new { container = container }
  local event = b:event {
    sample_type = { "ip", "tid", "time", "cpu" }, write_backward = overwrite,
    sample_id_all = true,
  }
  b:record("comm", { pid = 7, tid = 7, comm = "sh" })
  rounds(b, event, 24)
  return b:bytes()
end

--- Records in so many pieces that they are read ahead: what lies after a record ends one.
local function pieces(n)
  local b = builder.new()
  local event = b:event { sample_type = { "ip", "tid", "time", "cpu" } }
  for i = 1, n do
    b:sample(event, { ip = i, pid = 7, time = 1000 + (i * 37) % 101, cpu = i % 3 })
    b:record("auxtrace", { data = "trace!!!", idx = 1, tid = 2, cpu = 3 })
  end
  return b:bytes()
end

for _, endian in ipairs { "little", "big" } do
  local b = everything.builder(endian)
  recordings["everything-" .. endian] = b:bytes()
  recordings["cut-" .. endian] = b:bytes { truncate = 3000 }
  recordings["killed-" .. endian] = b:bytes { data = { size = 0 }, no_features = true }
  recordings["pipe-" .. endian] = pipe_of(endian)
  recordings["small-pipe-" .. endian] = small_pipe({ endian = endian }):bytes()
  for _, name in ipairs { "compressed", "compressed2" } do
    recordings[name .. "-" .. endian] = compressed(endian, name)
    recordings[name .. "-pipe-" .. endian] = compressed(endian, name, "pipe")
  end
  local old = builder.new { endian = endian, version = 1 }
  old:event { name = "a:b", type = 2, config = 3, attr_size = 64 }
  old.event_types[1] = { id = 3, name = "a:b" }
  old:record("comm", { comm = "sh" })
  recordings["version1-" .. endian] = old:bytes()
end
--- Samples in what root.lua has: user code, a kernel, code made at run time, each with a call
--- chain.
-- times: "found" (its maps have none, as they were there before), "late" (nor have they any,
-- and they come after a record with a time), "none" (nothing has a time).
local function mapped(container, times)
  local b = builder.new { container = container }
  local event = b:event {
    sample_type = { "ip", "tid", times == "none" and "ip" or "time", "addr", "callchain",
      "branch_stack" },
    sample_id_all = times ~= "none",
  }
  local KERNEL, USER, TEXT = -128 & -1, -512 & -1, 0xffffffff81000000
  local function kernel(addr, pgoff, name)
    b:record("mmap", { pid = -1, tid = 0, addr = addr, len = 4096, pgoff = pgoff,
      filename = name, misc = 1 })
  end
  if times == "late" then b:record("comm", { pid = 7, tid = 7, comm = "sh" }, { time = 1 }) end
  kernel(TEXT, TEXT, "[kernel.kallsyms]_text")
  kernel(0xffffffffc0000000, 0, "[ext4]")
  b:record("mmap2", { pid = 7, tid = 7, addr = 0x400000, len = 4096, prot = 5,
    filename = "/bin/sh" })
  b:record("mmap2", { pid = 7, tid = 7, addr = 0x1000, len = 4096, prot = 7,
    filename = "//anon" })
  b:record("ksymbol", { addr = 0xffffffffc0001000, len = 16, ksym_type = 1,
    name = "bpf_prog_x" })
  b:record("ksymbol", { addr = 0xffffffffc0002000, len = 16, ksym_type = 1,
    name = "bpf_prog_y" })
  b:record("ksymbol", { addr = 0xffffffffc0002000, len = 16, ksym_type = 1, name = "bpf_prog_y",
    unregister = true })
  b:record("fork", { pid = 8, ppid = 7, tid = 8, ptid = 7, time = 5 }, times ~= "late"
    and { time = 5 } or nil)
  local ips = { 0x400100, 0x400200, 0x1010, TEXT + 0x110, 0xffffffffc0000004,
    0xffffffffc0001004, 0xffffffffc0002004,
    0x500000 }
  for i, ip in ipairs(ips) do
    local pid = 7 + i % 2
    b:sample(event, { ip = ip, pid = pid, tid = pid, time = 10 + i, addr = 0x400180,
      misc = ip < 0 and 1 or 2,
      callchain = { KERNEL, TEXT + 0x120, USER, ip, 0x400210 },
      branch_stack = { { from = 0x400110, to = ip } } })
  end
  return b:bytes()
end

for _, times in ipairs { "found", "late", "none" } do
  for _, container in ipairs { "file", "pipe" } do
    recordings[("mapped-%s-%s"):format(times, container)] = mapped(container, times)
  end
end
recordings.ordered = ordered("file")
recordings["ordered-pipe"] = ordered("pipe")
recordings.pieces = pieces(80)
recordings.overwrite = ordered("file", true)
recordings["two-events"] = files.read(two_events.write())

--- Questions for query.c: two sets of events, flags, how many keys and measures, the keys, the
--- measures.
local questions = {
  string.pack("BBBBB BBB BBB BBB B BBB", 1, 2, 0, 3, 1, 0, 10, 0, 0, 11, 0, 0, 12, 0, 0, 1, 0,
    3),
  string.pack("BBBBB BBB BBB BBB", 1, 2, 12, 1, 1, 0, 20, 0, 0, 1, 0, 3, 0, 0),
  string.pack("BBBBB BBB BBB BBB BBB BBB", 1, 2, 13, 2, 3, 0, 19, 1, 0, 1, 0, 21, 0, 5, 0, 7, 6,
    0, 3, 7, 0, 12, 0, 1),
  string.pack("BBBBB BBB BBB BBB BBB", 1, 2, 15, 1, 3, 1, 4, 0, 11, 0, 3, 3, 0, 4, 4, 0, 10,
    130, 0, 3, 2),
  string.pack("BBBBB BBB BBB", 1, 2, 0, 1, 1, 2, 22, 0, 8, 0, 16, 9, 0, 4),
}

---Slow questions get small recordings: those of few records, and of all kinds of records these
---in parts.
local SMALL, PARTS, THINGS = 2048, 8, 8

--- A recording, and its description.
local function write_described(name, bytes)
  local path = files.temporary(bytes)
  write("build", name, bytes)
  warn "@off"
  write("build", name .. "-text", described.text(path) or "")
  warn "@on"
  os.remove(path)
end

local function write_small(name, bytes)
  -- see script.lua
  for i = 1, THINGS do write("script", name .. i, string.char(i - 1) .. bytes) end
  for i, question in ipairs(questions) do
    write("query", name .. i, string.pack("<I4", #question) .. question .. bytes)
  end
end

for _, endian in ipairs { "little", "big" } do
  for part = 1, PARTS do
    local b = everything.builder(endian)
    local all, own = b.stream, {}
    for i, record in ipairs(all) do
      if i % PARTS == part - 1 then own[#own + 1] = record end
    end
    b.stream = own
    local name, bytes = ("part%d-%s"):format(part, endian), b:bytes { no_features = part > 1 }
    write_small(name, bytes)
    write_described(name, bytes)
  end
end

for name, bytes in pairs(recordings) do
  write("file", name, bytes)
  for form = 0, 7 do write("write", name .. form, bytes .. string.char(form)) end
  for form = 0, 3 do
    write("scrub", name .. form, bytes .. string.char(form))
    write("scrub", name .. form .. "kept", bytes .. string.char(form + 5))
  end
  write_described(name, bytes)
  if #bytes <= SMALL then write_small(name, bytes) end
  -- which allocation fails is in the last two bytes
  for i = 0, 3 do
    write("nomem", name .. i, bytes .. string.pack("<I2", i * 37))
  end
  write("pipe", name, bytes)
  -- a pipe's last byte chooses how it is read
  write("pipe", name .. "-slow", bytes .. "\0")
end

--- Two recordings of one machine; options: members of their events.
local function both(first, second)
  local bytes = {}
  for i, members in ipairs { first, second } do
    local b = builder.new { endian = members.endian, container = members.container }
    members.sample_type = { "ip", "tid", "time", "cpu" }
    local event = b:event(members)
    b:event { name = "own" .. i, sample_type = members.sample_type, ids = { 9 } }
    b:feature("clockid", 1)
    b:feature("clock_data", { clockid = members.clockid or 4, wall_clock = members.wall_clock })
    for name, value in pairs { hostname = members.hostname or "here", osrelease = "6.1",
        cpudesc = "c" } do
      b:feature(name, value)
    end
    rounds(b, event, 12)
    bytes[i] = b:bytes()
  end
  return string.pack("<I4", #bytes[1]) .. bytes[1] .. bytes[2]
end

write("several", "alike", both({ name = "a" }, { name = "a" }))
write("several", "other-host", both({ name = "a" }, { name = "a", hostname = "there" }))
write("several", "other-clock",
  both({ name = "a", use_clockid = true }, { name = "a", clockid = 1 }))
write("several", "other-wall", both({ name = "a", wall_clock = 1 << 63 },
  { name = "a", wall_clock = 1 << 42 }))
write("several", "other-order", both({ name = "a" }, { name = "b", endian = "big" }))
write("several", "piped", both({ name = "a" }, { name = "a", container = "pipe" }))

-- Directories: sizes, the recording, and what its other files hold.
local function directory(name, data, ...)
  local more = { ... }
  write("directory", name, string.pack("<I4I4", #data, #(more[1] or "")) .. data
    .. table.concat(more))
end

for _, endian in ipairs { "little", "big" } do
  local b = builder.new { endian = endian }
  local event = b:event { sample_type = { "ip", "tid", "time", "cpu" } }
  b:feature("dir_format", 1)
  b:record("comm", { pid = 7, tid = 7, comm = "sh" })
  local one = b:apart(function(own) rounds(own, event, 10) end)
  local two = b:apart(function(own) rounds(own, event, 20) end)
  directory("plain-" .. endian, b:bytes(), one, two)
  directory("cut-" .. endian, b:bytes(), one:sub(1, -5), two:sub(1, 100))
  directory("killed-" .. endian, b:bytes { data = { size = 0 }, no_features = true }, one, two)
  local function packed(bytes)
    local frame = zstd.frame()
    return b:apart(function(own)
      own:record("compressed2", { data = frame(bytes:sub(1, 50)) })
      own:record("compressed2", { data = frame(bytes:sub(51)) })
    end)
  end
  directory("compressed-" .. endian, b:bytes(), packed(one), packed(two))
end
directory("everything", recordings["everything-little"])

-- Features: two bytes that choose, then what the feature holds.
for name, value in pairs(everything.features) do
  local bit = features.bits[name]
  for swap = 0, bit and 1 or -1, 1 do
    local b = everything.empty(swap == 1 and "big" or "little")
    write("feature", name .. swap, string.pack("BB", bit - 1, swap | 2 << 1)
      .. features.pack(b.w, name, value, b))
  end
end

-- Samples: byte order and architecture, the attr, then u16 size and bytes of each.
local attr = require "spec.support.builder_attr"
local sample = require "spec.support.builder_sample"
for i, endian in ipairs { "little", "big" } do
  local b, one = everything.empty(endian)
  for arch = 0, 7 do
    local body = sample.body(b.w, one, everything.sample)
    local bytes = string.char(arch << 1 | i - 1) .. attr.pack(b.w, one, 144)
      .. string.pack("<I2", #body | 2 << 12) .. body
    write("sample", endian .. arch, bytes)
  end
end

-- Expressions: the shape of a sample, a tree (each operator after two fields and a constant),
-- the sample.
for i, endian in ipairs { "little", "big" } do
  local b, one = everything.empty(endian)
  local body = sample.body(b.w, one, everything.sample)
  local shape = string.pack("<BBI8BI4I8I2", 9, i - 1, ~0 >> 40, 31, ~0 >> 45, 0xff, 2)
  for op = 0, 31 do
    local tree = {}
    for name = op, 300, 32 do
      tree[#tree + 1] = string.pack("<BBI2B BBBb BBI2BB B", 1, 0, name, 0, 0, 1, 2, op, 1, 2,
        name + 5, 1, op % 3, op)
    end
    tree = table.concat(tree)
    write("expr", endian .. op, string.pack("<I4I4", #shape, #tree) .. shape .. tree .. body)
  end
end

for name, bytes in pairs(messages) do
  write("message", name, bytes)
end
require "spec.fuzz.seeds_tracing" (write)

local filters = {
  "pid == 7 and cpumode ~= 'kernel'", "period > 1e3 or not (ip >= 0xffff)", "comm == [[x]]",
  "callchain[1].ip // 3 == 1", "time << 2 & ~5 | tid ~= nil", "event == 'cycles'",
  "#callchain > 2", "callchain",
  "(period % 7) * 2 ^ 3 / 1 - -1 == +1", "exec", "cpumode == \"us\\x65r\" and type == 'sample'",
  "offset",
  "not (pid in {7, -1, 0xffffffffffffffff}) or comm in {'sh', 'seq'}",
  "find(comm, 'e') and starts(filename, '/')",
  "under('main')", "bucket(time, '10ms') == 0 and bucket(ip, 'page') ~= bucket(pid, 1e3)",
  "bucket(-pid, 7)",
}
for i, filter in ipairs(filters) do
  write("filter", tostring(i), filter)
end

-- Tables that were saved: every measure, with keys of every kind.
do
  local perflua = require "perflua"
  local path = os.tmpname()
  local file <close> = assert(perflua.open("spec/fixtures/demo.perf.data"))
  local q = file:samples():where("comm in {'sort', 'sh'}")
    :group_by("comm", "event.exclude_kernel")
  local full = q:count():sum("period"):avg("period"):min("time"):max("comm")
    :quantile("period", 0.5):hist("period")
    :distinct("comm"):first("tid"):last("time"):share("period"):top(2, "count")
  for name, t in pairs {
    full = full, few = file:samples():group_by("comm"):count():share("period")
      :sort("comm", "asc"),
    mixed = file:records():where("pid == 10673"):group_by("event", "cpumode", "pid")
      :distinct("tid"):as("d")
      :avg("pid"):sort(),
    ratio = file:samples():group_by("pid"):ratio("cpu-clock", "page-faults"):sort(),
    shown = q:count():sum("period"):quantile("period", { 0.5, 0.9 })
      :column("mean", "period / count"):having("mean > 1"):unit("si"):running("count")
      :top(1, "mean", { per = "comm" }),
    turned = q:count():sum("period"):unit("duration"):pivot("comm", 1):table(),
  } do
    assert(t:save(path))
    local line = files.read(path)
    write("table", name, line)
    if name == "few" then write("table", "two", line .. line) end
  end
  os.remove(path)
end

-- Saved results as result.c takes them: values of all kinds, states of all measures, whose
-- letters are their numbers.
local measures = require "perflua.core".measures()
local function write_result(name, parts)
  local shape = parts[1]:gsub("{(%w+)}", function(measure)
    return string.char(("A"):byte() + measures[measure].number)
  end)
  write("result", name, shape .. "\nhead\t" .. table.concat(parts, "\t", 2) .. "\t")
end
for name, parts in pairs {
  integers = { "tk{count}u{sum}s{avg}u{quantile}u{hist}u", "2",
    '1', '"a\\5cb', '@user;"/bin/x;"0123456789abcdef;0x401000;"main,kernel;~;~;0xffff8000;~',
    "12", "-5", "3|0|12", "1|9|1:1|5:1|9:1", "1:1|4:2",
    "0", "$2", "@1,2", "1", "7", "1|-1|4294967291", "", "" },
  floats = { "nfb{count}u{sum}f{avg}f{min}f{max}n{first}n{last}b{distinct}n{ratio}s{share}f",
    "2", "3", "0x1.8p+1", "-0x0p+0", "t", "1", "0x1p-3", "2|1|0x1p-1", "inf", '"z', '"y', "f",
    'f|1|0x1.8p-1|"x|$2', "1|-2", "9",
    "0", "~", "~", "~", "0", "0", "0|0|0", "~", "~", "~", "~", "", "0|0", "0" },
  stacks = { "tu{distinct}k{compared}f{delta}s{first}n", "1",
    "1", '"x', "4", '@jit;"[jit];~;0x10;"a\\2cb,jit;"[jit];~;0x10;"c\\3bd|@1|@2,1', "nan", "-1",
    "$1" },
  equal = { "t{count}u", "3", "1", '"x', "9223372036854775807", "1", '"x', "1", "2", "$1",
    "5" },
} do
  write_result(name, parts)
end
local samples = { "3", "-2", "12", "7", "5", "-0x1p-3", '"x' } -- of enum pq_part
for name, row in pairs(measures) do
  local state = {}
  for i, part in ipairs { row.parts:byte(1, -1) } do state[i] = samples[part] end
  if row.last_bucket > 0 then table.move({ "1:2", "-3:4" }, 1, 2, #state + 1, state) end
  if row.has_set then table.move({ '"y', "$2" }, 1, 2, #state + 1, state) end
  write_result(name, { "t{" .. name .. "}n", "1", "1", '"k', table.concat(state, "|") })
end

-- Where names of symbols come from, but for ELF files.
-- A function of x86-64, bytes that it does not have, and of arm64; with and without boundaries.
write("disasm", "x86", "\0\0\x55\x48\x89\xe5\x75\x02\x31\xc0\xe8\x00\x00\x00\x00\x5d\xc3")
write("disasm", "unknown", "\0\2\3\0\4\0\x90\x06\x07\x06\xeb\xfa\xc3")
write("disasm", "arm64",
  "\2\1\4\0\x1f\x20\x03\xd5\xff\xff\xff\xff\xfe\xff\xff\x17\xc0\x03\x5f\xd6")
write("kallsyms", "lines",
  "ffffffff81000000 T _text\nffffffff81000010 t _stext\nffffffff81000010 W weak\n"
  .. "ffffffff81000020 d data\nffffffff81000030 A abs\nffffffffa0000010 t work\t[m]\n"
  .. "ffffffffa0000020 T x\t[n]\n")
write("kallsyms", "hidden", "0000000000000000 T _text\n0000000000000000 t a\n")
write("perfmap", "lines",
  "7f00 10 one\n0x7f10 0x20 two words\n7f00 8 three\n7f20 0 none\nffffffffffffffff 2 end\n")
for _, endian in ipairs { "little", "big" } do
  local records = { { "load", 5, "first", 0x1000, 32, 1 },
    { "load", 15, "second", 0x1010, 32, 2 },
    { "move", 25, 1, 0x1000, 0x1100, 32 }, { "load", 35, "third", 0x1000, 8, 3 } }
  write("jitdump", endian, jitdump(records, { endian = endian }))
  write("jitdump", endian .. "cycles", jitdump(records, { endian = endian, flags = 1 }))
end

-- Parts of a binary in a bundle, a kind before them: see symbols/bundle.h.
local function part(number, bytes) return string.char(number, #bytes) .. bytes end
local functions = part(2, "\2\1\4\2\5\8\16\3\5")
local lines = part(4, "\2\1\2\2\3\4\12\2\3\4\13\1\1\0\3\3\7")
local rule, no_rule = "\7\0\7\0\8", "\16\2\0\0\120"
local cfi = part(5, "\62\1\1\1\16\0\0\0\3\0\1\0" .. rule .. "\34\8\0\0"
  .. "\2\1\0\2\0\1\2\8ABCDEFGH") .. part(9, no_rule)
local jit = part(3, "\62\0\2\1\8\2\5\10\0\0\8\3\5\20\1")
-- a piece of code of f, and one of the range from 0 to 8
local piece = part(6, "\2\1\4\2\62\1\4\100\2\144\195" .. "\0\8\0\62\3\1\0\1\144")
write("bundle", "file", "\0" .. part(1, "\1\0\16\16") .. functions .. lines .. cfi .. piece)
write("bundle", "code", "\0" .. functions .. piece)
write("bundle", "kernel", "\1" .. functions .. lines .. piece)
write("bundle", "jit", "\4" .. functions .. jit .. piece)
-- when the source file was written, and two lines
write("bundle", "source", "\0\100\2\3\2\4\3")
do -- whole bundles, whose last byte says so to the target scrub
  local strings = part(0, "/a\0f\0g.c\0/src/g.c\0")
  for kind, more in pairs { [0] = lines .. cfi .. piece, [1] = lines, [4] = lines .. jit } do
    local id = part(0, string.char(kind) .. "\0\1" .. ("\0"):rep(20))
    for _, last in ipairs { "\4", "\9" } do
      write("scrub", "bundle" .. kind .. last:byte(), strings
        .. part(1, id .. functions .. more) .. part(2, "\4\100\2\3\2\4\3") .. last)
    end
  end
end

local builder_elf = require "spec.support.builder_elf"
for _, endian in ipairs { "little", "big" } do
  for _, class in ipairs { 32, 64 } do
    -- 386, ARM, x86-64, arm64, PowerPC with descriptors
    for _, machine in ipairs { 3, 40, 62, 183, 21 } do
      local symbols = { { name = "f", section = ".text", size = 8 },
        { name = "_ZN1AIiE1fES_", section = ".text" },
        { name = "$t", section = ".text", type = "notype" },
        { name = "d", section = ".opd", type = "object" } }
      local slot = class == 64 and string.pack("<I8I8I8", 0x10000, 1 << 32 | 7, 0)
        or string.pack("<I4I4", 0x10000, 0x107)
      -- itself, and a debug file: its code is NOBITS
      for code, type in pairs { [""] = 1, debug = 8 } do
        write("elf", machine .. endian .. class .. code, (builder_elf.pack {
          machine = machine, endian = endian, class = class, symbols = symbols, sections = {
            { name = ".text", type = type, data = ("\x90"):rep(32), flags = 6 },
            { name = ".opd", data = ("\0"):rep(24), flags = 3 },
            { name = ".plt", type = type, data = ("\xff\x25" .. ("\0"):rep(14)):rep(2),
              flags = 6, entsize = 16 },
            { name = class == 64 and ".rela.plt" or ".rel.plt", type = class == 64 and 4 or 9,
              data = slot, flags = 2,
              link = 6, entsize = #slot },
          } }))
      end
    end
  end
end

local corpus = os.getenv "PERFLUA_CORPUS"
if corpus and corpus ~= "" then
  local find = "find " .. files.quote(corpus)
    .. " -type f -size -65k -not -path '*/expected/*' -exec grep -laE "
    .. "'^(PERFILE2|PERFFILE|2ELIFREP)' {} +"
  local n = 0
  for path in files.lines(find) do
    n = n + 1
    local bytes = files.read(path)
    write("file", "corpus" .. n, bytes)
    write("write", "corpus" .. n, bytes)
    write_described("corpus" .. n, bytes)
    write("pipe", "corpus" .. n, bytes)
    local beside = path:match "^(.*/)data$"
    if beside and files.exists(beside .. "data.0") then
      directory("corpus" .. n, bytes, files.read(beside .. "data.0"),
        files.exists(beside .. "data.1") and files.read(beside .. "data.1") or "")
    end
  end
end
