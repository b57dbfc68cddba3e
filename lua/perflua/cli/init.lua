-- The command line of the interpreter: what runs in which order, exit statuses. main() is
-- called by src/host/perflua.c with what Lua cannot do by itself (see push_host there).

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local interrupted = require "perflua.table.interrupted"
local options = require "perflua.cli.options"
local output = require "perflua.table.output"
local recordings = require "perflua.cli.recordings"
local screen = require "perflua.cli.screen"
local scripts = require "perflua.cli.scripts"
local strip_position = require("perflua.errors").strip_position
local traceback = require "perflua.cli.traceback"

local print_error = scripts.print_error

local cli = {}

---@param host table what src/host/perflua.c gives
---@return string
local function version_line(host)
  return ("perflua %s, %s"):format(host.version, host.lua)
end

---@param host table
---@return string # with what was built in
local function version_text(host)
  return table.concat({
    version_line(host),
    "with zstd " .. core.zstd,
    "with elfutils " .. core.elfutils,
    core.demangles and "with libiberty"
      or "without libiberty: names of C++ and Rust are not demangled",
    core.capstone and "with libcapstone " .. core.capstone
      or "without libcapstone: annotate shows source lines and offsets, no instructions",
    host.libedit and "with libedit " .. host.libedit
      or "without libedit: the prompt has no line editing and no history",
    host.screen and "with ncurses " .. host.screen.version
      or "without ncurses: top and browse print tables",
  }, "\n") .. "\n"
end

local FAILED, USAGE, INTERRUPTED = scripts.FAILED, scripts.USAGE, 130

-- Runs LUA_INIT as lua does: statements, or @ and a file.
local function run_init()
  for _, name in ipairs { "LUA_INIT_5_4", "LUA_INIT" } do
    local init = os.getenv(name)
    if init and init:sub(1, 1) == "@" then
      return scripts.run_chunk(loadfile(init:sub(2)))
    elseif init then
      return scripts.run_chunk(load(init, "=" .. name))
    end
  end
end

local function require_module(text)
  local global, module = text:match("^([^=]+)=(.+)")
  local status, result = scripts.call_protected(require, module or text)
  _G[global or text] = result
  return status
end

-- Runs what -e and -l say. Statements are scripts, with arguments and results that are used,
-- unless a script or tool follows.
local function run_actions(parsed, are_scripts)
  local last
  for i, action in ipairs(parsed.actions) do
    if action.letter == "e" then last = i end
  end
  for i, action in ipairs(parsed.actions) do
    local status
    if action.letter == "l" then
      status = require_module(action.value)
    elseif are_scripts and i == last then
      status = scripts.run_last(action.value)
    elseif are_scripts then
      status = scripts.run_statements(action.value)
    else
      status = scripts.run_chunk(load(action.value, "=(command line)", "t"))
    end
    if status then return status end
  end
end

-- Writes the lines of -p.
local function print_lines(list)
  local file, message, is_usage = recordings.file()
  if not file then
    print_error(fmt.escape(message))
    return is_usage and USAGE or FAILED
  end
  local lines = require "perflua.cli.lines" -- loaded when it is asked for
  local ok, write = pcall(lines.of, file:samples(), list)
  if not ok then
    print_error(strip_position(write))
    return USAGE
  end
  local _ <close> = screen.begin(nil, true)
  local status = scripts.call_protected(write, io.stdout)
  local part = interrupted.part()
  if part then print_error(interrupted.text(part)) end
  return status
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

-- Returns true if a word names a recording. A tool's name wins over a file of that name.
local function names_recording(word)
  return word ~= nil and not scripts.find_tool(word) and recordings.is(word)
end

-- Returns true if the words after the options are recordings, not a script or tool and its
-- arguments: those of -p, of statements, of a prompt.
local function are_recordings(argv, parsed, first)
  if parsed.list then return true end
  for _, action in ipairs(parsed.actions) do
    if action.letter == "e" then
      return not argv[first] or recordings.is_for_chunk(argv[first])
    end
  end
  return parsed.interactive and names_recording(argv[first])
end

