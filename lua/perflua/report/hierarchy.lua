-- A report whose rows stand below those that have the same first fields, as perf report
-- --hierarchy has it: a row of each value of the first field, below it one of each value of the
-- second field with it …

local core = require "perflua.core"
local interrupted = require "perflua.table.interrupted"
local rows = require "perflua.report.rows"

local hierarchy = {}

local INDENT <const> = 3 -- blanks of a level, as in perf
local BATCH <const> = 1024 -- rows that are read between two looks at the interrupt

local count_columns = core.columns

---@param text string
---@param room integer terminal columns
---@param at_right boolean?
---@return string
function hierarchy.pad(text, room, at_right)
  local blanks = (" "):rep(room - count_columns(text))
  return at_right and blanks .. text or text .. blanks
end

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

-- Returns the names of the columns that are added up, and functions that show the sums.
local function measures_of(columns, event)
  local names, shown = {}, {}
  for i, column in ipairs(columns) do
    local one = (event.members or { event })[column.slot]
    local total = (one.whole or one).period
    local from = added[column.measure] or { column.measure, "shares" }
    names[i] = rows.named(from[1], column.slot)
    shown[i] = function(sum)
      if from[2] == "number" then return ("%d"):format(sum) end
      return ("%.2f%%"):format(from[2] == "shares" and sum or total > 0 and 100.0 * sum / total
        or 0)
    end
  end
  return names, shown
end

local function new_node(text, n)
  local sums = {}
  for i = 1, n do sums[i] = 0 end
  return { text = text, sums = sums, list = {}, by = {} }
end

-- Adds a row, whose line has the values of its fields and then its numbers, to the nodes of its
-- values, and raises the room of the columns of fields. Returns the node of the row.
local function add_row(root, line, keys, n)
  local node, cells = root, line:gmatch "[^\t]*"
  local path = {}
  for i = 1, #keys do
    local text = cells()
    local child = node.by[text]
    if not child then
      child = new_node(text, n)
      node.by[text] = child
      node.list[#node.list + 1] = child
      keys[i].room = math.max(keys[i].room, count_columns(text))
    end
    node, path[i] = child, child
  end
  for m = 1, n do
    local value = tonumber(cells())
    for i = 1, #keys do path[i].sums[m] = path[i].sums[m] + value end
  end
  return node
end

-- Reads the rows of an event, which are in the order of their fields. Sets event.written to the
-- number of those that came before an interrupt.
local function read_rows(view, event, names, keys, places)
  local root, last = new_node("", 0), event.first + event.n - 1
  local cells = { separator = "\t", table.unpack(keys) }
  for i, name in ipairs(names) do cells[#keys + i] = { at = places[name], shown = "exact" } end
  event.written = 0
  for from = event.first, last, BATCH do
    if interrupted.now() then break end
    local to, i = math.min(last, from + BATCH - 1), from
    for line in core.report_lines(view, from, to, cells, true):gmatch "([^\n]*)\n" do
      add_row(root, line, keys, #names).row = i
      i = i + 1
    end
    event.written = i - event.first
  end
  return root
end

-- Sorts nodes by their measures, in their order, the greatest first; others stay as they are.
local function sort_nodes(nodes, order)
  for i, node in ipairs(nodes) do node.place = i end
  table.sort(nodes, function(a, b)
    for _, i in ipairs(order) do
      if a.sums[i] ~= b.sums[i] then return a.sums[i] > b.sums[i] end
    end
    return a.place < b.place
  end)
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

local Section = {}
Section.__index = Section

-- Writes the cells of a node's measures; `level` is 0 for the first field.
function Section:write_measures(node, level)
  local cells = {}
  for i, column in ipairs(self.measures) do
    local text = self.shown[i](node.sums[i])
    cells[i] = (" "):rep(column.room - #text + (column.joined and 0 or 2)) .. text
  end
  self.out:write((" "):rep(level * INDENT), table.concat(cells))
end

-- Writes nodes that weigh enough, and what is below them.
function Section:write_nodes(nodes, level)
  local out, n = self.out, 0
  sort_nodes(nodes, self.order)
  for _, node in ipairs(nodes) do
    if self.total > 0 and 100.0 * node.sums[self.limited] / self.total >= self.limit then
      n = n + 1
      self:write_measures(node, level)
      out:write((" "):rep(self.margin), node.text)
      if node.row and self.graph then
        core.report_lines(self.view, node.row, node.row, {}, out, self.graph)
      else
        out:write "\n"
      end
      if not node.row then self:write_nodes(node.list, level + 1) end
    end
  end
  if n == 0 and level > 0 then
    out:write((" "):rep(level * INDENT + self.before), (" "):rep(self.margin),
      ("no entry >= %.2f%%\n"):format(self.limit))
  end
end

-- Returns the lines above the rows.
local function head_of(measures, keys, before)
  local titles, room, line = {}, 0, "#"
  for i, column in ipairs(measures) do
    room = (column.joined and room or 0) + column.room
    if not (measures[i + 1] and measures[i + 1].joined) then
      local indent = line == "#" and 1 + (#keys - 1) * INDENT or 2
      line = line .. (" "):rep(indent) .. hierarchy.pad(column.title, room, true)
    end
  end
  local widest = 0
  for i, key in ipairs(keys) do
    titles[i] = key.title
    widest = math.max(widest, key.room + (i - 1) * INDENT)
  end
  local title = table.concat(titles, " / ")
  return ("%s  %s\n# %s  %s\n#\n"):format(line, title,
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
  local names, cells = measures_of(measures, event)
  local order = order_of(measures, math.min(asked.first, #(event.members or { event })))
  local before = 0
  for _, column in ipairs(measures) do
    before = before + column.room + (column.joined and 0 or 2)
  end
  local root = read_rows(report.view, event, names, keys, report.places)
  if not asked.quiet then out:write(head_of(measures, keys, before)) end
  local drawn = event.members and event.members[1] or event
  local section = setmetatable({ view = report.view, out = out, measures = measures,
    shown = cells, order = order, limit = asked.limit, total = (drawn.whole or drawn).period,
    limited = 1, margin = 2 + (#keys - 1) * INDENT, before = before, graph = graph }, Section)
  for i, column in ipairs(measures) do
    if column.measure == "overhead" and column.slot == 1 then section.limited = i end
  end
  section:write_nodes(root.list, 0)
end

return hierarchy
