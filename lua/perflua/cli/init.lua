-- The command line of the interpreter: options, scripts, tools, exit statuses. main() is called
-- by src/host/perflua.c with what Lua cannot do by itself (see push_host there).

local fmt = require "perflua.text.fmt"
local interrupted = require "perflua.table.interrupted"
local strip_position = require("perflua.errors").strip_position
local recordings = require "perflua.cli.recordings"
local returned = require "perflua.meta.returned"
local suggest = require "perflua.errors.suggest"
local tools = require "perflua.tools"
local traceback = require "perflua.cli.traceback"
local version = require "perflua.cli.version"

local cli = {}

local FAILED, USAGE, INTERRUPTED = 1, 2, 130

local usage = [=[
usage: perflua [options] script.lua [perf.data [args…]]
       perflua [options] tool [args…]
       perflua [options] -e STAT [perf.data…]
]=]

local help = usage .. [[

An argument with / or . is a script. Any other word is a tool (perflua help lists
them) or else a script file of that name. - is a script on standard input. Without
arguments, on a terminal, perflua is a prompt.

  -e STAT     run the Lua statements STAT; recordings after the options, or -, are
              arg[1] … and, opened together, the global `file`; default: perf.data
  -i          start a prompt after the script
  -l NAME     require NAME into the global of that name; -l GLOBAL=NAME
  -v          print the version
  -W          turn warnings on (default)
  -E          ignore environment variables
  --quiet     no progress line on the terminal
  -j N        read with at most N workers, 1 to 16; --threads N is the old name
  --          end of options
  --help      print this text
  --version   print the version and the libraries built in
]]

local flags = {
  ["-i"] = "interactive",
  ["-v"] = "banner",
  ["-W"] = "warnings",
  ["-E"] = "no_environment",
  ["--quiet"] = "quiet",
  ["--help"] = "help",
  ["--version"] = "version",
}

local function print_error(message)
  io.stdout:flush()
  io.stderr:write("perflua: ", message, "\n")
end

-- Parses argv. Returns options and the index of the script or tool; or nil and what is wrong.
local function parse_options(argv)
  local options = { actions = {} }
  local i = 1
  while argv[i] and argv[i]:find("^%-.") do
    local word = argv[i]
    i = i + 1
    local letter, value = word:match("^%-([el])(.*)")
    if word == "--" then
      break
    elseif flags[word] then
      options[flags[word]] = true
    elseif word == "--threads" or word:find "^%-j" then
      local text = word:match "^%-j(.+)"
      if not text then text, i = argv[i], i + 1 end
      options.workers = math.tointeger(tonumber(text))
      if not options.workers or options.workers < 1 or options.workers > 16 then
        return nil, ("'%s' needs a number from 1 to 16"):format(word:sub(1, 2) == "-j" and "-j"
          or word)
      end
    elseif letter then
      if value == "" then
        value = argv[i]
        i = i + 1
        if not value or value:find("^%-") then
          return nil, ("'%s' needs an argument"):format(word)
        end
      end
      table.insert(options.actions, { letter = letter, value = value })
    else
      return nil, ("unrecognized option '%s'"):format(word)
    end
  end
  return options, i
end

-- Runs fn(...) → status nil and what it returned, or FAILED after the error was reported. fn is
-- called by xpcall itself: so a traceback says "main chunk" where there is one.
local function call_protected(fn, ...)
  local ok, result, more = xpcall(fn, traceback, ...)
  if ok then
    return nil, result, more
  end
  print_error(result)
  return FAILED
end

local function file_exists(path)
  local file = io.open(path)
  return file and file:close()
end

-- Uses the value that a script returned: runs handlers over its arguments as recordings, shows
-- a table.
local function use_returned(value, second)
  local meta, message = returned.meta(value, second), nil
  if returned.is_handlers(value) then
    local file <close>, why = recordings.open(meta or {})
    if file then file:run(value) else message = why end
  else
    local result
    result, message = returned.table(value, recordings.open, meta)
    if result then print(result) else message = message or returned.useless(value) end
  end
  if message then
    print_error(fmt.escape(message))
    return FAILED
  end
end

-- Runs a script, or complains about why there is none.
local function run_script(chunk, message)
  if not chunk then
    print_error(message)
    return FAILED
  end
  local status, result, second = call_protected(chunk, table.unpack(arg))
  if status or result == nil then return status end
  local failed
  failed, status = call_protected(use_returned, result, second)
  return failed or status
end

-- Beginnings of Lua's own error messages.
local faults = { "^attempt to ", "^bad argument ", "^table index is ",
  "^number has no integer ", "^invalid " }

-- Says what a tool raised to the user who runs it. Errors of Lua itself are faults of ours, and
-- keep their place.
local function raised_by(name, raised)
  local message = strip_position(raised)
  for _, fault in ipairs(faults) do
    if message:find(fault) then
      return ("%s: this is a bug in perflua, please report it: %s"):format(name, raised)
    end
  end
  return ("%s: %s"):format(name, message)
end

