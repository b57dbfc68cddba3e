-- A report that is shown while its recording is read: on a screen, or as a table now and then.
-- Each pass reads on where the one before it ended, which is when what is asked changes.

local columns = require "perflua.report.columns"
local core = require "perflua.core"
local units = require "perflua.text.units"
local fmt = require "perflua.text.fmt"
local report = require "perflua.report"
local screen = require "perflua.screen"
local strip_position = require("perflua.errors").strip_position

local top = {}

---Returns the commands of top, by their keys.
---@param self table
---@return table[] # { key, what it does, fun(screen) }
local function keys_of(self)
  local function toggle(name, restarts)
    return function()
      self[name] = not self[name] or nil
      if restarts and not self[name] then self:restart() end
    end
  end
  return {
    { "enter", "the callers and callees of the row", function(view)
      if self:reads_calls() then return view:open_calls() end
      view:tell "there are no call chains: -g records them"
    end },
    { "/", "a filter, from the next record on: a part of a function's name, or an expression "
      .. "such as comm == 'make'; none: everything", screen.asking("filter: ",
      self, self.narrow) },
    { "s", "the keys of rows, from the next record on: fields as for perflua report --sort",
      screen.asking("sort by: ", self, self.sort) },
    { "e", "the next event", function(view) view:next_event() end },
    { "p", "pause and go on; records are counted meanwhile", toggle "paused" },
    { "z", "count from zero at each tick, or not", toggle("zeroes", true) },
    { "D", "decay sums at each tick as perf top does, or count all that was read",
      toggle("decays", true) },
    { "d", "the delay between ticks", screen.asking("delay in seconds: ", self, self.delay) },
    { "q", "quit", function() self.quits = true end },
  }
end

local Top = {}
Top.__index = Top

local USAGE <const> = 2
local SECOND <const> = 1000000000
local POLL <const> = SECOND // 50 -- between two looks at the keys
local LEAST_DELAY <const> = SECOND // 20
-- Call chains, and half the groups: samples with call chains beyond count for their own
-- function.
local MOST_CHAINS <const>, HALF_OF_GROUPS <const> = 100000, 50000

-- Prepares the report that is asked for. Returns nil, and what is wrong with it.
local function prepare(self)
  local asked = { event = self.event, where = self.filter and { self.filter } or {},
    percentage = "relative", sort = self.columns.keys, extra = self.columns.extra,
    children = self.children, padded = true,
    graph = self.is_screen and report.has_chains(self.file:samples()) and screen.CALLS
      or nil }
  local ok, prepared = pcall(report.prepare, self.file, asked)
  if not ok then return nil, strip_position(prepared) end
  return prepared
end

---Asks for something else from the next record on, for which the table is cleared.
---@param changes table<string, any> of the fields columns, filter
---@return string? # what is wrong with it; nothing changes then
function Top:change(changes)
  local earlier = {}
  for name, value in pairs(changes) do earlier[name], self[name] = self[name], value or nil end
  local prepared, message = prepare(self)
  if not prepared then
    for name in pairs(changes) do self[name] = earlier[name] end
    return message
  end
  self.prepared = prepared
  self.screen.columns = self.columns
  self:restart()
end

---Clears the table: what follows is of the next record on.
function Top:restart()
  self.restarts = true
  self.screen.report, self.screen.shares, self.screen.page = nil, nil, nil
end

---@return boolean # whether the calls of rows can be shown
function Top:reads_calls() return self.prepared.graph ~= nil end

---@param text string names of fields
---@return string? # what is wrong with them
function Top:sort(text)
  local parsed, message = columns.parse({ sort = text }, {})
  if not parsed then return message end
  return self:change { columns = parsed }
end

---@param text string a part of a function's name, or an expression; "": everything
---@return string? # what is wrong with it
function Top:narrow(text)
  local filter = text ~= "" and text
  if filter and not screen.is_expression(filter) then
    filter = ("find(symbol, %q)"):format(text)
  end
  return self:change { filter = filter or false }
end

---@param text string a length of time; seconds if it has no unit
---@return integer? ns nil: it is none, or too short
---@return string? message
function top.parse_delay(text)
  local ns = units.nanoseconds(text:find "^[%d.]+$" and text .. "s" or text)
  if ns and ns >= LEAST_DELAY then return ns end
  return nil, ("'%s' is not a time of 50ms or more"):format(text)
end

---@param text string of top.parse_delay
---@return string? # what is wrong with it
function Top:delay(text)
  local ns, message = top.parse_delay(text)
  self.interval = ns or self.interval
  return message
