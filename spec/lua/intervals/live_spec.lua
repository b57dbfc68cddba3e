-- Spans of what perf records here, against a loop by hand and perf's own sums.
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"

local WORK =
  "find /usr/share -maxdepth 2 -name '*x*' >/dev/null; ls -l /usr/bin >/dev/null; sleep 0.01"

-- Records these events, of the work alone or as options say.
local function recorded(events, options)
  return oracle.record_whole(2048, ("%s -e '%s'"):format(options or "", events),
    "sh -c " .. files.quote(WORK))
end

-- "calls total" of what `perf trace -s` says of system calls that were made often, by thread.
local function trace_sums(path)
  local sums, tid = {}, nil
  for line in files.lines("perf trace -s -i " .. files.quote(path) .. " 2>&1") do
    tid = tonumber(line:match "^ .+ %((%d+)%), %d+ events") or tid
    local calls, total = line:match "^   %w+ +(%d+) +%d+ +([%d.]+) "
    if calls and tonumber(calls) > 20 then
      sums[#sums + 1] = ("%d: %d calls, %s ms"):format(tid, calls, total)
    end
  end
  table.sort(sums)
  return sums
end

-- Rows as one text, which is compared in no time.
local function lines(rows)
  local list = {}
  for i, row in ipairs(rows) do list[i] = table.concat(row, " ") end
  return table.concat(list, "\n")
end

needs.describe("tracepoints,cpus", "spans of a recording made here", function()
  local CALLS = { open = "raw_syscalls:sys_enter", close = "raw_syscalls:sys_exit" }
  local path, switches

  setup(function()
    path = recorded("raw_syscalls:*")
    switches = recorded("sched:sched_switch", "-a")
  end)

  needs.it("perf trace", "match perf trace -s for system calls", function()
    local file <close> = assert(perflua.open(path))
    local sums = {}
    for row in file:samples():pair(CALLS):group_by("tid", "args.id"):count():sum("duration")
        :sort("tid"):rows() do
      if row.count > 20 then
        sums[#sums + 1] = ("%d: %d calls, %.3f ms"):format(row.tid, row.count,
          row.duration / 1e6)
      end
    end
    table.sort(sums)
    assert.same(trace_sums(path), sums)
    assert.is_true(#sums > 5)
  end)

  it("equal those of a loop by hand", function()
    local file <close> = assert(perflua.open(path))
    local open, byhand = {}, {}
    for s in file:samples() do
      if s.event.name == CALLS.open then
        open[s.tid] = { s.time, s.args.id, s.comm }
      elseif open[s.tid] then
        local time, id, comm = table.unpack(open[s.tid])
        byhand[#byhand + 1], open[s.tid] = { s.tid, time, s.time - time, id, comm, s.args.ret },
          nil
      end
    end
    local spans = file:samples():pair(CALLS)
    local rows = spans:select("tid", "start", "duration", "args.id", "comm", "close.args.ret")
      :collect()
    assert.equal(lines(byhand), lines(rows))
    assert.equal(0, spans.counts.lost)
    local errors = 0
    for _, one in ipairs(byhand) do errors = errors + (one[6] < 0 and 1 or 0) end
    assert.equal(errors, spans:where("close.args.ret < 0"):count())
  end)

  it("close and open with one context switch, by different fields", function()
    local file <close> = assert(perflua.open(switches))
    local left, byhand = {}, {}
    for s in file:samples() do
      local args = s.args
      local since = left[args.next_pid]
      if since then
        byhand[#byhand + 1], left[args.next_pid] = { args.next_pid, since[1], s.time, since[2],
          args.next_comm }, nil
      end
      if args.prev_state ~= 0 then left[args.prev_pid] = { s.time, args.prev_state } end
    end
    local off = file:samples():pair {
      open = { event = "sched:sched_switch", where = "args.prev_state ~= 0" },
      close = "sched:sched_switch",
      key = { open = "args.prev_pid", close = "args.next_pid" },
    }
    local rows = off:select("key", "start", "stop", "args.prev_state", "close.args.next_comm")
      :collect()
    assert.equal(lines(byhand), lines(rows))
    assert.is_true(#byhand > 0)
  end)

  it("tell in which system call a record was made", function()
    local file <close> = assert(perflua.open(path))
    local spans = file:samples():pair(CALLS)
    -- the record that opens a span is in it
    local t = file:samples(CALLS.open):within(spans):group_by("args.id", "span.args.id"):count()
      :sort("count")
    local n = 0
    for row in t:rows() do
      assert.equal(row["args.id"], row["span.args.id"])
      n = n + row.count
    end
    assert.equal(file:samples(CALLS.open):count(), n)
  end)
end)
