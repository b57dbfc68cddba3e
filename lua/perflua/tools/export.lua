-- perflua export --to FORMAT FILE: profiles for other programs.

local aside = require "perflua.group.aside"
local core = require "perflua.core"
local export = require "perflua.export"
local explained = require "perflua.toolkit.explained"
local folding = require "perflua.toolkit.folding"
local fmt = require "perflua.text.fmt"
local interrupted = require "perflua.table.interrupted"
local perflua = require "perflua"
local samples = require "perflua.toolkit.samples"
local strip_position = require("perflua.errors").strip_position
local unchosen = require "perflua.toolkit.unchosen"

-- A line for each format.
local function list_formats()
  local lines = {}
  for i, name in ipairs(export.formats) do
    lines[i] = ("  %-11s %s"):format(name, (export.find(name)).description)
  end
  return table.concat(lines, "\n")
end

local tool = {
  description = "write samples for speedscope, pprof, kcachegrind and others",
  usage = "export --to FORMAT [options] FILE… [-o OUT]",
  reads = "samples", several = true, paged = false,
  passes = function(args, file)
    local n = (args.to == "chrome" or export.find(args.to).one_event) and 2 or 1
    for i = 1, args.to == "perfetto" and #file.events or 0 do
      if file.events[i].name:find "^sched:" then n = n + 1 end
    end
    return n
  end,
  options = {
    to = { "FORMAT", "the format, see above", values = export.formats },
    o = { "OUT", "write to OUT; - is standard output, the default" },
    fields = { "LIST", "columns of csv and jsonl, further columns of sqlite: time,comm,ip",
      fields = true },
    ["csv-safe"] = "of csv: a ' before cells that a spreadsheet would evaluate",
    crlf = "of csv: lines that end with CR LF",
    count = "count samples; default: add up their periods",
    ["no-lines"] = "leave out source lines, and so the functions inlined there",
    timeline = "keep the time of each sample; firefox and perfetto always do",
    ["max-size"] = { "BYTES", "make times coarser until the profile has at most this size, as "
      .. "5000000 or 50M; default: 100M" },
    title = { "TEXT", "the name of the profile; default: that of FILE" },
  },
  help = [[
Samples are added up by event, thread and call chain, with --timeline also by time; csv, jsonl
and sqlite have a row for each sample. The tables of sqlite: samples, profile (samples added
up), totals (by function), events, threads, symbols, binaries, stacks; its views:
named_samples, functions, folded. The formats, and programs that read them:

]] .. list_formats(),
}

local USAGE = 2

