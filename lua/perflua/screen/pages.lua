-- Pages of text that a screen shows in place of rows: { title, lines, top }. A line is a text,
-- or { text, how it is drawn, share = { at, text, how it is drawn }? }.

local display = require "perflua.text.display"
local rows = require "perflua.screen.rows"

local pages = {}

local MOVING <const> = { { "↑ ↓ PgUp PgDn Home End", "move" },
  { "Esc ←", "leave a page" }, { "h ?", "this help" } }

local names = { enter = "Enter", escape = "Esc", ["\t"] = "Tab" }

---@param home string[] lines before the keys
---@param commands table[] { key, what it does }
---@return string[]
function pages.help(home, commands)
  local lines = table.move(home, 1, #home, 1, {})
  lines[#lines + 1] = ""
  local function add(keys, text)
    local line = ("  %s%s  %s"):format(keys, (" "):rep(24 - utf8.len(keys)), text)
    local wrapped = display.wrap(line, 28)
    table.move(wrapped, 1, #wrapped, #lines + 1, lines)
  end
  for _, row in ipairs(MOVING) do add(row[1], row[2]) end
  for _, command in ipairs(commands) do
    if command[2] then add(names[command[1]] or command[1], command[2]) end
  end
  return lines
end

---Draws the part of a page from its line `top` on.
---@param page table
---@param terminal table
---@param room integer lines
function pages.draw(page, terminal, room)
  page.top = math.max(math.min(page.top, #page.lines - room + 1), 1)
  terminal.put(1, 0, page.title, "bold")
  for i = 1, math.min(room, #page.lines - page.top + 1) do
    local line = page.lines[page.top + i - 1]
    if type(line) == "table" then
      terminal.put(1 + i, 0, line[1], line[2])
      if line.share then terminal.put(1 + i, table.unpack(line.share)) end
    else
      terminal.put(1 + i, 0, line)
    end
  end
end

-- Returns a line of a tree of calls, whose share is drawn as that of a row.
local function color_share(line, look_of)
  local at, share = line:match "^[ |]*%-%-()([%d.]+)%%%-%-"
  local look = share and look_of(tonumber(share))
  return look and { line, share = { at - 1, share .. "%", look } } or line
end

---Reads the calls of a row for a page, of the report that is shown now.
---@param page table { key, graphs } key: of rows.key_of; graphs: { title, graph } each
---@param screen table
function pages.fill_calls(page, screen)
  local row = rows.find(screen.report, screen:current(), page.key)
  page.lines = {}
  local function add(line) page.lines[#page.lines + 1] = line end
  if not row then return add "  the row has no samples" end
  local look = screen.look_of(select(2, rows.key_of(screen.report, row)))
  for i, part in ipairs(page.graphs) do
    local lines = rows.write(screen, row, 1, part[2])
    if i == 1 then add { lines[1], look } end
    if page.lines[#page.lines] ~= "" then add "" end
    add { part[1], "bold" }
    for at = 2, #lines do add(color_share(lines[at], screen.look_of)) end
    if not lines[2] then add(("  none of %g %% or more"):format(part[2].least)) end
  end
end

return pages
