-- A report of a recording on a screen, which reads the recording again when something else is
-- asked. It computes nothing: it shows what the report, the trees of calls and annotate say.

local annotate = require "perflua.annotate"
local fmt = require "perflua.text.fmt"
local groups = require "perflua.report.groups"
local functions = require "perflua.browse.functions"
local interrupted = require "perflua.table.interrupted"
local quality = require "perflua.report.quality"
local report = require "perflua.report"
local screen = require "perflua.screen"
local strip_position = require("perflua.errors").strip_position

local browse = {}

-- The last line.
local HINT = "h: help   Enter: calls   a: annotate   /: filter   t: time   Esc: back   q: quit"

---Returns the commands of browse, by their keys.
---@param self table
---@return table[] # { key, what it does, fun(view) }
local function keys_of(self)
  local function back() self:back() end
  local function open_calls(view)
    if view.report.trees then return view:open_calls() end
    view:tell(self:why_no_calls())
  end
  local function next_event(view) view:next_event() end
  return {
    { "enter", "the callers and callees of the row", open_calls },
    { "right", nil, open_calls },
    { "a", "the code of the row's function, with its samples", function(view)
      local message = self:annotate()
      if message then view:tell(message) end
    end },
    { "/", "a filter: a part of a name of rows, or an expression on samples such as "
      .. "comm == 'make'; none: everything", screen.asking("filter: ", self, self.narrow) },
    { "t", "a range of time, as for --time: 10%-20% or FROM,TO; none: that of the options",
      screen.asking("time: ", self, self.narrow_time) },
    { "n", "the next event, also Tab", next_event },
    { "\t", nil, next_event },
    { "escape", "what was shown before the last / or t, also ←", back },
    { "left", nil, back },
    { "q", "quit, also ^C", function() self.quits = true end },
  }
end

local Browse = {}
Browse.__index = Browse

local WAIT <const> = 200 -- ms, between two looks at ^C

-- Draws how far a pass is. Returns true if it is to end.
local function show_progress(self, text)
  self.screen.hint = text .. ("   ^C: stop   q: quit")
  local key = self.screen.terminal.key(0)
  while key do
    if key == "q" and not self.screen.prompt then self.quits = true end
    if key ~= "resize" then table.insert(self.waiting, key) end
    key = self.screen.terminal.key(0)
  end
  self.screen:draw()
  return self.quits
end

-- Calls fn(), which reads the recording. Returns its result; nil and a message if it cannot.
-- ^C ends one pass; one that came between two passes ends neither.
local function read(self, fn)
  local ok, result = pcall(fn)
  if not ok and interrupted.came_before(result) then
    self.host.forget_interrupt()
    ok, result = pcall(fn)
  end
  local part = interrupted.part()
  self.part = part and interrupted.text(part) or nil
  self.host.forget_interrupt()
  self.screen.hint = HINT
  if ok then return result end
  return nil, self.part or strip_position(result)
end

