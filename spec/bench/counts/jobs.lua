-- The jobs of `make counts`: { name, words of perflua … }, or { name, program =, words … }. $D
-- is the directory of recordings, $S the options that find their functions.

local jobs = {
  { "start", "-e", "" },
  { "require", program = "lua5.4", "-e", "require 'perflua'" },
  { "stat", "stat", "$D/calls.data" },
  { "doctor", "doctor", "$S", "$D/clock.data" },
  { "header", "header", "$D/clock.data" },
  { "fields", "fields", "$D/calls.data" },
  { "dump", "dump", "$D/clock.data" },
  { "symbol", "symbol", "$S", "$D/clock.data", "4012c8" },
  { "script", "script", "$S", "$D/chains.data" },
  { "script of tracepoints", "script", "$D/calls.data" },
  { "script --json", "script", "--json", "$D/calls.data" },
  { "report", "report", "--no-children", "$S", "$D/clock.data" },
  { "report with callers", "report", "$S", "$D/chains.data" },
  { "report of compressed records", "report", "$S", "$D/packed.data" },
  { "report -b", "report", "-b", "--symfs", "spec/fixtures/words", "$D/branches.data" },
  { "fold", "fold", "$S", "$D/chains.data" },
  { "flame", "flame", "-o", "/dev/null", "$S", "$D/chains.data" },
  { "diff", "diff", "$S", "--sort", "comm", "$D/clock.data", "$D/packed.data" },
  { "export --to pprof", "export", "--to", "pprof", "$S", "$D/chains.data" },
  { "export --to speedscope", "export", "--to", "speedscope", "$S", "$D/chains.data" },
  { "export --to firefox", "export", "--to", "firefox", "$S", "$D/chains.data" },
  { "export --to perfetto", "export", "--to", "perfetto", "$S", "$D/chains.data" },
  { "export --to chrome", "export", "--to", "chrome", "$D/system.data" },
  { "export --to csv", "export", "--to", "csv", "$D/clock.data" },
  { "syscalls", "syscalls", "$D/calls.data" },
  { "alloc", "alloc", "$S", "$D/system.data" },
  { "faults", "faults", "$S", "$D/clock.data" },
  { "io", "io", "$D/system.data" },
  { "irqs", "irqs", "$D/system.data" },
  { "locks", "locks", "--by", "lock", "$D/system.data" },
  { "migrations", "migrations", "$D/system.data" },
  { "offcpu", "offcpu", "$D/system.data" },
  { "sched", "sched", "$D/system.data" },
  { "timeline", "timeline", "--slice", "100us", "$D/system.data" },
  { "timechart", "timechart", "-o", "/dev/null", "$D/system.data" },
  { "wakers", "wakers", "$D/system.data" },
}

for _, query in ipairs {
  "loop_records", "loop_select", "loop_args", "handlers", "by_integer", "by_text", "by_symbol",
  "by_chain", "by_frame", "by_argument", "by_function", "by_time", "filter", "measures",
  "spans", "csv", "json", "save",
} do
  jobs[#jobs + 1] = { query, "spec/bench/counts/queries.lua", query, "$D" }
end

return jobs
