-- docs/tools.md: the help texts of all tools.

local tools = require "perflua.tools"

local intro = [[
# Tools

The program has these tools; `perflua help TOOL` prints the texts below. Made by `make docs`.
]]

---@return string # the page
local function page()
  local names, parts, links = tools.names(), { intro }, {}
  for i, name in ipairs(names) do links[i] = ("[%s](#%s)"):format(name, name) end
  parts[#parts + 1] = table.concat(links, " · ") .. "\n"
  for _, name in ipairs(names) do
    parts[#parts + 1] = ("## %s\n\n```text\n%s```\n"):format(name,
      tools.help(name, tools.find(name)))
  end
  return table.concat(parts, "\n")
end

return page
