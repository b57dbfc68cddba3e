-- A report as perf report --stdio prints it: a section for each event.

local columns = require "perflua.report.columns"
local core = require "perflua.core"
local display = require "perflua.text.display"
local fmt = require "perflua.text.fmt"
local heads = require "perflua.report.heads"
local hierarchy = require "perflua.report.hierarchy"
local interrupted = require "perflua.table.interrupted"
local rows = require "perflua.report.rows"
local separated = require "perflua.report.separated"
local suggest = require "perflua.errors.suggest"

local headings = {
  comm = "Command", pid = "    Pid:Command", dso = "Shared Object",
  srcline = "Source:Line", cpu = "CPU",
  cgroup_path = "Cgroup", cgroup_id = "cgroup id (dev/inode)",
  symbol_daddr = "Data Symbol", dso_daddr = "Data Object",
  trace = "Trace output",
  comm_nodigit = "CommandNoDigit", srcfile = "Source File", symbol_size = "Symbol size",
  dso_size = "DSO size", parent = "Parent symbol", mem = "Memory access", tlb = "TLB access",
  dcacheline = "Data Cacheline", phys_daddr = "Data Physical Address",
  local_weight = "Local Weight", local_ins_lat = "Local INSTR Latency",
  ins_lat = "INSTR Latency", local_p_stage_cyc = "Local Pipeline Stage Cycle",
  p_stage_cyc = "Pipeline Stage Cycle", local_retire_lat = "Local Retire Latency",
  retire_lat = "Retire Latency",
}

-- Returns the heading of a field's column, as perf report prints it.
local function title_of(field)
  if field:find("[^%w_.]") then return field end -- an expression
  return headings[field] or field:sub(1, 1):upper() .. field:sub(2):gsub("_", " ")
end

local show = {}

local count_columns = core.columns

local SHORTEST <const> = 12 -- columns of a name that is shortened

local SHARE <const>, COUNT <const> = 8, 12 -- columns that they take at least, as in perf
local PART <const> = 7 -- columns of a part of shares

local right = { signed = true, unsigned = true, address = true, float = true }

-- Numbers that perf has at the left.
local left = { local_weight = true, weight = true, local_ins_lat = true, ins_lat = true,
  local_p_stage_cyc = true, p_stage_cyc = true, local_retire_lat = true, retire_lat = true }

-- Columns as the core has them for lines (src/script/report.h).
local function column_of(title, at, is_right)
  return { title = title, at = at, right = is_right, least = count_columns(title) }
end

-- How the core shows fields, if not as they are.
local shown_as = { cpu = "cpu", socket = "cpu", time = "time" }

local function key_column(key, at, is_ns)
  local column = column_of(title_of(key.name), at, right[key.kind] and not left[key.name])
  column.shown = shown_as[key.name] or "plain"
  if is_ns and key.name == "time" then column.shown = "time_ns" end
  return column
end

-- Returns the column of a field that perf shows otherwise than queries do.
local function perf_column(key, at, places, labels)
  local column = column_of(key.heading or title_of(key.name), at, false)
  column.shown, column.least = key.shown, math.max(column.least, key.least or 0)
  for place, number in pairs(key.beside_at) do column[place] = places[number] end
  column.labels = labels
  return column
end

local function symbol_column(at, cpumode)
  local column = column_of(title_of("symbol"), at, false)
  column.shown, column.beside = "symbol", cpumode
  return column
end

-- Returns the fields that an option gives one value, which then has no column, as in perf; but
-- one field is left. Callers may have other binaries and functions than those chosen.
local function elided_of(report, shown)
  local elided, n = {}, 0
  for _, key in ipairs(report.keys) do
    if not key.hidden and key.name ~= "cpumode" then
      local is_chosen = key.name == "comm"
        or not (report.has_callers or report.branches)
          and (key.name == "dso" or key.name == "symbol")
      local value = is_chosen and shown[key.name]
      elided[key.name] = value and not value:find(",", 1, true) and value or nil
      n = n + (elided[key.name] and 0 or 1)
    end
  end
  return n > 0 and elided or {}