-- Returns the events that have samples which the options choose.
local function chosen_events(file, args)
  if not (args.event or samples.is_chosen(args)) then
    local all = table.move(file.events, 1, #file.events, 1, {})
    return folding.with_samples(all, core.count(file, { names = true }))
  end
  local found = {}
  for row in file:samples():group_by("event.index"):count():sort():rows() do
    local index = row["event.index"]
    if index then found[#found + 1] = file.events[index] end
  end
  table.sort(found, function(a, b) return a.index < b.index end)
  return found
end

-- Returns the chosen samples; where a format has room for one event, those of the first.
local function choose_event(file, args, format)
  if not format.one_event or not file.size then return file:samples() end
  local events = chosen_events(file, args)
  if not events[2] then return file:samples() end
  folding.tell_others("export", events[1], { table.unpack(events, 2) })
  return file:samples { event = events[1] }
end

-- Selects the fields of --fields. Returns the query; nil and what is wrong with them.
local function select_fields(query, list)
  local names = {}
  for name in list:gmatch "[^,]+" do names[#names + 1] = name end
  local ok, selected = pcall(query.select, query, table.unpack(names))
  if not ok then return nil, "export: --fields: " .. strip_position(selected) end
  return selected
end

-- Returns the query whose records are written; or nil and what is wrong.
local function query_of(file, args, format)
  local query = choose_event(file, args, format)
  if not args.fields then return query end
  return select_fields(query, args.fields)
end

-- Returns the recordings: folded-diff compares two.
function tool.opens(args)
  local paths = args[1]
  if args.to ~= "folded-diff" then return { paths } end
  if type(paths) == "table" and #paths == 2 then return paths end
  return nil, "folded-diff compares two recordings: BEFORE and AFTER"
end

local factors = { k = 1000, M = 1000000, G = 1000000000 }

-- Reads the number of bytes in --max-size. Returns nil and what is wrong with it.
local function read_size(args, format)
  local text = args["max-size"]
  if not text then return nil end
  local number, unit = text:match "^(%d+)([kMG]?)B?$"
  local size = number and math.tointeger(tonumber(number) * (factors[unit] or 1))
  if not size or size < 1 then
    return nil, ("export: --max-size: '%s' is not a number of bytes, as 5000000 or 50M")
      :format(text)
  elseif format.timeline == false and not args.timeline then
    return nil, "export: --max-size makes times coarser: --timeline keeps the times"
  end
  return size
end

-- Options that mean nothing to formats with rows; --count does to folded-diff.
local of_profiles = { "count", "no-lines", "title", "timeline", "max-size" }

local has_rows = { csv = true, jsonl = true, sqlite = true }
local is_made_apart = { ["folded-diff"] = true, chrome = true }

-- Returns an error if an option belongs to other formats, or if a terminal would show binary
-- data.
local function check_options(args, is_terminal)
  local has_file = args.o and args.o ~= "-"
  if args.to == "sqlite" and not has_file then
    return "a database is a file: -o FILE.db says where to write it"
  elseif is_terminal and not has_file and export.find(args.to).binary then
    return ("%s is binary, which a terminal cannot show: -o FILE says where to write it")
      :format(args.to)
  elseif args.fields and not has_rows[args.to] then
    return "--fields names columns of csv, jsonl and sqlite; " .. args.to .. " has none"
  elseif args.csv and args.to ~= "csv" then
    return ("--%s is of csv; %s does not take it"):format(args.csv.safe and "csv-safe"
      or "crlf", args.to)
  end
  if not (has_rows[args.to] or is_made_apart[args.to]) then return nil end
  if args["max-size"] and has_rows[args.to] then
    return ("--max-size makes times coarser, and %s keeps each: choose fewer samples "
      .. "with --time or --where"):format(args.to)
  end
  for _, name in ipairs(of_profiles) do
    if args[name] and not (name == "count" and args.to == "folded-diff")
      and not (name == "max-size" and args.to == "chrome") then
      return ("--%s is of profiles; %s does not take it"):format(name, args.to)
    end
  end
end

function tool.prepare(args, out, host)
  if not args.to then
    return nil, "--to names the format: "
      .. table.concat(export.formats, ", "):gsub(", ([%w-]+)$", " or %1")
  end
  local format, message = export.find(args.to)
  if not format then return nil, message, USAGE end
  return format, check_options(args, out == io.stdout and host.is_terminal "stdout")
end

-- Returns the query and options of an export, as query_of() chooses them; or nil and what
-- is wrong.
local function describe(file, args, format, other, query_of_file)
  local query, message = query_of_file(file, args, format)
  local before, max_size, lines
  if query and other then
    before = query
    query, message = query_of_file(other, args, format)
  end
  if not query then return nil, message end
  max_size, message = read_size(args, format)
  if message then return nil, message end
  if args["no-lines"] then lines = false end
  local options = { count = args.count, lines = lines, title = args.title,
    timeline = args.timeline, max_size = max_size, before = before,
    safe = args["csv-safe"], crlf = args.crlf }
  local ok, why = pcall(export.check, query, format, options)
  if not ok then return nil, (strip_position(why):gsub("max_size", "--max-size")) end
  return query, options
end

function tool.explain(file, args, format, other)
  local function select_all(source) -- which of the events have samples is not known yet
    if args.fields then return select_fields(source:samples(), args.fields) end
    return source:samples()
  end
  local query, options = describe(file, args, format, other, select_all)
  if not query then return nil, options, USAGE end
  local parts, counts = {}, format.one_event and file.size and not other
  local found = {}
  if counts then parts[1], found = explained.counts(file, { names = true }) end
  for _, reading in ipairs(export.readings(query, format, options)) do
    if reading.counts then
      parts[#parts + 1], found = explained.counts(file, reading.counts)
    end
    if reading.needs_times then parts[#parts + 1] = explained.times(file) end
    parts[#parts + 1] = explained.reading(reading, { { "C", "the file, for " .. args.to } },
      found)
  end
  return parts
end

---@param file perflua.File
---@param args table
---@param out file*
---@param format table of perflua.export
---@param other perflua.File? that folded-diff compares with `file`
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, format, other)
  local query, options = describe(file, args, format, other, query_of)
  if not query then return USAGE, options end
  file = other or file
  local done, written, message = pcall(perflua.export, query, args.to,
    args.o ~= "-" and args.o or out, options)
  if not done and tostring(written):find "takes one event" then -- of a stream
    return USAGE, (strip_position(written):gsub("choose one$", "--event chooses one"))
  elseif not done then
    error(written, 0)
  elseif not written then
    return nil, message
  end
  for _, note in ipairs(written.notes or {}) do folding.log("export", "%s", note) end
  if written.samples == 0 then
    if interrupted.part() then return 0 end -- that is said
    folding.log("export", "%s: %s", fmt.paths(file.path), unchosen.text(file, args))
  end
  local set_aside = aside.said(written.set_aside)
  if set_aside then io.stderr:write("perflua: export: ", set_aside, "\n") end
  return 0
end

return tool
