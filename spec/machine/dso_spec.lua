-- Which binary a mapping is of, by perf's names.
local corpus = require "spec.support.corpus"
local files = require "spec.support.files"
local mapped = require "spec.support.mapped"
local names = require "spec.support.names"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"
local system = require "spec.support.system"

local KERNEL =
  "- kernel ffffffff81000000-ffffffff82000000@ffffffff81000000 [kernel.kallsyms]_text"

local cases = {
  { "a file is named by its path",
    { "10 map 7 1000-2000 /usr/bin/a b", "20 sample 7 1000 in /usr/bin/a b" } },
  { "memory that is executable is the perf map of its process", {
    "10 map 7 1000-2000 //anon", "11 sample 7 1000 in /tmp/perf-7.map",
    "20 map 7 1000-2000 [heap]", "21 sample 7 1000 in /tmp/perf-7.map",
    "30 map 7 1000-2000 [stack]", "31 sample 7 1000 in /tmp/perf-7.map",
    "32 map 7 1000-2000 [stack:12]", "33 sample 7 1000 in /tmp/perf-7.map",
    "40 map 7 1000-2000 /SYSV00000000 (deleted)", "41 sample 7 1000 in /tmp/perf-7.map",
    "50 map 7 1000-2000 /dev/zero (deleted)", "51 sample 7 1000 in /tmp/perf-7.map",
    "60 map 7 1000-2000 /anon_hugepage (deleted)", "61 sample 7 1000 in /tmp/perf-7.map",
  } },
  { "memory that is not executable keeps its name", {
    "10 data 7 1000-2000 //anon", "11 sample 7 1000 in //anon",
    "20 data 7 1000-2000 [heap]", "21 sample 7 1000 in [heap]",
    "30 data 7 1000-2000 [stack]", "31 sample 7 1000 in [stack]",
  } },
  { "what the kernel gives each process keeps its name", {
    "10 map 7 1000-2000@5000 [vdso]", "11 sample 7 1000 in [vdso]",
    "20 map 7 1000-2000 [vsyscall]", "21 sample 7 1000 in [vsyscall]",
    "30 map 7 1000-2000 [uprobes]", "31 sample 7 1000 in [uprobes]",
  } },
  { "the kernel is [kernel.kallsyms] where it was mapped, in all processes", {
    KERNEL,
    "10 ksample 7 ffffffff81000000 in [kernel.kallsyms]",
    "11 ksample -1 ffffffff81ffffff in [kernel.kallsyms]",
    "12 ksample 7 ffffffff82000000 in [unknown]",
    "13 sample 7 ffffffff81000000 in [unknown]",
    "14 ksample 7 1000 in [unknown]",
  } },
  { "the kernel is everywhere if nothing says where it is", {
    "- kernel 0-0 [kernel.kallsyms]_stext",
    "10 ksample 7 ffffffff81000000 in [kernel.kallsyms]",
    "11 ksample 7 1000 in [kernel.kallsyms]",
  } },
  { "the kernel of before Linux 2.6.36 is the same", {
    "- kernel ffffffff81000000-ffffffff82000000@ffffffff81000000 [kernel.kallsyms._text]",
    "10 ksample 7 ffffffff81000000 in [kernel.kallsyms]",
  } },
  { "modules are named without path, ending and hyphens", {
    KERNEL,
    "- kernel ffffffffa0000000-ffffffffa0001000 /lib/modules/6.1/kernel/fs/ext4.ko",
    "- kernel ffffffffa0001000-ffffffffa0002000 /lib/modules/6.1/kernel/my-fs.ko.xz",
    "- kernel ffffffffa0002000-ffffffffa0003000 /lib/modules/6.1/kernel/other.ko.gz",
    "- kernel ffffffffa0003000-ffffffffa0004000 [plain]",
    "10 ksample 7 ffffffffa0000fff in [ext4]",
    "11 ksample 7 ffffffffa0001000 in [my_fs]",
    "12 ksample 7 ffffffffa0002000 in [other]",
    "13 ksample 7 ffffffffa0003000 in [plain]",
    "14 ksample 7 ffffffffa0004000 in [unknown]",
    "15 ksample 7 ffffffff81000000 in [kernel.kallsyms]",
  } },
  { "programs of BPF are there from their registration to their end", {
    KERNEL,
    "5 ksample 7 ffffffffc0000010 in [unknown]",
    "10 ksymbol ffffffffc0000000-ffffffffc0000100 bpf_prog_1",
    "20 ksample 7 ffffffffc0000010 in bpf_prog_1",
    "21 ksample 7 ffffffffc0000100 in [unknown]",
    "30 unksymbol ffffffffc0000000-ffffffffc0000100 bpf_prog_1",
    "40 ksample 7 ffffffffc0000010 in [unknown]",
    "50 ksymbol ffffffffc0000000-ffffffffc0000200 bpf_prog_2",
    "60 ksample 7 ffffffffc0000010 in bpf_prog_2",
  } },
  { "programs of BPF whose registration and end have no time are those registered last", {
    KERNEL,
    "5 map 7 1000-2000 /bin/a",
    "- ksymbol ffffffffc0000000-ffffffffc0000100 bpf_prog_1",
    "- ksymbol ffffffffc0000100-ffffffffc0000200 bpf_prog_2",
    "- unksymbol ffffffffc0000000-ffffffffc0000100 bpf_prog_1",
    "10 ksample 7 ffffffffc0000010 in [unknown]",
    "20 ksample 7 ffffffffc0000110 in bpf_prog_2",
  } },
}

