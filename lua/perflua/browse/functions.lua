-- The functions of a report's rows: their code with its samples as lines of a page.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local text = require "perflua.annotate.text"

local functions = {}

local ABOVE <const> = 5 -- lines

---@param report table of report.read
---@param row integer of its view
---@return table? # its cells; nil: it names no function
function functions.cells(report, row)
  local cells = core.view_row(report.view, row)
  local symbol = cells.symbol -- an address where no function is known
  return symbol and not symbol:find "^0x%x+$" and cells or nil
end

---@param read table of annotate.read
---@param cells table of functions.cells
---@param screen table on which they are shown, with the event
---@return table # the lines of a page, and its `title`; `hottest`: the number of the line to
--- begin with, some lines above the one with the most samples. Empty if the function has no
--- samples of the event
function functions.lines(read, cells, screen)
  local event = screen:current()
  local index = (event.members and event.members[1] or event).index
  local lines, most = { hottest = 1 }, 0
  for _, func in ipairs(read:hottest(index)) do
    if func.symbol == cells.symbol and (not cells.dso or fmt.base_name(func.dso) == cells.dso
      or func.dso == cells.dso) then
      local listing = read:listing(func)
      lines.title = ("%s  %s"):format(fmt.escape(func.symbol), fmt.escape(func.dso))
      text.write(listing, { listing:event(index) }, {}, function(line, share)
        lines[#lines + 1] = { line, share and screen.look_of(share) }
        if share and share > most then
          lines.hottest, most = #lines - ABOVE, share
        end
      end)
      break
    end
  end
  return lines
end

return functions
