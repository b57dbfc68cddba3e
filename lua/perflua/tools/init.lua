-- The tools of the interpreter. A tool NAME is the module perflua.tools.NAME, a table
--
--   description  one line, for `perflua help`
--   usage        "stat [--json] FILE"
--   help         longer text, or nil
--   options      option without its dashes → one line of documentation, or { VALUE,
--                documentation } of an option that takes a value; many = true: it may be
--                repeated, and its values are a list; or nil
--   operands     { least, most } of the other arguments; default: exactly one
--   needs        the needs of the tool, and the perf record command for them
--   record       (perflua.meta.needs); such a tool opens its recordings by needs.open(path,
--                tool), which says what they lack; or nil
--   run          function(args, out, host) → exit status (nil: 0); or nil, message; for `host`
--                see src/host/perflua.c
--
-- run gets its operands as the array part of args, `args.json = true` for --json, `args.event =
-- "x"` for --event x or --event=x, `args.o = "x"` for -o x or -ox. Options of one letter have
-- one dash. `args.csv` is "safe" for --csv-safe.

local needs = require "perflua.meta.needs"

local tools = {}

local PREFIX = "perflua.tools."

---@param name string
---@return table | nil
function tools.find(name)
  local module = PREFIX .. name
  if not name:find("^[%w_-]+$") then
    return nil
  elseif package.preload[module] or package.searchpath(module, package.path) then
    return require(module)
  end
end

---Names of the tools inside the binary.
---@return string[]
function tools.names()
  local names = {}
  for module in pairs(package.preload) do
    if module:sub(1, #PREFIX) == PREFIX then
      table.insert(names, module:sub(#PREFIX + 1))
    end
  end
  table.sort(names)
  return names
end

-- Parses an option as it was written: its name, the tool's option, and a value joined to it.
local function option_of(options, word)
  local name, value = word:match("^%-%-([^=]+)=(.*)$")
  if not name then
    name = word:match("^%-%-(..+)$") or word:match("^%-([^-])$")
  end
  if not name then
    name, value = word:match("^%-([^-])(.+)$")
  end
  local option = name and options[name]
  if type(option) == "string" and value then
    return nil
  end
  return name, option, value
end

---Sorts the words of the user into options and operands; returns nil and what is wrong with
---them.
---@return table | nil
---@return string | nil
function tools.parse(tool, args)
  local parsed = {}
  local options = tool.options or {}
  local i, only_operands = 1, false
  while args[i] do
    local word = args[i]
    i = i + 1
    if only_operands or not word:find("^%-.") then
      table.insert(parsed, word)
    elseif word == "--" then
      only_operands = true
    else
      local name, option, value = option_of(options, word)
      if not option then
        return nil, ("unrecognized option '%s'"):format(word)
      elseif type(option) == "string" then
        value = true
      elseif not value then
        value = args[i]
        i = i + 1
        if not value then
          return nil, ("option '%s' needs %s"):format(word, option[1])
        end
      end
      if type(option) == "table" and option.many then
        parsed[name] = parsed[name] or {}
        table.insert(parsed[name], value)
      else
        parsed[name] = value
      end
    end
  end
  if parsed["csv-safe"] then parsed.csv = "safe" end
  local least, most = table.unpack(tool.operands or { 1, 1 })
  if #parsed < least then
    return nil, "an argument is missing"
  elseif #parsed > most then
    return nil, ("one argument too many: '%s'"):format(parsed[most + 1])
  end
  return parsed
end

---Returns the text of `perflua help NAME`.
---@return string
function tools.help(name, tool)
  local text = { ("perflua %s: %s\nusage: perflua %s\n"):format(name, tool.description,
    tool.usage) }
  if tool.help then
    table.insert(text, "\n" .. tool.help:gsub("\n*$", "\n"))
  end
  if tool.needs or tool.record then
    table.insert(text, ("\n%s\n"):format(table.concat(needs.lines(tool), "\n")))
  end
  local lines, width = {}, 10
  for option, doc in pairs(tool.options or {}) do
    local value
    if type(doc) == "table" then
      value, doc = doc[1], doc[2]
    end
    local spelled = (#option == 1 and "-" or "--") .. option .. (value and " " .. value or "")
    table.insert(lines, { spelled, doc, option:lower() .. option })
    width = math.max(width, utf8.len(spelled))
  end
  table.sort(lines, function(a, b)
    return a[3] < b[3]
  end)
  if #lines > 0 then
    table.insert(text, "\n")
  end
  for _, line in ipairs(lines) do
    table.insert(text, ("  %s%s  %s\n"):format(line[1], (" "):rep(width - utf8.len(line[1])),
      line[2]))
  end
  return table.concat(text)
end

return tools
