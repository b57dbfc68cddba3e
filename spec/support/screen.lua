-- The screen of a terminal, as far as the programs of specs drive it: cells with characters and
-- colours. A control sequence that it does not know raises.
--
--   local screen = Screen.new(80, 24)
--   screen:write "\27[31mred\27[0m\r\n"
--   screen:line(1)         --> "red"
--   screen:style(1, 1)     --> "31"

local Screen = {}
Screen.__index = Screen

-- Letters of double width, and marks without any, of those that specs use.
local WIDE <const> = { { 0x1100, 0x115f }, { 0x2e80, 0xa4cf }, { 0xac00, 0xd7a3 },
  { 0xf900, 0xfaff }, { 0xfe30, 0xfe6f }, { 0xff00, 0xff60 }, { 0x1f300, 0x1faff } }

local function width_of(code)
  if code >= 0x300 and code <= 0x36f then return 0 end
  for _, range in ipairs(WIDE) do
    if code >= range[1] and code <= range[2] then return 2 end
  end
  return 1
end

local BLANK <const> = { text = " ", style = "" }

local function blank_row(columns)
  local row = {}
  for c = 1, columns do row[c] = BLANK end
  return row
end

local function clear(self)
  self.rows = {}
  for r = 1, self.height do self.rows[r] = blank_row(self.width) end
end

---@param columns integer
---@param rows integer
function Screen.new(columns, rows)
  local self = setmetatable({ width = columns, height = rows, row = 1, column = 1,
    style_now = "", top = 1, bottom = rows, pending = "", is_alternate = false,
    is_cursor_shown = true, gone = {} }, Screen)
  clear(self)
  return self
end

