-- The comparisons. A row is { what, against, … } with
--
--   ours, theirs  commands
--   recording     figures are divided by its samples (or bytes); default: of a run
--   absent        why there is no figure of theirs
--   times         runs in a round, default: 1
--
-- and its aims, by the names they have in report.lua: faster, limit, over, rate, memory.

local query = require "spec.bench.query"
local script = require "spec.bench.script"
local stopwatch = require "spec.bench.stopwatch"
local tools = require "perflua.tools"
local write = require "spec.bench.write"

local perflua = assert(os.getenv "PERFLUA", "start the benchmark by make bench")

local STAT_AIM = 2
local TIME_MEMORY = 0.1 -- of the recording's size, for what runs in the order of time

local function has(command) return os.execute(("command -v %s >/dev/null"):format(command)) end

local function perf_has_python()
  return stopwatch.output("perf version --build-options 2>/dev/null")
    :find "libpython: %[ on" ~= nil
end

local function loop(name, path) return { perflua, "spec/bench/loops.lua", name, path } end

-- A command of several processes; $1 is the recording, $0 perflua.
local function shell(line, path) return { "sh", "-c", line, perflua, path } end

local kinds = {}

function kinds.stat(add, recording, path)
  add {
    "perflua stat", "perf report --stats", recording = recording, faster = STAT_AIM,
    ours = { perflua, "stat", path },
    theirs = { "perf", "report", "--stats", "-i", path },
  }
end

function kinds.only_reading(add, recording, path)
  add {
    "perflua stat", "dd: only reads the file", recording = recording,
    ours = { perflua, "stat", path },
    theirs = { "dd", "if=" .. path, "of=/dev/null", "bs=256k", "status=none" },
  }
end

function kinds.doctor(add, recording, path)
  if not tools.find "doctor" then return end
  add {
    "perflua doctor", "perflua stat", recording = recording, faster = 0.5,
    ours = { perflua, "doctor", path },
    theirs = { perflua, "stat", path },
  }
end

-- Each process has a binary of its own, which a report names, too.
function kinds.doctor_pids(add, recording, path)
  add {
    "perflua doctor", "perflua report", recording = recording, faster = 1, memory = 9,
    ours = { perflua, "doctor", path },
    theirs = { perflua, "report", path },
  }
end

function kinds.pipe(add, recording, path)
  add {
    "perflua stat FILE", "cat FILE", recording = recording, rate = 1,
    ours = { perflua, "stat", path },
    theirs = { "cat", path },
  }
  add {
    "cat FILE | perflua stat -", "cat FILE | cat", recording = recording, rate = 1,
    ours = shell('cat "$1" | "$0" stat -', path),
    theirs = shell('cat "$1" | cat', path),
  }
end

function kinds.compressed(add, recording, path)
  add {
    "perflua stat", "zstd: only decompresses", recording = recording, faster = 0.7,
    ours = { perflua, "stat", path },
    theirs = { "zstd", "-dcq", (path:gsub("%.data$", ".zst")) },
    absent = not has "zstd" and "no zstd",
  }
end

function kinds.dump(add, recording, path)
  add {
    "perflua dump", "perf script -F 8 fields", recording = recording, faster = 1,
    ours = { perflua, "dump", path },
    theirs = { "perf", "script", "-F", "comm,pid,tid,cpu,time,event,period,ip", "-i", path },
  }
end

kinds.script = script
kinds.write = write
for name, kind in pairs(query) do kinds["query_" .. name] = kind end

function kinds.report(add, recording, path)
  add {
    "perflua report --no-children", "perf report --no-children", recording = recording,
    faster = 1, memory = 1,
    ours = { perflua, "report", "--no-children", path },
    theirs = { "perf", "report", "--stdio", "--no-children", "-g", "none", "-i", path },
  }
end

-- Calls of each row, and rows below rows.
function kinds.report_trees(add, recording, path)
  for _, one in ipairs { { "-g", faster = 8 }, { "--hierarchy", faster = 8 } } do
    add {
      "perflua report " .. one[1], "perf report " .. one[1], recording = recording,
      faster = one.faster, memory = 1 / 4,
      ours = { perflua, "report", one[1], path },
      theirs = { "perf", "report", "--stdio", one[1], "-i", path },
    }
  end
end

-- Each frame is a row, none of which is in two call chains.
function kinds.report_deep(add, recording, path)
  add {
    "perflua report with callers", "perflua report --no-children", recording = recording,
    memory = 16,
    ours = { perflua, "report", path },
    theirs = { perflua, "report", "--no-children", path },
  }
end

function kinds.fold(add, recording, path)
  add { "perflua fold", recording = recording, memory = 1, ours = { perflua, "fold", path } }
end

-- Copied stacks, unwound; and with the functions that were inlined.
function kinds.unwind(add, recording, path)
  add {
    "perflua script", "perf script", recording = recording, faster = 1,
    ours = { perflua, "script", path },
    theirs = { "perf", "script", "-i", path },
  }
  add {
    "perflua script --no-inline", "perf script --no-inline", recording = recording, faster = 1,
    ours = { perflua, "script", "--no-inline", path },
    theirs = { "perf", "script", "--no-inline", "-i", path },
  }
