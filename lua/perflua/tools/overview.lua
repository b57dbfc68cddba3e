-- perflua overview FILE…, or perflua FILE: what a recording is, holds and can answer.

local display = require "perflua.text.display"
local fmt = require "perflua.text.fmt"
local json = require "perflua.text.json"
local overview = require "perflua.overview"
local show = require "perflua.overview.show"
local symbols = require "perflua.toolkit.symbols"
local tools = require "perflua.tools"

local tool = {
  description = "what was recorded, whether to trust it, where the time went, what to ask next",
  usage = "[overview] [options] FILE…",
  reads = "records", passes = 3, several = "each", paged = false,
  takes = "symbols", refused = "it describes whole recordings",
  options = { json = "print one JSON object per file, each on one line" },
  help = [[
Prints one screen, each part as soon as it is known: what the header says; samples by event and by
command; findings of perflua doctor; samples by function; commands that this recording answers, and what
to record to learn more. Samples are shown of each event that samples time: clocks and cycles; if there
is none, of each event that is not a tracepoint.]],
}

local FAILED <const> = 1

-- The functions of overview that find parts, in order, and the parts that are shown after each.
-- The pass of the check finds the names of threads on the way, which the others need.
local steps <const> = {
  { find = "describe", "describe" },
  { find = "check" },
  { find = "count", "count", "check" },
  { find = "name", "name" },
  { find = "suggest", "suggest" },
}

local function list_tools()
  local list = {}
  for i, name in ipairs(tools.names()) do list[i] = { name = name, tool = tools.find(name) } end
  return list
end

-- Returns the options by which the names of functions were found, for other tools.
local function spell_options(args)
  local words = {}
  for name, option in pairs(symbols.options) do
    local value = args[name]
    if value then
      words[#words + 1] = (" --%s%s"):format(name,
        type(option) == "table" and " " .. fmt.shell_word(value) or "")
    end
  end
  table.sort(words)
  return table.concat(words)
end

local function show_part(part, found, out)
  for _, line in ipairs(show[part](found)) do
    local form = type(line) == "table" and line or { line }
    local text = fmt.escape(form[1])
    local wrapped = form.is_whole and { text } or display.wrap(text, part == "suggest" and 4
      or show.INDENT)
    wrapped[1] = display.mark(wrapped[1], form[2])
    out:write(table.concat(wrapped, "\n"), "\n")
  end
  out:flush()
end

-- Finds the parts one after the other, and shows each at once where somebody looks.
local function examine(file, out, args)
  local found, list, options = {}, list_tools(), spell_options(args)
  for _, step in ipairs(steps) do
    overview[step.find](file, found, list, options)
    for _, part in ipairs(args.json and {} or step) do show_part(part, found, out) end
  end
  return found
end

---@param files fun(): integer?, perflua.File?, string? opens the next recording
---@param args table
---@param out file*
---@return integer? status
function tool.run(files, args, out)
  local status
  warn "@off" -- what it would say of damage is among the findings
  for i, file, message in files do
    if not file then
      io.stderr:write("perflua: ", fmt.escape(message), "\n")
      status = FAILED
    else
      if i > 1 and not args.json then out:write "\n" end
      local found = examine(file, out, args)
      if args.json then
        json.write(function(text) out:write(text) end, json.object(found))
        out:write "\n"
      end
    end
  end
  return status
end

return tool
