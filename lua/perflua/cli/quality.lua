-- The lines below a result of samples at the prompt: what the recording lost, and how much of
-- the result has no function.

local core = require "perflua.core"
local distinctions = require "perflua.recording.distinctions"
local fmt = require "perflua.text.fmt"
local is_open = require("perflua.recording").is_open
local description = require "perflua.table.description"
local report = require "perflua.report.quality"

local quality = {}

local EVENTS <const> = 8 -- that have a line each

-- By File: its health, which takes a pass.
local known = setmetatable({}, { __mode = "k" })

-- Returns which measure of a Table counts, and which key is a function; nil: none.
local function find_columns(data)
  local counted, symbol
  for i, measure in ipairs(data.measures) do
    if measure.measure == "count" and not measure.weight then counted = counted or i end
  end
  for i, key in ipairs(data.keys) do symbol = key.text == "symbol" and i or symbol end
  if counted and symbol and not data.interrupted then return counted, symbol end
end

-- Returns by the place of an event how many samples were counted, and how many of these have no
-- function; nothing if there is no Table, or it does not tell.
local function count_unresolved(data)
  local all, without, counted, symbol = {}, {}, nil, nil
  if data and data.events then counted, symbol = find_columns(data) end
  for _, g in ipairs(counted and core.result_groups(data.result) or {}) do
    local event = g.event
    all[event] = (all[event] or 0) + g[counted]
    if g.keys[symbol] == nil then without[event] = (without[event] or 0) + g[counted] end
  end
  return all, without
end

---Writes the quality of the samples that a result is made of; nothing if they cannot be read
---again.
---@param out file*
---@param result perflua.Table|perflua.Query a Query has no groups
function quality.write(out, result)
  local data = type(result) == "table" and result.data
  local from = data and data.origin or not data and description.origin(core.query_spec(result))
  local file, events = nil, {}
  if from then file, events = from() end
  if not (file and is_open(file) and file.size) then return end
  known[file] = known[file] or report.of(file)
  local health, found = known[file], distinctions.of(file, events)
  local all, without = count_unresolved(data)
  for i = 1, #events <= EVENTS and #events or 0 do
    out:write("# ", report.recorded(health, events[i], found[events[i].index], all[i] or 0,
      without[i] or 0), "\n")
  end
  if #events > EVENTS then out:write("# ", report.recorded_all(health, events), "\n") end
  for _, line in ipairs(report.file({ aside = 0 }, file, health)) do
    out:write("# ", fmt.escape(line), "\n")
  end
end

return quality
