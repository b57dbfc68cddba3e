-- man.lua DIR: writes the man page of each tool, perflua-TOOL.1, with the text that perflua
-- help shows. `make install` runs it.

local declared = require "perflua.toolkit.declared"
local tools = require "perflua.tools"

local here = arg[0]:match "^(.*/)" or ""
local dir = assert(arg[1], "usage: perflua docs/man.lua DIR")

-- The date of perflua's own page.
local date = assert(io.open(here .. "perflua.1")):read "l"

-- Escapes what roff takes for commands, hyphens and quotes.
local function escape(text)
  text = text:gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("'", "\\(aq"):gsub("`", "\\(ga")
  return (text:gsub("%f[^\n\0][.]", "\\&."))
end

local function page_of(name, tool)
  local page = {}
  local function add(...)
    for _, part in ipairs { ... } do page[#page + 1] = part end
  end
  add(date, "\n.Dt PERFLUA-", name:upper(), " 1\n.Os\n.Sh NAME\n.Nm perflua-", name, "\n.Nd ",
    escape(tool.description), "\n.Sh SYNOPSIS\n.Bd -literal\nperflua ", escape(tool.usage),
    "\n.Ed\n")
  local about, rows = tools.about(tool), declared.lines(tool)
  if about ~= "" then add(".Sh DESCRIPTION\n.Bd -literal\n", escape(about), ".Ed\n") end
  if #rows > 0 then add ".Sh OPTIONS\n.Bd -literal\n" end
  for _, row in ipairs(rows) do add(escape(row[1]), "\n        ", escape(row[2]), "\n") end
  if #rows > 0 then add ".Ed\n" end
  add ".Sh SEE ALSO\n.Xr perflua 1\n"
  return table.concat(page)
end

for _, name in ipairs(tools.names()) do
  local file <close> = assert(io.open(("%s/perflua-%s.1"):format(dir, name), "w"))
  assert(file:write(page_of(name, tools.find(name))))
end
