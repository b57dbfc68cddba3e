-- perflua diff BEFORE AFTER: what became slower or faster, and whether it is more than noise.

local diff = require "perflua.diff"
local fmt = require "perflua.text.fmt"
local folding = require "perflua.toolkit.folding"
local json = require "perflua.text.json"
local split = require "perflua.text.split"
local result_table = require "perflua.table.result_table"
local row_output = require "perflua.table.row_output"
local samples = require "perflua.toolkit.samples"
local sides = require "perflua.toolkit.sides"
local strip_position = require("perflua.errors").strip_position
local unchosen = require "perflua.toolkit.unchosen"

local tool = {
  description = "compare recordings: what became slower or faster, with intervals",
  usage = "diff [options] BEFORE AFTER | BEFORE… -- AFTER…",
  reads = "sides", passes = 2, operands = { 1, math.huge }, sides = "--",
  options = row_output.with_csv_options {
    sort = { "FIELDS", "group by these fields, default comm,dso,symbol", fields = true },
    per = { "WHAT", "compare per share, second or event:NAME; default: per run",
      values = { "share", "second", "event:" } },
    match = { "FROM=TO", "match the name FROM with TO: of a function or binary", many = true },
    count = { "N", "show the first N rows of each event; default: 40" },
    plan = { "PERCENT", "tell how many runs, or how long ones, find such a change; the files "
      .. "are runs of equal work" },
    flame = { "FILE.svg", "draw call stacks as a flame graph, too: red is more, blue is less; "
      .. "HTML if it ends in .html; - is standard output, without the table" },
    json = "one JSON object",
  },
  help = [[
Compares the period of each row per run, so that a slower function does not make the others look faster.
An interval belongs to one row by itself. It allows for samples that vary by chance, and for runs that vary:
as much as in measured programs, or as several runs of a side show. Verdicts are corrected for all tested
rows: slower, faster, new, gone (with --per: more, less), or noise. "varies too much" and "too few samples"
tell why a change by half of the row would be missed, "no symbols" that one side lacks names of functions.
Files can also be saved tables.

  $ perflua diff old1.data old2.data old3.data -- new1.data new2.data new3.data]],
}

local USAGE, ROWS <const> = 2, 40

-- Parses FROM=TO of each --match.
local function parse_match(texts)
  local match = {}
  for _, text in ipairs(texts or {}) do
    local from, to = text:match "^(.-[^=])=([^=].*)$"
    if not from then return nil, ("--match: FROM=TO expected, got '%s'"):format(text) end
    match[from] = to
  end
  return match
end

local function parse_percent(text)
  local value = tonumber((text:gsub("%s*%%$", "")))
  if value and value > 0 and value < 1e6 then return value / 100 end
end

-- Returns the error if options exclude each other.
local function check_options(args)
  for _, option in ipairs(args.plan and { "per", "match", "flame" } or {}) do
    if args[option] then return ("--plan and --%s exclude each other"):format(option) end
  end
  for _, option in ipairs(args.flame == "-" and { "sort", "count", "csv", "json" } or {}) do
    if args[option] then
      return ("--flame - and --%s exclude each other: the table has no room"):format(option)
    end
  end
  if args.plan and args.before then return "--plan takes equal runs, without --" end
end

-- Returns the settings of the command line; nil and what is wrong with it.
function tool.prepare(args)
  local fields = split.list(args.sort or "comm,dso,symbol")
  if #fields == 0 then return nil, "--sort: no field is named" end
  local match, wrong = parse_match(args.match)
  wrong = wrong or check_options(args)
    or result_table.check_options { csv = args.csv, json = args.json, count = args.count }
  local per = args.per
  if per and per ~= "share" and per ~= "second" and not per:find "^event:." then
    wrong = ("--per: share, second or event:NAME expected, got '%s'"):format(per)
  end
  local change = args.plan and parse_percent(args.plan)
  if args.plan and not change then
    wrong = ("--plan: a percentage expected, got '%s'"):format(args.plan)
  end
  if wrong then return nil, wrong end
  local function make(query)
    local ok, grouped = pcall(query.group_by, query, table.unpack(fields))
    if not ok then error("--sort: " .. strip_position(grouped), 0) end
    return grouped:sum("period")
  end
  return { fields = fields, make = make, match = match, per = per, change = change,
    count = math.tointeger(tonumber(args.count)) }
end

