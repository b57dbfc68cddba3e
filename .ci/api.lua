-- api.lua: checks that lua/perflua/api describes what perflua registers, and nothing else. Run
-- from the top folder.
--
-- Methods are compared with the tables they are looked up in. Options are compared with the
-- names that perflua looks up in a table of options; tables that scripts get, with the names in
-- those that fixtures give.

local api = require "perflua.api"
local core = require "perflua.core"
local perflua = require "perflua"

local DEMO = "spec/fixtures/demo.perf.data"
local failed = false

local function complain(format, ...)
  failed = true
  print(format:format(...))
end

local function set_of(list)
  local set = {}
  for _, name in ipairs(list) do set[name] = true end
  return set
end

local function keys_of(...)
  local set = {}
  for _, one in ipairs { ... } do
    for name in pairs(one) do set[name] = true end
  end
  return set
end

local function described(class, part)
  local set = {}
  for _, row in ipairs(api.class(class)[part] or {}) do set[row[1]] = true end
  return set
end

local function compare(what, there, described_names)
  for name in pairs(there) do
    if not described_names[name] then
      complain("%s: '%s' is not described in lua/perflua/api", what, name)
    end
  end
  for name in pairs(described_names) do
    if not there[name] then
      complain("%s: '%s' is described, but perflua has none", what, name)
    end
  end
end

local function check_methods()
  local functions, values = {}, {}
  for name, value in pairs(perflua) do
    (type(value) == "function" and functions or values)[name] = true
  end
  for _, name in ipairs { "intervals", "stop" } do -- loaded when they are asked for
    values[name] = perflua[name] ~= nil or nil
  end
  compare("perflua", functions, described("perflua", "methods"))
  compare("perflua", values, described("perflua", "fields"))
  compare("File", keys_of(core.methods "file"), described("File", "methods"))
  compare("File", set_of(core.members "file"), described("File", "fields"))
  require "perflua.file.records" -- which adds steps to queries
  compare("Query", keys_of(require("perflua.query").methods), described("Query", "methods"))
  compare("Table", keys_of(require("perflua.table").methods), described("Table", "methods"))
  compare("Record", set_of(core.record_methods()), described("AnyRecord", "methods"))
end

-- A table that has the given values and remembers the names that are looked up, to compare with
-- a class.
local function asked(given)
  local seen = {}
  local options = setmetatable({}, { __index = function(_, name)
    if type(name) == "string" then seen[name] = true end
    return given[name]
  end })
  return options, seen
end

local function check_options(file)
  local samples = file:samples()
  local spans = samples:pair { open = "cpu-clock", close = "page-faults" }
  local function check(class, given, use)
    local options, seen = asked(given)
    use(options)
    compare(class, seen, described(class, "fields"))
  end
  check("OpenOptions", {}, function(options) assert(perflua.open(DEMO, options)):close() end)
  local clock = file:samples "cpu-clock"
  check("ExportOptions", { before = clock }, function(options)
    local out <close> = io.open("/dev/null", "wb")
    perflua.export(samples, "pprof", out, options)
    perflua.export(samples, "csv", out, options)
    perflua.export(clock, "folded-diff", out, options)
  end)
  check("RecordsOptions", {}, function(options) file:records(options) end)
  check("PairOptions", { open = "cpu-clock", close = "page-faults" }, function(options)
    samples:pair(options)
  end)
  check("BinariesOptions", {}, function(options) file:binaries(options) end)
  check("WithinOptions", {}, function(options) samples:within(spans, options) end)
  check("TopOptions", {}, function(options)
    samples:group_by("comm"):table():top(1, nil, options)
  end)
  local words <close> = assert(perflua.open("spec/fixtures/words/perf.data",
    { symfs = "spec/fixtures/words" }))
  check("AnnotateOptions", {}, function(options) words:annotate("compare", options) end)
  check("UnnestOptions", {}, function(options) words:samples():unnest("callchain", options) end)
  check("CsvOptions", {}, function(options)
    local out <close> = assert(io.open("/dev/null", "w"))
    samples:group_by("comm"):count():sort():csv(out, options)
  end)
  check("Handlers", { interval = print, interval_ms = 1e9, interval_clock = "wall" },
    function(options) file:run(options) end)
end

-- Tables are seen by pairs(), so that they cannot be asked for names: each described one is
-- taken, others are not.
local function check_taken(class, values, use)
  for name in pairs(described(class, "fields")) do
    local ok, message = pcall(use, { [name] = values[name] })
    if values[name] == nil then ok, message = false, "no value of it is tried" end
    if not ok then complain("%s: '%s' is described, but: %s", class, name, message) end
  end
  if pcall(use, { nonsense = values.where or values.any }) then
    complain("%s: any name is taken", class)
  end
end

