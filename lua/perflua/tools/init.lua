-- The tools of the interpreter. A tool NAME is the module perflua.tools.NAME, a table
--
--   description  one line, for `perflua help`
--   usage        "stat [--json] FILE"
--   help         longer text, or nil
--   reads        "samples": the samples of a recording that the options of toolkit/samples
--                choose; "records": a recording, to which the tool itself applies those
--                options that it takes; "sides": several recordings on each side; "nothing":
--                none is opened for it, and prepare, opens and needs are not used
--   options      option without its dashes → one line of documentation, or { VALUE,
--                documentation } of an option that takes a value; many = true: it may be
--                repeated, and its values are a list; values: names that shells complete it to,
--                of a list each part; fields = true: names of fields, too; or nil
--   takes        names of the options that it has in common with others: "samples" and
--                "symbols" stand for all of toolkit/samples and toolkit/symbols. Default:
--                "samples symbols" if it reads samples or sides, else none
--   refused      why it does not take the other options of samples; or nil
--   refuses      names of options that it does not have, and what to use in their place; or nil
--   letters      options by letters that stand for others in other tools; or nil
--   paged        false: no pager shows what it prints, which is for programs or comes as it
--                happens
--   several      true: it reads several recordings as one, "each": one after the other;
--                default: it reads one
--   operands     { least, most } of the arguments after the recording; default: none. If it
--                reads sides or nothing, which needs it: of all arguments
--   sides        a word that separates the arguments into two sides, such as --; args.before is
--                then the number of those in front of it, and options may stand on both
--   applies      with "samples": options that it applies itself; see samples.choose(); or nil
--   needs        the needs of the tool, and the perf record command for them
--   record       (perflua.meta.needs); what a recording lacks is an error; or nil
--   needed       function(args, settings) → the needs with these options; nil: none; and the
--                command that records them, if it is another one
--   prepare      function(args, out, host) → settings; or nil, what is wrong with the
--                options, said with the tool's name, status 2; or nil, message, status. It
--                runs before a recording is opened; or nil
--   opens        function(args, settings) → an array of recordings: a path or an array of
--                paths that are read as one; of sides, an array of paths; or nil, what is
--                wrong. Default: { args[1] }
--   completes    function(text, host) → names, to some of which shells may complete the text
--                of an operand; default: files
--   passes       how often it reads a recording as a whole at most, for progress, or a
--                function(args, file) that returns it; default: once
--   explain      function(file, args, settings, other) → the parts of what run would read
--                (toolkit/explained); or nil, what is wrong, status. The tool then has the
--                option --explain; or nil
--   queries      function(file, args, settings) → an array of perflua.toolkit.described, which
--                --explain prints instead of calling run; or nil, what is missing; or nil
--   run          function(read, args, out, settings, other) → exit status (nil: 0); or nil,
--                message. `read` is the File, or the side (perflua.toolkit.sides), `other` the
--                second one; with several = "each" an iterator: i, File or nil, message. If it
--                reads nothing: function(args, out, host); for `host` see src/host/perflua.c
--
-- perflua.toolkit.recordings opens recordings, and closes them after run; no tool does.
-- The operands are the array part of args: args[1] is the path of the recording, or an array of
-- paths if there are several that are read as one; perf.data if none is named.
-- `args.json = true` is for --json, `args.event = "x"` for --event x or --event=x, `args.o =
-- "x"` for -o x or -ox. Options of one letter have one dash; a long one may be cut short where
-- no other begins like it. `args.csv` is { safe =, crlf = } for --csv, --csv-safe and --crlf.

local tools = {}

local PREFIX = "perflua.tools."

-- The modules of options are loaded when a tool is run.
local function load_options() return require "perflua.options" end
local function load_declared() return require "perflua.toolkit.declared" end

---@param name string
---@return table | nil
function tools.find(name)
  local module = PREFIX .. name
  if not name:find("^[%w_-]+$") then return nil end
  for _, search in ipairs(package.searchers) do
    local loader = search(module)
    if type(loader) == "function" then return require(module) end
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

local DEFAULT <const> = "perf.data"

local function check_number(n, least, most, extra)
  if n < least then return "an argument is missing" end
  if n > most then return ("one argument too many: '%s'"):format(extra(most + 1)) end
