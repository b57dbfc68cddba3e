-- A trace that is not written: how large it would be, by the lengths of its runs.

local trace_events = require "perflua.export.trace_events"
local Trace = trace_events.Trace

local measured_trace = {}

-- Lengths are told apart by classes: so many for each power of two.
local STEPS <const> = 8
local LAST <const> = 64 * STEPS

local Measured = setmetatable({}, { __index = Trace })
Measured.__index = Measured

---@param file perflua.File that can be read again
---@param most integer bytes that it may have without runs, else TOO_LARGE is raised
---@return table
function measured_trace.new(file, most)
  local trace = trace_events.new(file, function() end, most, 0)
  trace.first, trace.sizes, trace.longest = file.first_time, {}, {}
  return setmetatable(trace, Measured)
end

function Measured:draw_long(ns, draw, ...)
  local size = self.size
  self.size, self.class = 0, ns > 0 and math.floor(STEPS * math.log(ns, 2)) or 0
  draw(...)
  self.sizes[self.class] = (self.sizes[self.class] or 0) + self.size
  self.size, self.class = size, nil
end

-- Names are written with the first run that is drawn, of whatever length that is.
function Measured:add_name(text)
  self.longest[text] = math.max(self.longest[text] or 0, self.class or LAST)
end

---@param most integer bytes
---@return integer? # the least length, in ns, of the runs with which the trace has so
--- many bytes at most; nil: it has them with all
function Measured:find_least(most)
  local size = self.size
  for text, class in pairs(self.longest) do
    self.sizes[class] = (self.sizes[class] or 0) + #text
  end
  for class = LAST, 0, -1 do
    size = size + (self.sizes[class] or 0)
    if size > most then return math.ceil(2.0 ^ math.min((class + 1) / STEPS, 62)) end
  end
end

return measured_trace