local function check_others(file)
  local needs = require "perflua.meta.needs"
  check_taken("PairSide", { event = "cpu-clock", type = "comm",
    where = "pid == 1", key = "tid", state = "running", again = "keep",
    from = "running", to = "pid", next_on_cpu = true }, function(side)
    if not (side.event or side.type or side.where) then side.event = "cpu-clock" end
    local changes = side.from or side.to
    local closes = side.from or side.next_on_cpu
    local open = changes and { event = "cpu-clock", state = "running" }
      or side.next_on_cpu and "cpu-clock" or side
    file:records():pair { open = open, close = closes and side or "page-faults",
      change = side.to and side or nil }
  end)
  check_taken("Needs", { events = "cpu-clock", fields = "callchain",
    any = { "cpu-clock" } }, function(value)
    assert(not needs.check(file, { needs = value }))
  end)
  local meta, seen = asked { description = "what", needs = "cpu-clock" }
  require "perflua.meta.library".describe("script.lua", meta)
  compare("Meta", seen, described("Meta", "fields"))
  check_taken("Option", { help = "what", default = "a", value = "A", choices = { "a" },
    many = true, positional = true, any = true }, function(row)
    row[1], row[2] = "x", row.choices and "choice" or "string"
    require("perflua.options").declare { row }
  end)
end

-- Names in tables that scripts get: what fixtures show is described; what they cannot show is
-- said here.
local function check_results(file)
  local words <close> = assert(perflua.open("spec/fixtures/words/perf.data",
    { symfs = "spec/fixtures/words" }))
  local function check(class, lists, never)
    local seen = set_of(never or {})
    for _, list in ipairs(lists) do
      for _, one in ipairs(list) do
        for name in pairs(one) do seen[name] = true end
      end
    end
    compare(class, seen, described(class, "fields"))
  end
  local calls <close> = assert(perflua.open "spec/fixtures/calls.perf.data")
  -- of several systems in one
  check("Thread", { file:threads(), words:threads(), calls:threads() }, { "source" })
  local function check_shown(class, one) -- fixtures do not show all of it
    for name in pairs(one) do
      if not api.members(class)[name] then
        complain("%s: '%s' is not described in lua/perflua/api", class, name)
      end
    end
  end
  for _, binary in ipairs(words:binaries { load = "all" }) do
    check_shown("Binary", binary)
    for _, tried in ipairs(binary.tried or {}) do check_shown("Tried", tried) end
  end
  local by_stack = words:samples():group_by("callchain"):count():sort()
  check_shown("Frame", by_stack[1].callchain[1])
  for _, field in ipairs(api.class("Frame").fields) do
    if not pcall(function() return by_stack[1].callchain[1][field[1]] end) then
      complain("Frame: '%s' is described, but perflua has none", field[1])
    end
  end
  local sample = words:samples():first()
  for _, stay in ipairs((words:history(sample.pid, sample.ip))) do
    check_shown("Stay", stay)
    if stay.covered then check_shown("Symbol", stay.covered) end
  end
  local listing = words:annotate "compare"
  for _, field in ipairs(api.class("Listing").fields) do
    if listing[field[1]] == nil and field[2]:sub(-1) ~= "?" then
      complain("Listing: '%s' is described, but perflua has none", field[1])
    end
  end
  for _, line in ipairs(listing) do check_shown("ListingLine", line) end
  local resolved = {}
  for _, recording in ipairs { file, words } do
    for s in recording:samples():each() do
      resolved[#resolved + 1] = recording:resolve(s.pid, s.ip, s.time)
    end
  end
  check("Resolved", { resolved })
  check("Missing", { (file:missing()), (words:missing()) })
  local spans = file:samples():pair { open = "cpu-clock", close = "page-faults",
    unfinished = true, window = { "0%", "100%" } }
  check("Span", { spans:collect() })
  check("PairCounts", { { spans.counts } })
  check("HistogramBucket", { file:samples():hist("period") })
  local path = os.tmpname()
  local whole <close> = assert(io.open(DEMO, "rb"))
  local part <close> = assert(io.open(path, "wb"))
  part:write(whole:read(60000))
  part:close()
  local cut <close> = assert(perflua.open(path))
  cut:records():count()
  os.remove(path)
  check("Damage", { cut.damage })
end

-- Globals that Lua has not, which it names itself in a state of its own.
local function check_globals()
  local lua <close> = assert(io.popen("lua5.4 -e 'for name in pairs(_G) do print(name) end'"))
  local own, standard = { file = true, help = true }, {} -- there after -e, at the prompt
  for name in lua:lines() do standard[name] = true end
  for name in pairs(_G) do own[name] = not standard[name] or name == "arg" or nil end
  compare("globals", own, described("globals", "fields"))
end

warn "@off"
local demo <close> = assert(perflua.open(DEMO))
check_methods()
check_options(demo)
check_others(demo)
check_results(demo)
check_globals()
os.exit(not failed)
