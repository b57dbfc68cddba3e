-- counts.lua DIR: measures the jobs of jobs.lua on the recordings in DIR, with one worker:
-- instructions (by valgrind's callgrind) and the most bytes that were allocated at once. Steps
-- of Lua's collector are not counted: one takes .8 million instructions, and whether a job ends
-- before the last or after it depends on the length of a path; garbage shows in the memory.
-- Compares with the figures of spec/bench/counts.txt and exits with 1 if a job takes more than
-- they allow.
--
-- The figures belong to a machine's versions of compiler and libraries. Where counts.txt has
-- none for them, they are printed and nothing is compared. DIR/counts.txt is always written: a
-- copy of counts.txt with the figures of this run. How often each job reads its recordings is
-- printed below; --timing says it.

local files = require "spec.support.files"
local figures = require "spec.bench.counts.figures"
local jobs = require "spec.bench.counts.jobs"
local stopwatch = require "spec.bench.stopwatch"

local FIGURES = "spec/bench/counts.txt"

local dir = assert(arg[1], "which directory?")
local perflua = assert(os.getenv "PERFLUA", "start it by make counts")
local preloaded = assert(os.getenv "COUNTS_PRELOADED", "start it by make counts")

local function first_line(command)
  return stopwatch.output(command .. " 2>/dev/null"):match "[^\n]+" or "none"
end

-- The versions that the figures depend on.
local function versions()
  local compiler = first_line((os.getenv "CC" or "cc") .. " --version")
  return table.concat({
    first_line "uname -m",
    (compiler:find "clang" and "clang " or "gcc ") .. (compiler:match "%d+[%d.]+" or "none"),
    first_line("lua5.4 -v"):match "Lua [%d.]+" or "no Lua",
    (first_line "getconf GNU_LIBC_VERSION"),
    "zstd " .. first_line "pkg-config --modversion libzstd",
    "elfutils " .. first_line "pkg-config --modversion libelf",
    first_line "valgrind --version",
  }, ", ")
end

-- The command line of a job; `under` runs it, `option` is one more of perflua. The environment
-- is the same everywhere, and libc chooses the same string functions on every processor.
local function line_of(job, under, option)
  local words = { "env", "-i", "PATH=" .. os.getenv "PATH", "HOME=" .. dir, "LC_ALL=C",
    "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-AVX512F,-AVX512VL,-ERMS,-FSRM",
    "LUA_PATH=./?.lua;./lua/?.lua;./lua/?/init.lua;;", "LUA_CPATH=" .. os.getenv "LUA_CPATH" }
  table.move(under, 1, #under, #words + 1, words)
  local program = job.program and { job.program } or { perflua, "-j", "1", option }
  table.move(program, 1, #program, #words + 1, words)
  for i = 2, #job do
    if job[i] == "$S" then
      for _, word in ipairs { "--symfs", "spec/fixtures/words", "--any-binary", "--kallsyms",
        dir .. "/kallsyms.txt" } do
        words[#words + 1] = word
      end
    else
      words[#words + 1] = (job[i]:gsub("^%$D", dir))
    end
  end
  return words
end

local function quoted(words)
  local list = {}
  for i, word in ipairs(words) do list[i] = stopwatch.quote(word) end
  return table.concat(list, " ")
end

-- Runs every job by callgrind, which writes DIR/N.out, and alone, when it writes its peak to
-- DIR/N.peak: as many at a time as there are processors. Raises if one fails.
local function run_jobs()
  local lines, still = {}, ("LD_PRELOAD=%s/still.so"):format(preloaded)
  local function add(name, words)
    lines[#lines + 1] = ("%s </dev/null >/dev/null 2>&1 || { echo %s fails; exit 1; }"):format(
      quoted(words), stopwatch.quote(name))
  end
  for i, job in ipairs(jobs) do
    add(job[1], line_of(job, { still, "valgrind", "--tool=callgrind", "--compress-strings=no",
      "--compress-pos=no", ("--callgrind-out-file=%s/%d.out"):format(dir, i) }))
    add(job[1], line_of(job, { ("%s %s/peak.so"):format(still, preloaded),
      ("COUNTS_PEAK=%s/%d.peak"):format(dir, i) }))
  end
  local list = dir .. "/jobs"
  files.write(list, table.concat(lines, "\0"))
  if not os.execute(('xargs -0 -P "$(nproc)" -I{} sh -c "{}" <%s'):format(
      stopwatch.quote(list))) then
    error("make counts: a job fails", 0)
  end
end

-- Returns the instructions in callgrind's file, without those of steps of Lua's collector.
local function instructions_of(path)
  local count, is_step, calls = nil, false, false
  for line in io.lines(path) do
    local called = line:match "^cfn=(.*)"
    if called then
      is_step = called:find("luaC_step", 1, true)
    elseif calls and is_step then -- "line cost", the cost of the call in the line before
      count = count - line:match "^%S+ (%d+)"
    end
    calls = line:find "^calls="
    count = count or tonumber(line:match "^summary: (%d+)")
  end
  return assert(count, path .. ": no line \"summary\"")
end

-- Returns how often a job reads its recordings; nil if it reads none that have a size.
local function reads_of(job)
  if job.program then return nil end
  local told = stopwatch.output(quoted(line_of(job, {}, "--timing=json"))
    .. " 2>&1 >/dev/null </dev/null"):match '{"files":.*' or ""
  local read, size = 0, 0
  for bytes in told:gmatch '"bytes":(%d+),"name":"read"' do read = read + bytes end
  for bytes in told:gmatch '"size":(%d+)' do size = size + bytes end
  return size > 0 and read / size or nil
end

local function print_reads()
  print "\nHow often each job reads its recordings:"
  for _, job in ipairs(jobs) do
    local reads = reads_of(job)
    if reads then print(("%10.2f  %s"):format(reads, job[1])) end
  end
end

local function measure()
  local measured = {}
  run_jobs()
  for i, job in ipairs(jobs) do
    local path = ("%s/%d"):format(dir, i)
    measured[i] = { name = job[1], instructions = instructions_of(path .. ".out"),
      peak = tonumber(files.read(path .. ".peak")) }
  end
  return measured
end

if first_line "valgrind --version" == "none" then
  print "make counts: pending, as valgrind is not installed (Debian's name: valgrind)"
  return
end
local known, key = figures.read(files.read(FIGURES)), versions()
local measured = measure()
local report, too_much = figures.compare(known[key], measured)
print(key)
print(report)
print_reads()
known[key] = measured
files.write(dir .. "/counts.txt", figures.text(known))
if too_much > 0 then
  print(("%d jobs take more than %s allows. If they should: cp %s/counts.txt %s, and the body "
    .. "of the commit says why."):format(too_much, FIGURES, dir, FIGURES))
  os.exit(1)
end
