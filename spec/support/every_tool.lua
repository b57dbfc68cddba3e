-- Runs every tool over recordings in one process: perflua every_tool.lua SEED MUTATIONS PATH…
--
-- Each recording is read as it is, or, of so many MUTATIONS, damaged in as many ways. Where
-- there are many, command lines with the same tool take turns at them; SWEEP=1: each gets all.
-- Prints a line before each run, so that the last one tells where the process ended, and below
-- it what a tool raised. Tools get their words from a command line, as users give them; what
-- they print is thrown away.
local files = require "spec.support.files"
local output = require "perflua.table.output"
local perflua = require "perflua"
local tools = require "perflua.tools"

-- The command lines of each tool, which end with the recording unless they say FILE, and write
-- recordings to COPY; map and reduce start other processes, help reads no recording.
local lines = {
  "alloc", "cgroups", "cgroups --nested", "convert -o COPY --force",
    "convert --pipe --compress -o COPY --force", "cut --where period>1 --sort -o COPY --force",
    "repair -o COPY --force", "inject --buildid-all -B -o COPY --force",
    "inject -b -s --pipe -o COPY --force", "diff FILE FILE",
    "diff --csv --per share FILE FILE FILE -- FILE",
  "doctor", "doctor --json", "dump", "dump --json", "dump --lua",
  "export --to chrome", "export --to csv", "export --to jsonl",
  "export --to callgrind", "export --to folded", "export --to pprof --count",
    "export --to speedscope --timeline", "export --to firefox", "export --to perfetto",
  "faults", "fields",
  "flame -o /dev/null", "fold", "fold --inline --annotate", "gen", "header", "header --json",
    "io", "irqs", "locks",
  "migrations", "offcpu", "report", "report --no-children --csv",
    "report --sort comm,srcline --json",
  "report -b --csv", "report --where not(pid==1)", "sched", "script", "script --json",
    "script -F +addr,+uregs,+iregs,+brstack,+srcline --inline", "stat", "stubs",
  "stat --json", "symbol FILE 401000", "symbol --json FILE ffffffff81000000", "syscalls",
    "timechart -o /dev/null", "timeline",
  "timeline --slice 1s --by comm --json", "timeline --by cpu", "wakers",
}

local MANY <const> = os.getenv "SWEEP" and math.maxinteger or 8 -- recordings, or ways of damage

-- Reading the functions of the kernel that runs here takes longer than all else that is read,
-- and is the same each time. So it is done once for a recording, and damaged ones have others.
local kernel -- the file that tools take the functions of the kernel from; nil: they look for it
local open = perflua.open

function perflua.open(recording, options)
  options = options or {}
  options.kallsyms = options.kallsyms or kernel
  return open(recording, options)
end

local RUNNING = "/proc/kallsyms"
local running -- a copy of it

-- Returns a file with the functions that a recording of this kernel takes from the kernel
-- itself; nil: it does not.
local function copy_kernel_of(recording)
  local file <close> = open(recording)
  local ok, list = pcall(function() return file:binaries() end)
  for _, one in ipairs(ok and list or {}) do
    if one.symbol_file == RUNNING then
      running = running or files.temporary(files.read(RUNNING))
      return running
    end
  end
end

local function write_kernel()
  local list = { "ffffffff81000000 T _text", "ffffffff81000000 T _stext" }
  for i = 1, 4000 do
    list[#list + 1] = ("%x t function%d"):format(0xffffffff81000000 + i * 0x1000, i)
  end
  list[#list + 1] = "ffffffff82000000 T _etext"
  return files.temporary(table.concat(list, "\n") .. "\n")
end

-- Replacements of bytes: bits turned, and numbers that lengths and counts are compared with.
local numbers = {
  "\0", "\xff", "\x7f", "\x80", "\1", "\0\0\0\0\0\0\0\0", "\xff\xff\xff\xff\xff\xff\xff\xff",
  "\xff\xff\xff\xff\xff\xff\xff\x7f", "\0\0\0\x80", "\xff\xff", "\8\0", "\0\0\0\0",
}

-- Returns the bytes with up to six places damaged; rarely cut. Equal seeds give equal results.
local function damaged(bytes, seed)
  math.randomseed(seed)
  for _ = 1, math.random(1, 6) do
    local at = math.random(1, #bytes)
    local new = string.char(bytes:byte(at) ~ 1 << math.random(0, 7))
    if math.random(3) == 1 then new = numbers[math.random(#numbers)] end
    bytes = (bytes:sub(1, at - 1) .. new .. bytes:sub(at + #new)):sub(1, #bytes)
  end
  return math.random(20) == 1 and bytes:sub(1, math.random(#bytes)) or bytes
end

local copy = files.temporary() -- what the tools that write recordings write

local function run(line, path, out)
  local words = {}
  for word in line:gmatch "%S+" do words[#words + 1] = word end
  local name = table.remove(words, 1)
  local tool = tools.find(name)
  local named = false
  for i, word in ipairs(words) do
    if word == "FILE" then words[i], named = path, true end
    if word == "COPY" then words[i] = copy end
  end
  if not named then words[#words + 1] = path end
  local args = assert(tools.parse(tool, words))
  local ok, status, message = pcall(tools.run, name, tool, args, out, {})
  if not ok then print("raised", status) end
  if message then print("said", message) end
  output.failure = nil -- it would be the status of this script
end

-- Returns the command lines for the recording of this number: all, or of each tool the one
-- whose turn it is.
local function lines_for(number, takes_turns)
  if not takes_turns then return lines end
  local of_tool, chosen = {}, {}
  for _, line in ipairs(lines) do
    local name = line:match "^%S+"
    if not of_tool[name] then of_tool[#of_tool + 1], of_tool[name] = name, {} end
    table.insert(of_tool[name], line)
  end
  for i, name in ipairs(of_tool) do
    chosen[i] = of_tool[name][number % #of_tool[name] + 1]
  end
  return chosen
end

local function run_all(name, path, chosen)
  local out <close> = assert(io.open("/dev/null", "w"))
  for _, line in ipairs(chosen) do
    print("run", line, name)
    run(line, path, out)
  end
end

warn "@off"
io.stdout:setvbuf "line"
local seed, mutations = math.tointeger(arg[1]), math.tointeger(arg[2])
local path = files.temporary()
if mutations > 0 then kernel = write_kernel() end
for i = 3, #arg do
  if mutations == 0 then
    kernel = copy_kernel_of(arg[i])
    run_all(arg[i], arg[i], lines_for(i, #arg > MANY))
  end
  for k = 1, mutations do
    files.write(path, damaged(files.read(arg[i]), seed + k))
    run_all(("%s %d"):format(arg[i], seed + k), path, lines_for(i + k, mutations > MANY))
  end
end
