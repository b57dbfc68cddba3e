-- Listings as perf annotate prints them: --stdio2, and --stdio.

local fmt = require "perflua.text.fmt"
local rows = require "perflua.annotate.rows"

local text = {}

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

-- How perf calls a kind of share: "local period".
local function kind_of(percent_type) return (percent_type:gsub("-", " ")) end

-- Writes where the listing comes from, and notes about source files.
local function write_origin(listing, put)
  for _, line in ipairs(listing:origin()) do put("# " .. line) end
end

local function write_notes(listing, files, put)
  for path in pairs(files) do
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

local ARROWS <const> = { call = "→", ["return"] = "←" }

-- Returns the arrow of an instruction and its text in columns.
local function spell(line, width)
  local name, operands, arrow = line.name, line.operands, ARROWS[line.kind] or " "
  if not name then return "  " .. (line.srcline or "") end
  if line.kind == "jump" and line.jump then
    arrow = line.jump > line.offset and "↓" or "↑"
    operands = ("%x"):format(line.jump)
  elseif line.goes_to then
    arrow, operands = "→", line.target and fmt.escape(line.target) or operands
  end
  return (("%s %-" .. width .. "s %s"):format(arrow, name, operands):gsub(" +$", ""))
end

local function share_of(listing, line, event, percent_type)
  local sums = listing.hits[line.index]
  if not sums or not sums[event.index] then return nil end
  return listing:share(line.index, event, percent_type)
end

---Writes a listing in the layout of perf annotate --stdio2.
---@param listing perflua.Listing
---@param event table one of listing.events
---@param options table { percent_type, context, least }
---@param put fun(line: string)
function text.write(listing, event, options, put)
  local percent_type = options.percent_type or "local-period"
  local ranges = rows.ranges(listing, event, options.context, options.least, percent_type)
  local width, target_width = width_of_names(listing, ranges), #("%x"):format(listing.size)
  write_origin(listing, put)
  put(("Samples: %s of event '%s',%s Event count (approx.): %s, [percent: %s]"):format(
    short_count(event.samples), fmt.escape(event.name), frequency(listing, event),
    fmt.unsigned(event.period), kind_of(percent_type)))
  put(("%s() %s"):format(fmt.escape(listing.symbol), fmt.escape(listing.dso)))
  put "Percent"
  local blank = (" "):rep(8 + target_width + 4)
  local files = rows.each(listing, ranges, function(row)
    if row.kind == "gap" then
      put((" "):rep(8) .. "...")
    elseif row.kind ~= "line" then
      put(((blank .. row.text:gsub("^%s+", "")):gsub(" +$", "")))
    else
      local line = row.line
      local share = share_of(listing, line, event, percent_type)
      local percent = share and ("%6.2f  "):format(share) or (" "):rep(8)
      local offset = (line.is_target or not listing.code)
        and ("%" .. target_width .. "x: "):format(line.offset) or (" "):rep(target_width + 2)
      put(percent .. offset .. spell(line, width))
    end
  end)
  write_notes(listing, files, put)
end

-- Returns an instruction as objdump spells it: "1250 <mix+0x30>".
local function spell_plain(line, listing)
  local operands = line.operands
  if not line.name then return line.srcline or "" end
  if line.goes_to then
    local name = line.jump and ("%s+0x%x"):format(listing.symbol, line.jump) or line.target
    operands = ("%x%s"):format(line.goes_to, name and " <" .. fmt.escape(name) .. ">" or "")
  end
  return (("%-6s %s"):format(line.name, operands):gsub(" +$", ""))
end

---Writes a listing in the layout of perf annotate --stdio.
---@param listing perflua.Listing
---@param event table one of listing.events
---@param options table as for text.write
---@param put fun(line: string)
function text.write_plain(listing, event, options, put)
  local percent_type = options.percent_type or "local-period"
  local ranges = rows.ranges(listing, event, options.context, options.least, percent_type)
  write_origin(listing, put)
  local head = (" Percent |\tSource code & Disassembly of %s for %s (%s samples, percent: %s)")
    :format(fmt.escape(fmt.base_name(listing.dso)), fmt.escape(event.name),
      fmt.unsigned(event.samples), kind_of(percent_type))
  put(head)
  put(("-"):rep(#head))
  local files = rows.each(listing, ranges, function(row)
    if row.kind == "gap" then
      put "         :   ..."
    elseif row.kind ~= "line" then
      put((("         : %-4s %s"):format(row.number or "", row.text:gsub("^%s+", ""))
        :gsub(" +$", "")))
    else
      put((" %7.2f :   %x:   %s"):format(
        share_of(listing, row.line, event, percent_type) or 0, row.line.address,
        spell_plain(row.line, listing)))
    end
  end)
  write_notes(listing, files, put)
end

return text
