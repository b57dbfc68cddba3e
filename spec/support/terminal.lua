-- Programs on a terminal, as a user drives them.
--
--   local terminal = require "spec.support.terminal"
--   local t = terminal.start({ run.binary, "report", path }, { columns = 80, rows = 24 })
--   t:expect "Overhead"         -- waits until that is on the screen
--   t:send "q"
--   local status = t:finish()   -- waits for the end
--   t.screen:line(1)            -- see spec.support.screen
--   t.output                    -- all bytes that were written

local Screen = require "spec.support.screen"

local terminal = {}
local Terminal = {}
Terminal.__index = Terminal

local binary = os.getenv "PERFLUA" or "build/perflua"
local path = binary:gsub("[^/]*$", "obj/pty.so")
local pty = assert(package.loadlib(path, "luaopen_pty"))()

local PATIENCE <const> = 60 -- seconds for what is expected to happen at once

-- Variables that would change how programs use a terminal.
local unset = { "COLUMNS", "LINES", "LESS", "LESSOPEN", "PAGER", "PERFLUA_PAGER", "NO_COLOR",
  "LESSSECURE" }

---@param words string[] a command
---@param options { columns: integer?, rows: integer?, env: table<string, string|false>? }?
function terminal.start(words, options)
  options = options or {}
  local columns, rows = options.columns or 80, options.rows or 24
  local env = { TERM = "xterm", LESSHISTFILE = "-" }
  for _, name in ipairs(unset) do env[name] = false end
  for name, value in pairs(options.env or {}) do env[name] = value end
  return setmetatable({ pty = pty.start(words, columns, rows, env), output = "",
    screen = Screen.new(columns, rows) }, Terminal)
end

---Starts a command of the shell.
function terminal.shell(command, options)
  return terminal.start({ "sh", "-c", command }, options)
end

-- Reads what there is in that time. Returns false at the end.
local function read(self, seconds)
  local text = self.pty:read(seconds)
  if not text then return text end
  self.output = self.output .. text
  self.screen:write(text)
  return true
end

local function fail(self, message)
  error(("%s; the screen:\n%s"):format(message, table.concat(self.screen:lines(), "\n")), 3)
end

---Reads until a function returns true, or text is on the screen.
---@param wanted string|fun(screen: table): any plain text
---@param seconds number? default: a minute
---@return any # what the function returned; of text its row and column
function Terminal:expect(wanted, seconds)
  local find = type(wanted) == "function" and wanted
    or function(screen) return screen:find(wanted) end
  local last = os.time() + (seconds or PATIENCE)
  while true do
    local found = table.pack(find(self.screen))
    if found[1] then return table.unpack(found, 1, found.n) end
    if read(self, 0.05) == false then
      found = table.pack(find(self.screen))
      if found[1] then return table.unpack(found, 1, found.n) end
      fail(self, ("%s was not seen before the end"):format(tostring(wanted)))
    end
    if os.time() > last then fail(self, tostring(wanted) .. " was not seen") end
  end
end

---Reads for some time, whatever comes.
function Terminal:pause(seconds)
  local from = os.clock()
  repeat until not read(self, seconds) or os.clock() - from > seconds
end

---Types keys.
function Terminal:send(keys) self.pty:write(keys) end

function Terminal:resize(columns, rows)
  self.screen:resize(columns, rows)
  self.pty:resize(columns, rows)
end

---Sends a signal to the programs.
function Terminal:signal(number) return self.pty:signal(number) end

---@return string # the modes of the terminal's input that are on: "icanon echo isig"
function Terminal:modes() return self.pty:modes() end

---@return integer? status of a program that has ended
function Terminal:status() return self.pty:status() end

---Reads until the program ends.
---@return integer status negative: the number of the signal that ended it
function Terminal:finish()
  local last = os.time() + PATIENCE
  while read(self, 0.05) ~= false do
    if os.time() > last then fail(self, "the program does not end") end
  end
  local status = self.pty:wait()
  self.pty:close()
  return status
end

return terminal
