-- A report on the whole terminal: rows that are chosen one by one, pages of text beside them,
-- and commands by keys. Shared by top and browse, which say what the commands do.

local core = require "perflua.core"
local display = require "perflua.text.display"
local fmt = require "perflua.text.fmt"
local graph = require "perflua.report.graph"
local pages = require "perflua.screen.pages"
local rows = require "perflua.screen.rows"

local screen = {}
local Screen = {}
Screen.__index = Screen

--- Rows of each event that a growing report needs at first.
screen.MOST_KNOWN = rows.MOST_KNOWN

--- How the calls of rows are read.
screen.CALLS = assert(graph.parse "graph,callee")

local LOOKS <const> = { ["31"] = "red", ["32"] = "green" } -- by colours of SGR

local CALLEES <const> = setmetatable({ callees = true }, { __index = screen.CALLS })
local CALL_PARTS <const> = { { "Callers", screen.CALLS }, { "Callees", CALLEES } }

---Takes the terminal.
---@param host table of the interpreter
---@param columns table of report/columns.lua
---@param commands table[] { key, what it does, fun(screen) } in the order of the help; of those
--- that do the same only one says what
---@param home string[] lines of the help before the keys
---@return table? # nil: there is no screen. `chosen`: options whose only value has no column
---@return string? message why
function screen.open(host, columns, commands, home)
  local terminal = host.screen
  if not terminal then return nil, "there is no ncurses" end
  local out, message = io.tmpfile() -- where lines are made that are then shown
  if not out then return nil, message end
  local ok
  ok, message = terminal.open()
  if not ok then
    out:close()
    return nil, message
  end
  warn "@off" -- there is no place for warnings
  local self = setmetatable({ terminal = terminal, out = out, columns = columns, at = 1,
    top = 1, event = 1, title = "", home = home, by_key = {}, commands = commands,
    chosen = {}, empty = "no samples yet", hint = "h: help   q: quit" }, Screen)
  for _, command in ipairs(commands) do self.by_key[command[1]] = command[3] end
  return self
end

---Leaves the terminal as it was.
function Screen:close()
  self.terminal.close()
  self.out:close()
  warn "@on"
end
Screen.__close = Screen.close

-- Replaces a report that has only its first rows by the one with all.
local function read_rest(self)
  local rest = self.report.rest
  if rest then self.report = rest() end
end

