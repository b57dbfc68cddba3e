-- Runs scripts, tools and the statements of -e, and says what was wrong with them.

local display = require "perflua.text.display"
local fmt = require "perflua.text.fmt"
local interrupted = require "perflua.table.interrupted"
local output = require "perflua.table.output"
local recordings = require "perflua.cli.recordings"
local returned = require "perflua.meta.returned"
local strip_position = require("perflua.errors").strip_position
local screen = require "perflua.cli.screen"
local suggest = require "perflua.errors.suggest"
local tools = require "perflua.tools"
local traceback = require "perflua.cli.traceback"

local scripts = {}

scripts.FAILED, scripts.USAGE = 1, 2
local FAILED, USAGE = scripts.FAILED, scripts.USAGE

---@param message string for standard error
local function print_error(message)
  io.stdout:flush()
  io.stderr:write(display.error "perflua:", " ", message, "\n")
end

scripts.print_error = print_error

---Runs fn(...), which is called by xpcall itself: so a traceback says "main chunk" where there
---is one.
---@param fn function
---@param ... any
---@return integer? status nil: there was no error; else it was reported, or help was printed
---@return any ... # what fn returned
local function call_protected(fn, ...)
  local results = table.pack(xpcall(fn, traceback.handle, ...))
  if results[1] then return nil, table.unpack(results, 2, results.n) end
  local ending = require "perflua.options".ending(results[2])
  if ending and ending.is_help then
    io.stdout:write(ending.text)
    return 0
  end
  print_error(ending and ending.text:gsub("\n$", "") or results[2])
  return ending and USAGE or FAILED
end

scripts.call_protected = call_protected

-- Reads the options of a script from its arguments. Returns their values, and a function that
-- opens the arguments that are recordings.
local function read_options(meta)
  local library = require "perflua.meta.library" -- loaded when they are asked for
  local options = require "perflua.options"
  local declared = options.declare(meta.options or {})
  local values, paths = options.read(declared, arg, library.describe(arg[0], meta))
  return values, function(needed)
    local file, message = recordings.open(needed, paths)
    for option, event in options.events(declared, file and values or {}) do
      local ok, raised = pcall(file.samples, file, event)
      if not ok then
        file:close()
        options.stop(("%s: %s: %s"):format(arg[0], option, strip_position(raised)))
      end
    end
    return file, message
  end
end

-- Values that an expression has for its effect: nil, true (os.execute), a function, an open
-- file (io.write).
local function is_shown(first)
  return first ~= nil and first ~= true and type(first) ~= "function" and not io.type(first)
end

-- Returns whether these are nil and a message, which functions return that fail.
local function is_failure(first, second) return first == nil and type(second) == "string" end

local function show_values(first, ...)
  if not is_shown(first) and not is_failure(first, ...) then return end
  local _ <close> = screen.begin(nil, true)
  require "perflua.cli.show".values(io.stdout, nil, first, ...) -- loaded when it is asked for
end

-- Uses the values that a script returned: runs handlers over its arguments as recordings, shows
-- a table. Options are read for what is run; a chunk of -e has none unless it declares some,
-- and its values are shown as those of an expression where nothing is to be run.
local function use_returned(is_chunk, value, ...)
  local meta, message = returned.meta(value, (...)), nil
  local is_run = type(value) == "function" or returned.is_handlers(value)
    and not (is_chunk and returned.is_list_of_values(value))
  if is_chunk and not (is_run or meta) then return show_values(value, ...) end
  meta = meta or {}
  local values, open = {}, recordings.open
  if meta.options or is_run and not is_chunk then values, open = read_options(meta) end
  if returned.is_handlers(value) then
    _G.perflua.options = values
    local file <close>, why = open(meta)
    if file then file:run(value) else message = why end
    if file and require("perflua.file.run").has_no_event(file, value) then
      message = "no handler was called: the recording has none of their events"
    end
  else
    local result
    result, message = returned.table(value, open, meta, values)
    if result then show_values(result) end
    if not (result or message) then message = returned.useless(value) end
  end
  if message then
    print_error(fmt.escape(message))
    return FAILED
  end
end

