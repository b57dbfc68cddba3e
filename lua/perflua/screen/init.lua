-- A report on the whole terminal: rows that are chosen one by one, pages of text beside them,
-- and commands by keys. Shared by top and browse, which say what the commands do.

local core = require "perflua.core"
local display = require "perflua.text.display"
local fmt = require "perflua.text.fmt"
local pages = require "perflua.screen.pages"
local show = require "perflua.report.show"

local screen = {}
local Screen = {}
Screen.__index = Screen

local MOST_KNOWN <const> = 1000 -- rows of an event whose shares are compared with the next ones
local HOT <const>, WARM <const> = 5, 0.5 -- shares in percent, as perf colours them

---Takes the terminal.
---@param host table of the interpreter
---@param columns table of report/columns.lua
---@param commands table[] { key, what it does, fun(screen) } in the order of the help
---@param home string[] lines of the help before the keys
---@return table? # nil: tables have to be printed
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
  local self = setmetatable({ terminal = terminal, out = out, columns = columns, at = 1,
    top = 1, event = 1, title = "", home = home, by_key = {}, commands = commands,
    known = {} }, Screen)
  for _, command in ipairs(commands) do self.by_key[command[1]] = command[3] end
  return self
end

---Leaves the terminal as it was.
function Screen:close()
  self.terminal.close()
  self.out:close()
end
Screen.__close = Screen.close

-- Returns what identifies a row.
local function key_of(report, row)
  local cells, parts = core.view_row(report.view, row), {}
  for i, key in ipairs(report.keys) do parts[i] = tostring(cells[key.name]) end
  return table.concat(parts, "\0"),
    cells[report.has_callers and "children_percent" or "percent"]
end

-- Returns the shares of the first rows of each event, by what identifies the rows.
local function shares_of(report)
  local all = {}
  for _, event in ipairs(report.events) do
    local shares = {}
    for row = event.first, event.first + math.min(event.n, MOST_KNOWN) - 1 do
      local key, share = key_of(report, row)
      shares[key] = share
    end
    all[event.index or 0] = shares
  end
  return all
end

---Shows another report in place of the one before, and what changed.
---@param report table of report.read
---@param compares boolean? true: its rows tell how their shares changed
function Screen:set(report, compares)
  self.earlier = compares and (self.shares or {}) or nil
  self.shares = compares and shares_of(report) or nil
  self.report = report
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