---Changes the size; what has no room is lost.
function Screen:resize(columns, rows)
  local old = self.rows
  self.width, self.height, self.top, self.bottom = columns, rows, 1, rows
  clear(self)
  for r = 1, math.min(rows, #old) do
    for c = 1, math.min(columns, #old[r]) do self.rows[r][c] = old[r][c] end
  end
  self.row, self.column = math.min(self.row, rows), math.min(self.column, columns)
end

-- Scrolls the lines of the region up; down, if n is negative.
local function scroll(self, n, top)
  for _ = 1, math.abs(n) do
    if n > 0 then
      local row = table.remove(self.rows, top)
      if top == 1 and not self.is_alternate then self.gone[#self.gone + 1] = row end
      table.insert(self.rows, self.bottom, blank_row(self.width))
    else
      table.remove(self.rows, self.bottom)
      table.insert(self.rows, top, blank_row(self.width))
    end
  end
end

local function line_feed(self)
  if self.row == self.bottom then
    scroll(self, 1, self.top)
  elseif self.row < self.height then
    self.row = self.row + 1
  end
end

local function put(self, text, code)
  local width = width_of(code)
  if width == 0 then
    local at = math.max(self.column - 1, 1)
    local cell = self.rows[self.row][at]
    self.rows[self.row][at] = { text = cell.text .. text, style = cell.style }
    return
  end
  if self.column + width - 1 > self.width then
    self.column = 1
    line_feed(self)
  end
  local row = self.rows[self.row]
  row[self.column] = { text = text, style = self.style_now }
  if width == 2 and self.column < self.width then
    row[self.column + 1] = { text = "", style = self.style_now }
  end
  self.column, self.last = self.column + width, text -- beyond the edge: the next letter wraps
end

local controls = {
  ["\r"] = function(self) self.column = 1 end,
  ["\n"] = line_feed,
  ["\b"] = function(self) self.column = math.max(1, math.min(self.column, self.width) - 1) end,
  ["\t"] = function(self)
    self.column = math.min(self.width, self.column + 8 - (self.column - 1) % 8)
  end,
  ["\a"] = function(self) self.bells = (self.bells or 0) + 1 end,
  ["\0"] = function() end,
  ["\14"] = function() end,
  ["\15"] = function() end,
}

-- Clears cells of a row.
local function erase(self, r, from, to)
  for c = from, to do self.rows[r][c] = BLANK end
end

local function erase_screen(self, what)
  local from, to = 1, self.height
  if what == 0 then
    erase(self, self.row, self.column, self.width)
    from = self.row + 1
  elseif what == 1 then
    erase(self, self.row, 1, self.column)
    to = self.row - 1
  end
  for r = from, to do self.rows[r] = blank_row(self.width) end
end

local function move(self, row, column)
  self.row = math.max(1, math.min(self.height, row))
  self.column = math.max(1, math.min(self.width, column))
end

-- Colours and weights that are on, in the order of their numbers.
local function set_style(self, numbers)
  if not numbers[1] then numbers = { 0 } end
  local on = {}
  for number in self.style_now:gmatch "[^;]+" do on[number] = true end
  local i = 1
  while numbers[i] do
    local n = numbers[i]
    local kind = (n == 38 or n == 48) and n
    if n == 0 then
      on = {}
    elseif kind then
      local last = numbers[i + 1] == 5 and i + 2 or i + 4
      on[table.concat(numbers, ":", i, last)], i = true, last
    elseif n == 22 then
      on["1"], on["2"] = nil, nil
    elseif n >= 23 and n <= 29 then
      on[tostring(n - 20)] = nil
    elseif n == 39 or n == 49 then
      for name in pairs(on) do
        local value = tonumber(name:match "^%d+")
        if value >= n - 9 and value < n or value >= n + 51 and value <= n + 58 then
          on[name] = nil
        end
      end
    else
      for other in pairs(on) do
        local value = tonumber(other) or 0
        if value // 10 == n // 10 and n >= 30 then on[other] = nil end
      end
      on[tostring(n)] = true
    end
    i = i + 1
  end
  local list = {}
  for name in pairs(on) do list[#list + 1] = name end
  table.sort(list)
  self.style_now = table.concat(list, ";")
end

local function set_mode(self, mode, is_on)
  if mode == "?1049" or mode == "?47" or mode == "?1047" then
    if is_on == self.is_alternate then return end
    self.is_alternate = is_on
    if is_on then
      self.main = { self.rows, self.row, self.column }
      clear(self)
    else
      self.rows, self.row, self.column = table.unpack(self.main)
    end
  elseif mode == "?25" then
    self.is_cursor_shown = is_on
  end
end

local sequences = {
  A = function(self, n) move(self, self.row - n, self.column) end,
  B = function(self, n) move(self, self.row + n, self.column) end,
  C = function(self, n) move(self, self.row, self.column + n) end,
  D = function(self, n) move(self, self.row, math.min(self.column, self.width) - n) end,
  G = function(self, n) move(self, self.row, n) end,
  d = function(self, n) move(self, n, self.column) end,
  H = function(self, row, column) move(self, row, column or 1) end,
  J = function(self, _, _, given) erase_screen(self, given or 0) end,
  K = function(self, _, _, given)
    local what = given or 0
    erase(self, self.row, what == 0 and self.column or 1,
      what == 1 and self.column or self.width)
  end,
  L = function(self, n) scroll(self, -n, self.row) end,
  M = function(self, n) scroll(self, n, self.row) end,
  P = function(self, n)
    for _ = 1, n do
      table.remove(self.rows[self.row], self.column)
      self.rows[self.row][self.width] = BLANK
    end
  end,
  ["@"] = function(self, n)
    for _ = 1, n do
      table.insert(self.rows[self.row], self.column, BLANK)
      self.rows[self.row][self.width + 1] = nil
    end
  end,
  X = function(self, n)
    erase(self, self.row, self.column, math.min(self.width, self.column + n - 1))
  end,
  b = function(self, n)
    for _ = 1, n do put(self, self.last, utf8.codepoint(self.last)) end
  end,
  S = function(self, n) scroll(self, n, self.top) end,
  T = function(self, n) scroll(self, -n, self.top) end,
  r = function(self, top, bottom)
    self.top, self.bottom = top, bottom or self.height
    move(self, 1, 1)
  end,
  t = function() end, -- of the window
  c = function() end, -- what kind of terminal is it?
  n = function() end, -- where is the cursor?
}
sequences.f = sequences.H

local function run_sequence(self, parameters, letter)
  if letter == "h" or letter == "l" then
    local prefix = parameters:match "^%?" or ""
    for mode in parameters:gmatch "%d+" do set_mode(self, prefix .. mode, letter == "h") end
    return
  end
  if parameters:find "^[>?=]" then return end -- asks or tells the terminal's kind
  local numbers = {}
  for number in (parameters .. ";"):gmatch "(%d*)[;:]" do
    numbers[#numbers + 1] = tonumber(number) or 0
  end
  if letter == "m" then return set_style(self, numbers) end
  local run = sequences[letter]
  if not run then error(("unknown sequence ESC [ %s %s"):format(parameters, letter)) end
  local first = numbers[1]
  run(self, first ~= 0 and first or 1, numbers[2] ~= 0 and numbers[2] or nil, first)
end

local escapes = {
  ["7"] = function(self) self.saved = { self.row, self.column, self.style_now } end,
  ["8"] = function(self)
    self.row, self.column, self.style_now = table.unpack(self.saved or { 1, 1, "" })
  end,
  D = line_feed,
  E = function(self)
    self.column = 1
    line_feed(self)
  end,
  M = function(self)
    if self.row == self.top then scroll(self, -1, self.top) else move(self, self.row - 1,
      self.column) end
  end,
  c = clear,
  ["="] = function() end,
  [">"] = function() end,
}

-- Runs the escape sequence at `at`. Returns the place after it; nil: it is not complete.
local function run_escape(self, text, at)
  local parameters, letter, after = text:match("^%[([0-?]*[ -/]*)([@-~])()", at + 1)
  if letter then
    run_sequence(self, parameters, letter)
    return after
  end
  after = text:match("^%][^\a\27]*\a()", at + 1) or text:match("^%][^\a\27]*\27\\()", at + 1)
    or text:match("^[()][0-9A-Za-z]()", at + 1)
  if after then return after end
  local kind = text:sub(at + 1, at + 1)
  if kind == "" or kind:find "[%[%]()]" then return nil end
  if not escapes[kind] then error(("unknown sequence ESC %s"):format(kind)) end
  escapes[kind](self)
  return at + 2
end

---Shows what a program wrote.
---@param text string
function Screen:write(text)
  text = self.pending .. text
  local at = 1
  while at <= #text do
    local c = text:sub(at, at)
    local after
    if c == "\27" then
      after = run_escape(self, text, at)
    elseif controls[c] then
      controls[c](self)
      after = at + 1
    elseif c < " " or c == "\127" then
      error(("unknown control \\x%02x"):format(c:byte()))
    else
      local letter = text:match("^[\0-\x7f\xc2-\xf4][\x80-\xbf]*", at)
      local length = c < "\x80" and 1 or c < "\xe0" and 2 or c < "\xf0" and 3 or 4
      if letter and #letter >= length then
        put(self, letter:sub(1, length), utf8.codepoint(letter))
        after = at + length
      end
    end
    if not after then break end
    at = after
  end
  self.pending = text:sub(at)
end

local function text_of(row)
  local parts = {}
  for c, cell in ipairs(row) do parts[c] = cell.text end
  return (table.concat(parts):gsub(" +$", ""))
end

---@return string # a row without the blanks at its end
function Screen:line(row) return text_of(self.rows[row]) end

---@return string[] # all rows
function Screen:lines()
  local lines = {}
  for r = 1, self.height do lines[r] = self:line(r) end
  return lines
end

---@return string # all that was written in lines: those that have scrolled out, and the rows
function Screen:text()
  local lines = {}
  for i, row in ipairs(self.gone) do lines[i] = text_of(row) end
  return (table.concat(table.move(self:lines(), 1, self.height, #lines + 1, lines), "\n")
    :gsub("\n+$", "\n"))
end

---@return string # the numbers of a cell's colours and weights, as in "1;31"; "": plain
function Screen:style(row, column) return self.rows[row][column].style end

---Finds text on the screen.
---@param plain string
---@return integer? row, integer? column
function Screen:find(plain)
  for r = 1, self.height do
    local at = self:line(r):find(plain, 1, true)
    if at then
      local column, bytes = 1, 1
      while bytes < at or self.rows[r][column].text == "" do
        bytes, column = bytes + #self.rows[r][column].text, column + 1
      end
      return r, column
    end
  end
end

return Screen
