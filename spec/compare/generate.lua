-- generate.lua DIR: writes what `make compare` runs on each recording of the corpus, of the
-- fixtures, and of a few random ones: DIR/jobs/NAME.sh, a script for sh with the lines of
-- jobs.lua and the queries of DIR/jobs/NAME.lua. Prints the names, the largest recording first.
--
-- The script runs $P in the working directory. Before each job it prints a line of \1 and what
-- the job is; then come the output, the files that were written, the status and the errors.
-- QUERY_SEED=n chooses other queries, QUERIES=n so many for a recording; ALL=1 runs each line
-- on every recording; ONLY=TEXT takes the recordings with that in their names.

local perflua = require "perflua"
local corpus = require "spec.support.corpus"
local files = require "spec.support.files"
local for_all_tools = require "spec.support.for_all_tools"
local jobs = require "spec.compare.jobs"
local queries = require "spec.support.queries"
local query_fields = require "spec.support.query_fields"
local random_recording = require "spec.support.random_recording"

local dir = assert(arg[1], "which directory?")
local SEED = math.tointeger(tonumber(os.getenv "QUERY_SEED")) or 1
local QUERIES = math.tointeger(tonumber(os.getenv "QUERIES")) or 20
local SHARE = os.getenv "ALL" and 1 or 3 -- of so many recordings one meets a line
local ONLY = os.getenv "ONLY" or ""
local RANDOM, OF_RANDOM = 10, 60         -- random recordings, and the queries of each
local LARGE, OF_LARGE = 1 << 20, 4       -- a recording of more bytes gets so many
local here = files.output "pwd":match "[^\n]+"
local home = here .. "/" .. dir
local symbols = { symfs = here .. "/spec/fixtures/words", kallsyms = home .. "/kallsyms.txt" }

-- The script that map runs, and the one that check does.
local GROUPS = [[
return function(file)
  return file:samples():group_by("comm", "symbol"):count():sum("period"):max("tid"):sort()
end
]]
local EXPECT = [[
expect(share "main"):below "5 %"
expect(children "main"):below "30 %"
expect(lost()):below "1 %"
]]

local with_symbols = {}
for _, tool in ipairs { "check", "diff", "doctor", "dump", "export", "fold", "flame", "report",
  "script", "symbol", "alloc", "faults", "locks", "offcpu" } do
  with_symbols[tool] = true
end

