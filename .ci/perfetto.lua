-- Compares what Perfetto's trace processor says of exported traces with what perflua does.

local perflua = require "perflua"
local report = require "perflua.report"
local reports = require "spec.support.model.report"

local perfetto = {}

-- A row for each sample: its event, what it weighs, its call chain; and for each place in a
-- tree of call chains. Inlined functions are places of their own.
local TABLES <const> = [[
  INCLUDE PERFETTO MODULE linux.perf.counters;
  CREATE PERFETTO TABLE samples AS
  SELECT t.name AS event, CAST(s.counter_value AS INT) AS weight, s.callsite_id AS id
  FROM linux_perf_sample_with_counters s JOIN perf_counter_track t ON t.id = s.track_id;
  CREATE PERFETTO TABLE frames AS
  SELECT c.id, c.parent_id, f.name, y.source_file || ':' || y.line_number AS line,
    m.name GLOB '/[[]*kernel*' OR m.name GLOB '*.ko*' AS is_kernel
  FROM stack_profile_callsite c JOIN stack_profile_frame f ON f.id = c.frame_id
  JOIN stack_profile_mapping m ON m.id = f.mapping
  LEFT JOIN stack_profile_symbol y USING (symbol_set_id);
  ]]

local ERRORS <const> = [[
  SELECT name, SUM(value) FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0
  GROUP BY name]]

local EVENTS <const> = [[
  SELECT event, COUNT(*), SUM(weight) FROM samples WHERE id IS NOT NULL GROUP BY event]]

-- Functions without a name are called after their binary, in brackets.
local FUNCTIONS <const> = [[
  SELECT event, name, COUNT(*), SUM(weight) FROM samples JOIN frames USING (id)
  WHERE name NOT GLOB '[[]*' GROUP BY event, name]]

-- A function counts once for a call chain, however often it is on it.
local CALLERS <const> = [[
  WITH RECURSIVE
  sums AS (SELECT event, id, SUM(weight) AS weight FROM samples GROUP BY event, id),
  chains AS (
    SELECT DISTINCT id AS leaf, id FROM samples
    UNION ALL
    SELECT leaf, parent_id FROM chains JOIN frames USING (id) WHERE parent_id IS NOT NULL),
  found AS (SELECT DISTINCT leaf, name, is_kernel FROM chains JOIN frames USING (id))
  SELECT event, name, SUM(weight) FROM sums JOIN found ON leaf = sums.id
  WHERE name NOT GLOB '[[]*' GROUP BY event, name]]

-- Perfetto keeps one line for an address and a name, so those of a function that is inlined
-- into itself may differ.
local LINES <const> = [[
  SELECT event, line, COUNT(*), SUM(weight) FROM samples JOIN frames USING (id)
  WHERE line IS NOT NULL GROUP BY event, line]]

local SWITCHES <const> = [[
  SELECT tid, COUNT(*), SUM(IIF(dur > 0 AND end_state IS NOT NULL, dur, 0))
  FROM sched JOIN thread USING (utid) WHERE tid > 0 GROUP BY tid]]

local STATES <const> = [[
  SELECT thread.tid, state, ts, IIF(dur < 0, '', dur), IFNULL(cpu, ''), IFNULL(waker.tid, '')
  FROM thread_state JOIN thread USING (utid) LEFT JOIN thread waker ON waker.utid = waker_utid
  WHERE thread.tid > 0]]

local NAMES <const> = [[
  SELECT 'process', pid, name FROM process WHERE pid > 0
  UNION ALL SELECT 'thread', tid, name FROM thread WHERE tid > 0]]

local SPANS <const> = "SELECT COUNT(*), SUM(dur) FROM slice"

local SLICES <const> = [[
  SELECT tid, s.name, s.ts, s.dur
  FROM slice s JOIN thread_track t ON s.track_id = t.id JOIN thread USING (utid)]]