-- Returns rows of the event as text, each with the calls below it if `graph` describes them.
local function write_rows(self, first, n, graph)
  local event, lines, head = self:current(), {}, nil
  local report = setmetatable({ graph = graph or false }, { __index = self.report })
  local _, width = self.terminal.size()
  display.set { columns = math.max(width - (self.earlier and 9 or 0), 1) }
  self.out:seek("set", 0)
  show.sections(report, self.columns, {}, self.out)(
    setmetatable({ first = first, n = n }, { __index = event }))
  local size = self.out:seek()
  self.out:seek("set", 0)
  for line in (self.out:read(size) or ""):gmatch "([^\n]*)\n" do
    if line:sub(1, 1) ~= "#" then lines[#lines + 1] = line else head = head or line end
  end
  return lines, head and (head:gsub("^#", " ")) or ""
end

-- Returns how much a share changed, in the room of its column; blanks: it was not known.
local function change_of(self, row)
  if not self.earlier then return "" end
  local earlier = self.earlier[self:current().index or 0] or {}
  local key, share = key_of(self.report, row)
  local change = earlier[key] and share - earlier[key]
  local text = change and math.abs(change) >= 0.005 and ("%+.2f%%"):format(change) or ""
  return ("%9s"):format(text)
end

local function look_of(share, is_chosen)
  return is_chosen and "reverse" or share >= HOT and "red" or share >= WARM and "green" or nil
end

local function draw_rows(self, room, width)
  local terminal, event = self.terminal, self:current()
  self.at = math.max(math.min(self.at, event.n), 1)
  self.top = math.max(math.min(self.top, self.at), self.at - room + 1, 1)
  local n = math.min(room, event.n - self.top + 1)
  local lines, head = write_rows(self, event.first + self.top - 1, n)
  terminal.put(1, 0, (self.earlier and "   Change" or "") .. head, "bold")
  for i, line in ipairs(lines) do
    local row = event.first + self.top + i - 2
    local _, share = key_of(self.report, row)
    local text = change_of(self, row) .. line
    local is_chosen = self.top + i - 1 == self.at
    if is_chosen then text = text .. (" "):rep(width - core.columns(text)) end
    terminal.put(1 + i, 0, text, look_of(share, is_chosen))
  end
end

local function draw_page(self, room)
  local page, terminal = self.page, self.terminal
  page.top = math.max(math.min(page.top, #page.lines - room + 1), 1)
  terminal.put(1, 0, page.title, "bold")
  for i = 1, math.min(room, #page.lines - page.top + 1) do
    terminal.put(1 + i, 0, page.lines[page.top + i - 1])
  end
end

---Draws everything.
function Screen:draw()
  local terminal = self.terminal
  local height, width = terminal.size()
  local room = math.max(height - 3, 1)
  self.room = room
  terminal.clear()
  terminal.put(0, 0, self.title, "bold")
  if self.page then
    draw_page(self, room)
  elseif self:current() then
    draw_rows(self, room, width)
  else
    terminal.put(2, 0, "  no samples yet")
  end
  local prompt = self.prompt
  if height > 1 then
    terminal.put(height - 1, 0, prompt and prompt.label .. prompt.text .. "_"
      or self.message or self.hint or "h: help   q: quit", prompt and "bold"
        or self.message and "red" or nil)
  end
  terminal.show()
end

---Asks for a line of text; the keys that follow are its letters.
---@param label string
---@param done fun(text: string): string? called with the text; returns what is wrong with it
---@param text string? to begin with
function Screen:ask(label, done, text)
  self.prompt = { label = label, text = text or "", done = done }
end

-- Takes a key of the line that is asked for.
local function press_in_prompt(self, key)
  local prompt = self.prompt
  if key == "escape" then
    self.prompt = nil
  elseif key == "enter" then
    self.prompt = nil
    self.message = prompt.done(prompt.text)
    if self.message then self.message = fmt.escape(self.message) end
  elseif key == "backspace" then
    prompt.text = prompt.text:gsub("[^\x80-\xbf][\x80-\xbf]*$", "")
  elseif #key == 1 and not key:find "%c" then
    prompt.text = prompt.text .. key
  end
end

---Shows a page of text in place of the rows.
---@param title string
---@param lines string[]
function Screen:open_page(title, lines)
  self.page = { title = title, lines = lines, top = 1 }
end

---Shows the keys.
function Screen:help()
  self:open_page("Keys", pages.help(self.home, self.commands))
end

---Shows the calls of the row that is chosen.
---@param title string before its name
---@param graph table of report/graph.lua
function Screen:open_calls(title, graph)
  local row = self:row()
  if not row then return end
  self.page = { title = title, lines = {}, top = 1, graph = graph,
    key = key_of(self.report, row) }
  self:fill_page()
end

---@return boolean # true if the next report must have the calls of its rows
function Screen:needs_trees() return self.page ~= nil and self.page.graph ~= nil end

-- Reads the calls of a page again, of the report that is shown now.
function Screen:fill_page()
  local page, event = self.page, self:current()
  if not page or not page.graph or not self.report.trees or not event then return end
  for row = event.first, event.first + math.min(event.n, MOST_KNOWN) - 1 do
    if key_of(self.report, row) == page.key then
      page.lines = write_rows(self, row, 1, page.graph)
      return
    end
  end
  page.lines = { "  the row has no samples" }
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
    self.at = math.max(math.min(self.at + by, event.n), 1)
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
