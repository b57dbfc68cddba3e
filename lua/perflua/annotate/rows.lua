-- The rows of a listing as they are shown: instructions, and above them the source lines that
-- they are of.
--
-- A line of source appears where the code comes to it, with the lines before it that were not
-- shown yet, at most five; that is what objdump -S does, and so perf annotate.

local fmt = require "perflua.text.fmt"

local rows = {}

local BEFORE <const> = 5 -- lines of source

---@param listing perflua.Listing
---@param events table[] of listing.events
---@param options table { context, least, percent_type } context: lines around those with
--- samples; least: the smallest share of a line that is shown, but as context
---@return integer[][] # ranges { first, last } of lines
function rows.ranges(listing, events, options)
  if not options.context and not options.least then return { { 1, #listing } } end
  local context, ranges = options.context or 0, {}
  for _, i in ipairs(listing:hot_lines(events, options.least, options.percent_type)) do
    local first, last = math.max(i - context, 1), math.min(i + context, #listing)
    local before = ranges[#ranges]
    if before and first <= before[2] + 1 then
      before[2] = last
    else
      ranges[#ranges + 1] = { first, last }
    end
  end
  return ranges
end

---@class perflua.SourceState
---@field files table<string, { shown: integer, last: integer }> by path
---@field symbol string? the function of the line before
---@field nesting string[] the functions of the line before, from the outermost
---@field is_nested boolean?
local State = {}
State.__index = State

-- Returns a function's name as a label has it.
local function label_of(symbol)
  return fmt.escape(symbol) .. (symbol:find "%)$" and "" or "()")
end

-- Calls put() with the functions that are inlined in each other, as far as they are others than
-- those of the line before.
function State:add_nesting(line, put)
  local frames, nesting, differs = line.frames or {}, {}, false
  for at = #frames, 1, -1 do
    local depth = #frames - at
    local place = frames[at + 1] and frames[at + 1].srcline
    local text = label_of(frames[at].symbol or self.listing.symbol)
      .. (place and (" inlined at %s"):format(fmt.escape(place)) or "")
    nesting[#nesting + 1] = text
    differs = differs or self.nesting[depth + 1] ~= text
    if differs then
      put { kind = "label", text = text .. ":", depth = depth }
    end
  end
  self.nesting = nesting
end

function State:add_label(line, put)
  local inner = line.frames and line.frames[1]
  local symbol = inner and inner.symbol or self.listing.symbol
  if symbol == self.symbol then return end
  self.symbol = symbol
  put { kind = "label", text = label_of(symbol) .. ":" }
end

-- Calls put() with the lines of source that come before a line of the listing.
function State:add_source(line, put)
  local frames = line.frames
  if not line.path or not line.number then return end
  local known = self.files[line.path] or { shown = 0, last = 0 }
  self.files[line.path] = known
  if known.last == line.number then return end
  known.last = line.number
  local depth = self.is_nested and #frames - 1 or nil
  if self.listing.sources:file(line.path).reason then
    put { kind = "place", text = fmt.escape(line.srcline), depth = depth }
    return
  end
  local from = math.max(line.number - BEFORE, 1)
  if known.shown >= from then
    from = known.shown < line.number and known.shown + 1 or line.number
  end
  local other = depth and line.path ~= frames[#frames].file
    and ("    [%s]"):format(fmt.escape(line.srcline:match "^(.*):" or line.srcline))
  for number = from, line.number do
    local text = self.listing.sources:line(line.path, number)
    if text then
      put { kind = "source", text = text:gsub("^ +", "") .. (other or ""), number = number,
        path = line.path, depth = depth }
    elseif number == line.number then -- the file ends before it
      put { kind = "place", text = fmt.escape(line.srcline), depth = depth }
    end
  end
  known.shown = math.max(known.shown, line.number)
end

---Reads whatever the rows may need, in any ranges: the lines, and the source before each.
---@param listing perflua.Listing
function rows.ask(listing)
  for _, line in ipairs(listing) do
    if line.path and line.number then
      for number = math.max(line.number - BEFORE, 1), line.number do
        listing.sources:line(line.path, number)
      end
    end
  end
end

---Calls a function with each row: { kind = "label" | "source", text, number, depth }, { kind =
---"place", text, depth } for source that is not there, { kind = "line", line } or { kind =
---"gap" }. `depth` says how often code is inlined.
---@param listing perflua.Listing
---@param ranges integer[][]
---@param is_nested boolean? inlined functions are shown as they are nested
---@param put fun(row: table)
---@return table<string, any> files whose lines were shown, by path
function rows.each(listing, ranges, is_nested, put)
  local state = setmetatable({ files = {}, listing = listing, is_nested = is_nested,
    nesting = {} }, State)
  local last = 0
  for _, range in ipairs(ranges) do
    if range[1] > last + 1 then put { kind = "gap" } end
    for i = range[1], range[2] do
      local line = listing[i]
      if is_nested then state:add_nesting(line, put) else state:add_label(line, put) end
      state:add_source(line, put)
      put { kind = "line", line = line }
    end
    last = range[2]
  end
  if last < #listing then put { kind = "gap" } end
  return state.files
end

-- The samples of a listing by source line.

---@class perflua.SourceLine
---@field path string as the compiler knew it
---@field number integer
---@field srcline string
---@field source string?
---@field sums table<integer, { samples: integer, period: integer }> by the index of the event

---@param listing perflua.Listing
---@param event table one of listing.events, by which they are sorted: most first
---@return perflua.SourceLine[] # the lines with samples, as far as they are known
function rows.summary(listing, event)
  local list, by_place = {}, {}
  for i, by_event in pairs(listing.hits) do
    local line = listing:place(i)
    local place = line.path and line.number and line.path .. ":" .. line.number
    local row = place and by_place[place]
    if place and not row then
      row = { path = line.path, number = line.number, srcline = line.srcline,
        source = line.source, sums = {} }
      by_place[place], list[#list + 1] = row, row
    end
    for index, hits in pairs(row and by_event or {}) do
      local sums = row.sums[index] or { samples = 0, period = 0 }
      row.sums[index] = { samples = sums.samples + hits.samples,
        period = sums.period + hits.period }
    end
  end
  local function period(row)
    return row.sums[event.index] and row.sums[event.index].period or 0
  end
  table.sort(list, function(a, b)
    local x, y = period(a), period(b)
    if x ~= y then return x > y end
    if a.path ~= b.path then return a.path < b.path end
    return a.number < b.number
  end)
  return list
end

return rows