-- Returns the rows of each query of a trace, by its number.
local function ask(self, trace, ...)
  local queries, answers, rows = { ... }, {}, {}
  for i, query in ipairs(queries) do queries[i] = self.quote(query) end
  local text = self.output("node .ci/perfetto.js", self.quote(self.processor),
    self.quote(trace), table.unpack(queries))
  for line in text:gmatch "([^\n]*)\n" do
    if line == "" then answers[#answers + 1], rows = rows, {} else rows[#rows + 1] = line end
  end
  return answers
end

-- Adds up numbers by a key, which is text that rows begin with.
local Sums = {}
Sums.__index = Sums

local function new_sums() return setmetatable({}, Sums) end

function Sums:add(key, ...)
  local sums = self[key] or {}
  for i, number in ipairs { ... } do sums[i] = (sums[i] or 0) + number end
  self[key] = sums
end

function Sums:rows()
  local rows = {}
  for key, sums in pairs(self) do rows[#rows + 1] = key .. "\t" .. table.concat(sums, "\t") end
  return rows
end

-- Prints whether a trace has the rows that perflua has.
local function compare(self, path, what, got, expected)
  table.sort(got)
  table.sort(expected)
  local i = 1
  while got[i] and got[i] == expected[i] do i = i + 1 end
  local ok = not got[i] and not expected[i]
  self.failed = self.failed or not ok
  print(("%-5s %-10s %s %s: %d of %d rows"):format(ok and "ok" or "FAIL", "perfetto", path,
    what, #got, #expected))
  if not ok then
    print(("  %s\n  instead of %s"):format(got[i] or "none", expected[i] or "none"))
  end
end

local function sum_events(file)
  local sums = new_sums()
  for _, event in ipairs(file.events) do
    local samples = file:samples(event.name)
    local n = samples:count()
    if n > 0 then sums[event.name] = { n, samples:sum "period" } end
  end
  return sums:rows()
end

-- How many keys rows of a report by a field have: the field, and of functions their cpumode.
local KEYS <const> = { symbol = 2, srcline = 1 }

-- Calls `add` with each row of a report by a field: its event and key, its samples and period
-- and, where functions have callers, the period with what they called. Rows of functions
-- without a name, which are addresses there, and of lines that are not known are left out.
local function each_row(file, field, add)
  for _, event in ipairs(reports.read(report.prepare(file, { sort = { field } })).events) do
    local keys = event.values[1]
    local samples, periods, children = table.unpack(event.values, KEYS[field] + 1)
    for i, key in ipairs(keys) do
      if not key:find "^0x%x+$" and not key:find "^%[" then
        add(event.event .. "\t" .. key:gsub("[\t\n]", " "), samples[i], periods[i],
          children and children[i])
      end
    end
  end
end

-- Returns rows of lines with the files' names in place of their paths.
local function shorten_paths(rows)
  local sums = new_sums()
  for _, row in ipairs(rows) do
    local event, line, n, weight = row:match "^([^\t]*)\t([^\t]*)\t(%d+)\t(%d+)$"
    sums:add(event .. "\t" .. line:gsub("^.*/", ""), math.tointeger(tonumber(n)),
      math.tointeger(tonumber(weight)))
  end
  return sums:rows()
end

local function check_samples(self, path, file)
  local functions, callers, lines = new_sums(), new_sums(), new_sums()
  each_row(file, "symbol", function(key, n, period, children)
    if n > 0 then functions:add(key, n, period) end
    callers:add(key, children or period)
  end)
  each_row(file, "srcline", function(key, n, period) lines:add(key, n, period) end)
  local got = ask(self, self.export(path, "--no-lines"), TABLES .. EVENTS, FUNCTIONS, CALLERS)
  compare(self, path, "events", got[1], sum_events(file))
  compare(self, path, "functions", got[2], functions:rows())
  compare(self, path, "callers", got[3], callers:rows())
  got = ask(self, self.export(path), TABLES .. EVENTS, LINES)
  compare(self, path, "events", got[1], sum_events(file))
  compare(self, path, "lines", shorten_paths(got[2]), lines:rows())
end

-- A switch from another thread than the one that ran last shows that a switch is missing.
local function check_sched(self, path, is_recorded)
  local errors, rows = {}, {}
  if is_recorded then
    local text = self.output(self.quote(self.perflua), "sched --json", self.quote(path))
    local broken = math.tointeger(tonumber(text:match '"broken":(%d+)'))
    if broken > 0 then errors[1] = "mismatched_sched_switch_tids\t" .. broken end
    for tid, n, ms in text:gmatch '"tid":(%d+),"switches":(%d+),"run_ms":([%d.e+-]+)' do
      rows[#rows + 1] = ("%s\t%s\t%d"):format(tid, n, (ms * 1e6 + 0.5) // 1)
    end
  end
  local got = ask(self, self.export(path), ERRORS, SWITCHES)
  compare(self, path, "errors", got[1], errors)
  compare(self, path, "switches", got[2], rows)
end

---Compares what Perfetto says of a recording's traces with what perflua does.
---@param self table failed: set where they differ; processor: the directory of the trace
--- processor; export: function(path, options), the path of a trace; output: function(…),
--- runs a command; quote: function(text); perflua: the interpreter
---@param path string
---@param file perflua.File
function perfetto.check(self, path, file)
  check_samples(self, path, file)
  check_sched(self, path, file.events["sched:sched_switch"] ~= nil)
end

---Compares states of threads: { tid, state, since when, for how long, the processor, who woke
---it }, and what processes and threads are called: { "process" or "thread", id, name }; as text
---with tabs.
function perfetto.check_states(self, path, states, names)
  local got = ask(self, self.export(path), ERRORS, STATES, NAMES)
  compare(self, path, "errors", got[1], {})
  compare(self, path, "states", got[2], states)
  compare(self, path, "names", got[3], names)
end

---Compares what Perfetto says of a query of spans, as trace events of Chrome and as slices.
function perfetto.check_spans(self, path, spans, out)
  local sums, rows = { ("%d\t%d"):format(spans:count(), spans:sum "duration") }, {}
  for span in spans:each() do
    rows[#rows + 1] = ("%d\t%s\t%d\t%d"):format(span.open.tid,
      span.open.syscall or span.open.event, span.start, span.duration)
  end
  for _, format in ipairs { "chrome", "perfetto" } do
    assert(perflua.export(spans, format, out))
    local got = ask(self, out, ERRORS, SPANS, SLICES)
    compare(self, path, "errors", got[1], {})
    compare(self, path, "spans", got[2], sums)
    if format == "perfetto" then compare(self, path, "slices", got[3], rows) end
  end
end

return perfetto
