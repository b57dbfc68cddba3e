-- The tools of the interpreter. A tool NAME is the module perflua.tools.NAME, a table
--
--   description  one line, for `perflua help`
--   usage        "stat [--json] FILE"
--   help         longer text, or nil
--   options      option without its dashes → one line of documentation; or nil
--   operands     {least, most} of the other arguments; without it exactly one
--   run          function(args, out) → exit status (nil: 0); or nil, message
--
-- run gets its operands as the array part of args and `args.json = true` for --json.

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

---What the user gave, sorted into options and operands; nil and what is wrong with it.
---@return table | nil
---@return string | nil
function tools.parse(tool, args)
  local parsed = {}
  local options = tool.options or {}
  local only_operands = false
  for _, word in ipairs(args) do
    local option = not only_operands and word:match("^%-%-?(.+)")
    if option == "-" then
      only_operands = true
    elseif not option then
      table.insert(parsed, word)
    elseif word:find("^%-%-") and options[option] then
      parsed[option] = true
    else
      return nil, ("unrecognized option '%s'"):format(word)
    end
  end
  local least, most = table.unpack(tool.operands or { 1, 1 })
  if #parsed < least then
    return nil, "an argument is missing"
  elseif #parsed > most then
    return nil, ("one argument too many: '%s'"):format(parsed[most + 1])
  end
  return parsed
end

---The text of `perflua help NAME`.
---@return string
function tools.help(name, tool)
  local text = { ("perflua %s: %s\nusage: perflua %s\n"):format(name, tool.description, tool.usage) }
  if tool.help then
    table.insert(text, "\n" .. tool.help:gsub("\n*$", "\n"))
  end
  local options = {}
  for option, doc in pairs(tool.options or {}) do
    table.insert(options, ("  --%-10s %s\n"):format(option, doc))
  end
  if #options > 0 then
    table.sort(options)
    table.insert(text, "\n" .. table.concat(options))
  end
  return table.concat(text)
end

return tools
