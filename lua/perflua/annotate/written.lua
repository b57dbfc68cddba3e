-- Listings for programs: as JSON, and as lines that editors jump to.

local fmt = require "perflua.text.fmt"
local json = require "perflua.text.json"
local Listing = require "perflua.annotate.listing"
local rows = require "perflua.annotate.rows"

local written = {}

local function hex_of(bytes)
  return bytes and (bytes:gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end

-- Sets the sums of some samples, by event.
local function add_sums(to, by_event, events, percent_type)
  local list = json.array()
  for _, event in ipairs(events) do
    local sums = by_event and by_event[event.index]
    if sums then
      list[#list + 1] = { event = event.name, index = event.index, samples = sums.samples,
        period = json.unsigned(sums.period),
        share = Listing.share(by_event, event, percent_type) }
    end
  end
  to.events = list
  return to
end

local function line_of(listing, i, events, percent_type)
  local line = listing[i]
  local entry = { address = json.address(line.address), offset = line.offset, size = line.size,
    bytes = hex_of(line.bytes), text = line.text, kind = line.kind, jump = line.jump,
    target = line.target, srcline = line.srcline, path = line.path, line = line.number,
    source = line.source }
  if line.frames and line.frames[2] then entry.inlined = line.frames end
  return add_sums(entry, listing.hits[i], events, percent_type)
end

local function lines_of(listing, events, options)
  local list = json.array()
  for _, range in ipairs(rows.ranges(listing, events, options)) do
    for i = range[1], range[2] do
      list[#list + 1] = line_of(listing, i, events, options.percent_type)
    end
  end
  return list
end

---@param listing perflua.Listing
---@param events table[] of listing.events
---@param options table as for text.write
---@return string # an object of JSON
function written.json(listing, events, options)
  local sources = json.array()
  for _, row in ipairs(rows.summary(listing, events[1])) do
    sources[#sources + 1] = add_sums({ srcline = row.srcline, path = row.path,
      line = row.number, source = row.source }, row.sums, events, options.percent_type)
  end
  local all = json.array()
  for i, event in ipairs(events) do
    all[i] = { event = event.name, index = event.index, samples = event.samples,
      period = json.unsigned(event.period) }
  end
  return json.encode { symbol = listing.symbol, dso = listing.dso,
    build_id = listing.binary.build_id, address = json.address(listing.address),
    size = listing.size, code_file = listing.code_file, lines_file = listing.lines_file,
    proof = listing.proof, machine = listing.machine, reason = listing.reason,
    unknown = listing.unknown, missing = listing.missing, between = listing.between,
    outside = listing.outside, percent_type = options.percent_type, events = all,
    lines = lines_of(listing, events, options), sources = sources }
end

---Returns the source lines with samples as vim, Neovim and Emacs list errors: "file.c:12:
---33.18% of mix".
---@param listing perflua.Listing
---@param events table[] of listing.events
---@param options table { percent_type, least }
---@return { share: number, text: string }[]
function written.quickfix(listing, events, options)
  local list = {}
  for _, row in ipairs(rows.summary(listing, events[1])) do
    local share = Listing.share(row.sums, events[1], options.percent_type) or 0
    if share >= (options.least or 0) then
      local place = listing.sources:file(row.path).path
      list[#list + 1] = { period = row.sums[events[1].index].period,
        text = ("%s:%d: %.2f%% of %s%s"):format(fmt.escape(place), row.number, share,
          fmt.escape(listing.symbol), row.source and ": " .. row.source:gsub("^ +", "") or "") }
    end
  end
  return list
end

return written
