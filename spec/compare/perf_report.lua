-- perf_report.lua [FILE…]: compares perflua report with the perf report of $PERF, or the
-- installed one, option by option, line by line. Without files: with ten recordings of
-- $PERFLUA_CORPUS, and with fresh ones of C and of the kernel.
--
-- Lines are compared without heads, and blanks as one: perf widens columns for rows that it
-- does not show. A line that stands elsewhere, as equal rows of a report may, counts as moved.
-- ONLY=TEXT takes the options with that text, SHOW=N shows the first N lines that differ.
local core = require "perflua.core"
local files = require "spec.support.files"

local ONLY <const>, SHOW <const> = os.getenv "ONLY", tonumber(os.getenv "SHOW" or "0")
local PERF <const> = os.getenv "PERF" or "perf"
local VERSION <const> = core.perf_version(files.output(PERF .. " --version"):match "[%d.]+")
  or core.perf_version()

-- Options, and whether a recording needs chains of calls, branch stacks or weights for them.
local all = {
  { "" }, { "-n" }, { "--show-total-period" }, { "--show-cpu-utilization" }, { "-s comm" },
  { "-s dso" }, { "-s sym" }, { "-s pid" },
  { "-s dso,sym,comm" }, { "--no-children -s dso_size" }, { "--no-children -s time" },
  { "-F comm,overhead,sample" }, { "-F overhead,period,dso" }, { "-s comm -F +period" },
  { "--percent-limit 5" }, { "-t ," }, { "-w 0,20" }, { "--hierarchy -s comm,dso" },
  { "--percentage relative -c swapper" }, { "-U" }, { "--tasks" }, { "--mmaps" }, { "--stats" },
  { "--time 10%-60%" }, { "--group" }, { "--group-sort-idx 1" },
  { "--no-children --ns -s time" },
  { "-p ^main$ -s parent" }, { "--no-children" },
  { "-g caller", chains = true }, { "-g callee", chains = true },
  { "-g caller --no-children", chains = true }, { "-g flat", chains = true },
  { "-g folded --no-children", chains = true }, { "-g fractal,5", chains = true },
  { "-g graph,0.5,3", chains = true }, { "-g caller,count", chains = true },
  { "-g period", chains = true }, { "-G", chains = true },
  { "-g caller --max-stack 3", chains = true },
  { "--no-inline -g caller", chains = true }, { "--ignore-callees=main --no-children -g callee",
    chains = true },
  { "-p main -x --no-children -g callee", chains = true }, { "-b", branches = true },
  { "-b -s dso_from,dso_to", branches = true }, { "-b -s mispredict,abort,in_tx,cycles",
    branches = true },
  { "--no-branch-stack", branches = true }, { "--mem-mode", memory = true },
  { "--mem-mode -s mem,snoop,tlb,locked", memory = true }, { "-s local_weight", memory = true },
  { "--mem-mode -F overhead,op,cache,memory,snoop,dtlb,comm", memory = true },
  { "-s comm -F +weight", memory = true }, { "-s weight", memory = true },
  { "-F overhead,weight1,weight2,comm", memory = true },
  { "--branch-history", branches = true },
  { "--branch-history --no-children", branches = true },
  { "--total-cycles", branches = true }, { "-b -s symbol_from,symbol_to", branches = true },
  { "-b -s addr_from,addr_to", branches = true },
  { "-b -s srcline_from,srcline_to", branches = true }, { "-b -s symbol", branches = true },
  { "-g branch", branches = true, chains = true }, { "--stitch-lbr -g caller", branches = true,
    chains = true }, { "-g address --no-children", chains = true },
  { "-g srcline --no-children", chains = true }, { "-g caller,address", chains = true },
  { "-U -g caller", chains = true }, { "--hierarchy -g caller --no-children", chains = true },
  { "-U -s dso" }, { "-U --no-children -g address", chains = true },
  { "--hierarchy --no-children -s comm,dso,sym --percent-limit 2" },
  { "--percentage absolute -d perf -s sym" }, { "--percentage relative -d perf -s sym" },
  { "-F overhead_sys,overhead_us,comm" }, { "-F overhead_children,overhead,sym" },
  { "-s tgid,tid" }, { "-s cpu,socket" }, { "-T -s comm" }, { "-S main" },
  { "--raw-trace -s trace" }, { "-s trace" }, { "-s comm_nodigit" }, { "-w 10,20 -s comm,dso" },
  { "--no-children -s srcline" }, { "--no-children -s srcfile" }, { "-s cgroup,cgroup_id" },
  { "--latency" }, { "--latency -s comm" }, { "-s parallelism" }, { "--parallelism 2-64" },
  { "--switch-on sched:sched_switch" },
}

local collected = {
  "KDAB__hotspot/tests/integrationtests/file_content/perf.data.true.v2",
  "mikhail-m1__linux-perf-file-reader/tests/perf.data",
  "google__perf_data_converter/src/quipper/testdata/perf.data.callgraph-3.8",
  "google__perf_data_converter/src/quipper/testdata/perf.data.branch-3.8",
  "google__perf_data_converter/src/quipper/testdata/perf.data.weight_struct",
  "google__perf_data_converter/src/quipper/testdata/perf.data.systemwide.0-3.8",
  "google__perf_data_converter/src/testdata/single-event-multi-process.perf.data",
  "sslotin__amh-code/perf/perf.data",
  "llvm__llvm-lnt/tests/testing/Inputs/fib2-aarch64.perf_data",
  "Akshay1Dhumal__numatop/perf.data",
}

