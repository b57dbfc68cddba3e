-- The rows of a listing as they are shown: instructions, and above them the source lines that
-- they are of.
--
-- A line of source appears where the code comes to it, with the lines before it that were not
-- shown yet, at most five; that is what objdump -S does, and so perf annotate.

local fmt = require "perflua.text.fmt"

local rows = {}

local BEFORE <const> = 5 -- lines of source

---@param listing perflua.Listing
---@param event table one of listing.events
---@param context integer? instructions around those with samples; nil: all
---@param least number? share in percent that makes a line worth its context
---@param percent_type string
---@return integer[][] # ranges { first, last } of lines
function rows.ranges(listing, event, context, least, percent_type)
  if not context then return { { 1, #listing } } end
  local ranges = {}
  for _, i in ipairs(listing:hot_lines(event)) do
    if listing:share(i, event, percent_type) >= (least or 0) then
      local first, last = math.max(i - context, 1), math.min(i + context, #listing)
      local before = ranges[#ranges]
      if before and first <= before[2] + 1 then
        before[2] = last
      else
        ranges[#ranges + 1] = { first, last }
      end
    end
  end
  return ranges
end

---@class perflua.SourceState
---@field files table<string, { shown: integer, last: integer }> by path
---@field symbol string? the function of the line before
local State = {}
State.__index = State

-- Calls put() with the lines of source that come before a line of the listing.
function State:add_source(line, put)
  local inner = line.frames and line.frames[1]
  local symbol = inner and inner.symbol or self.listing.symbol
  if symbol ~= self.symbol then
    self.symbol = symbol
    put { kind = "label", text = fmt.escape(symbol) .. (symbol:find "%)$" and ":" or "():") }
  end
  if not line.path or not line.number then return end
  local known = self.files[line.path] or { shown = 0, last = 0 }
  self.files[line.path] = known
  if known.last == line.number then return end
  if self.listing.sources:file(line.path).reason then
    known.last = line.number
    put { kind = "place", text = fmt.escape(line.srcline) }
    return
  end
  local from = math.max(line.number - BEFORE, 1)
  if known.shown >= from then
    from = known.shown < line.number and known.shown + 1 or line.number
  end
  for number = from, line.number do
    local text = self.listing.sources:line(line.path, number)
    if text then put { kind = "source", text = text, number = number, path = line.path } end
  end
  known.shown, known.last = math.max(known.shown, line.number), line.number
end

---Calls a function with each row: { kind = "label" | "source", text, number }, { kind =
---"place", text } for source that is not there, { kind = "line", line } or { kind = "gap" }.
---@param listing perflua.Listing
---@param ranges integer[][]
---@param put fun(row: table)
---@return table<string, any> files whose lines were shown, by path
function rows.each(listing, ranges, put)
  local state = setmetatable({ files = {}, listing = listing }, State)
  local last = 0
  for _, range in ipairs(ranges) do
    if range[1] > last + 1 then put { kind = "gap" } end
    for i = range[1], range[2] do
      local line = listing[i]
      state:add_source(line, put)
      put { kind = "line", line = line }
    end
    last = range[2]
  end
  if last < #listing then put { kind = "gap" } end
  return state.files
end

return rows