-- Says what in the options does not go together; returns true if something does not.
local function is_contradictory(parsed, of_chunk)
  if #parsed.filters > 0 and not of_chunk then
    print_error "'-f' is for -e, -p and the prompt; tools have --where"
    return true
  end
  for _, argument in ipairs(of_chunk and parsed.interactive and arg or {}) do
    if argument == "-" then
      print_error("'-' cannot be a recording together with -i: the prompt reads standard input")
      return true
    end
  end
  return false
end

-- Runs what the options name, the script or tool, and the prompt.
local function run_program(argv, host, parsed, first)
  local of_chunk = are_recordings(argv, parsed, first)
  local is_alone = not of_chunk and names_recording(argv[first])
  if is_alone then table.insert(argv, first, "overview") end
  _G.perflua = require "perflua"
  require("perflua.query.new").on_empty(function(query)
    require "perflua.file.unfound".tell(query) -- loaded when it is asked for
  end)
  _G.arg = make_arg(argv, first, of_chunk)
  if is_contradictory(parsed, of_chunk) then return USAGE end
  local status = not parsed.no_environment and run_init() or nil
  local job
  if argv[first] and not of_chunk and not status then
    job, status = scripts.prepare(argv[first], host, #parsed.actions > 0)
  end
  if of_chunk then recordings.define_file(parsed.filters) end
  status = status or run_actions(parsed, of_chunk)
  if status then
    return status
  end
  if job then
    status = job()
  elseif parsed.list then
    status = print_lines(parsed.list)
  elseif parsed.banner or parsed.interactive or #parsed.actions > 0 then
    status = nil
  elseif host.is_terminal "stdin" then
    parsed.interactive = true
  else
    status = scripts.run(loadfile())
  end
  if parsed.interactive then
    io.stdout:write(version_line(host), "\n")
    if of_chunk then io.stdout:write(fmt.escape(recordings.title()), "\n") end
    require "perflua.cli.prompt".run(host, not parsed.no_environment, traceback.handle)
    return 0
  end
  return status
end

-- Restricts perflua and the modules below it to those inside the binary: a file such as
-- ./perflua/tools/x.lua is none of them.
local function refuse_foreign_modules()
  for i = 2, #package.searchers do -- the first one searches package.preload
    local search = package.searchers[i]
    package.searchers[i] = function(name)
      if name:match "^[^./]*" ~= "perflua" then return search(name) end
    end
  end
end

-- Adds a function to the host that measures where the time goes. Returns one that says it on
-- standard error, if it was measured, which os.exit() does as well.
local function add_measuring(host)
  local form -- "json" or true; nil: nobody asked, or it was said
  local function tell()
    if not form then return end
    local timing = require "perflua.timing" -- loaded when it is asked for
    io.stdout:flush()
    io.stderr:write(form == "json" and timing.json() or timing.text())
    form = nil
  end
  function host.measure(asked)
    local exit = os.exit
    form = asked
    core.measure()
    os.exit = function(...) -- luacheck: ignore 122
      tell()
      return exit(...)
    end
  end
  return tell
end

---@param argv table the program at 0, its arguments from 1
---@param host table what src/host/perflua.c gives
---@return integer exit status
function cli.main(argv, host)
  warn("@on")
  refuse_foreign_modules()
  local parsed, first = options.parse(argv)
  screen.init(host, parsed or {})
  if not parsed then
    print_error(first .. "\n" .. options.usage .. "see perflua --help")
    return USAGE
  elseif parsed.help then
    io.stdout:write(options.help)
    return 0
  elseif parsed.version then
    io.stdout:write(version_text(host))
    return 0
  elseif parsed.banner and not parsed.interactive then
    io.stdout:write(version_line(host), "\n")
  end
  ---Runs a tool or script over a recording: for tools that make one.
  function host.perform(name, path)
    _G.arg = { [0] = name, path }
    local job, status = scripts.prepare(name, host)
    return job and job() or status
  end
  local tell_timing = add_measuring(host)
  if parsed.timing then host.measure(parsed.timing) end
  if not parsed.quiet then host.show_progress() end
  traceback.always = parsed.traceback
  host.workers = parsed.workers
  if parsed.workers then host.set_threads(parsed.workers) end
  local status = run_program(argv, host, parsed, first) or 0
  tell_timing()
  if status == 0 and output.failure and not parsed.interactive then status = FAILED end
  return host.interrupted() and INTERRUPTED or status
end

return cli