local function run_tool(name, tool, host)
  if tools.asks_help(tool, arg) then
    io.stdout:write(tools.help(name, tool))
    return 0
  end
  local args, wrong = tools.parse(tool, arg)
  if not args then
    print_error(("%s: %s\nusage: perflua %s"):format(name, wrong, tool.usage))
    return USAGE
  end
  local ok, status, message = pcall(tool.run, args, io.stdout, host)
  local part = ok and not interrupted.told and interrupted.part()
  if part then print_error(interrupted.text(part)) end
  if part and message then message = nil end -- what there was not may be in what was not read
  if not ok then
    status, message = nil, raised_by(name, status)
  end
  if message then
    print_error(fmt.escape(message))
    status = status or FAILED
  end
  return status
end

-- Returns a function that runs the script or tool that an argument names; or complains, and
-- returns nil and a status. The script is loaded at once, so that no chunk of -e runs if the
-- argument is mistaken.
local function prepare_action(word, host)
  if word == "-" then return function() return run_script(loadfile()) end end
  local tool = not word:find("[/.]") and tools.find(word)
  if tool then
    return function() return run_tool(word, tool, host) end
  elseif not word:find("[/.]") and not file_exists(word) then
    local closest = suggest.closest(word, tools.names())
    local hint = closest and ("did you mean '%s'? "):format(closest) or ""
    print_error(("'%s' is neither a tool nor a script file; %sperflua help lists the tools")
      :format(fmt.escape(word), hint))
    return nil, USAGE
  end
  local chunk, message = loadfile(word)
  if chunk then return function() return run_script(chunk) end end
  local is_recording = recordings.is(word)
  print_error(fmt.escape(is_recording
    and ("%s is a recording, not a script; try: perflua stat %s"):format(word, word)
    or message))
  return nil, is_recording and USAGE or FAILED
end

local function run_chunk(chunk, message)
  if chunk then
    return (call_protected(chunk))
  end
  print_error(message)
  return FAILED
end

-- Runs LUA_INIT as lua does: statements, or @ and a file.
local function run_init()
  for _, name in ipairs { "LUA_INIT_5_4", "LUA_INIT" } do
    local init = os.getenv(name)
    if init and init:sub(1, 1) == "@" then
      return run_chunk(loadfile(init:sub(2)))
    elseif init then
      return run_chunk(load(init, "=" .. name))
    end
  end
end

local actions = {}

-- Runs a chunk as a script, with arguments and a result that is used, unless a script or tool
-- follows.
function actions.e(text, is_script)
  return (is_script and run_script or run_chunk)(load(text, "=(command line)", "t"))
end

function actions.l(text)
  local global, module = text:match("^([^=]+)=(.+)")
  local status, result = call_protected(require, module or text)
  _G[global or text] = result
  return status
end

local function run_actions(options, are_scripts)
  for _, action in ipairs(options.actions) do
    local status = actions[action.letter](action.value, are_scripts)
    if status then
      return status
    end
  end
end

-- Returns `arg`: the script at 0, its arguments above, the words before it below. A chunk's
-- arguments follow the program, which is at 0.
local function make_arg(argv, first, of_chunk)
  if of_chunk then return table.move(argv, first, #argv, 1, { [0] = argv[0] }) end
  local args = {}
  local script = argv[first] and first or 0
  for i = 0, #argv do
    args[i - script] = argv[i]
  end
  return args
end

-- Returns true if there is a chunk of -e, and neither a script nor a tool: the words behind the
-- options are its arguments.
local function is_of_chunk(argv, host, options, first)
  for _, action in ipairs(options.actions) do
    if action.letter == "e" then
      return not argv[first] or recordings.is_for_chunk(argv[first], host)
    end
  end
  return false
end

-- Runs what the options name, the script or tool, and the prompt.
local function run_program(argv, host, options, first)
  local of_chunk = is_of_chunk(argv, host, options, first)
  _G.perflua = require "perflua"
  _G.arg = make_arg(argv, first, of_chunk)
  for _, argument in ipairs(of_chunk and options.interactive and arg or {}) do
    if argument == "-" then
      print_error("'-' cannot be a recording together with -i: the prompt reads standard input")
      return USAGE
    end
  end
  local status = not options.no_environment and run_init() or nil
  local job
  if argv[first] and not of_chunk and not status then
    job, status = prepare_action(argv[first], host)
  end
  if of_chunk then recordings.define_file() end
  status = status or run_actions(options, of_chunk)
  if status then
    return status
  end
  if job then
    status = job()
  elseif options.banner or options.interactive or #options.actions > 0 then
    status = nil
  elseif host.is_terminal() then
    options.interactive = true
  else
    status = run_script(loadfile())
  end
  if options.interactive then
    io.stdout:write(version.line(host), "\n")
    require "perflua.cli.prompt".run(host, not options.no_environment, traceback)
    return 0
  end
  return status
end

---@param argv table the program at 0, its arguments from 1
---@param host table what src/host/perflua.c gives
---@return integer exit status
function cli.main(argv, host)
  warn("@on")
  local options, script = parse_options(argv)
  if not options then
    print_error(script .. "\n" .. usage .. "see perflua --help")
    return USAGE
  elseif options.help then
    io.stdout:write(help)
    return 0
  elseif options.version then
    io.stdout:write(version.text(host))
    return 0
  elseif options.banner and not options.interactive then
    io.stdout:write(version.line(host), "\n")
  end
  if not options.quiet then host.show_progress() end
  if options.workers then host.set_threads(options.workers) end
  local status = run_program(argv, host, options, script) or 0
  return host.interrupted() and INTERRUPTED or status
end

return cli
