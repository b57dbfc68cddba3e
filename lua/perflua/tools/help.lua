-- perflua help: what tools there are, and what one of them, or a script, is for; the pages of
-- the manual.

local fmt = require "perflua.text.fmt"
local library = require "perflua.meta.library"
local suggest = require "perflua.errors.suggest"
local tools = require "perflua.tools"
local topics = require "perflua.toolkit.topics"

local help = {
  description = "list the tools, explain one, a script or a method, show a page of the manual",
  usage = "help [TOOL | TOPIC | METHOD | SCRIPT.lua]",
  reads = "nothing", operands = { 0, 1 },
  help = [[
perflua help topics lists the pages of the manual. A tool, page or script takes precedence over a
method of the same name; perflua help query:top is always the method.

A script is described by the comment at its top, or by meta = { description = …, needs = …,
record = … } in the table of handlers that it returns. A script that returns a function or a
query with groups can return the meta table as its second value. help does not run the script: it
reads meta from the text, so meta must be a table of constants.]],
}

local function list_tools(out)
  out:write("usage: perflua perf.data\n",
    "       perflua [options] script.lua [perf.data [args…]]\n",
    "       perflua [options] tool [args…]\n",
    "       perflua [options] -e STAT | -p LIST [perf.data…]\n\ntools:\n")
  local names, width = tools.names(), 7
  for _, name in ipairs(names) do
    width = math.max(width, #name)
  end
  for _, name in ipairs(names) do
    out:write(("  %s%s  %s\n"):format(name, (" "):rep(width - #name),
      tools.find(name).description))
  end
  out:write("\nperflua help TOOL explains a tool, perflua help topics lists the pages of the "
    .. "manual,\nperflua --help lists the options.\n")
end

local function list_topics(out)
  local names, width = topics.names(), 0
  for _, name in ipairs(names) do width = math.max(width, #name) end
  for _, name in ipairs(names) do
    out:write(name, (" "):rep(width + 2 - #name), topics.title(name), "\n")
  end
  out:write "\nperflua help TOPIC shows a page.\n"
end

local function explain_script(path, out)
  local meta, text, message = library.read(path)
  if not meta then return nil, text end
  if next(meta) then
    out:write(library.describe(path, meta))
    return
  end
  if text ~= "" then
    for line in (text .. "\n"):gmatch "([^\n]*)\n" do out:write(fmt.escape(line), "\n") end
  end
  if message then
    return nil, ("%s; perflua %s --help runs the script, and shows it"):format(message, path)
  elseif text == "" then
    return nil, path .. ": the script has no comment at its top and no meta.description"
  end
end

-- Returns the names that help explains.
local function known_names(host)
  local names = topics.names()
  for _, more in ipairs { tools.names(), topics.methods(), { "topics" },
    library.names(host) } do
    table.move(more, 1, #more, #names + 1, names)
  end
  return names
end

---@param text string
---@param host table what src/host/perflua.c gives
---@return string[] # names; of methods those with their class if the text has one
function help.completes(text, host)
  if text:find "^%l+[.:]" then return topics.methods(true) end
  return known_names(host)
end

function help.run(args, out, host)
  local name = args[1]
  if not name then
    return list_tools(out)
  end
  local described = name:find "^[%w_]+[.:][%w_]+$" and topics.method(name)
  if described then
    out:write(described)
    return
  end
  local tool = not name:find("[/.]") and tools.find(name)
  if tool then
    out:write(tools.help(name, tool))
    return
  elseif name == "topics" then
    return list_topics(out)
  end
  local text = topics.text(name)
  local path = name:find "[/.]" and name or not text and library.find(name)
  text = text or not path and topics.method(name)
  if path then
    return explain_script(path, out)
  elseif text then
    out:write(text)
  else
    return 2, suggest.message(("help: no tool, topic or method '%s'"):format(name), name,
      known_names(host))
  end
end

return help
