-- The lines of a report with a separator between cells, as perf report -t has them: measures
-- are at the left, after a blank, and all cells are padded.

local core = require "perflua.core"
local heads = require "perflua.report.heads"
local interrupted = require "perflua.table.interrupted"

local separated = {}

local BATCH <const> = 1024 -- rows that are written between two looks at the interrupt

local function pad_text(text, room)
  return text .. (" "):rep(room - (utf8.len(text) or #text))
end

-- Returns the cells of one line, of which measures of several events are one.
local function join_cells(line, made)
  local cells, texts, room = line:gmatch "[^\t]*", {}, 0
  for _, column in ipairs(made) do
    local text = cells()
    if column.group then
      text = (" "):rep(column.room - #text) .. text
    elseif column.measure then
      text = " " .. text
    end
    if column.joined then
      texts[#texts], room = texts[#texts]:gsub(" *$", "") .. text, room + column.room
    else
      texts[#texts + 1], room = text, column.room
    end
    texts[#texts] = column.last and texts[#texts] or pad_text(texts[#texts], room)
  end
  return texts
end

-- Returns the line above the rows.
function separated.head(made, separator)
  local titles, room, title = {}, 0, ""
  for c, column in ipairs(made) do
    room = (column.joined and room or 0) + column.room
    local blanks = column.group and (" "):rep(column.room - #column.title) or ""
    title = (column.joined and title or "") .. blanks .. column.title
    if not (made[c + 1] and made[c + 1].joined) then
      blanks = (" "):rep(room - (utf8.len(title) or #title))
      titles[#titles + 1] = column.measure and blanks .. title or title .. blanks
    end
  end
  local above = heads.above(made, separator)
  return (above and "# " .. above .. "\n" or "") .. "# " .. table.concat(titles, separator)
    .. "\n"
end

---Writes rows of a report.
---@param view userdata
---@param event table one of the report's events
---@param made table[] columns, of report/show.lua
---@param separator string in cells a point replaces its first character
---@param out file*
---@return integer # rows that were written before an interrupt
function separated.write(view, event, made, separator, out)
  local cells = { separator = "\t", table.unpack(made) }
  local first = separator:sub(1, 1)
  local point = first:gsub("%W", "%%%0")
  for from = 0, event.n - 1, BATCH do
    if interrupted.now() then return from end
    local to = math.min(event.n, from + BATCH)
    local text = core.report_lines(view, event.first + from, event.first + to - 1, cells, true)
    for line in text:gmatch "([^\n]*)\n" do
      local texts = join_cells(line, made)
      for i, cell in ipairs(texts) do texts[i] = cell:gsub(point, ".") end
      out:write(table.concat(texts, separator), "\n")
    end
  end
  return event.n
end

return separated