describe("of the binary at an address", function()
  for _, case in ipairs(cases) do
    it(case[1], function()
      for _, options in ipairs { {}, { endian = "big" }, { container = "pipe" } } do
        local path, dsos = mapped.written(case[2], options)
        local file <close> = assert(perflua.open(path,
          { symfs = "spec/fixtures/empty", kallsyms = "/dev/null" }))
        assert.are.same(dsos, mapped.dsos(file))
      end
    end)

    needs.it("perf", case[1] .. ", as perf says", function()
      local path = mapped.written(case[2])
      local file <close> = assert(perflua.open(path,
        { symfs = "spec/fixtures/empty", kallsyms = "/dev/null" }))
      assert.are.same(mapped.of_perf(path), file:samples():select("time", "dso"):collect())
    end)
  end

  it("no user code of pid 0 has one, as nothing tells its processes apart", function()
    local path, dsos = mapped.written {
      KERNEL,
      "- map 0 1000-2000 /bin/outside", "- map 9 1000-2000 /bin/inside",
      "10 sample 0 1000 in [unknown]",
      "11 ksample 0 ffffffff81000000 in [kernel.kallsyms]",
      "20 fork 8 from 0", "21 sample 8 1000 in [unknown]",
      "30 fork 0 from 9", "31 sample 0 1000 in [unknown]", "32 sample 9 1000 in /bin/inside",
    }
    local file <close> = assert(perflua.open(path,
      { symfs = "spec/fixtures/empty", kallsyms = "/dev/null" }))
    assert.are.same(dsos, mapped.dsos(file))
  end)

  it("the kernel and modules have the names of the table of build-ids, as perf says", function()
    local b = system.builder()
    b:feature("build_id", {
      { build_id = ("ab"):rep(20), filename = "/boot/vmlinux-6.1", cpumode = "kernel" },
      { build_id = ("cd"):rep(20), filename = "/lib/modules/6.1/kernel/ext4.ko",
        cpumode = "kernel" },
    })
    mapped.add(b, {
      KERNEL,
      "- kernel ffffffffa0000000-ffffffffa0001000 /lib/modules/6.1/kernel/ext4.ko",
      "10 ksample 7 ffffffff81000000",
      "11 ksample 7 ffffffffa0000000",
    })
    local path = b:write()
    local file <close> = assert(perflua.open(path,
      { symfs = "spec/fixtures/empty", kallsyms = "/dev/null" }))
    assert.are.same({ "/boot/vmlinux-6.1", "/lib/modules/6.1/kernel/ext4.ko" },
      mapped.dsos(file))
    if needs.missing "perf" then return pending(needs.missing "perf") end
    assert.are.same(mapped.of_perf(path), file:samples():select("time", "dso"):collect())
    local ids = {}
    for s in file:samples() do
      ids[#ids + 1] = s.map.build_id
    end
    assert.are.same({ ("ab"):rep(20), ("cd"):rep(20) }, ids)
  end)

  it("a kernel has the first of its names, and no name of its code in processes", function()
    local own, vdso, other = ("ab"):rep(20), ("cd"):rep(20), ("ef"):rep(20)
    for _, rows in ipairs {
      { { vdso, "[vdso32]" }, { own, "[kernel.kallsyms]" }, { other, "/boot/vmlinux" } },
      { { own, "[kernel.kallsyms]" }, { other, "/boot/vmlinux" }, { vdso, "[vdso32]" },
        { other, "[vsyscall]" } },
    } do
      local b = system.builder()
      local list = {}
      for i, row in ipairs(rows) do
        list[i] = { build_id = row[1], filename = row[2], cpumode = "kernel", pid = -1 }
      end
      b:feature("build_id", list)
      mapped.add(b, { KERNEL, "- map 7 1000-2000 [vdso32]",
        "10 ksample 7 ffffffff81000000", "11 sample 7 1000" })
      local file <close> = assert(perflua.open(b:write(),
        { symfs = "spec/fixtures/empty", kallsyms = "/dev/null" }))
      local found = {}
      for s in file:samples() do found[#found + 1] = s.dso .. " " .. s.map.build_id end
      assert.are.same({ "[kernel.kallsyms] " .. own, "[vdso32] " .. vdso }, found)
    end
  end)

  it("guests are machines of their own, by the ids of their events", function()
    local b = system.builder({}, { "ip", "tid", "time", "identifier" })
    b.events[1].ids = { 7, 8 }
    b:record("id_index", { entries = {
      { id = 7, idx = 0, cpu = 0, tid = -1, machine_pid = 0, vcpu = 0 },
      { id = 8, idx = 1, cpu = 1, tid = -1, machine_pid = 99, vcpu = 3 },
    } })
    local function map(id, misc, pid, addr, name)
      b:record("mmap2", { pid = pid, tid = pid, addr = addr, len = 0x1000, prot = 5,
        filename = name, misc = misc },
        { identifier = id, time = 5 })
    end
    map(7, 2, 20, 0x1000, "/bin/host")
    map(8, 5, 20, 0x1000, "/bin/guest")
    map(8, 4, -1, 0x9000, "[guest.kernel.kallsyms]_text")
    map(7, 1, -1, 0x9000, "[kernel.kallsyms]_text")
    for i, s in ipairs { { 7, 2, 0x1000 }, { 8, 5, 0x1000 }, { 8, 4, 0x9000 },
        { 7, 1, 0x9000 } } do
      b:sample(b.events[1], { identifier = s[1], ip = s[3], pid = 20, tid = 20, time = 10 + i,
        misc = s[2] })
    end
    local file <close> = assert(perflua.open(b:write()))
    assert.are.same({ "/bin/host", "/bin/guest", "[guest.kernel.kallsyms.99]",
      "[kernel.kallsyms]" }, mapped.dsos(file))
    local guests = {}
    for s in file:samples() do
      guests[#guests + 1] = { s.machine_pid or "host", s.vcpu or "" }
    end
    assert.are.same({ { "host", "" }, { 99, 3 }, { 99, 3 }, { "host", "" } }, guests)
  end)
end)

describe("the build-id of a mapping", function()
  local A, B = ("a1"):rep(20), ("b2"):rep(20)

  local function ids(b, lines)
    mapped.add(b, lines or {})
    local file <close> = assert(perflua.open(b:write()))
    local list = {}
    for s in file:samples() do
      list[#list + 1] = s.map and s.map.build_id or "none"
    end
    return list
  end

  it("is its own, else that of the file's name in the table", function()
    local b = system.builder()
    b:feature("build_id", { { build_id = A, filename = "/bin/a" },
      { build_id = A, filename = "/bin/b" } })
    b:record("mmap2", { pid = 7, tid = 7, addr = 0x3000, len = 4096, prot = 5,
      filename = "/bin/b", build_id = B })
    assert.are.same({ A, B, "none" }, ids(b, {
      "- map 7 1000-2000 /bin/a", "- map 7 5000-6000 /bin/c",
      "10 sample 7 1000", "11 sample 7 3000", "12 sample 7 5000",
    }))
  end)

  it("may be recorded after the mapping", function()
    for _, container in ipairs { "file", "pipe" } do
      local b = system.builder { container = container }
      mapped.add(b, { "- map 7 1000-2000 /bin/a" })
      b:record("build_id", { pid = -1, build_id = A, filename = "/bin/a", misc = 2 })
      assert.are.same({ A }, ids(b, { "10 sample 7 1000" }))
    end
  end)

  it("leaves a file one binary if it comes between two mappings", function()
    local b = system.builder()
    mapped.add(b, { "- map 7 1000-2000 /nonexistent/a" })
    b:record("build_id", { pid = -1, build_id = A, filename = "/nonexistent/a", misc = 2 })
    mapped.add(b, { "10 map 8 1000-2000 /nonexistent/a" })
    local file <close> = assert(perflua.open(b:write()))
    local missing = file:missing()
    assert.are.same({ 1, A }, { #missing, missing[1].build_id })
  end)
end)

--- "time tid dso" of each sample that perf prints, and of ours.
local function of_perf(path)
  local list = {}
  for _, line in ipairs(oracle.script(path, "tid,time,ip,dso -G")) do
    local tid, sec, ns, ip, dso = line:match "^%s*(%-?%d+)%s+(%d+)%.(%d+):%s+(%x+) %((.*)%)%s*$"
    if tid and not (tid == "0" and #ip < 16) then -- perf names user code of pid 0
      list[#list + 1] = ("%d %s %s %s"):format(math.tointeger(tonumber(sec .. ns)), tid, ip,
        dso)
    end
  end
  return list
end

local function of_file(path)
  local file <close> = assert(perflua.open(path,
    { symfs = "spec/fixtures/empty", kallsyms = "/dev/null" }))
  local list = {}
  for time, tid, ip, dso in file:samples():select("time", "tid", "ip", "dso"):each() do
    if tid ~= 0 or ip < 0 then
      list[#list + 1] = ("%d %d %x %s"):format(time, tid, ip, dso)
    end
  end
  return list
end

local source = [[
#include <dlfcn.h>
#include <unistd.h>
#include <sys/wait.h>
int main(void)
{
	for (int k = 0; k < 12; k++) {
		void *h = dlopen(k % 2 ? "./one.so" : "./two.so", RTLD_NOW);
		void (*work)(void) = (void (*)(void))dlsym(h, "work");
		work();
		if (k % 4 == 0 && fork() == 0) {
			work();
			dlclose(h);
			work = (void (*)(void))dlsym(dlopen("./two.so", RTLD_NOW), "work");
			work();
			if (k == 4)
				execl("/bin/sh", "sh", "-c", "seq 3000 | sort | tail -1 >/dev/null", (char *)0);
			_exit(0);
		}
		dlclose(h);
	}
	while (wait(0) > 0)
		;
	return 0;
}
]]

local library =
  "static volatile long x; void work(void) { for (int i = 0; i < 2000000; i++) x += i; }\n"

needs.describe("perf", "the binary of a sample", function()
  needs.it("kernel,cpus",
    "is perf's where libraries come and go, processes are forked and programs run", function()
    local dir = files.directory { ["main.c"] = source, ["lib.c"] = library }
    local _, built = files.output(
      ("cd %s && gcc -o main main.c -ldl && gcc -shared -fPIC -o one.so lib.c && "
      .. "gcc -shared -fPIC -O1 -o two.so lib.c"):format(dir))
    assert.is_true(built)
    for _, options in ipairs { "-e cpu-clock -F 15000", "-a -e cpu-clock -F 5000",
        "-d -c 1 -e page-faults" } do
      local path = names.record(options, "cd " .. dir .. " && ./main")
      local theirs, ours = of_perf(path), of_file(path)
      assert.is_true(#theirs > 50, #theirs .. " samples")
      names.same(theirs, ours)
    end
    os.execute("rm -r " .. dir)
  end)

  -- perf 6.1 reads the name of a mapping eight bytes late where Linux 3.12 to 3.15 wrote no
  -- protection
  local misread = { ["perf.data.true.v2"] = true }

  corpus.each_file(it, "is perf's", function(recording)
    local ok, ours = pcall(of_file, recording.path)
    if ok and not misread[recording.name:match "[^/]+$"] then
      local theirs = of_perf(recording.path)
      local n = names.agree(theirs, ours)
      assert.is_true(n > 0 or #theirs == 0 or #ours == 0, "no sample at the same time")
    end
  end)
end)
