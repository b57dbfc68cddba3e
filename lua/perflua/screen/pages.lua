-- Pages of text that a screen shows in place of rows.

local pages = {}

local MOVING <const> = { { "↑ ↓ PgUp PgDn Home End", "move" },
  { "Esc ←", "leave a page" }, { "h ?", "this help" } }

local names = { enter = "Enter" }

---@param home string[] lines before the keys
---@param commands table[] { key, what it does }
---@return string[]
function pages.help(home, commands)
  local lines = table.move(home, 1, #home, 1, {})
  lines[#lines + 1] = ""
  local function add(keys, text)
    lines[#lines + 1] = ("  %s%s  %s"):format(keys, (" "):rep(24 - utf8.len(keys)), text)
  end
  for _, row in ipairs(MOVING) do add(row[1], row[2]) end
  for _, command in ipairs(commands) do add(names[command[1]] or command[1], command[2]) end
  return lines
end

return pages
