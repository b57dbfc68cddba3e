-- Listings as perf annotate prints them: --stdio2, and --stdio.

local display = require "perflua.text.display"
local fmt = require "perflua.text.fmt"
local Listing = require "perflua.annotate.listing"
local origin = require "perflua.annotate.origin"
local rows = require "perflua.annotate.rows"
local suggest = require "perflua.errors.suggest"

local text = { ask = rows.ask }

-- Loops of a function, for the margin: the instructions from the target of a jump backwards to
-- that jump.

-- Returns the loops of a function, as numbers of their first and last instructions, the
-- shortest first.
local function find_loops(code)
  local found = {}
  for i = 1, #code do
    local offset, _, kind, target = code:at(i)
    if kind == "jump" and target and target <= offset then
      found[#found + 1] = { code:find(target), i }
    end
  end
  table.sort(found, function(a, b)
    local x, y = a[2] - a[1], b[2] - b[1]
    if x ~= y then return x < y end
    return a[1] > b[1]
  end)
  return found
end

---@param listing perflua.Listing
---@return fun(i: integer): string # what is drawn for an instruction, of its innermost loop
local function loop_margin(listing)
  local marks, after = {}, {} -- after: a number above, up to which all have marks
  local function next_free(i)
    local free = i
    while after[free] do free = after[free] end
    while after[i] do i, after[i] = after[i], free end
    return free
  end
  for _, loop in ipairs(listing.code and find_loops(listing.code) or {}) do
    local first, last = loop[1], loop[2]
    local i = next_free(first)
    while i <= last do
      marks[i] = i == last and "└" or i == first and "┌" or "│"
      after[i] = i + 1
      i = next_free(i)
    end
  end
  return function(i) return marks[i] or " " end
end

local MEASURED <const> = 10000 -- lines whose names are looked at for the width of their column

-- perf's short form of a number of samples: "214 ", "21K", "1M".
local function short_count(n)
  if n >= 1000000 then return ("%dM"):format(n // 1000000) end
  if n >= 1000 then return ("%dK"):format(n // 1000) end
  return ("%d "):format(n)
end

local function frequency(listing, event)
  local rate = listing.file.events[event.index].sample_freq
  return rate and (" %d Hz,"):format(rate) or ""
end

-- Returns shares in columns, coloured where they are shown on a terminal.
local function write_shares(shares, format, is_shown)
  local parts = {}
  for i, share in ipairs(shares) do
    local part = format:format(share)
    parts[i] = is_shown and display.share(part, share) or part
  end
  return table.concat(parts)
end

-- How perf calls a kind of share: "local period".
local function kind_of(percent_type) return (percent_type:gsub("-", " ")) end

local function write_notes(listing, files, put)
  for _, path in ipairs(suggest.names(files)) do
    local found = listing.sources:file(path)
    if found.reason then
      put(("# source %s: %s"):format(fmt.escape(found.path), found.reason))
    elseif listing:is_newer(found) then
      put(("# source %s is newer than the binary: its lines may be others")
        :format(fmt.escape(found.path)))
    end
  end
end

-- Returns the width of the longest name of an instruction in the ranges.
local function width_of_names(listing, ranges)
  local width, seen = 4, 0
  if not listing.code then return width end
  for _, range in ipairs(ranges) do
    for i = range[1], math.min(range[2], range[1] + MEASURED - seen) do
      width = math.max(width, #listing.code:text(i))
      seen = seen + 1
    end
  end
  return width
end

local ARROWS <const> = { call = "→", jump = "→", ["return"] = "←" }

-- Returns the arrow of an instruction and its text in columns.
local function spell(line, width)
  local name, operands, arrow = line.name, line.operands, ARROWS[line.kind] or " "
  if not name then return "  " .. fmt.escape(line.srcline or "") end
  if line.kind == "jump" and line.jump then
    arrow = line.jump > line.offset and "↓" or "↑"
    operands = ("%x"):format(line.jump)
  elseif line.goes_to then
    operands = line.target and fmt.escape(line.target) or operands
  end
  return ("%s %-" .. width .. "s %s"):format(arrow, name, operands)
end

-- Returns the name of an event, or of a group of several, as perf has it.
local function name_of(events)
  local names = {}
  for i, event in ipairs(events) do names[i] = fmt.escape(event.name) end
  return names[2] and ("anon group { %s }"):format(table.concat(names, ", ")) or names[1]
end

local function total_of(events, field)
  local sum = 0
  for _, event in ipairs(events) do sum = sum + event[field] end
  return sum
end

local function write_summary(listing, events, options, put)
  put ""
  put "# samples by source line"
  for _, row in ipairs(rows.summary(listing, events[1])) do
    local shares = {}
    for i, event in ipairs(events) do
      shares[i] = Listing.share(row.sums, event, options.percent_type) or 0
    end
    put(("%s %s%s"):format(write_shares(shares, "%8.2f", options.is_shown),
      fmt.escape(row.srcline), row.source and "  " .. row.source:gsub("^ +", "") or ""))
  end
end

-- Writes a listing: a head, the rows that are shown, notes about source files, the summary.
local function write_listing(listing, events, options, put, layout)
  local shown = { percent_type = options.percent_type or "local-period",
    context = options.context, least = options.least, is_shown = options.is_shown }
  local ranges = rows.ranges(listing, events, shown)
  for _, line in ipairs(origin.lines(listing)) do put("# " .. line) end
  layout.head(listing, events, shown, put)
  local row_of = layout.rows(listing, events, shown, ranges)
  local files = rows.each(listing, ranges, options.inline, function(row)
    local line, share = row_of(row)
    put((line:gsub(" +$", "")), share)
  end)
  write_notes(listing, files, put)
  if options.summary then write_summary(listing, events, shown, put) end
end

local function source_text(row)
  return ("  "):rep(row.depth or 0) .. row.text:gsub("^ +", "")
end

local stdio2 = {}

function stdio2.head(listing, events, options, put)
  put(("Samples: %s of event%s '%s',%s Event count (approx.): %s, [percent: %s]"):format(
    short_count(total_of(events, "samples")), events[2] and "s" or "", name_of(events),
    frequency(listing, events[1]), fmt.unsigned(total_of(events, "period")),
    kind_of(options.percent_type)))
  local title = ("%s() %s"):format(fmt.escape(listing.symbol), fmt.escape(listing.dso))
  put(options.is_shown and display.mark(title, "heading") or title)
  put "Percent"
end

function stdio2.rows(listing, events, options, ranges)
  local width, offset_width = width_of_names(listing, ranges), #("%x"):format(listing.size)
  local blank, margin = (" "):rep(7 * #events), loop_margin(listing)
  return function(row)
    if row.kind == "gap" then return blank .. " ..." end
    if row.kind ~= "line" then
      return blank .. (" "):rep(1 + offset_width + 2) .. source_text(row)
    end
    local line = row.line
    local shares = listing:shares(line.index, events, options.percent_type)
    local percent = shares and write_shares(shares, "%6.2f ", options.is_shown) or blank
    local offset = (line.is_target or not listing.code)
      and ("%" .. offset_width .. "x: "):format(line.offset) or (" "):rep(offset_width + 2)
    return percent .. margin(line.index) .. offset .. spell(line, width), shares and shares[1]
  end
end

---Returns an instruction as objdump spells it: "jne 1250 <mix+0x30>"; without code: its place.
---@param line perflua.ListingLine
---@param listing perflua.Listing
---@return string
function text.instruction(line, listing)
  local operands = line.operands
  if not line.name then return fmt.escape(line.srcline or "") end
  if line.goes_to then
    local name = line.jump and ("%s+0x%x"):format(listing.symbol, line.jump) or line.target
    operands = ("%x%s"):format(line.goes_to, name and " <" .. fmt.escape(name) .. ">" or "")
  end
  return ("%-6s %s"):format(line.name, operands)
end

local stdio = {}

function stdio.head(listing, events, options, put)
  local head = (" %-" .. 8 * #events .. "s|\tSource code & Disassembly of %s for %s "
    .. "(%s samples, percent: %s)"):format("Percent", fmt.escape(fmt.base_name(listing.dso)),
      name_of(events), fmt.unsigned(total_of(events, "samples")), kind_of(options.percent_type))
  put(options.is_shown and display.mark(head, "heading") or head)
  put(("-"):rep(#head))
end

function stdio.rows(listing, events, options)
  local blank, none = (" "):rep(8 * #events + 1) .. ":", {}
  for i = 1, #events do none[i] = 0 end
  return function(row)
    if row.kind == "gap" then return blank .. "   ..." end
    if row.kind ~= "line" then
      return ("%s %-4s %s"):format(blank, row.number or "", source_text(row))
    end
    local shares = listing:shares(row.line.index, events, options.percent_type) or none
    return ("%s :   %x:   %s"):format(write_shares(shares, " %7.2f", options.is_shown),
      row.line.address, text.instruction(row.line, listing))
  end
end

---Writes a listing in the layout of perf annotate --stdio2.
---@param listing perflua.Listing
---@param events table[] of listing.events: a column each
---@param options table { percent_type, context, least, inline, summary, is_shown } is_shown:
--- on standard output, in colour where that is
---@param put fun(line: string, share: number?) share: of a line with samples, in percent, of
--- the first event
function text.write(listing, events, options, put)
  write_listing(listing, events, options, put, stdio2)
end

---Writes a listing in the layout of perf annotate --stdio.
---@param listing perflua.Listing
---@param events table[]
---@param options table as for text.write
---@param put fun(line: string)
function text.write_plain(listing, events, options, put)
  write_listing(listing, events, options, put, stdio)
end

return text
