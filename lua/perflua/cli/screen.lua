-- Decides how output is shown: on a terminal, perhaps through a pager, or into a pipe.

local display = require "perflua.text.display"

local screen = {}

local WHENS <const> = { auto = true, always = true, never = true }
local PAGER <const> = "less -FRSX"

local Shown <const> = setmetatable({}, { __close = function() display.set(nil) end })

-- Options before the script or tool; those of a tool win.
local given, host, reads_environment = {}, nil, true

local function variable(name)
  local value = reads_environment and os.getenv(name)
  return value and value ~= "" and value or nil
end

-- Returns true if the terminal cannot do more than print.
local function is_dumb()
  local term = os.getenv "TERM"
  return not term or term == "" or term == "dumb"
end

local function is_colored(when, stream)
  if when == "always" or when == "never" then return when == "always" end
  return host.is_terminal(stream) and not variable "NO_COLOR" and not is_dumb()
end

---@param text string of --color
---@return string? # what is wrong with it
function screen.wrong_color(text)
  if not WHENS[text] then
    return ("--color: auto, always or never expected, got '%s'"):format(text)
  end
end

---@param of_interpreter table what src/host/perflua.c gives
---@param options table of the interpreter: color, no_pager, wide, no_environment
function screen.init(of_interpreter, options)
  host, given, reads_environment = of_interpreter, options, not options.no_environment
  display.set_errors(is_colored(given.color, "stderr"))
end

---@return boolean # are errors at the prompt in colour?
function screen.has_colors() return is_colored(given.color, "stdout") end

-- Starts the pager that the user has chosen, unless there is none.
local function start_pager()
  local named = reads_environment and (os.getenv "PERFLUA_PAGER" or os.getenv "PAGER")
  local command = named or PAGER
  if command:find "^%s*$" or command == "cat" or is_dumb() then return end
  host.page(command, named ~= nil)
end

---Has text that goes to standard output shown as it suits the terminal.
---@param args table? of a tool: color, no-pager, wide
---@param is_paged boolean?
---@return table # ends that when it is closed
function screen.begin(args, is_paged)
  args = args or {}
  local form = { color = is_colored(args.color or given.color, "stdout") }
  if args.color then display.set_errors(is_colored(args.color, "stderr")) end
  if host.is_terminal "stdout" then
    form.cuts = true
    if not (args.wide or given.wide) then form.columns = host.terminal_size() end
    if is_paged and not (args["no-pager"] or given.no_pager) then start_pager() end
  end
  display.set(form)
  return Shown
end

return screen