end

-- Returns the line above the table.
local function title_of(self)
  local event = self.screen:current()
  local parts = {
    event and ("%s %s of event '%s', event count %s"):format(fmt.unsigned(event.samples),
      event.samples == 1 and "sample" or "samples", fmt.escape(event.event),
      fmt.unsigned(event.period)) or "waiting for samples",
    self.filter and "filter: " .. fmt.escape(self.filter) or nil }
  local function add(holds, word) if holds then parts[#parts + 1] = word end end
  add(self.zeroes, "zeroing")
  add(self.decays, "decaying")
  add(self.paused, "paused")
  add(self.ended, "ended")
  return table.concat(parts, ", ")
end

local function draw(self)
  self.screen.title = title_of(self)
  self.screen:draw()
end

-- Takes the keys that were pressed. Returns true if there were any.
local function take_keys(self, ms)
  local key = self.screen.terminal.key(ms)
  if not key then return false end
  while key do
    self.screen:press(key)
    key = self.screen.terminal.key(0)
  end
  return true
end

-- Shows the report so far, on the screen or as a table.
local function tick(self, take)
  if not self.screen then
    local made = take(false, false, self.shown)
    if made then self.write(made) end
    return
  end
  local needs_trees = self.screen:needs_trees()
  if self.paused and not needs_trees then return end
  -- putting all rows in order may take longer than a key should wait
  local made = take(needs_trees, self.decays, self.first)
  if not made or self.paused then return end
  function made.rest()
    local whole = report.again(made, self.shown)
    whole.rest = false
    return whole
  end
  self.screen:set(made, true)
end

-- Looks at keys and clock. Returns true if the pass is to end.
local function look(self, take, state, now)
  if state == "waiting" then self.wake() end
  self.next = self.next or now + self.interval
  local is_pressed = self.screen and take_keys(self, 0)
  local wants_trees = self.screen and self.screen:needs_trees() and self.screen.report
    and not self.screen.report.trees
  local is_due = now >= self.next and state ~= "busy"
  if self.quits then return true end
  if state == "busy" then
    if is_pressed then draw(self) end
    return false
  end
  if (is_due or wants_trees) and not self.restarts then tick(self, take) end
  if is_due then
    self.next = now + self.interval
    if self.zeroes and not self.paused then self.restarts = true end
  end
  if self.screen and (is_due or is_pressed) then draw(self) end
  return self.restarts and state == "reading"
end

-- Reads to the end, in passes.
local function read(self)
  local walk <close> = core.walk(self.file)
  local made
  repeat
    self.restarts = false
    made = report.watch(self.prepared, self.shown, { walk = walk,
      limit = self.prepared.children and MOST_CHAINS or HALF_OF_GROUPS, every = POLL,
      look = function(...) return look(self, ...) end })
  until not self.restarts or self.quits
  return made
end

-- Lets the last table be looked at until q.
local function linger(self, made)
  self.ended, self.restarts = true, false
  if not self.zeroes or #made.events > 0 then self.screen:set(made, true) end
  while not self.quits do
    draw(self)
    take_keys(self, 1000)
    if self.restarts then self.screen:tell "there are no further records" end
    self.restarts = false
  end
end

---Shows the report of a recording as it is read.
---@param file perflua.File
---@param options { columns: table, event: string[]?, filter: string?, children: boolean?,
--- interval: integer, zeroes: boolean?, count: integer?, wake: fun(), write: fun(made: table),
--- is_screen: boolean?, open: fun(commands: table[]): table? } wake: makes the recorder write
--- what it has; write: writes a table as text; open: a screen for commands; nil: none
---@return boolean? # false: it was ended by a key; nil, a message and the status, if it
--- cannot be shown
---@return string?
---@return integer?
function top.run(file, options)
  local order, count = options.columns.order, options.count
  local self = setmetatable({ file = file, shown = { limit = 0, order = order, count = count },
    first = { limit = 0, order = order,
      count = math.min(count or math.maxinteger, screen.MOST_KNOWN) } }, Top)
  for name, value in pairs(options) do self[name] = value end
  local message
  self.prepared, message = prepare(self)
  if not self.prepared then return nil, message, USAGE end
  local opened <close> = options.open(keys_of(self))
  self.screen = opened
  if opened then draw(self) end
  local made = read(self)
  if opened then
    if not self.quits then linger(self, made) end
  else
    self.write(made)
  end
  return not self.quits
end

return top
