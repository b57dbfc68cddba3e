-- exports.lua DIR FILE...: has other programs read what perflua exports of recordings, and
-- compares what they add up with what perflua does. DIR has the programs of npm, and is for
-- files. PERFLUA is the interpreter; SYMFS a directory of binaries, if there is one.

local perflua = require "perflua"

local DIR <const> = arg[1]
local PERFLUA <const> = assert(os.getenv "PERFLUA", "PERFLUA names the interpreter")
local SYMFS <const> = os.getenv "SYMFS"

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- Runs a command; its standard output.
local function output(...)
  local command = table.concat({ ... }, " ")
  local pipe = assert(io.popen(command .. " 2>" .. quote(DIR .. "/errors")))
  local text = pipe:read "a"
  if not pipe:close() then error(command .. " failed: see " .. DIR .. "/errors", 0) end
  return text
end

-- Writes the samples of an event; the path.
local function export(format, path, event)
  local out = ("%s/profile.%s"):format(DIR, format)
  output(quote(PERFLUA), "export --to", format, "--event", quote(event), "--max-size 4G",
    SYMFS and "--symfs " .. quote(SYMFS) or "", "-o", quote(out), quote(path))
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

function readers.perfetto(path, event)
  local text = output("protoc --decode_raw <", quote(export("perfetto", path, event)))
  local _, n = text:gsub("\n  66 {\n", "")
  local last = {} -- by processor: what its counter is at the end
  for sample in text:gmatch "\n  66 (%b{})" do
    last[sample:match "\n    1: (%d+)" or ""] = math.tointeger(sample:match "\n    6: (%d+)")
  end
  local sum = 0
  for _, count in pairs(last) do sum = sum + count end
  return sum, n
end

-- The Firefox Profiler at the command line, which shows functions by thread; times in ms.
function readers.firefox(path, event, is_time)
  local npm = quote(DIR .. "/node_modules/.bin")
  local run = ("HOME=%s PATH=%s:$PATH profiler-cli "):format(quote(DIR), npm)
  local file, sum = export("firefox", path, event), 0
  -- its daemon has half a second to start, which a busy machine may not have
  local tries = 0
  repeat tries = tries + 1 until pcall(output, run, "load", quote(file)) or tries == 5
  for thread in output(run, "thread list --json"):gmatch '"threadHandle": "(t%-%d+)"' do
    local text = output(run, "thread functions --json --include-idle --limit 0 --thread",
      thread)
    for self in text:gmatch '"selfSamples": ([%d.e+-]+)' do sum = sum + tonumber(self) end
  end
  output(run, "stop --all")
  return math.tointeger((sum * (is_time and 1000000 or 1) + 0.5) // 1), nil
end

-- The names of the readers in order, and how exact they are: Firefox adds up floats.
local order <const> = { "pprof", "callgrind", "folded", "perfetto", "firefox" }
local exactness <const> = { firefox = 1e-9 }

local failed = false

local function check(path, event, file)
  local query = file:samples(event.name)
  local total, count = query:sum "period", query:count()
  if count == 0 then return end
  local is_time = event.type == 1 and event.config <= 1
  for _, format in ipairs(order) do
    local sum, n = readers[format](path, event.name, is_time)
    local ok = math.abs(sum - total) <= total * (exactness[format] or 0)
      and (not n or n == count)
    failed = failed or not ok
    print(("%-5s %-10s %s %s: %d of %d%s"):format(ok and "ok" or "FAIL", format, path,
      event.name, sum, total, n and (", %d of %d samples"):format(n, count) or ""))
  end
end

for i = 2, #arg do
  local file <close> = assert(perflua.open(arg[i], { symfs = SYMFS }))
  for _, event in ipairs(file.events) do check(arg[i], event, file) end
end
if failed then os.exit(1) end
