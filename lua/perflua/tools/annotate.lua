-- perflua annotate FILE [SYMBOL]: which instruction and which source line, as perf annotate
-- prints it.

local annotate = require "perflua.annotate"
local unfound = require "perflua.file.unfound"
local html = require "perflua.annotate.html"
local output = require "perflua.table.output"
local suggest = require "perflua.errors.suggest"
local text = require "perflua.annotate.text"
local unchosen = require "perflua.toolkit.unchosen"
local written = require "perflua.annotate.written"

local tool = {
  description = "which instructions and source lines of a function have the samples",
  usage = "annotate [options] FILE [SYMBOL]",
  reads = "samples", passes = 1,
  operands = { 0, 1 },
  options = {
    ["percent-type"] = { "TYPE", "local-period (default), local-hits, global-period or "
      .. "global-hits: what the shares of lines are of",
      values = annotate.percent_types },
    ["min-share"] = { "PERCENT", "without SYMBOL: show functions with this share of their "
      .. "event or more; default: 0.5" },
    context = { "N", "show only N lines around those with samples; default without SYMBOL: 4" },
    prefix = { "PATH", "put PATH in front of the paths of source files" },
    ["prefix-strip"] = { "N", "leave out the first N parts of absolute ones" },
    ["percent-limit"] = { "PERCENT",
      "hide lines with a smaller share; --context shows them around others" },
    group = "show the events of a group beside each other",
    inline = "show inlined functions as they are nested, and the files of their lines",
    ["print-line"] = "show the samples by source line below each listing",
    html = "a page for any browser: the source of the hottest function, or of SYMBOL, beside "
      .. "its instructions",
    o = { "FILE", "write to FILE; default: standard output" },
    json = "a list of objects, one for each function",
    quickfix = "lines FILE:LINE: TEXT, hottest first, for vim -q, :cfile and Emacs",
    stdio2 = "the layout of perf annotate --stdio2, which is the default",
    stdio = "the layout of perf annotate --stdio",
  },
  help = [[
Shows the code of function SYMBOL with the samples of each instruction, and the source lines where
the binary has debug information and the source files are there. Without SYMBOL, shows the hot
parts of the hottest functions. The code is read from the recorded binary; the head of each
listing names the files of code and lines, and what proves that they are the recorded ones.]],
}

local DEFAULT_SHARE <const>, DEFAULT_CONTEXT <const> = 0.5, 4

local function parse_number(args, name, integer)
  if not args[name] then return nil end
  local value = tonumber(args[name])
  value = integer and value and math.tointeger(value) or not integer and value
  if not value or value ~= value or value < 0 then
    return nil, ("--%s: %s expected, got '%s'"):format(name,
      integer and "a number" or "a percentage", args[name])
  end
  return value
end

function tool.prepare(args)
  local settings = { percent_type = args["percent-type"] or "local-period" }
  local known = false
  for _, name in ipairs(annotate.percent_types) do
    known = known or name == settings.percent_type
  end
  if not known then
    return nil, suggest.message(("--percent-type: no '%s'"):format(settings.percent_type),
      settings.percent_type, annotate.percent_types)
  end
  for option, integer in pairs { ["min-share"] = false, context = true,
    ["percent-limit"] = false, ["prefix-strip"] = true } do
    local value, message = parse_number(args, option, integer)
    if message then return nil, message end
    settings[option] = value
  end
  local layout
  for _, name in ipairs { "html", "json", "quickfix", "stdio", "stdio2" } do
    if args[name] and layout then
      return nil, ("--%s and --%s exclude each other"):format(layout, name)
    end
    layout = args[name] and name or layout
  end
  settings.write = args.stdio and text.write_plain or text.write
  settings.context = settings.context or not args[2] and DEFAULT_CONTEXT or nil
  settings.least, settings.inline = settings["percent-limit"], args.inline
  settings.summary, settings.is_shown = args["print-line"], not args.o
  return settings