end

-- Replaces the operands by those that run gets: the recordings, by -i or without it, and the
-- words after them. Returns what is wrong with them.
local function name_recordings(tool, parsed)
  local least, most = table.unpack(tool.operands or { 0 })
  -- of words that may be left out none is taken for the recording
  local n_operands = parsed.i and #parsed
    or math.max(least, math.min(most or least, #parsed - 1))
  local paths = parsed.i or table.move(parsed, 1, #parsed - n_operands, 1, {})
  local others = table.move(parsed, math.max(#parsed - n_operands, 0) + 1, #parsed, 1, {})
  local wrong = parsed.i and check_number(#parsed, least, most or least, function(i)
    return parsed[i]
  end) or check_number(#others, n_operands, n_operands)
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

-- Returns the words without the first one that parts the sides, and the number of operands in
-- front of it; nil if there is none.
local function join_sides(declared, args, between)
  for i, word in ipairs(args) do
    if word == between then
      local joined = table.move(args, 1, i - 1, 1, {})
      local _, operands = load_options().parse(declared, joined)
      table.move(args, i + 1, #args, i, joined)
      return joined, type(operands) == "table" and #operands or 0
    end
  end
  return args
end

---Sorts the words of the user into options and operands; returns nil and what is wrong with
---them.
---@param tool table
---@param args string[]
---@return table?
---@return string?
function tools.parse(tool, args)
  local declared, before = load_declared().of(tool), nil
  if tool.spell_out then args = tool.spell_out(args) end
  if tool.sides then args, before = join_sides(declared, args, tool.sides) end
  local parsed, operands = load_options().parse(declared, args)
  if not parsed then return nil, operands end
  parsed.before = before
  table.move(operands, 1, #operands, 1, parsed)
  if parsed.csv or parsed["csv-safe"] or parsed.crlf then
    parsed.csv = { safe = parsed["csv-safe"], crlf = parsed.crlf }
  end
  local wrong
  if load_declared().names_recording(tool) then
    wrong = name_recordings(tool, parsed)
  else
    local least, most = table.unpack(tool.operands)
    wrong = check_number(#parsed, least, most, function(at) return parsed[at] end)
  end
  if wrong then return nil, wrong end
  return parsed
end

---Runs a tool on the recordings that it reads.
---@param name string
---@param tool table
---@param args table what tools.parse gave
---@param out file*
---@param host table of the interpreter
---@return integer? status
---@return string? message
function tools.run(name, tool, args, out, host)
  if args.timing then host.measure(args.timing) end
  if tool.reads == "nothing" then return tool.run(args, out, host) end
  return require "perflua.toolkit.recordings".run(name, tool, args, out, host)
end

---@param tool table
---@return table # its options, for perflua.options
function tools.declared(tool) return (load_declared().of(tool)) end

---@param tool table
---@param args string[] words after the name of a tool
---@return boolean # true if they ask for help
function tools.asks_help(tool, args)
  return load_options().ask_help(load_declared().of(tool), args)
end

---@param tool table
---@return string # what it does: paragraphs, each with its line end; "" if nothing is said
function tools.about(tool)
  local parts = {}
  if tool.help then parts[#parts + 1] = tool.help:gsub("\n*$", "\n") end
  if load_declared().names_recording(tool) then
    parts[#parts + 1] = ("FILE is a recording, or - for standard input; default: %s.%s\n")
      :format(DEFAULT, tool.several == true and " Several are read as one." or "")
  end
  if tool.needs or tool.record then
    local needs = require "perflua.meta.needs" -- loaded when it is asked for
    parts[#parts + 1] = table.concat(needs.lines(tool), "\n") .. "\n"
  end
  return table.concat(parts, "\n")
end

---Returns the text of `perflua help NAME`.
---@return string
function tools.help(name, tool)
  local about, rows = tools.about(tool), load_declared().lines(tool)
  return ("perflua %s: %s\nusage: perflua %s\n"):format(name, tool.description, tool.usage)
    .. (about ~= "" and "\n" .. about or "")
    .. (#rows > 0 and "\n" .. load_options().columns(rows) or "")
end

return tools
