-- perflua list: the tools, and the scripts that are found by their names.

local fmt = require "perflua.text.fmt"
local library = require "perflua.meta.library"
local needs = require "perflua.meta.needs"
local tools = require "perflua.tools"

local tool = {
  description = "list tools and scripts that are found by name, and how to record for them",
  usage = "list",
  reads = "nothing", operands = { 0, 0 },
  help = [[
A script NAME.lua is run as perflua NAME if it is in the working directory, in a directory of
PERFLUA_PATH, or in $XDG_DATA_HOME/perflua (default: ~/.local/share/perflua). The first one found is run;
tools take precedence over scripts.]],
}

-- Writes a line for each entry, and below it its needs and how to record them.
local function write_entries(out, entries)
  local width = 0
  for _, entry in ipairs(entries) do width = math.max(width, utf8.len(entry.name) or 0) end
  for _, entry in ipairs(entries) do
    local pad = (" "):rep(width - (utf8.len(entry.name) or width))
    local title = ("  %s%s  %s"):format(entry.name, pad, entry.text)
    out:write(fmt.trim_end(title), "\n")
    for _, line in ipairs(entry.lines) do
      out:write((" "):rep(width + 4), line, "\n")
    end
  end
end

local function entry_of(name, text, described)
  local ok, lines = pcall(needs.lines, described)
  return { name = fmt.escape(name), text = fmt.escape(text), lines = ok and lines or {} }
end

---@param _ table
---@param out file*
---@param host table of the interpreter
function tool.run(_, out, host)
  local entries, found = {}, {}
  for _, name in ipairs(tools.names()) do
    local listed = tools.find(name)
    entries[#entries + 1], found[name] = entry_of(name, listed.description, listed), "the tool"
  end
  out:write "tools:\n"
  write_entries(out, entries)
  entries = {}
  for _, script in ipairs(library.scripts(host)) do
    local meta, comment = library.read(script.path)
    local text = meta and meta.description or meta and comment:match "[^\n]*" or ""
    local entry = entry_of(script.name, tostring(text), meta or {})
    local hidden = found[script.name]
    table.insert(entry.lines, fmt.escape(script.path)
      .. (hidden and (", hidden by %s"):format(hidden) or ""))
    found[script.name] = hidden or fmt.escape(script.path)
    entries[#entries + 1] = entry
  end
  if #entries == 0 then return end
  out:write "\nscripts:\n"
  write_entries(out, entries)
end

return tool
