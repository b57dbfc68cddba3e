-- syscalls.lua HEADERS ERRNO_H SOURCE: writes src/perfdata/tracepoint/syscalls.inc, the names
-- of system calls and of errors, to standard output.
--
-- HEADERS is where Debian's package linux-libc-dev was unpacked, ERRNO_H is
-- include/linux/errno.h out of linux-headers-…-common, SOURCE says their versions:
--
--   apt-get download linux-libc-dev linux-headers-7.2.12+deb14-common
--   for p in *.deb; do dpkg -x $p h; done
--   perflua docs/generator/syscalls.lua h h/usr/src/linux-headers-*/include/linux/errno.h \
--     "Debian's linux-libc-dev 7.2.12-1 and linux-headers-7.2.12+deb14-common 7.2.12-1" \
--     >src/perfdata/tracepoint/syscalls.inc

local headers, kernel_errno, source = arg[1], arg[2], arg[3]
assert(source, "usage: perflua docs/generator/syscalls.lua HEADERS ERRNO_H SOURCE")

local UAPI = headers .. "/usr/lib/linux/uapi/"
local X32_BIT = 1 << 30 -- __X32_SYSCALL_BIT

-- The numbers of each table: of the files of one, each with what its numbers begin at.
local calls = {
  { "x86_64", { "x86/asm/unistd_64.h" }, { "x86/asm/unistd_x32.h", X32_BIT } },
  { "i386", { "x86/asm/unistd_32.h" } },
  { "arm64", { "arm64/asm/unistd_64.h" } },
  { "arm", { "arm/asm/unistd-eabi.h" }, { "arm/asm/unistd.h" } },
  { "riscv64", { "riscv/asm/unistd_64.h" } },
  { "riscv32", { "riscv/asm/unistd_32.h" } },
  { "powerpc64", { "powerpc/asm/unistd_64.h" } },
  { "powerpc", { "powerpc/asm/unistd_32.h" } },
  { "s390x", { "s390/asm/unistd_64.h" } },
  { "mips", { "mips/asm/unistd_o32.h", 4000 }, { "mips/asm/unistd_n64.h", 5000 },
    { "mips/asm/unistd_n32.h", 6000 } },
  { "sparc64", { "sparc/asm/unistd_64.h" } },
  { "sparc", { "sparc/asm/unistd_32.h" } },
  { "loongarch64", { "loongarch/asm/unistd_64.h" } },
  { "loongarch32", { "loongarch/asm/unistd_32.h" } },
  { "parisc64", { "parisc/asm/unistd_64.h" } },
  { "parisc", { "parisc/asm/unistd_32.h" } },
  { "alpha", { "alpha/asm/unistd_32.h" } },
  { "m68k", { "m68k/asm/unistd_32.h" } },
  { "sh", { "sh/asm/unistd_32.h" } },
  { "arc", { "arc/asm/unistd_32.h" } },
}

local errors = { "generic", "powerpc", "alpha", "mips", "parisc", "sparc" }

local ARM_PRIVATE = 0x0f0000 -- __ARM_NR_BASE, less the base of the others

local function read(path)
  local file <close> = assert(io.open(path))
  return file:read "a"
end

local function add(numbers, number, name, path)
  local other = numbers[number]
  assert(not other or other == name, ("%s: %d is %s and %s"):format(path, number, other, name))
  numbers[number] = name
end

-- #define __NR_read 0, or (__NR_Linux + 0), and of ARM's own (__ARM_NR_BASE+1)
local function read_calls(numbers, path, base)
  for name, value in read(UAPI .. path):gmatch "#define%s+__NR_([%l_][%w_]*)%s+([^\n]+)" do
    local number = value:match "^(%d+)%s*$" or value:match "^%([%w_]+ %+ (%d+)%)%s*$"
    if number then
      add(numbers, number + (base or 0), name, path)
    end
  end
  for name, number in read(UAPI .. path)
      :gmatch "#define%s+__ARM_NR_(%w+)%s+%(__ARM_NR_BASE%+(%d+)%)" do
    add(numbers, number + ARM_PRIVATE, name, path)
  end
end