end

local loops = {
  { "three", "loop: 3 fields of each record", limit = 120 },
  { "three_reuse", "the same, reuse = true", limit = 120 },
  { "select", "loop: select of 3 fields", limit = 35 },
  { "run", "run{}: a function, 3 fields", memory = TIME_MEMORY },
  { "run_fields", "run{}: {3 fields, function}", memory = TIME_MEMORY },
  { "group", "group_by pid, count" },
}

function kinds.loops(add, recording, path)
  for _, one in ipairs(loops) do
    add { one[2], recording = recording, limit = one.limit, memory = one.memory,
      ours = loop(one[1], path) }
  end
  -- without events that carry counter values nothing is paid for delivering them
  add {
    "select of 3 fields", "the same, expand = false", recording = recording, faster = 0.9,
    ours = loop("select", path),
    theirs = loop("select_recorded", path),
  }
end

function kinds.order(add, recording, path)
  add {
    "select of 3 fields, in the order of time", "the same, order = \"file\"",
    recording = recording,
    over = 25, memory = TIME_MEMORY,
    ours = loop("select_by_time", path),
    theirs = loop("select", path),
  }
end

function kinds.python(add, recording, path)
  add {
    "loop: count by pid", "perf script's Python", recording = recording, faster = 8,
    ours = loop("by_pid", path),
    theirs = { "perf", "script", "-s", "spec/bench/by_pid.py", "-i", path },
    absent = not perf_has_python() and "this perf has no Python",
  }
end

-- Arguments of tracepoints.
function kinds.args(add, recording, path)
  local python = { "perf", "script", "-s", "spec/bench/by_call.py", "-i", path }
  local absent = not perf_has_python() and "this perf has no Python" or nil
  for _, one in ipairs {
    { "by_call", "loop: count by args.id", faster = 8 },
    { "select_call", "loop: select of args.id, counted", faster = 15 },
  } do
    add {
      one[2], "perf script's Python", recording = recording, faster = one.faster,
      ours = loop(one[1], path),
      theirs = python, absent = absent,
    }
  end
  for _, one in ipairs { "select", "where" } do
    add {
      one .. " of args.id", "the same of pid", recording = recording, faster = 0.9,
      ours = loop(one .. "_arg", path),
      theirs = loop(one .. "_field", path),
    }
  end
  add { "group_by args.id, count", recording = recording, ours = loop("group_call", path) }
end

function kinds.syscalls(add, recording, path)
  if not tools.find "syscalls" then return end
  add {
    "perflua syscalls", "perf trace -s", recording = recording, faster = 4,
    ours = { perflua, "syscalls", path },
    theirs = { "perf", "trace", "-s", "-i", path },
  }
end

function kinds.sched(add, recording, path)
  if not tools.find "sched" then return end
  add {
    "perflua sched", "perf sched latency", recording = recording, faster = 4,
    ours = { perflua, "sched", path },
    theirs = { "perf", "sched", "-i", path, "latency" },
  }
end

-- Lists the jobs with their recordings. perf report --stats fails on tracing data in a pipe's
-- recording, so that one with perf is without tracepoints.
local all = {
  { "stat", "sys", "flat", "cg", "flat-pipe", "sys-z", "cg-z" },
  { "only_reading", "sys", "flat", "cg" },
  { "doctor", "sys", "flat", "cg" },
  { "doctor_pids", "pids" },
  { "pipe", "sys-pipe" },
  { "compressed", "sys-z", "cg-z" },
  { "dump", "sys-200k", "flat-200k" },
  { "script", "flat", "cg" },
  { "query_types", "sys", "flat", "cg" },
  { "query_comm", "sys", "flat", "cg" },
  { "query_compressed", "sys-z", "cg-z" },
  { "query_symbol", "flat", "cg" },
  { "query_threads", "flat", "cg" },
  { "query_stack", "cg" },
  { "query_filter", "sys", "flat", "cg" },
  { "query_branches", "branches" },
  { "query_frames", "cg" },
  { "query_wide", "wide" },
  { "query_times", "sys" },
  { "report", "flat", "cg" },
  { "report_trees", "cg" },
  { "report_deep", "deep" },
  { "fold", "cg" },
  { "unwind", "dwarf" },
  { "loops", "sys", "flat", "cg" },
  { "order", "sys", "flat", "cg" },
  { "python", "flat-200k" },
  { "args", "sys" },
  { "syscalls", "sys" },
  { "sched", "sched" },
  { "write", "flat", "cg" },
}

---@param dir string # where the recordings are
---@param made table<string, boolean> # which of them
---@return table[]
return function(dir, made)
  local rows = {}
  local function add(row) table.insert(rows, row) end
  for _, kind in ipairs(all) do
    for i = 2, #kind do
      if made[kind[i]] then
        kinds[kind[1]](add, kind[i], ("%s/%s.data"):format(dir, kind[i]))
      end
    end
  end
  add {
    "start-up: perflua -e ''", "lua5.4 -e ''", times = 10, limit = 3e6,
    ours = { perflua, "-e", "" },
    theirs = { "lua5.4", "-e", "" }, absent = not has "lua5.4" and "no lua5.4",
  }
  return rows
end
