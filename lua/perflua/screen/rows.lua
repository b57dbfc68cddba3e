-- The rows of a report on a screen, and how their shares changed.

local core = require "perflua.core"
local display = require "perflua.text.display"
local show = require "perflua.report.show"

local rows = {}

--- The number of rows of an event that are compared, and that columns fit.
rows.MOST_KNOWN = 1000
local CHANGE <const> = 9 -- columns

-- Returns the event with the first of its rows alone.
local function first_rows(event)
  return setmetatable({ n = math.min(event.n, rows.MOST_KNOWN) }, { __index = event })
end

---@param report table of report.read
---@param row integer of its view
---@return string # what identifies the row
---@return number share in percent
function rows.key_of(report, row)
  local cells, parts = core.view_row(report.view, row), {}
  for i, key in ipairs(report.keys) do parts[i] = tostring(cells[key.name]) end
  return table.concat(parts, "\0"),
    cells[report.has_callers and "children_percent" or "percent"]
end

local key_of = rows.key_of

---@param report table
---@param event table one of its events
---@param key string of key_of
---@return integer? # the row among the first ones
function rows.find(report, event, key)
  for row = event.first, event.first + first_rows(event).n - 1 do
    if key_of(report, row) == key then return row end
  end
end

---@param report table
---@return table<integer, table<string, number>> # the shares of the first rows of each event,
--- by what identifies the rows
function rows.shares_of(report)
  local all = {}
  for _, event in ipairs(report.events) do
    local shares = {}
    for row = event.first, event.first + first_rows(event).n - 1 do
      local key, share = key_of(report, row)
      shares[key] = share
    end
    all[event.index or 0] = shares
  end
  return all
end

---@param screen table
---@param first integer row of the view
---@param n integer
---@param graph table? the calls below each row, of report/graph.lua
---@return string[] # rows of the event as text
---@return string # the heads of their columns
function rows.write(screen, first, n, graph)
  local event, lines, head = screen:current(), {}, ""
  local report = setmetatable({ graph = graph or false }, { __index = screen.report })
  local _, width = screen.terminal.size()
  local out = screen.out
  display.set { columns = math.max(width - (screen.earlier and CHANGE or 0), 1) }
  out:seek("set", 0)
  show.sections(report, screen.columns, screen.chosen, out)(
    setmetatable({ first = first, n = n, fits = first_rows(event) }, { __index = event }))
  local size = out:seek()
  out:seek("set", 0)
  for line in (out:read(size) or ""):gmatch "([^\n]*)\n" do
    if line:sub(1, 1) ~= "#" then
      lines[#lines + 1] = line
    elseif line:find "^# [^.]" then
      head = " " .. line:sub(2)
    end
  end
  return lines, head
end

-- Returns how much a share changed, in the room of its column; blanks: it was not known.
local function change_of(screen, row)
  if not screen.earlier then return "" end
  local earlier = screen.earlier[screen:current().index or 0] or {}
  local key, share = key_of(screen.report, row)
  local change = earlier[key] and share - earlier[key]
  local text = change and math.abs(change) >= 0.005 and ("%+.2f%%"):format(change) or ""
  return ("%" .. CHANGE .. "s"):format(text)
end

---Draws the rows around the one that is chosen.
---@param screen table
---@param room integer lines
---@param width integer columns
function rows.draw(screen, room, width)
  local terminal, event = screen.terminal, screen:current()
  screen.at = math.max(math.min(screen.at, event.n), 1)
  screen.top = math.max(math.min(screen.top, screen.at, event.n - room + 1),
    screen.at - room + 1, 1)
  local n = math.min(room, event.n - screen.top + 1)
  local lines, head = rows.write(screen, event.first + screen.top - 1, n)
  local change = screen.earlier and ("%" .. CHANGE .. "s"):format "Change" or ""
  terminal.put(1, 0, change .. head, "bold")
  for i, line in ipairs(lines) do
    local row = event.first + screen.top + i - 2
    local _, share = key_of(screen.report, row)
    local text, look = change_of(screen, row) .. line, screen.look_of(share)
    if screen.top + i - 1 == screen.at then
      text, look = text .. (" "):rep(width - core.columns(text)), "reverse"
    end
    terminal.put(1 + i, 0, text, look)
  end
end

return rows