-- Reads the report that is asked for.
local function read_report(self)
  local settings, asked = self.settings, self.asked
  local query = setmetatable({ where = table.move(asked.where, 1, #asked.where,
    #settings.query.where + 1, { table.unpack(settings.query.where) }) },
    { __index = settings.query })
  self.health = self.health or read(self, function() return quality.of(self.file) end)
  if self.part then self.health = nil end -- what was not read may be lost
  if self.quits then return nil end
  query.health = self.health
  if query.group and query.health then
    query.group.skips = groups.skips(self.file.as, query.health)
  end
  return read(self, function()
    if report.has_chains(self.file:samples { event = query.event }) then
      query.graph = screen.CALLS
    end
    return report.read(report.prepare(self.file, query), self:shown())
  end)
end

---@return table # what report.read() shows
function Browse:shown()
  local settings = self.settings
  return { limit = settings.limit, count = settings.count, order = settings.order,
    sort_slot = settings.sort_slot, text = self.asked.text }
end

-- Shows a report from its beginning.
local function set_report(self, made)
  local on = self.screen
  on:set(made)
  on.at, on.top, on.page = 1, 1, nil
  self.line_of = quality.events(self.health, made.branches and { "branch", "branches" })
end

---Asks for something else, and keeps what was shown for back().
---@param changes { text: string?, where: string[]?, time: string|false? } text: of rows;
--- where: conditions on samples; time: as option --time; false: that of the options
---@return string? # what is wrong with it; nothing changes then
function Browse:change(changes)
  local on, earlier = self.screen, self.asked
  local kept = { asked = earlier, report = on.report, at = on.at, top = on.top,
    event = on.event, part = self.part }
  local asked = { text = earlier.text, where = earlier.where, time = earlier.time }
  for name, value in pairs(changes) do asked[name] = value or nil end
  self.asked = asked
  local made, message
  if changes.where or changes.time ~= nil then
    message = self.choose(asked.time)
    if not message then made, message = read_report(self) end
  else
    made, message = read(self, function() return report.again(on.report, self:shown()) end)
  end
  if not made then
    self.asked = earlier
    self.choose(earlier.time)
    return message
  end
  table.insert(self.earlier, kept)
  set_report(self, made)
end

---Shows again what was shown before the last change.
function Browse:back()
  local kept = table.remove(self.earlier)
  if not kept then return end
  local on = self.screen
  self.asked, self.part = kept.asked, kept.part
  self.choose(kept.asked.time)
  set_report(self, kept.report)
  on.event, on.at, on.top = kept.event, kept.at, kept.top
end

---@param text string a part of a name, or an expression
---@return string? # what is wrong with it
function Browse:narrow(text)
  if text == "" then return self:change { text = false, where = {} } end
  if not screen.is_expression(text) then return self:change { text = text } end
  local where = { table.unpack(self.asked.where) }
  where[#where + 1] = text
  return self:change { where = where }
end

---@param text string as option --time takes it; "": that of the options
---@return string? # what is wrong with it
function Browse:narrow_time(text) return self:change { time = text ~= "" and text } end

---@return string # why the report has no calls of rows
function Browse:why_no_calls()
  return self.screen.report.branches and "branches have no call chains: --no-branch-stack"
    or "the recording has no call chains: perf record -g records them"
end

---Shows the code of the function of the row that is chosen, with its samples.
---@return string? # why it cannot
function Browse:annotate()
  local row = self.screen:row()
  if not row then return nil end
  local cells = functions.cells(self.screen.report, row)
  if not cells then return "the row names no function: a needs a symbol" end
  self.choose(self.asked.time, self.asked.where)
  local lines, message = read(self, function()
    local all = annotate.read(self.file, { symbol = cells.symbol,
      prefix = self.args.prefix, prefix_strip = self.args["prefix-strip"] })
    return all and functions.lines(all, cells, self.screen) or {}
  end)
  self.choose(self.asked.time)
  if not lines then return message end
  if #lines == 0 then
    return ("no sample was taken in %s itself"):format(cells.symbol)
  end
  self.screen:open_page(lines.title, lines, lines.hottest)
end

-- Returns the line above the rows: what is asked for, and how much that is.
local function title_of(self)
  local on, parts, asked = self.screen, {}, self.asked
  local event, n = on:current(), on.report and #on.report.events or 0
  parts[1] = asked.text and ("rows with '%s'"):format(fmt.escape(asked.text))
  for _, text in ipairs(asked.where) do parts[#parts + 1] = fmt.escape(text) end
  parts[#parts + 1] = asked.time and "time " .. fmt.escape(asked.time)
  parts[#parts + 1] = self.part
  if n > 1 then parts[#parts + 1] = ("event %d of %d"):format(on.event, n) end
  parts[#parts + 1] = event and self.line_of(event) or nil
  return table.concat(parts, ", ")
end

-- Takes keys until one ends it.
local function take_keys(self)
  local on = self.screen
  while not self.quits do
    on.title = title_of(self)
    on:draw()
    local key = table.remove(self.waiting, 1) or on.terminal.key(WAIT)
    if self.host.interrupted() then
      self.host.forget_interrupt()
      self.quits = true
    elseif key then
      on:press(key)
    end
  end
end

---Shows the report of a recording until it is left.
---@param file perflua.File
---@param options { host: table, args: table, settings: table,
--- choose: fun(time: string?, where: string[]?): string? } args, settings: of the tool report;
--- choose: chooses samples of the file, as the options of the tool do, but these times; returns
--- what is wrong with them
---@return boolean? # nil, and a message if it cannot be shown
---@return string?
function browse.run(file, options)
  local self = setmetatable({ file = file, asked = { where = {} }, earlier = {},
    waiting = {} }, Browse)
  for name, value in pairs(options) do self[name] = value end
  local home = { "perflua browse: " .. fmt.paths(file.path) }
  local opened <close>, message = screen.open(self.host, self.settings.columns, keys_of(self),
    home)
  if not opened then return nil, message .. ": perflua report prints the same" end
  self.screen = opened
  opened.title, opened.empty = fmt.paths(file.path), "reading"
  opened.chosen, opened.hint = self.args, ""
  opened:draw()
  self.host.show_progress(function(text) return show_progress(self, text) end)
  local made
  made, message = read_report(self)
  if self.quits then return true end
  if not made then return nil, message end
  opened.empty = "no samples"
  local notes = quality.file(made, file, self.health)
  table.move(notes, 1, #notes, 2, home)
  if home[2] then opened:tell(home[2]) end
  set_report(self, made)
  take_keys(self)
  return true
end

return browse