-- Names with their numbers; what is defined as another name is that one's.
local function read_errors(numbers, path)
  for line in read(path):gmatch "[^\n]+" do
    local include = line:match "^#include <(asm%-generic/[%w-]+%.h)>"
    local name, number = line:match "^#%s*define%s+(E%w+)%s+(%d+)"
    if include then
      read_errors(numbers, headers .. "/usr/include/" .. include)
    end
    numbers[name or line:match "^#undef%s+(E%w+)" or ""] = tonumber(number)
  end
  return numbers
end

local function errors_of(arch)
  local path = arch == "generic" and headers .. "/usr/include/asm-generic/errno.h"
    or UAPI .. arch .. "/asm/errno.h"
  local numbers = {}
  for name, number in pairs(read_errors({}, path)) do
    add(numbers, number, name, path)
  end
  for name, number in read(kernel_errno):gmatch "#define%s+(E[%w_]+)%s+(%d+)" do
    add(numbers, math.tointeger(number), name, kernel_errno)
  end
  return numbers
end

-- All names, sorted, each once; and where each is, from 1 on.
local function pool(tables)
  local names, places = {}, {}
  for _, entry in ipairs(tables) do
    for _, name in pairs(entry.numbers) do
      if not places[name] then
        places[name] = 0
        names[#names + 1] = name
      end
    end
  end
  table.sort(names)
  for i, name in ipairs(names) do
    places[name] = i
  end
  return names, places
end

local function write_wrapped(items)
  local line = "\t"
  for _, item in ipairs(items) do
    if #line + #item > 86 then
      io.write(line, "\n")
      line = "\t"
    end
    line = line .. (line == "\t" and "" or " ") .. item .. ","
  end
  io.write(line, "\n")
end

local MAX_GAP = 32 -- numbers without a name, in a row: more of them end a run

-- The numbers in runs: each with its first one, and the places of the names.
local function runs_of(numbers, places)
  local sorted, runs = {}, {}
  for number in pairs(numbers) do
    sorted[#sorted + 1] = number
  end
  table.sort(sorted)
  for _, number in ipairs(sorted) do
    local run = runs[#runs]
    if not run or number - (run.first + #run) > MAX_GAP then
      run = { first = number }
      runs[#runs + 1] = run
    end
    for _ = run.first + #run, number - 1 do
      run[#run + 1] = "0"
    end
    run[#run + 1] = tostring(places[numbers[number]])
  end
  return runs
end

local function write_table(kind, entry, places)
  local runs = runs_of(entry.numbers, places)
  for i, run in ipairs(runs) do
    io.write(("static const uint16_t %s_%s_%d[] = {\n"):format(entry.name, kind, i))
    write_wrapped(run)
    io.write "};\n"
  end
  io.write(("static const struct run %s_%ss[] = {\n"):format(entry.name, kind))
  for i, run in ipairs(runs) do
    io.write(("\t{ %d, %d, %s_%s_%d },\n"):format(run.first, #run, entry.name, kind, i))
  end
  io.write "\t{ 0, 0, NULL },\n};\n\n"
end

local function write_tables(kind, tables)
  local names, places = pool(tables)
  local quoted = { "NULL" }
  for i, name in ipairs(names) do
    quoted[i + 1] = '"' .. name .. '"'
  end
  io.write(("static const char *const %s_names[] = {\n"):format(kind))
  write_wrapped(quoted)
  io.write "};\n\n"
  for _, entry in ipairs(tables) do
    write_table(kind, entry, places)
  end
end

local call_tables, error_tables = {}, {}
for _, row in ipairs(calls) do
  local numbers = {}
  for i = 2, #row do
    read_calls(numbers, table.unpack(row[i]))
  end
  call_tables[#call_tables + 1] = { name = row[1], numbers = numbers }
end
for _, arch in ipairs(errors) do
  error_tables[#error_tables + 1] = { name = arch, numbers = errors_of(arch) }
end

io.write(([[
/*
 * Numbers of system calls and of errors, by architecture: facts of the kernel's headers as packaged in
 * %s.
 * Made by docs/generator/syscalls.lua, which says how; not to be changed by hand. A number is the index of a
 * name; 0: there is none.
 */
]]):format(source))
write_tables("call", call_tables)
write_tables("error", error_tables)