-- Returns the lines of a command that are compared, a file with them, and whether it succeeded.
local function read_lines(command)
  local text, ok = files.output(command .. " 2>/dev/null")
  local list = {}
  for line in text:gmatch "[^\n]+" do
    line = line:gsub("%s+", " "):gsub(" $", "")
    -- perf prints the column of instructions per cycle even if it is empty
    if command:find("symbol", 1, true) then
      line = line:gsub(" %-$", ""):gsub(" 0%.00 %[ *0%.0%%%]$", "")
    end
    if line ~= "" and not line:find "^#" then list[#list + 1] = line end
  end
  return list, files.temporary(table.concat(list, "\n") .. "\n"), ok
end

local function count_common(ours, theirs)
  local left, n = {}, 0
  for _, line in ipairs(ours) do left[line] = (left[line] or 0) + 1 end
  for _, line in ipairs(theirs) do
    if (left[line] or 0) > 0 then left[line], n = left[line] - 1, n + 1 end
  end
  return n
end

-- Returns the number of lines of perf, of those that are equal in their order, and of those
-- equal elsewhere; of a report that is refused, 0.
local function compare(path, options, symbols)
  local quoted = files.quote(path)
  local theirs, first = read_lines(("timeout 120 %s report --stdio %s %s -f -i %s"):format(
    PERF, symbols, options, quoted))
  if #theirs == 0 then return 0, 0, 0 end
  local ours, second, ok = read_lines(("timeout 120 %s report %s %s --as %s %s"):format(
    os.getenv "PERFLUA" or "build/perflua", symbols, options, VERSION, quoted))
  if not ok then return 0, 0, 0 end
  local different, n = files.output(("diff %s %s"):format(first, second)), 0
  for _ in different:gmatch "\n<" do n = n + 1 end
  if different:find "^<" then n = n + 1 end
  if SHOW > 0 and n > 0 then
    local at = 0
    for line in different:gmatch "[^\n]+" do
      at = at + 1
      if at > SHOW then break end
      print("    " .. line)
    end
  end
  local equal = #theirs - n
  return #theirs, equal, count_common(ours, theirs) - equal
end

-- Returns what a recording has.
local function look_at(path)
  local perflua = require "perflua"
  local file <close> = assert(perflua.open(path))
  local has = {}
  for i = 1, #file.events do
    local bits = file.events[i].sample_type
    has.chains = has.chains or bits & 1 << 5 ~= 0
    has.branches = has.branches or bits & 1 << 11 ~= 0
    has.memory = has.memory or bits & 1 << 15 ~= 0
  end
  return has
end

-- Returns fresh recordings of this machine.
local function record()
  local list = {}
  local function add(options, command) -- with build-ids in the cache, where perf finds the vdso
    local path = files.temporary()
    local _, ok = files.output(("perf record -q --no-bpf-event -o %s %s -- %s 2>&1")
      :format(path, options, command))
    if ok then list[#list + 1] = path else print("not recorded: " .. options) end
  end
  local busy = "sh -c 'ls -lR /usr/share >/dev/null; gzip -c /usr/bin/perf | cksum >/dev/null'"
  add("-F 999 -g", busy)
  add("-F 999 --call-graph dwarf,4096", busy)
  add("-a -F 499 -g", busy)
  add("-a -e sched:sched_switch,sched:sched_wakeup", busy)
  add("-e '{cpu-clock,page-faults}' -F 499", busy)
  add("--switch-events -F 499 -g", busy)
  return list
end

local jobs = {}
for _, path in ipairs(arg) do jobs[#jobs + 1] = { path, "" } end
if #jobs == 0 then
  local corpus = os.getenv "PERFLUA_CORPUS"
  for _, name in ipairs(corpus and collected or {}) do
    jobs[#jobs + 1] = { corpus .. "/collected/" .. name,
      "--symfs spec/fixtures/empty --kallsyms /dev/null" }
  end
  for _, path in ipairs(record()) do jobs[#jobs + 1] = { path, "" } end
end

local by_option, total = {}, { 0, 0, 0 }
for _, job in ipairs(jobs) do
  local has, sums = look_at(job[1]), { 0, 0, 0 }
  for _, option in ipairs(all) do
    local fits = (has.chains or not option.chains) and (has.branches or not option.branches)
      and (has.memory or not option.memory) and (not ONLY or option[1]:find(ONLY, 1, true))
    if fits then
      -- perf draws calls by itself where there are call chains
      local undrawn = has.chains and not option.chains and " -g none" or ""
      local counts = { compare(job[1], option[1] .. undrawn, job[2]) }
      local own = by_option[option] or { 0, 0, 0 }
      by_option[option] = own
      for i = 1, 3 do
        sums[i], own[i], total[i] = sums[i] + counts[i], own[i] + counts[i],
          total[i] + counts[i]
      end
      if SHOW > 0 and counts[2] + counts[3] < counts[1] then
        print(("  %d of %d, %d moved: %s %s"):format(counts[2], counts[1], counts[3], option[1],
          job[1]))
      end
    end
  end
  print(("%7d lines, %7d equal, %6d moved  %s"):format(sums[1], sums[2], sums[3], job[1]))
end
print "\nby option:"
for _, option in ipairs(all) do
  local sums = by_option[option]
  if sums then
    print(("%7d lines, %7d equal, %6d moved  %s"):format(sums[1], sums[2], sums[3],
      option[1] == "" and "(none)" or option[1]))
  end
end
print(("\n%d lines of perf, %d equal, %d moved, %d different"):format(total[1], total[2],
  total[3], total[1] - total[2] - total[3]))
