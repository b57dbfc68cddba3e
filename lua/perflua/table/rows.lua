-- The rows of a Table: what is shown of its result, for scripts, for output and as text. The
-- core makes them, as a view of the result, when they are first asked for.

local core = require "perflua.core"
local display = require "perflua.text.display"
local fmt = require "perflua.text.fmt"
local interrupted = require "perflua.table.interrupted"
local json = require "perflua.text.json"
local row_output = require "perflua.table.row_output"
local sums = require "perflua.measures.sums"
local usage_error = require("perflua.errors").usage_error
local whole = require "perflua.table.whole"

local rows = {}

-- The sums that shares are of, where the result does not have them itself.
local function totals_of(data)
  if not data.whole then return nil end
  local totals, n = {}, 0
  for m, measure in ipairs(data.measures) do
    if measure.measure == "share" then
      n = n + 1
      for at, sum in pairs(whole.totals(data, n)) do
        totals[#totals + 1] = { measure = m, whole = at, sum = sum }
      end
    end
  end
  return totals
end

-- Makes a view of the result with these columns. Raises if it has none.
local function make_view(self, columns)
  local data, view, show = self.data, self.view, self.show
  local made, wrong, n = core.result_view(data.result, {
    columns = columns, conditions = view.conditions, by = view.place,
    ascending = show.ascending, top = show.top, per = view.per, pivot = view.pivot,
    n_pivot = show.pivot and show.pivot.n, totals = totals_of(data),
  })
  if wrong == "wide" then
    local name = view.columns[view.pivot].name
    usage_error("pivot: '%s' has %d values; pivot(\"%s\", n) makes columns of the n greatest",
      name, n, name)
  end
  return made or usage_error("%s", sums.wrong[wrong])
end

---@param self perflua.Table
---@return userdata # the view of its result
function rows.view(self)
  local made = rawget(self, "rows_view")
  if not made then
    made = make_view(self, self.view.columns)
    self.rows_view = made
  end
  return made
end

-- Returns the view for people: words stand for values that have some.
local function text_view(self)
  local columns, has_words = {}, false
  for i, column in ipairs(self.view.columns) do
    columns[i] = column
    if column.words then
      has_words = true
      columns[i] = setmetatable({ measure = column.words, verdict = true },
        { __index = column })
    end
  end
  return has_words and make_view(self, columns) or rows.view(self)
end

---@param self perflua.Table
---@return string?, string? # what an interrupt did to the table: as text, and in JSON
function rows.interruption(self)
  local part = self.data.interrupted
  if not part then return nil end
  local value, unnamed = interrupted.value(part, self.data.is_unnamed or false)
  return interrupted.text(part, self.data.is_unnamed or false),
    json.encode { interrupted = value, unnamed = unnamed }
end

---@param self perflua.Table
---@param i integer
---@return table? # row i, as scripts see it; nil: there is none
function rows.row(self, i)
  local view = rows.view(self)
  if i < 1 or i > #view then return nil end
  local row, section = core.view_row(view, i)
  if self.data.events then row.event = self.data.events[section] end
  return row
end

-- Returns the sections of rows as { section, from, to }.
local function sections_of(self)
  local view, list = rows.view(self), {}
  local n, from = #view, 1
  while from <= n do
    local section, low, high = core.view_section(view, from), from, n
    while low < high do -- the last row of the section
      local middle = (low + high + 1) // 2
      if core.view_section(view, middle) == section then low = middle else high = middle - 1 end
    end
    list[#list + 1] = { section = section, from = from, to = low }
    from = low + 1
  end
  return list
end

-- Returns whether the result has more than one event, so that the event must be shown.
local function several_events(self)
  local view = rows.view(self)
  return self.data.events and #view > 0
    and core.view_section(view, 1) ~= core.view_section(view, #view)
end

---Writes the rows, with their event where it must be told.
---@param self perflua.Table
---@param format "csv"|"json"
---@param file file* an open file, or an object with a function write
---@param options { safe: boolean?, crlf: boolean?, stack: function? } see core.view_write
---@return integer? rows, string? message, string? code # that were written
function rows.write(self, format, file, options)
  local view = rows.view(self)
  options.events = several_events(self) and self.data.events or nil
  return row_output.rows(file, #view, options, function(out)
    return core.view_write(format, out, options, view, 1, #view)
  end)
end

-- Returns the line above the rows of an event.
local function heading_of(data, event)
  local distinction = data.distinctions and data.distinctions[event] or ""
  return "# " .. fmt.escape((data.events[event] or "unknown event")
    .. (distinction ~= "" and (" (%s)"):format(distinction) or ""))
end

---@param self perflua.Table
---@return string # the rows, a section for each event if there are several
function rows.text(self)
  local view, parts = text_view(self), {}
  local function add(text) parts[#parts + 1] = text end
  if not several_events(self) then
    core.view_write("text", add, display.form(), view, 1, #view)
  else
    for i, section in ipairs(sections_of(self)) do
      add((i > 1 and "\n" or "") .. heading_of(self.data, section.section) .. "\n")
      core.view_write("text", add, display.form(), view, section.from, section.to)
    end
  end
  return (table.concat(parts):gsub("\n$", ""))
end

return rows
