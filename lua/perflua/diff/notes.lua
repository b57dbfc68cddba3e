-- Lines around a comparison: above the table, other differences between the recordings; below
-- it, the meaning of the intervals.

local aside = require "perflua.group.aside"
local calibration = require "perflua.diff.calibration"
local crowding = require "perflua.diff.crowding"
local fmt = require "perflua.text.fmt"
local join = require "perflua.diff.join"

local notes = {}

-- Returns the different texts of a list, in order.
local function distinct_texts(list)
  local seen, texts = {}, {}
  for _, text in ipairs(list) do
    if not seen[text] then seen[text], texts[#texts + 1] = true, text end
  end
  table.sort(texts)
  return texts
end

local function features_of(side, feature)
  local list = {}
  for _, run in ipairs(side.runs) do
    local features = run.spec and run.spec.file.features
    list[#list + 1] = features and features[feature] or nil
  end
  return distinct_texts(list)
end

local FEATURES = { { "hostname", "hosts" }, { "osrelease", "kernels" }, { "arch",
  "architectures" }, { "cpudesc", "processors" } }

local function add_features(list, before, after)
  for _, row in ipairs(FEATURES) do
    local a, b = features_of(before, row[1]), features_of(after, row[1])
    local x, y = table.concat(a, ", "), table.concat(b, ", ")
    if x ~= y and x ~= "" and y ~= "" then
      list[#list + 1] = ("different %s: %s before, %s after"):format(row[2], fmt.escape(x),
        fmt.escape(y))
    end
  end
end

local function mean_seconds(side)
  local sum = 0
  for _, run in ipairs(side.runs) do
    if not run.seconds then return nil end
    sum = sum + run.seconds
  end
  return sum / #side.runs
end

local MUCH <const> = 1.1 -- longer than the other, by which lengths are said to differ

local function add_lengths(list, before, after)
  local a, b = mean_seconds(before), mean_seconds(after)
  if not a or not b or math.max(a, b) < MUCH * math.min(a, b) then return end
  list[#list + 1] = ("different lengths: %.3g s before, %.3g s after%s"):format(a, b,
    before.basis.per == "run" and before.basis.is_amount
    and "; if this is not the change itself, compare per second or per share" or "")
end

local function events_missing(side, from)
  local list = {}
  for event in pairs(side.events) do
    if not from.events[event] then list[#list + 1] = fmt.escape(event or "all events") end
  end
  table.sort(list)
  return list
end

local function add_events(list, before, after)
  local a, b = events_missing(before, after), events_missing(after, before)
  if #a > 0 then
    list[#list + 1] = "left out: events only before: " .. table.concat(a, ", ")
  end
  if #b > 0 then list[#list + 1] = "left out: events only after: " .. table.concat(b, ", ") end
  local renamed = {}
  for event in pairs(before.events) do
    local x, y = before.original[event], after.events[event] and after.original[event]
    if x and y and x ~= y then
      renamed[#renamed + 1] = ("%s before is compared with %s after"):format(fmt.escape(x),
        fmt.escape(y))
    end
  end
  table.sort(renamed)
  table.move(renamed, 1, #renamed, #list + 1, list)
end

local function add_damage(list, side)
  for _, run in ipairs(side.runs) do
    local file, set_aside = run.spec and run.spec.file, run.spec and run.spec.aside
    local reason = set_aside and aside.said(set_aside.n)
    if reason then list[#list + 1] = ("%s: %s"):format(side.what, reason) end
    if file and (#file.damage > 0 or file.complete == false) then
      list[#list + 1] = ("%s: %s is damaged or cut off"):format(side.what,
        fmt.escape(fmt.paths(file.path)))
    end
  end
end

local function add_unmatched(list, side)
  for name in pairs(side.match) do
    if not side.matched[name] then
      list[#list + 1] = ("match: no row has the name '%s'"):format(fmt.escape(name))
    end
  end
  table.sort(list)
end

-- Returns the part of samples, in words, that have no function; nil: not known.
local function describe_share(facts)
  local all, without = facts.samples, facts.unnamed
  if not all or all == 0 then return nil end
  return without == 0 and "none" or ("%.3g %%"):format(100 * without / all)
end

-- Says how much of each event has no function on either side.
local function add_unnamed(list, before, after)
  local events = {}
  for event in pairs(before.symbol and before.events or {}) do
    if after.events[event] then events[#events + 1] = event end
  end
  table.sort(events, function(a, b) return tostring(a) < tostring(b) end)
  for _, event in ipairs(events) do
    local a, b = describe_share(before.events[event]), describe_share(after.events[event])
    if a and b then
      list[#list + 1] = ("samples%s without a function: %s before, %s after"):format(
        event and (" of event '%s'"):format(fmt.escape(event)) or "", a, b)
    end
  end
end

---@param before table a side
---@param after table
---@return string[]
function notes.above(before, after)
  local list = {}
  add_unnamed(list, before, after)
  add_unmatched(list, before)
  add_events(list, before, after)
  add_lengths(list, before, after)
  list[#list + 1] = crowding.line(before, after)
  add_features(list, before, after)
  add_damage(list, before)
  add_damage(list, after)
  return list
end

---Says what to do about rows that cannot be compared.
---@param joined table see join.lua
---@return string? # nil: there are none
function notes.advice(joined)
  if join.rows(joined, "no symbols", 1)[1] then
    return "no symbols: one side lacks the names of these functions (see perflua doctor); "
      .. "without symbol among the keys, binaries are compared as a whole"
  end
end

local function runs_text(n) return n == 1 and "1 run" or ("%d runs"):format(n) end

-- Says how often equal single runs were taken for different, and under which conditions.
local function single_rate()
  local conditions = calibration.conditions
  local idle, loaded = calibration.idle.equal[1], calibration.loaded.equal[1]
  return ("of equal work %d of %d comparisons of single runs flagged a row on an idle machine, "
    .. "%d of %d beside %d busy loops (%d processors, runs of %.3g s at %d Hz; see the manual)")
    :format(idle.flagged, idle.comparisons, loaded.flagged, loaded.comparisons,
      conditions.loops, conditions.processors, conditions.seconds, conditions.frequency)
end

local NO_INTERVALS = {
  tables = "no intervals: tables have no times; compare queries, or three tables of a side",
  slices_few = "no intervals: the recording has fewer than 20 slices of time",
}

---@param method string "runs", "slices" or "order"; or why there is none: a key of NO_INTERVALS
---@param before table a side
---@param after table
---@param confidence number
---@param tested integer
---@param load "idle"|"loaded" of join.judge()
---@return string[]
function notes.below(method, before, after, confidence, tested, load)
  if NO_INTERVALS[method] then return { NO_INTERVALS[method] } end
  local runs = ("%s before, %s after"):format(runs_text(#before.runs), runs_text(#after.runs))
  local interval = ("low to high: the %.4g %% interval of delta"):format(100 * confidence)
  local list = {}
  if method == "runs" then
    list[1] = ("%s, from the variation between runs (%s)%s"):format(interval, runs,
      load == "loaded" and ": they vary as runs do beside other programs" or "")
  else
    list[1] = ("%s, within-run noise only (%s), and the drift of runs on an idle machine: "
      .. "other runs of the same program may differ more"):format(interval, runs)
    list[2] = single_rate()
  end
  if tested > 0 then
    list[#list + 1] = "verdicts are corrected for " .. fmt.phrase(tested,
      "{row that was|rows that were} tested")
  end
  return list
end

return notes
