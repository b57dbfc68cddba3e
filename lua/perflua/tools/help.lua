-- perflua help: what tools there are, and what one of them, or a script, is for.

local describe = require "perflua.meta.describe"
local returned = require "perflua.meta.returned"
local tools = require "perflua.tools"

local help = {
  description = "list the tools, or explain one of them or a script",
  usage = "help [TOOL | SCRIPT.lua]",
  recordings = false, operands = { 0, 1 },
  help = [[
A script is described by the comment at its top, or by meta = { description = …, needs = …,
record = … } in the table of handlers that it returns. A script that returns a function or a
query with groups may return the meta table as its second value.]],
}

local function list_tools(out)
  out:write("usage: perflua [options] script.lua [perf.data [args…]]\n",
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
  out:write("\nperflua help TOOL explains a tool, perflua --help lists the options.\n")
end

-- Returns the comment at the top of a script, without its dashes.
local function top_comment(source)
  local lines = {}
  for line in source:gsub("^#[^\n]*\n", ""):gmatch("([^\n]*)\n?") do
    local text = line:match("^%-%-%s?(.*)")
    if not text then
      break
    end
    table.insert(lines, text)
  end
  return table.concat(lines, "\n")
end

-- Returns the meta of a script. A script that does not assign to `meta` or `description`
-- outside of comments is not run.
local function meta_of(path, source)
  local code = source:gsub("%-%-[^\n]*", "")
  if not code:find "%f[%w_]meta%s*=[^=]" and not code:find "%f[%w_]description%s*=[^=]" then
    return nil
  end
  local chunk = loadfile(path)
  local ok, value, second = pcall(chunk or error)
  return ok and returned.meta(value, second) or nil
end

local function explain_script(path, out)
  local file, message = io.open(path)
  if not file then
    return nil, message
  end
  local source = file:read("a")
  file:close()
  if not source then
    return nil, path .. ": cannot be read"
  end
  local meta = meta_of(path, source)
  local text = top_comment(source)
  if meta then
    out:write(describe(path, meta))
  elseif text ~= "" then
    out:write(text, "\n")
  else
    return nil, path .. ": the script has no comment at its top and no meta.description"
  end
end

function help.run(args, out)
  local name = args[1]
  if not name then
    return list_tools(out)
  end
  local tool = not name:find("[/.]") and tools.find(name)
  if tool then
    out:write(tools.help(name, tool))
  elseif name:find("[/.]") then
    return explain_script(name, out)
  else
    return 2, ("help: no tool '%s'; perflua help lists the tools"):format(name)
  end
end

return help
