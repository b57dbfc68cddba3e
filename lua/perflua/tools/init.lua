-- The tools of the interpreter. A tool NAME is the module perflua.tools.NAME, a table
--
--   description  one line, for `perflua help`
--   usage        "stat [--json] FILE"
--   help         longer text, or nil
--   options      option without its dashes → one line of documentation, or { VALUE,
--                documentation } of an option that takes a value; many = true: it may be
--                repeated, and its values are a list; or nil
--   refused      option that it does not take → why; or nil
--   several      true: it reads several recordings as one, "each": one after the other;
--                default: it reads one
--   operands     { least, most } of the arguments behind the recording; default: none. With
--                recordings = false: of all arguments, none of which is a recording by itself
--   needs        the needs of the tool, and the perf record command for them
--   record       (perflua.meta.needs); such a tool opens its recordings by needs.open(path,
--                tool), which says what they lack; or nil
--   run          function(args, out, host) → exit status (nil: 0); or nil, message; for `host`
--                see src/host/perflua.c
--
-- run gets its operands as the array part of args: args[1] is the path of the recording, or an
-- array of paths if there are several that are read as one; perf.data if none is named.
-- `args.json = true` is for --json, `args.event = "x"` for --event x or --event=x, `args.o =
-- "x"` for -o x or -ox. Options of one letter have one dash; a long one may be cut short where
-- no other begins like it. `args.csv` is "safe" for --csv-safe.

local needs = require "perflua.meta.needs"
local suggest = require "perflua.errors.suggest"

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

-- Names that perf has for options of tools, where they are called otherwise here.
local spellings = {
  s = "sort", n = "show-nr-samples", T = "show-total-period", F = "fields", b = "branch-stack",
  c = "comm", comms = "comm", d = "dso", dsos = "dso", S = "symbol", symbols = "symbol",
  C = "cpu", k = "vmlinux", input = "i", e = "event",
}

local INPUT = { "FILE", "the recording, as an argument without -i" }