end

-- Returns the functions of events that are shown, hottest first.
local function choose(read, indexes, symbol, settings)
  local list, seen = {}, {}
  for _, index in ipairs(indexes) do
    local least = not symbol and (settings["min-share"] or DEFAULT_SHARE) or nil
    for _, func in ipairs(read:hottest(index, least)) do
      if not seen[func] and (not symbol or func.symbol == symbol) then
        list[#list + 1] = func
      end
      seen[func] = true
    end
  end
  return list
end

-- Returns the events that have a column each in one listing: those of a group, or one alone.
local function columns_of(file, args)
  local list, by_leader = {}, {}
  for index, event in ipairs(file.events) do
    local leader = args.group and event.leader and event.leader.index or index
    if not by_leader[leader] then
      by_leader[leader] = {}
      list[#list + 1] = by_leader[leader]
    end
    table.insert(by_leader[leader], index)
  end
  return list
end

-- Calls fn() with the listings that are shown, and the events of each. Returns their number.
local function each_listing(file, read, args, settings, fn)
  local n = 0
  for _, indexes in ipairs(columns_of(file, args)) do
    for _, func in ipairs(choose(read, indexes, args[2], settings)) do
      local listing, events = read:listing(func), {}
      for i, index in ipairs(indexes) do events[i] = listing:event(index) end
      fn(listing, events, n)
      n = n + 1
    end
  end
  return n
end

local function write_text(file, read, out, args, settings)
  return each_listing(file, read, args, settings, function(listing, events, n)
    if n > 0 then out:write "\n" end
    settings.write(listing, events, settings, function(line) out:write(line, "\n") end)
  end)
end

local function write_json(file, read, out, args, settings)
  out:write "["
  local n = each_listing(file, read, args, settings, function(listing, events, i)
    out:write(i > 0 and ",\n" or "", written.json(listing, events, settings))
  end)
  out:write "]\n"
  return n
end

local function write_quickfix(file, read, out, args, settings)
  local list = {}
  local n = each_listing(file, read, args, settings, function(listing, events)
    local lines = written.quickfix(listing, events, settings)
    table.move(lines, 1, #lines, #list + 1, list)
  end)
  table.sort(list, function(a, b)
    if a.period ~= b.period then return a.period > b.period end
    return a.text < b.text
  end)
  for _, place in ipairs(list) do out:write(place.text, "\n") end
  return n
end

-- Writes a page of the hottest function that is shown, of the first event that has samples.
local function write_html(file, read, out, args, settings)
  for _, indexes in ipairs(columns_of(file, args)) do
    local func = choose(read, indexes, args[2], settings)[1]
    if func then
      local listing = read:listing(func)
      return html.write(listing, listing:event(indexes[1]), settings,
        function(part) out:write(part) end)
    end
  end
end

-- Says that no sample is in a function of that name.
local function explain_none(file, symbol)
  local message = ("annotate: no sample is in a function '%s'"):format(symbol)
  if not file.size then return message end
  return suggest.message(message, symbol, suggest.names(unfound.functions(file)))
end

---@param file perflua.File
---@param args table
---@param out file*
---@param settings table what tool.prepare gave
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, settings)
  local symbol = args[2]
  local read = annotate.read(file, { symbol = symbol, prefix = args.prefix,
    is_whole = settings.percent_type:find "^global" ~= nil,
    prefix_strip = settings["prefix-strip"] })
  if not read or #read.read.list == 0 and not symbol then
    out:write("# ", read and "no sample is in a known function" or unchosen.text(file, args),
      "\n")
    return 0
  end
  if symbol and #read.read.list == 0 then return nil, explain_none(file, symbol) end
  local write = args.json and write_json or args.quickfix and write_quickfix
    or args.html and write_html or write_text
  local ok, message = output.with_file(args.o or out, function(to)
    write(file, read, to, args, settings)
    return true
  end)
  return ok and 0 or nil, message
end

return tool
