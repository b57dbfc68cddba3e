-- The lines above the rows of a report: titles of columns, and above those of parts of shares
-- (report/memory.lua) the title that they share.

local core = require "perflua.core"
local display = require "perflua.text.display"

local heads = {}

local count_columns = core.columns

---@param text string
---@param room integer terminal columns
---@param at_right boolean?
---@return string
function heads.pad(text, room, at_right)
  local blanks = (" "):rep(room - count_columns(text))
  return at_right and blanks .. text or text .. blanks
end

-- Returns a title amid dashes, as perf has it; of one column, the title.
local function amid_dashes(title, room, is_alone)
  if is_alone then return (" "):rep(room - #title) .. title end
  local left = math.max((room - #title) // 2 - 1, 0)
  local right = math.max(room - left - #title - 2, 0)
  return ("%s %s %s"):format(("-"):rep(left), title, ("-"):rep(right))
end

---@param made table[] columns of report/show.lua
---@param separator string
---@return string? # the line above their titles; nil: none is a part
function heads.above(made, separator)
  local titles, room, n, has_parts = {}, 0, 0, false
  for c, column in ipairs(made) do
    room, n = (column.joined and room or 0) + column.room, column.joined and n + 1 or 1
    if not (made[c + 1] and made[c + 1].joined) then
      titles[#titles + 1] = column.group and amid_dashes(column.group, room, n == 1)
        or (" "):rep(room)
      has_parts = has_parts or column.group ~= nil
    end
  end
  return has_parts and table.concat(titles, separator):gsub(" +$", "") or nil
end

-- Returns the lines above the rows. Columns that stand together have one title, but parts of
-- shares have their own, below one that they share.
local function head_of(made)
  local titles, dots, room, title = {}, {}, 0, ""
  for c, column in ipairs(made) do
    room = (column.joined and room or 0) + column.room
    title = (column.joined and title or "") .. (column.group
      and heads.pad(column.title, column.room, true) or column.title)
    if not (made[c + 1] and made[c + 1].joined) then
      titles[#titles + 1] = column.last and title or heads.pad(title, room, column.right)
      dots[#dots + 1] = ("."):rep(room)
    end
  end
  local head = display.styled("# " .. table.concat(titles, "  "), "heading") .. "\n# "
    .. table.concat(dots, "  ") .. "\n#\n"
  local above = heads.above(made, "  ")
  return above and display.styled("# " .. above, "heading") .. "\n" .. head or head
end

---Returns a function that returns the lines above rows with some columns. They are made again
---only when the columns, or the width of one, change from one event to the next.
---@return fun(made: table[]): string
function heads.cache()
  local rooms, head, last = {}, nil, nil
  return function(made)
    if made ~= last then head, last = nil, made end
    for c, column in ipairs(made) do
      if column.room ~= rooms[c] then rooms[c], head = column.room, nil end
    end
    head = head or head_of(made)
    return head
  end
end

return heads
