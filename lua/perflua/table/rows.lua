-- The rows of a Table: what is shown of its groups, for scripts, for output and as text.

local cells = require "perflua.table.cells"
local fmt = require "perflua.text.fmt"
local interrupted = require "perflua.table.interrupted"
local json = require "perflua.text.json"
local lines = require "perflua.table.lines"

local rows = {}

---@param self perflua.Table
---@return table[] # the lines that are shown, in order; they are computed once
function rows.select(self)
  if not rawget(self, "lines") then
    local seen
    self.lines, self.turned, seen = lines.of(self.data, self.view)
    local is_part = seen and seen < #self.data.groups
    local top = self.show.top
    self.seen = is_part and seen or nil
    self.left_out = seen and (is_part or not (top and top <= interrupted.MOST)) or nil
  end
  return self.lines
end

---@param self perflua.Table
---@return string?, string? # what an interrupt did to the table: as text, and in JSON
function rows.interruption(self)
  local data, n = self.data, #rows.select(self)
  if not (data.interrupted or rawget(self, "left_out")) then return nil end
  local text, all = interrupted.text(data.interrupted or 1), data.total or #data.groups
  local show = self.show
  local top = show.top and show.top <= interrupted.MOST
  if not (top or show.pivot or show.having) and n < all then
    text = ("%s: %d of %d rows"):format(text, n, all)
  end
  if rawget(self, "seen") then
    text = ("%s, chosen among the first %d of %d groups"):format(text, self.seen, all)
  end
  return text, json.encode { interrupted = interrupted.value(data.interrupted or 1) }
end

---@param self perflua.Table
---@param line table
---@return table # as scripts see it
function rows.row(self, line)
  local result, events = {}, self.data.events
  if self.view.pivot then
    cells.fill_row(result, line, self.view)
  else
    for i, column in ipairs(self.view.columns) do result[column.name] = line[i] end
  end
  if events then result.event = events[line.event] end
  return result
end

-- Returns whether the result has more than one event, so that the event must be shown.
local function several_events(self)
  if not self.data.events then return false end
  local list = rows.select(self)
  return #list > 0 and list[1].event ~= list[#list].event
end

---@param self perflua.Table
---@return table[] columns, table[] rows as they are written, those of one event or of all: with
--- the event, where it must be told
function rows.collect(self)
  local list, columns = rows.select(self), self.view.columns
  if self.view.pivot then columns, list = cells.rows(list, self.view, self.turned) end
  if not several_events(self) then return columns, list end
  local n, with_event = #columns, {}
  for l, line in ipairs(rows.select(self)) do
    with_event[l] = table.move(list[l], 1, n, 2, { self.data.events[line.event] })
  end
  return table.move(columns, 1, n, 2, { { name = "event", kind = "string" } }), with_event
end

-- Columns and rows of some lines as text.
local function format_lines(self, list, stops)
  local columns = self.view.columns
  if self.view.pivot then
    columns, list = cells.rows(list, self.view, self.turned, true)
  end
  return fmt.lines(columns, list, stops)
end

-- Returns the lines of a table as text; only the first of them if an interrupt ends it.
local function lines_of_text(self)
  local list = rows.select(self)
  local text = format_lines(self, list, #list > interrupted.MOST and interrupted.now or nil)
  if text then return text end
  collectgarbage "stop" -- it would look through all lines; the prompt starts it again
  self.lines = table.move(list, 1, interrupted.MOST, 1, {})
  self.left_out = true
  return format_lines(self, self.lines)
end

-- Returns the line above the rows of an event.
local function heading_of(data, event)
  local distinction = data.distinctions and data.distinctions[event] or ""
  return "# " .. fmt.escape((data.events[event] or "unknown event")
    .. (distinction ~= "" and (" (%s)"):format(distinction) or ""))
end

---@param self perflua.Table
---@return string # the lines that are shown, a section for each event if there are several
function rows.text(self)
  local list = rows.select(self)
  if not several_events(self) then return table.concat(lines_of_text(self), "\n") end
  local sections, from = {}, 1
  while from <= #list do
    local event, section = list[from].event, {}
    while list[from] and list[from].event == event do
      section[#section + 1] = list[from]
      from = from + 1
    end
    sections[#sections + 1] = heading_of(self.data, event) .. "\n"
      .. table.concat(format_lines(self, section), "\n")
  end
  return table.concat(sections, "\n\n")
end

return rows
