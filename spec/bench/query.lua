-- Described queries against a loop in C that does no more than it must, perf, and themselves on
-- one thread: what is compared, as rows.lua has it.

local perflua = assert(os.getenv "PERFLUA", "start the benchmark by make bench")
local limit = os.getenv "BENCH_LIMIT"

local query = {}

local function question(name, path, threads)
  return { perflua, "spec/bench/queries.lua", name, path, threads }
end

local function against_limit(add, recording, path, name, what)
  for _, one in ipairs { { "1", 0.5, "one thread" }, { "2", 1 / 1.3, "two threads" } } do
    add {
      ("query: %s, %s"):format(what, one[3]), "a loop in C", recording = recording,
      faster = one[2], memory = 1,
      ours = question(name, path, one[1]),
      theirs = { limit, name, path }, absent = not limit and "not built",
    }
  end
end

function query.types(add, recording, path)
  against_limit(add, recording, path, "types", "count by type")
end

function query.comm(add, recording, path)
  against_limit(add, recording, path, "comm", "period by comm")
  add {
    "query: period by comm", "perf report --sort comm", recording = recording, faster = 5,
    memory = 1,
    ours = question("comm", path),
    theirs = { "perf", "report", "--stdio", "--no-children", "-g", "none", "--sort", "comm",
      "-i", path },
  }
end

function query.compressed(add, recording, path)
  add {
    "query: period by comm", "zstd: only decompresses", recording = recording, faster = 1 / 1.5,
    memory = 1,
    ours = question("comm", path),
    theirs = { "zstd", "-dcq", (path:gsub("%.data$", ".zst")) },
  }
end

function query.symbol(add, recording, path)
  add {
    "query: period by comm, dso, symbol", "perf report", recording = recording, faster = 4,
    memory = 1,
    ours = question("symbol", path),
    theirs = { "perf", "report", "--stdio", "--no-children", "-g", "none", "-i", path },
  }
end

function query.threads(add, recording, path)
  for _, name in ipairs { "comm", "symbol" } do
    add {
      ("query: %s, two threads"):format(name), "the same, one thread", recording = recording,
      faster = 1.7, memory = 1,
      ours = question(name, path, "2"),
      theirs = question(name, path, "1"),
    }
  end
end

function query.stack(add, recording, path)
  add {
    "query: period by comm and stack", "perflua fold", recording = recording, memory = 2,
    ours = question("stack", path),
    theirs = { perflua, "fold", path },
  }
end

function query.filter(add, recording, path)
  add { "query: filter of three fields, count", recording = recording, limit = 15,
    ours = question("filter", path) }
end

local BRANCHES = 32 -- of a sample: see built.lua

-- Rows inside records: branches by their addresses, and by the functions of these.
function query.branches(add, recording, path)
  for _, one in ipairs { { "addresses", 15 }, { "symbols", 60 } } do
    add {
      ("query: branches by %s, two threads"):format(one[1]), recording = recording,
      limit = one[2] * BRANCHES, memory = 2,
      ours = { perflua, "spec/bench/queries.lua", "branch_" .. one[1], path, "2",
        "any_binary" },
    }
  end
end

-- 84 000 rows of 600 columns, printed.
function query.wide(add, recording, path)
  add {
    "query: period by comm, dso, address, all rows", "perf report", recording = recording,
    faster = 0.2, memory = 100,
    ours = question("wide", path),
    theirs = { "perf", "report", "--stdio", "--no-children", "-g", "none", "-i", path },
  }
end

-- Millions of groups, beside the pass that makes them.
function query.times(add, recording, path)
  for _, one in ipairs { "top", "text", "csv", "json" } do
    add {
      ("query: groups by time, %s"):format(one), "the groups alone", recording = recording,
      memory = 2,
      ours = question("times_" .. one, path), theirs = question("times", path),
    }
  end
end

function query.frames(add, recording, path)
  add {
    "query: frames of call chains, once by symbol", "perflua report", recording = recording,
    faster = 1 / 1.5,
    ours = question("frames", path),
    theirs = { perflua, "report", path },
  }
end

return query
