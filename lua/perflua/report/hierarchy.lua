-- A report whose rows stand below those that have the same first fields, as perf report
-- --hierarchy has it: a row of each value of the first field, below it one of each value of the
-- second field with it …

local core = require "perflua.core"
local display = require "perflua.text.display"
local heads = require "perflua.report.heads"
local interrupted = require "perflua.table.interrupted"
local rows = require "perflua.report.rows"

local hierarchy = {}

local INDENT <const> = 3 -- blanks of a level, as in perf
local BATCH <const> = 1024 -- rows that are added between two looks at the interrupt

-- Splits columns into those of measures and those of fields.
local function split_columns(made)
  local measures, keys = {}, {}
  for _, column in ipairs(made) do
    local list = column.measure and measures or keys
    list[#list + 1] = column
  end
  return measures, keys
end

-- Each measure: the column of the view that is added up, and whether the sum is a number of
-- samples, a share of the event's period, or a sum of shares.
local added = {
  overhead = { "period", "share" }, sample = { "samples", "number" },
  period = { "period", "number" },
}

-- Describes the sums to the core.
local function sums_of(columns, event, places)
  local sums = {}
  for i, column in ipairs(columns) do
    local member = (event.members or { event })[column.slot]
    local from = added[column.measure] or { column.measure, "shares" }
    sums[i] = { at = places[rows.named(from[1], column.slot)], shown = from[2],
      total = (member.whole or member).period, room = column.room, joined = column.joined }
  end
  return sums
end

-- Adds the rows of an event, which are in the order of their fields, and raises the room of the
-- columns of fields. Sets event.written to the number of those that came before an interrupt.
local function add_rows(levels, view, event, keys)
  local last = event.first + event.n - 1
  event.written = 0
  for from = event.first, last, BATCH do
    if interrupted.now() then break end
    local to = math.min(last, from + BATCH - 1)
    core.report_levels_add(levels, view, from, to, keys)
    event.written = to + 1 - event.first
  end
end

-- Returns the numbers of the measures that nodes are sorted by: shares, first those of the
-- event that was asked for.
local function order_of(measures, first)
  local order = {}
  for i, column in ipairs(measures) do
    if column.measure == "overhead" and column.slot == first then
      table.insert(order, 1, i)
    elseif column.measure == "overhead" and column.slot > 1 then
      order[#order + 1] = i
    end
  end
  return order
end

-- Returns the lines above the rows.
local function head_of(measures, keys, before)
  local titles, room, line = {}, 0, "#"
  for i, column in ipairs(measures) do
    room = (column.joined and room or 0) + column.room
    if not (measures[i + 1] and measures[i + 1].joined) then
      local indent = line == "#" and 1 + (#keys - 1) * INDENT or 2
      line = line .. (" "):rep(indent) .. heads.pad(column.title, room, true)
    end
  end
  local widest = 0
  for i, key in ipairs(keys) do
    titles[i] = key.title
    widest = math.max(widest, key.room + (i - 1) * INDENT)
  end
  local title = table.concat(titles, " / ")
  return ("%s\n# %s  %s\n#\n"):format(display.styled(line .. "  " .. title, "heading"),
    ("."):rep(before - 2 + (#keys - 1) * INDENT), ("."):rep(math.max(widest, #title)))
end

---Writes a section, and sets event.written to the number of rows that it read.
---@param report table of report.read
---@param event table one of its events
---@param made table[] columns, of report/show.lua
---@param asked { limit: number, first: integer, quiet: boolean? } limit: the smallest share in
--- percent; first: the event of a group that rows are sorted by
---@param out file*
---@param graph table? as core.report_lines() takes it
function hierarchy.write(report, event, made, asked, out, graph)
  local measures, keys = split_columns(made)
  local order = order_of(measures, math.min(asked.first, #(event.members or { event })))
  local before = 0
  order.limited = 1
  for i, column in ipairs(measures) do
    before = before + column.room + (column.joined and 0 or 2)
    if column.measure == "overhead" and column.slot == 1 then order.limited = i end
  end
  local levels <close> = core.report_levels(report.view, keys,
    sums_of(measures, event, report.places))
  add_rows(levels, report.view, event, keys)
  if not asked.quiet then out:write(head_of(measures, keys, before)) end
  local drawn = event.members and event.members[1] or event
  order.limit, order.total = asked.limit, (drawn.whole or drawn).period
  order.color = made.color
  core.report_levels_write(levels, out, order, report.view, graph)
end

return hierarchy
