-- The order of time, as a model to compare with: written for being right, not for being quick.
--
-- Records are given as streams, arrays of {time =, …} in the order they lie there; the streams
-- in that of their files. A record without a time keeps its place after the one before it in
-- its stream; at the start it comes first. What has the same time stays in the order of the
-- file.
local in_order = {}

--- The order of a recording that can be read as a whole: an array of the records.
function in_order.exactly(streams)
  local list = {}
  for _, stream in ipairs(streams) do
    local time = 0
    for _, r in ipairs(stream) do
      time = r.time or time
      list[#list + 1] = { r = r, time = time, place = #list }
    end
  end
  table.sort(list, function(a, b)
    if a.time ~= b.time then return math.ult(a.time, b.time) end
    return a.place < b.place
  end)
  for i, one in ipairs(list) do
    list[i] = one.r
  end
  return list
end

--- The order in which perf delivers a stream: at the end of a round what is not after the
--- latest time that was met before the round began. {round = true} ends one. Also how many came
--- when later ones had been delivered.
function in_order.by_rounds(stream)
  local out, queue, late = {}, {}, 0
  local time, latest, limit, delivered = 0, 0, 0, 0
  local function deliver(up_to)
    local ready = in_order.exactly { queue }
    queue = {}
    local at = 0
    for _, r in ipairs(ready) do
      at = r.time or at
      local into = at <= up_to and out or queue
      into[#into + 1] = r
      delivered = into == out and r.time or delivered
    end
  end
  for _, r in ipairs(stream) do
    if r.round then
      if #queue > 0 then
        deliver(limit)
        limit = latest
      end
    else
      late = late + (r.time and r.time < delivered and 1 or 0)
      time = r.time or time
      latest = math.max(latest, time)
      queue[#queue + 1] = r
    end
  end
  deliver(math.maxinteger)
  return out, late
end

return in_order