-- Finds the option of a tool that a name stands for: the option's name, and the option; or nil
-- and the names of those that begin so.
local function find_option(tool, name)
  local options = tool.options or {}
  if options[name] then return name, options[name] end
  local meant = spellings[name]
  if meant and options[meant] then return meant, options[meant] end
  if tool.recordings ~= false and (name == "i" or meant == "i") then return "i", INPUT end
  local found = {}
  for _, candidate in ipairs(#name > 1 and suggest.names(options) or {}) do
    if #candidate > 1 and candidate:sub(1, #name) == name then found[#found + 1] = candidate end
  end
  if #found == 1 then return found[1], options[found[1]] end
  return nil, found
end

-- Returns what is wrong with an option that find_option does not know.
local function unknown_option(tool, word, name, candidates)
  local why = tool.refused and tool.refused[name]
  if why then return ("no option '%s': %s"):format(word, why) end
  if #candidates > 1 then
    return ("option '%s' is ambiguous: --%s"):format(word, table.concat(candidates, ", --"))
  end
  local long = {}
  for _, candidate in ipairs(suggest.names(tool.options or {})) do
    if #candidate > 1 then long[#long + 1] = candidate end
  end
  local closest = #name > 1 and suggest.closest(name, long)
  return ("unrecognized option '%s'%s"):format(word, closest
    and ("; the closest is '--%s'"):format(closest) or "")
end

-- Parses an option as it was written: its name, and a value joined to it.
local function split_word(word)
  local name, value = word:match "^%-%-([^=]+)=(.*)$"
  if name then return name, value end
  name = word:match "^%-%-(..+)$"
  if name then return name end
  name, value = word:match "^%-([^-])(.*)$"
  return name or word, value ~= "" and value or nil
end

-- Adds the option at words[i] to `parsed`. Returns the place behind it; or nil and what is
-- wrong.
local function parse_option(tool, words, i, parsed)
  local word = words[i]
  local written, value = split_word(word)
  local name, option = find_option(tool, written)
  if not name or type(option) == "string" and value then
    return nil, unknown_option(tool, word, written, name and {} or option)
  elseif type(option) == "string" then
    value = true
  elseif not value then
    i = i + 1
    value = words[i]
    if not value then return nil, ("option '%s' needs %s"):format(word, option[1]) end
  end
  if option == INPUT or type(option) == "table" and option.many then
    parsed[name] = parsed[name] or {}
    table.insert(parsed[name], value)
  else
    parsed[name] = value
  end
  return i + 1
end

local DEFAULT <const> = "perf.data"

local function check_number(n, least, most, extra)
  if n < least then return "an argument is missing" end
  if n > most then return ("one argument too many: '%s'"):format(extra(most + 1)) end
end

-- Replaces the operands by those that run gets: the recordings, by -i or without it, and what
-- is behind them. Returns what is wrong with them.
local function name_recordings(tool, parsed)
  local behind = table.unpack(tool.operands or { 0 })
  local paths = parsed.i or table.move(parsed, 1, #parsed - behind, 1, {})
  local others = table.move(parsed, math.max(#parsed - behind, 0) + 1, #parsed, 1, {})
  local wrong = parsed.i and check_number(#parsed, behind, behind, function(i)
    return parsed[i]
  end) or check_number(#others, behind, behind)
  if wrong then return wrong end
  if #paths == 0 then
    local there <close>, message = io.open(DEFAULT)
    if not there then return ("no recording is named, and %s"):format(message) end
    paths[1] = DEFAULT
  end
  wrong = check_number(#paths, 1, tool.several and math.huge or 1, function(i)
    return paths[i]
  end)
  if wrong then return wrong .. "; this tool reads one recording" end
  parsed.i = nil
  for i = 1, #parsed do parsed[i] = nil end
  if tool.several == true and paths[2] then paths = { paths } end
  table.move(paths, 1, #paths, 1, parsed)
  table.move(others, 1, #others, #paths + 1, parsed)
end

---Sorts the words of the user into options and operands; returns nil and what is wrong with
---them.
---@param tool table
---@param args string[]
---@return table?
---@return string?
function tools.parse(tool, args)
  local parsed = {}
  local i, only_operands = 1, false
  while args[i] do
    local word = args[i]
    if only_operands or not word:find "^%-." then
      table.insert(parsed, word)
      i = i + 1
    elseif word == "--" then
      i, only_operands = i + 1, true
    else
      local message
      i, message = parse_option(tool, args, i, parsed)
      if not i then return nil, message end
    end
  end
  if parsed["csv-safe"] then parsed.csv = "safe" end
  local wrong
  if tool.recordings == false then
    local least, most = table.unpack(tool.operands)
    wrong = check_number(#parsed, least, most, function(at) return parsed[at] end)
  else
    wrong = name_recordings(tool, parsed)
  end
  if wrong then return nil, wrong end
  return parsed
end

---@param args string[] words behind the name of a tool
---@return boolean # true if they ask for help
function tools.asks_help(tool, args)
  for _, word in ipairs(args) do
    if word == "--" then return false end
    if word == "--help" or word == "-h" and not (tool.options or {}).h then return true end
  end
  return false
end

-- Returns an option as it is written, with perf's letter for it.
local function spell_option(tool, name, value)
  local letter
  for other, meant in pairs(spellings) do
    if meant == name and #other == 1 and #name > 1 and not tool.options[other] then
      letter = other
    end
  end
  return (letter and ("-%s, "):format(letter) or "") .. (#name == 1 and "-" or "--") .. name
    .. (value and " " .. value or "")
end

---Returns the text of `perflua help NAME`.
---@return string
function tools.help(name, tool)
  local text = { ("perflua %s: %s\nusage: perflua %s\n"):format(name, tool.description,
    tool.usage) }
  if tool.help then
    table.insert(text, "\n" .. tool.help:gsub("\n*$", "\n"))
  end
  if tool.recordings ~= false then
    table.insert(text, ("\nFILE is a recording, or - for standard input; default: %s.%s\n")
      :format(DEFAULT, tool.several == true and " Several are read as one." or ""))
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
    local spelled = spell_option(tool, option, value)
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