---Runs a script, or complains about why there is none.
---@param chunk function?
---@param message string?
---@param is_chunk boolean? it is one of -e
---@return integer? status
function scripts.run(chunk, message, is_chunk)
  if not chunk then
    print_error(message)
    return FAILED
  end
  local results = table.pack(call_protected(chunk, table.unpack(arg)))
  if results[1] or results[2] == nil and not is_chunk then return results[1] end
  local failed, status = call_protected(use_returned, is_chunk,
    table.unpack(results, 2, results.n))
  return failed or status
end

---Runs statements that are not a script: what they return is not used.
---@param chunk function?
---@param message string?
---@return integer? status
function scripts.run_chunk(chunk, message)
  if chunk then return (call_protected(chunk)) end
  print_error(message)
  return FAILED
end

---Runs statements of -e as a script.
---@param text string
---@return integer? status
function scripts.run_statements(text)
  local chunk, message = load(text, "=(command line)", "t")
  return scripts.run(chunk, message, true)
end

---Runs the last statements of -e: an expression prints its values, statements are a script.
---@param text string
---@return integer? status
function scripts.run_last(text)
  local expression = load("return " .. text, "=(command line)", "t")
  if not expression then return scripts.run_statements(text) end
  local results = table.pack(call_protected(expression, table.unpack(arg)))
  return results[1] or (call_protected(show_values, table.unpack(results, 2, results.n)))
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
  if message:sub(1, #name + 2) == name .. ": " then return message end
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
  wrong = args.color and screen.wrong_color(args.color)
  if wrong then
    print_error(("%s: %s"):format(name, wrong))
    return USAGE
  end
  local is_paged = tool.paged ~= false and not (args.csv or args.json)
  local _ <close> = screen.begin(args, is_paged)
  output.is_tool = true
  local ok, status, message = pcall(tools.run, name, tool, args, io.stdout, host)
  output.is_tool = false

  local part = ok and not interrupted.told and interrupted.part()
  if part then print_error(interrupted.text(part)) end
  if part and message then message = nil end -- what there was not may be in what was not read
  if output.is_said_at_end(message) then status, message = status or FAILED, nil end
  if not ok then
    status, message = nil, raised_by(name, status)
    if message:find "cannot write to standard output: " then -- said when perflua ends
      status, message = FAILED, nil
    end
  end
  if message then
    print_error(fmt.escape(message))
    status = status or FAILED
  end
  return status
end

-- Returns the tool or script that a word is close to.
local function closest_name(word, host)
  local names = require "perflua.meta.library".names(host)
  return suggest.closest(word, table.move(tools.names(), 1, #tools.names(), #names + 1, names))
end

-- Returns the longest name of a tool that a word begins with: that of "flamegraph" is "flame".
local function tool_inside(word)
  local found
  for _, name in ipairs(tools.names()) do
    if #name > 2 and word:sub(1, #name) == name and #name > #(found or "") then found = name end
  end
  return found
end

---@param word string an argument
---@return table? # the tool that it names
function scripts.find_tool(word) return not word:find "[/.]" and tools.find(word) or nil end

---Looks up the script or tool that an argument names. The script is loaded at once, so that no
---statement of -e runs if the argument is mistaken.
---@param word string
---@param host table what src/host/perflua.c gives
---@param may_be_recording boolean? a recording could stand there, too
---@return (fun(): integer?)? job runs it; nil: that was said
---@return integer? status
function scripts.prepare(word, host, may_be_recording)
  if word == "-" then return function() return scripts.run(loadfile()) end end
  local tool = scripts.find_tool(word)
  if tool then
    return function() return run_tool(word, tool, host) end
  end
  local path = word:find "[/.]" and word
    or require "perflua.meta.library".find(word) -- loaded when it is asked for
  if not path then
    local closest = closest_name(word, host) or tool_inside(word)
    local hint = closest and ("did you mean '%s'? "):format(closest) or ""
    print_error(("'%s' is neither a %stool nor a script file; %sperflua help lists the tools")
      :format(fmt.escape(word), may_be_recording and "recording, a " or "", hint))
    return nil, USAGE
  end
  local chunk, message = loadfile(path)
  if chunk then return function() return scripts.run(chunk) end end
  print_error(fmt.escape(message))
  return nil, FAILED
end

return scripts