local function write_kallsyms()
  local lines = { "ffffffff81000000 T _text", "ffffffff81000000 T _stext" }
  for i = 1, 2000 do
    lines[#lines + 1] = ("%x t function%d"):format(0xffffffff81000000 + i * 0x2000, i)
  end
  files.write(symbols.kallsyms, table.concat(lines, "\n") .. "\n")
end

-- The recordings: { name, path, size, spans = true for random ones }.
local function recordings()
  local list = {}
  local function add(name, path, spans)
    local f <close> = assert(io.open(path, "rb"))
    list[#list + 1] = { name = name:gsub("/", "__"), path = path, size = f:seek "end",
      spans = spans }
    if list[#list].size > 1 << 40 then list[#list].size = 0 end -- of a directory
  end
  for _, recording in ipairs(corpus.recordings()) do add(recording.name, recording.path) end
  for path in files.lines "find spec/fixtures -name '*.data' | LC_ALL=C sort" do
    add(path, here .. "/" .. path)
  end
  for path in files.lines(("find %s -name '*.dir' | LC_ALL=C sort"):format(
    files.quote(corpus.root or "spec/fixtures"))) do
    add(path:sub(#(corpus.root or "") + 2), path)
  end
  for seed = SEED, SEED + RANDOM - 1 do
    local path = ("%s/random-%d.data"):format(dir, seed)
    files.write(path, files.read(random_recording.write(seed)))
    add("random-" .. seed, home .. "/" .. path:match "[^/]+$", true)
  end
  files.write(dir .. "/all-tools.data", for_all_tools.builder(50):bytes())
  add("all-tools", here .. "/" .. dir .. "/all-tools.data")
  return list
end

-- The words of sh that run a line of jobs.lua.
local function command_of(line)
  local words, tool, outputs = {}, line:match "^%S+", ""
  local named = false
  local replaced = {
    FILE = '"$R"', OTHER = '"$O"', GROUPS = '"$D/groups.lua"', EXPECT = '"$D/expect.lua"',
  }
  for word in line:gmatch "%S+" do
    named = named or word == "FILE" or word == "-"
    if word:find "^OUT" then outputs = ("; cat %s 2>&-; rm -f %s"):format(word, word) end
    words[#words + 1] = replaced[word] or files.quote(word)
    if word == tool and with_symbols[tool] then words[#words + 1] = "$S" end
  end
  if not named then words[#words + 1] = '"$R"' end
  if words[#words] == "'-'" then words[#words + 1] = '<"$R"' end
  return ("run %s %s%s"):format(files.quote(line), table.concat(words, " "), outputs)
end

local HEAD = [[
J=1 D=%s R=%s O=%s N="%s %s"
S="--symfs ${N%% *} --kallsyms ${N#* }"
run() {
	printf '\n\001%%s\n' "$1"
	shift
	"$P" -j $J "$@" 2>errors
	status=$?
	printf '\nstatus %%d\n' $status
	cat errors
	return $status
}
]]

-- Large recordings, which several workers read, are read by one as well.
local function script_of(recording, other, i)
  local workers = recording.size > LARGE and { 1, 3 } or { 1 }
  local lines = { HEAD:format(files.quote(home), files.quote(recording.path),
    files.quote(other.path), symbols.symfs, symbols.kallsyms) }
  for n, group in ipairs(jobs) do
    local more = {}
    for k = 2, #group do
      if (i + n + k) % SHARE == 0 then more[#more + 1] = command_of(group[k]) end
    end
    lines[#lines + 1] = command_of(group[1])
    if #more > 0 then
      lines[#lines + 1] = ("[ $status = 0 ] && {\nJ=%d\n%s\nJ=1\n}"):format(workers[#workers],
        table.concat(more, "\n"))
    end
  end
  for _, n in ipairs(workers) do
    lines[#lines + 1] = ('"$P" -j %d "$D/jobs/ask.lua" "$D/jobs/%s.lua" "$R" $N 2>&1')
      :format(n, recording.name)
  end
  return table.concat(lines, "\n") .. "\n"
end

-- The columns of keys and of measures that a query's table has; nil if it makes none.
local function columns_of(steps)
  local keys, measures
  for _, step in ipairs(steps) do
    if step[1] == "group_by" then
      keys, measures = {}, {}
      for i = 2, #step do
        keys[i - 1] = type(step[i]) == "table" and next(step[i]) or step[i]
      end
    elseif step[1] == "as" then
      measures[#measures + 1] = step[2]
    elseif step[1] == "ratio" then
      measures[#measures + 1] = step[2] .. "/" .. step[3]
    end
  end
  return keys, measures
end

local function list_of(strings)
  local out = {}
  for i, text in ipairs(strings or {}) do out[i] = ("%q"):format(text) end
  return strings and "{ " .. table.concat(out, ", ") .. " }" or "nil"
end

local function queries_of(recording, i)
  local file <close> = perflua.open(recording.path, symbols)
  local out = { "return {" }
  local n = recording.spans and OF_RANDOM or recording.size > LARGE and OF_LARGE or QUERIES
  if not file or #file.events == 0 then n = 0 end
  local about = { fields = n > 0 and query_fields.of(file, file:samples()), events = {},
    calls = true, spans = recording.spans, views = true }
  for k, event in ipairs(file and file.events or {}) do about.events[k] = event.name end
  for k = 1, n do
    local steps = queries.steps((SEED * 1000 + i) * 1000 + k, about)
    local text = queries.spelled(steps)
    local keys, measures = columns_of(steps)
    out[#out + 1] = ("  { %q, function(records, read, number) return records%s end,\n"
      .. "    keys = %s, measures = %s },"):format(text, text, list_of(keys), list_of(measures))
  end
  out[#out + 1] = "}\n"
  return table.concat(out, "\n")
end

warn "@off"
write_kallsyms()
files.write(dir .. "/jobs/ask.lua", files.read "spec/compare/ask.lua")
files.write(dir .. "/groups.lua", GROUPS)
files.write(dir .. "/expect.lua", EXPECT)
local list = recordings()
local chosen = {}
for i, recording in ipairs(list) do
  if recording.name:find(ONLY, 1, true) then
    local base = ("%s/jobs/%s"):format(dir, recording.name)
    files.write(base .. ".sh", script_of(recording, list[i % #list + 1], i))
    files.write(base .. ".lua", queries_of(recording, i))
    chosen[#chosen + 1] = recording
  end
end
table.sort(chosen, function(a, b) return a.size > b.size end)
for _, recording in ipairs(chosen) do print(recording.name) end