---Shows another report in place of the one before, and what changed.
---@param report table of report.read; if it has the first rows.MOST_KNOWN of each event alone,
--- `rest` returns the one with all rows
---@param compares boolean? true: its rows tell how their shares changed
function Screen:set(report, compares)
  self.earlier = compares and (self.shares or {}) or nil
  self.shares = compares and rows.shares_of(report) or nil
  self.report = report
  if self.at + (self.room or 0) > rows.MOST_KNOWN then read_rest(self) end
  self.event = math.min(self.event, math.max(#report.events, 1))
  self:fill_page()
end

---@return table? # the event that is shown
function Screen:current() return self.report and self.report.events[self.event] end

---@return integer? # the row of the view that is chosen
function Screen:row()
  local event = self:current()
  return event and event.n > 0 and event.first + self.at - 1 or nil
end

---@param share number in percent
---@return string? # how it is drawn
function Screen.look_of(share)
  return LOOKS[core.share_color(share)]
end

---Draws everything.
function Screen:draw()
  local terminal = self.terminal
  local height, width = terminal.size()
  local room = math.max(height - 3, 1)
  self.room = room
  terminal.clear()
  terminal.put(0, 0, self.title, "bold")
  local event = self:current()
  if self.page then
    pages.draw(self.page, terminal, room)
  elseif event and event.n > 0 then
    rows.draw(self, room, width)
  else
    terminal.put(2, 0, "  " .. (event and "no row" or self.empty))
  end
  local prompt = self.prompt
  if height > 1 then
    terminal.put(height - 1, 0, prompt and prompt.label .. prompt.text .. "_"
      or self.message or self.hint, prompt and "bold" or self.message and "red" or nil)
  end
  terminal.show()
end

---Tells something in the last line, until the next key.
---@param text string
function Screen:tell(text) self.message = fmt.escape(text) end

---Asks for a line of text; the keys that follow are its letters.
---@param label string
---@param done fun(text: string): string? called with the text; returns what is wrong with it
function Screen:ask(label, done) self.prompt = { label = label, text = "", done = done } end

---Makes a command that asks for a line of text.
---@param label string
---@param object table
---@param method fun(object: table, text: string): string? as for Screen:ask
---@return fun(screen: table)
function screen.asking(label, object, method)
  return function(self)
    self:ask(label, function(given) return method(object, given) end)
  end
end

---@param text string given for a filter
---@return boolean # whether it is an expression, not a part of a name
function screen.is_expression(text) return text:find "[=<>~()]" ~= nil end

-- Takes a key of the line that is asked for.
local function press_in_prompt(self, key)
  local prompt = self.prompt
  if key == "escape" then
    self.prompt = nil
  elseif key == "enter" then
    self.prompt = nil
    local wrong = prompt.done(prompt.text)
    if wrong then self:tell(wrong) end
  elseif key == "backspace" then
    prompt.text = prompt.text:gsub("[^\x80-\xbf][\x80-\xbf]*$", "")
  elseif #key == 1 and not key:find "%c" then
    prompt.text = prompt.text .. key
  end
end

---Shows a page of text in place of the rows.
---@param title string
---@param lines table of pages.lua
---@param top integer? the line that it begins with
function Screen:open_page(title, lines, top)
  self.page = { title = title, lines = lines, top = top or 1 }
end

---Shows the keys.
function Screen:help()
  local _, width = self.terminal.size()
  display.set { columns = width }
  self:open_page("Keys", pages.help(self.home, self.commands))
end

---Shows the callers and callees of the row that is chosen, of a report with screen.CALLS.
function Screen:open_calls()
  local row = self:row()
  if not row then return end
  self.page = { title = "Calls of the row", lines = {}, top = 1, graphs = CALL_PARTS,
    key = rows.key_of(self.report, row) }
  self:fill_page()
end

---@return boolean # true if the next report must have the calls of its rows
function Screen:needs_trees() return self.page ~= nil and self.page.graphs ~= nil end

---Reads the calls of a page again.
function Screen:fill_page()
  if self:needs_trees() and self.report.trees and self:current() then
    pages.fill_calls(self.page, self)
  end
end

local steps = { up = -1, down = 1, k = -1, j = 1 }

-- Moves through rows, or a page. Returns true if the key does that.
local function move(self, key)
  local by = steps[key]
  if key == "page_up" then by = -self.room elseif key == "page_down" then by = self.room end
  if key == "home" then by = -math.maxinteger // 2 elseif key == "end" then
    by = math.maxinteger // 2
  end
  if not by then return false end
  local event, page = self:current(), self.page
  if page then
    page.top = math.max(page.top + by, 1)
  elseif event then
    if self.at + by + self.room > event.n then read_rest(self) end
    self.at = math.max(math.min(self.at + by, self:current().n), 1)
  end
  return true
end

---Takes a key: moves, or runs its command.
---@param key string
function Screen:press(key)
  self.message = nil
  if self.prompt then return press_in_prompt(self, key) end
  if move(self, key) then return end
  if self.page and (key == "escape" or key == "left" or key == "q") then
    self.page = nil
  elseif key == "h" or key == "?" then
    self:help()
  elseif self.by_key[key] then
    self.by_key[key](self)
  end
end

---Shows the next event.
function Screen:next_event()
  local n = self.report and #self.report.events or 0
  if n == 0 then return end
  self.event, self.at, self.top, self.page = self.event % n + 1, 1, 1, nil
end

return screen
