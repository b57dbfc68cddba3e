-- The samples of a listing by source line.

local summary = {}

---@class perflua.SourceLine
---@field path string as the compiler knew it
---@field number integer
---@field srcline string
---@field source string?
---@field sums table<integer, { samples: integer, period: integer }> by the index of the event

---@param listing perflua.Listing
---@param event table one of listing.events, by which they are sorted: most first
---@return perflua.SourceLine[] # the lines with samples, as far as they are known
function summary.of(listing, event)
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

return summary
