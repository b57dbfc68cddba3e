-- Spans as markers of the Firefox Profiler, in the processed format that src/export/firefox.c
-- writes of samples: a thread for each that has spans.

local core = require "perflua.core"
local errno = require("perflua.errors").errno
local fmt = require "perflua.text.fmt"
local json = require "perflua.text.json"
local output = require "perflua.table.output"
local spans = require "perflua.export.spans"
local spec_of = core.query_spec

local firefox_spans = {}

local INTERVAL <const> = 1 -- the phase of a marker that has a start and an end

-- Tables that only samples need, and their columns.
local EMPTY <const> = {
  stackTable = { "prefix", "frame" },
  frameTable = { "address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol",
    "innerWindowID", "line", "column" },
  funcTable = { "name", "isJS", "relevantForJS", "resource", "source", "lineNumber",
    "columnNumber" },
  sources = { "id", "filename" },
  resourceTable = { "lib", "name", "host", "type" },
  nativeSymbols = { "libIndex", "address", "name", "functionSize" },
}

local META <const> = {
  preprocessedProfileVersion = 60, version = 31, importedFrom = "perflua", processType = 0,
  stackwalk = 0, interval = 1, symbolicated = true, debug = false, usesOnlyOneStackType = true,
  sourceCodeIsNotOnSearchfox = true,
  extensions = { length = 0, id = json.array(), name = json.array(), baseURL = json.array() },
  categories = { { name = "Other", color = "grey", subcategories = { "Other" } } },
  markerSchema = { { name = "span", display = { "marker-chart", "marker-table" },
    tableLabel = "{marker.name}", fields = json.array() } },
}

-- Returns a table of n rows, whose columns are functions of a row's number.
local function table_of(n, columns)
  local is = json.object { length = n }
  for name, value in pairs(columns) do is[name] = json.lazy(n, value) end
  return is
end

local function shared_of(names)
  local shared = { pages = json.array(), stringArray = json.array(names) }
  for name, columns in pairs(EMPTY) do
    shared[name] = { length = 0 }
    for _, column in ipairs(columns) do shared[name][column] = json.array() end
  end
  return shared
end

-- Describes a thread; `leader` is its process's main thread, if that is known.
local function thread_of(thread, leader, first)
  local function ms(at) return function(i) return (thread[i][at] - first) / 1000000 end end
  local function always(value) return function() return value end end
  return json.object {
    name = thread.comm or "[unknown]", isMainThread = thread.pid == thread.tid,
    processName = leader and leader.comm or thread.comm or "[unknown]",
    processType = "default", processStartupTime = 0, processShutdownTime = json.null,
    registerTime = 0, unregisterTime = json.null, pausedRanges = json.array(),
    showMarkersInTimeline = true, pid = tostring(thread.pid or 0), tid = thread.tid,
    samples = { length = 0, weightType = "samples", stack = json.array(),
      timeDeltas = json.array(), weight = json.array() },
    markers = table_of(#thread, {
      name = function(i) return thread[i].number end,
      startTime = ms "start", endTime = ms "stop", phase = always(INTERVAL),
      category = always(0), data = always { type = "span" },
    }),
  }
end

-- Describes the whole profile.
local function document(file, threads, title)
  local names, first = spans.number_names(threads)
  local meta = { product = title, startTime = threads[1] and first / 1000000 or 0 }
  for name, value in pairs(META) do meta[name] = value end
  local list = json.array()
  for i, thread in ipairs(threads) do
    local leader = thread.pid and file:thread(thread.pid, thread[1].start)
    list[i] = thread_of(thread, leader, first)
  end
  return json.object {
    meta = meta, libs = json.array(), shared = shared_of(names), counters = json.array(),
    threads = list,
  }
end

---@param query perflua.Query of spans
---@param out file*|string|nil
---@param options table? see lua/perflua/api/module.lua
---@return { samples: integer, set_aside: integer }?
---@return string? message
---@return string? code
function firefox_spans.export(query, out, options)
  local file, threads, n = spec_of(query).file, spans.collect(query)
  local title = options.title or fmt.paths(file.path)
  local ok, message, code = output.with_file(out, function(to)
    local write, finish = core.gzip(to)
    json.write(write, document(file, threads, title))
    return errno(finish())
  end)
  if not ok then return nil, message, code end
  return { samples = n, set_aside = 0 }
end

return firefox_spans