local function notes_of(made)
  local notes = made.data.comparison
  return table.move(notes.below, 1, #notes.below, #notes.above + 1,
    table.move(notes.above, 1, #notes.above, 1, {}))
end

local function write_json(made, out)
  out:write('{"notes":', json.encode(json.array(notes_of(made))), ',"rows":')
  local ok, message = made:json(out)
  out:write "}\n"
  return ok and 0 or nil, message
end

local function write_csv(made, out, args)
  for _, line in ipairs(notes_of(made)) do io.stderr:write("# ", line, "\n") end
  local ok, message = made:csv(out, args.csv)
  return ok and 0 or nil, message
end

-- Amounts have a unit for the eyes: they are large.
local function with_units(made)
  for _, column in ipairs(made.view.columns) do
    local kind = column.measured and column.kind
    if kind == "unsigned" or kind == "signed" or kind == "float" then
      made = made:unit("si", column.name)
    end
  end
  return made
end

-- Says that neither side has a sample, and why.
local function empty_text(before, after, args)
  local _, file = next(before.files)
  if not file then _, file = next(after.files) end
  return file and unchosen.text(file, args) or "no samples"
end

local function write_text(made, settings, out)
  if #made.data.result == 0 then
    for _, line in ipairs(notes_of(made)) do out:write("# ", line, "\n") end
    return 0
  end
  local all = #made
  local shown = with_units(made:top(settings.count or ROWS))
  out:write(tostring(shown), "\n")
  if not settings.count and #shown < all then
    out:write(("# %d of %d rows; --count shows others\n"):format(#shown, all))
  end
  return 0
end

-- Says how many runs each row needs.
local function write_plan(runs, _, args, settings, out)
  local estimate = require "perflua.diff.estimate"
  local rows, is_empty = estimate.plan(runs, settings.change, 0.05)
  if is_empty and not (args.csv or args.json) then
    out:write("# ", empty_text(runs, runs, args), "\n")
    return 0
  end
  local columns, several = {}, {}
  for _, row in ipairs(rows) do several[row.event] = true end
  if next(several, next(several)) then columns[1] = { "event", "string" } end
  for _, field in ipairs(settings.fields) do columns[#columns + 1] = { field, "any" } end
  for _, name in ipairs { "period", "spread_percent", "longer" } do
    columns[#columns + 1] = { name, "float" }
  end
  columns[#columns + 1] = { "runs", "unsigned" }
  local made = result_table.new(columns, "period")
  for _, row in ipairs(rows) do
    local values = { event = row.event, period = row.mean, spread_percent = 100 * row.spread,
      longer = row.longer, runs = row.runs }
    for i, field in ipairs(settings.fields) do values[field] = row.keys[i] end
    made:add(values)
  end
  made:note("rows", #rows, ("{row was|rows were} tested together; runs: how many a side find a "
    .. "change by %.4g %% in 95 of 100 comparisons; longer: three runs a side that are so many "
    .. "times as long find it, too"):format(100 * settings.change))
  return made:write({ csv = args.csv, json = args.json,
    count = args.count or not (args.csv or args.json) and ROWS or nil }, out)
end

-- Options cannot choose among what a saved table has counted. Returns what is wrong, or a note.
local function check_saved(args, before, after)
  local saved, names = before.saved or after.saved, samples.given(args)
  if not saved or not names then return nil end
  if not next(before.files) and not next(after.files) then
    return ("diff: %s: saved tables have no samples to choose from"):format(names)
  end
  return nil, ("%s: nothing was chosen in %s, a saved table"):format(names, saved)
end

-- Compares both sides and writes the table.
local function write_compared(before, after, args, settings, out)
  local wrong, note = check_saved(args, before, after)
  if wrong then return USAGE, wrong end
  local made = diff.compare(before, after, { per = settings.per, match = settings.match })
  if #made.data.result == 0 then
    made.data.comparison = { above = {}, below = { empty_text(before, after, args) } }
  end
  table.insert(made.data.comparison.above, note)
  if args.csv or args.json then
    if settings.count then made = made:top(settings.count) end
    if args.json then return write_json(made, out) end
    return write_csv(made, out, args)
  end
  return write_text(made, settings, out)
end

-- Returns whether a side can be read only once.
local function is_stream(side)
  for _, file in pairs(side.files) do
    if not file.size then return true end
  end
  return false
end

-- Draws the call stacks of both sides. The table follows, unless the graph is what is written
-- to standard output.
local function write_flame(before, after, args, settings, out)
  local graph = require "perflua.toolkit.change_graph"
  local wrong = sides.ask({ before, after }, graph.query)
  if wrong then return USAGE, "diff: " .. wrong end
  local ok, message = graph.write(before, after, settings,
    args.flame == "-" and out or args.flame, args.flame:find "%.html?$" ~= nil,
    function() return empty_text(before, after, args) end)
  if not ok then return nil, message end
  if args.flame == "-" then return 0 end
  if is_stream(before) or is_stream(after) then
    folding.log("diff", "no table: the graph has read a stream, which can be read only once")
    return 0
  end
  wrong = sides.ask({ before, after }, settings.make)
  if wrong then return USAGE, "diff: " .. wrong end
  return write_compared(before, after, args, settings, out)
end

-- The files of --plan are equal runs, of one side.
function tool.opens(args)
  if args.plan then return { args } end
  return sides.cut(args)
end

---@param before table a side
---@param args table
---@param out file*
---@param settings table what tool.prepare gave
---@param after table? the other side; nil with --plan
---@return integer | nil status
---@return string | nil message
function tool.run(before, args, out, settings, after)
  local write = settings.change and write_plan or args.flame and write_flame or write_compared
  local ok, status, message = pcall(function()
    local wrong = sides.ask({ before, after }, settings.make)
    if wrong then return USAGE, "diff: " .. wrong end
    return write(before, after, args, settings, out)
  end)
  if ok then return status, message end
  return nil, fmt.escape(strip_position(status))
end

return tool