end

-- Returns lines that tell the values of such fields.
local function tell_elided(elided)
  local lines = {}
  for _, name in ipairs(suggest.names(elided)) do
    lines[#lines + 1] = ("# %s: %s\n"):format(name, fmt.escape(elided[name]))
  end
  return table.concat(lines)
end

local in_view = { overhead_children = "children_percent", overhead = "percent",
  sample = "samples" }

-- Adds a column of the branches in call chains. Events that are shown together have one.
local function add_branches(list, name, measure, places)
  local column = column_of(measure.title, places[name] or places.percent, false)
  column.shown, column.beside = measure.of_branches, places.callchain_branch_ends
  list[#list + 1] = column
end

-- Adds the column of a part of shares, unless it is that of no sample. The parts of a column
-- stand together; of several events, they are those of the first.
local function add_part(list, report, event, name, measure)
  local own = event.members and event.members[1] or event
  for i, extra in ipairs(report.extra) do
    if extra == name and (own.whole or own).sums[i] == 0 then return end
  end
  local column, before = column_of(measure.title, report.places[name], true), list[#list]
  column.shown, column.least, column.measure, column.slot = "tenths", PART, name, 1
  column.group, column.joined = measure.group, before and before.group == measure.group
  list[#list + 1] = column
end

-- Adds the columns of a measure, which stand together, one for each of the events that are
-- shown together.
local function add_measure(list, report, name, slots, is_exact)
  local places, measure = report.places, columns.measure(name)
  local is_self = name == "overhead" and report.children and not is_exact -- as perf calls it
  local title = is_self and "Self" or measure.title
  for slot = 1, slots do
    local at = places[rows.named(in_view[name] or name, slot)]
    if measure.of_branches then return add_branches(list, name, measure, places) end
    local column = column_of(slot == slots and title or "", at or places.percent, true)
    local least = measure.least or measure.share and SHARE or COUNT
    column.least = slots > 1 and least or math.max(column.least, least)
    column.joined, column.measure, column.slot = slot > 1, name, slot
    if not at then column.shown = "none" end
    if measure.average then
      column.shown, column.beside = "average", places[rows.named("samples", slot)]
    end
    list[#list + 1] = column
    if not at then -- once for all events, as perf
      column.least, column.title = column.least * slots, measure.title
      return
    end
  end
end

-- Returns the column of a field, which is number i of the keys.
local function field_column(report, i, is_ns)
  local key, places = report.keys[i], report.places
  if key.shown then
    return perf_column(key, places[i], places, report.labels)
  elseif key.name == "symbol" then
    return symbol_column(places[i], places[#report.keys])
  end
  local column = key_column(key, places[i], is_ns)
  if columns.is_summed(report.fields[i].word) then
    column.shown, column.beside = "times", places.samples
  end
  return column
end

-- Returns the names of the columns that options ask for, without shares that the report does
-- not have, unless it must have those that are named.
local function names_of(report, asked)
  local function is_there(name) return report.places[in_view[name] or name] ~= nil end
  local function is_shown(name) return is_there(name) or not columns.is_of_callers(name) end
  return columns.join(columns.keep(asked.first, is_there),
    asked.has_all and asked.named or columns.keep(asked.named, is_shown))
end

-- Returns the columns of an event, or of `slots` of them; and whether they are those of others.
local function columns_of(report, asked, shown, elided, slots, event)
  local made, numbers, names = {}, {}, names_of(report, asked)
  for i, field in ipairs(report.fields) do
    numbers[field.word] = i
    -- perf adds instructions per cycle after the named fields
    if not asked.shown or field.name == "ipc_lbr" then names[#names + 1] = field.word end
  end
  local has_parts = false
  for _, name in ipairs(names) do
    local i, measure = numbers[name], columns.measure(name)
    if not i and measure.group then
      add_part(made, report, event, name, measure)
      has_parts = true
    elseif not i then
      add_measure(made, report, name, slots, asked.is_exact)
    elseif not elided[report.keys[i].name] then
      made[#made + 1] = field_column(report, i, shown.ns)
    end
  end
  if #made > 0 then made[#made].last = asked.separator or not made[#made].right end
  made.color = display.form().color
  return made, not has_parts
end

local BATCH <const> = 1024 -- rows that are written between two looks at the interrupt

-- Measures the first n rows of an event, or writes them. If `stops` is true, an interrupt ends
-- it. Returns the number of rows that it came to.
local function each_batch(view, event, n, made, stops, out, graph)
  for from = 0, n - 1, BATCH do
    if stops and interrupted.now() then return from end
    core.report_lines(view, event.first + from, event.first + math.min(n, from + BATCH) - 1,
      made, out, graph)
  end
  return n
end

-- Sets the rooms that -w asks for: numbers of terminal columns, 0 for what cells take. Columns
-- that stand together are one.
local function fix_rooms(made, widths)
  local i = 0
  for _, column in ipairs(made) do
    i = i + (column.joined and 0 or 1)
    local room = widths and not column.group and widths[i] or 0
    if room > 0 then
      column.room, column.fixed = room, true
      column.title = column.title:sub(1, room)
    end
  end
end

-- Describes the trees below the rows of an event to the core; nil: there are none.
local function describe_trees(report, event)
  local graph = report.graph
  if not graph or graph.form == "none" then return nil end
  local drawn = event.members and event.members[1] or event
  return { trees = report.trees, form = graph.form, value = graph.value, most = graph.most,
    least = graph.least / 100, callees = graph.callees, total = (drawn.whole or drawn).period,
    skips_top = report.begins_with_symbol, color = display.form().color }
end

-- Makes columns of names narrower where lines are longer than the terminal.
local function fit_columns(made)
  local room, widths, least = display.form().columns, {}, {}
  if not room then return end
  for c, column in ipairs(made) do
    local gap = column.joined and 0 or 2
    widths[c] = column.room + gap
    column.cut = not column.right and column.shown ~= "time" and column.shown ~= "time_ns"
    least[c] = column.cut and math.min(widths[c], math.max(SHORTEST, column.least) + gap)
      or widths[c]
  end
  core.fit_columns(widths, least, room)
  for c, column in ipairs(made) do column.room = widths[c] - (column.joined and 0 or 2) end
end

---@param report table of report.read
---@param asked table columns, of report/columns.lua
---@param shown table<string, any> --comm, --dso, --symbol; --ns; --quiet: rows alone
---@param out file*
---@return fun(event: table) # writes one of its events, and sets event.written to the number of
--- rows that it wrote. With event.fits, an event, columns fit the rows of that, too
function show.sections(report, asked, shown, out)
  local elided = asked.hierarchy and {} or elided_of(report, shown)
  local by_slots, head, view = {}, heads.cache(), report.view
  if report.events[1] and not shown.quiet then out:write(tell_elided(elided)) end
  local stops = not interrupted.now()
  return function(event)
    local slots = event.members and #event.members or 1
    local made = by_slots[slots]
    if not made then
      local is_for_others
      made, is_for_others = columns_of(report, asked, shown, elided, slots, event)
      by_slots[slots] = is_for_others and made or nil
    end
    for _, column in ipairs(made) do column.room = column.least end
    if asked.hierarchy then
      return hierarchy.write(report, event, made, asked.hierarchy, out,
        describe_trees(report, event))
    end
    fix_rooms(made, asked.widths)
    if event.fits then each_batch(view, event.fits, event.fits.n, made) end
    local n = each_batch(view, event, event.n, made, stops)
    if asked.separator then
      if not shown.quiet then out:write(separated.head(made, asked.separator)) end
      event.written = separated.write(view, event, made, asked.separator, out)
      return
    end
    if not asked.widths then fit_columns(made) end
    if not shown.quiet then out:write(head(made)) end
    -- rows that were measured before an interrupt are written
    event.written = each_batch(view, event, n, made, stops and n == event.n, out,
      describe_trees(report, event))
  end
end

return show
