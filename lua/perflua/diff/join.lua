-- Sides of a comparison joined: the core matches their rows and judges them.
--
-- A joined value has `core`, the comparison; `names`, the events by their number + 1, false
-- where rows are not split by event; `before` and `after`, the sides: without `after` the runs
-- of one side are not compared, but estimated.

local calibration = require "perflua.diff.calibration"
local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local names = require "perflua.diff.names"
local records = require "perflua.file.records"
local slices = require "perflua.diff.slices"
local sums = require "perflua.measures.sums"
local usage_error = require("perflua.errors").usage_error

local spec_of = core.query_spec

local join = {}

--- Runs of a side from which their variation is taken.
join.RUNS = 3
--- Slices that a bootstrap needs: with fewer its intervals are too short.
join.SLICES = 20

-- Returns the number of an event.
local function number_of(joined, name)
  local number = joined.numbers[name]
  if not number then
    number = #joined.names
    joined.numbers[name], joined.names[number + 1] = number, name
  end
  return number
end

local function create(before, after)
  local first, basis = before.runs[1], before.basis
  local match = names.matcher(first.keys, before.match, before.matched)
  return core.comparison {
    keys = first.keys, measures = { first.measure }, per = basis.per,
    quantile = basis.quantile, before = #before.runs, after = after and #after.runs or 0,
    symbol = before.symbol, binary = names.binary(first.keys), matched = match.matched,
    match_stacks = match.match_stacks, match = match.match,
  }
end

-- Shares of rows that are items of records are of the records.
local function divide_by_wholes(joined, side, r, run)
  local is_known = {}
  for _, whole in ipairs(run.measure.measure == "share" and run.data.whole or {}) do
    local name = run.data.events and names.event(whole.event or "unknown event") or false
    core.comparison_divide_by(joined.core, side.what_side, r, number_of(joined, name), whole[1],
      not is_known[name])
    is_known[name] = true
  end
end

local function add_run(joined, added, r, naming)
  local run = added.runs[r]
  local events, matched = {}, names.events(run.data)
  for i, name in pairs(matched) do events[i] = number_of(joined, name) end
  for i, name in ipairs(run.data.events or {}) do
    added.original[matched[i]] = added.original[matched[i]] or name
  end
  local ok, wrong = core.comparison_add(joined.core, run.result, {
    side = added.what_side, number = r, count = run.count, kernel = run.kernel,
    seconds = run.seconds,
    events = events, slices = run.slices, is_taken = run.is_taken,
    naming = run.build_id
      and { build_id = run.build_id, own = naming.own, other = naming.other },
  })
  if not ok then usage_error("%s", sums.wrong[wrong]) end
  if run.is_taken then run.result, run.data.result = nil, nil end
  divide_by_wholes(joined, added, r, run)
end

-- Divides amounts by those of another event, whose periods are added up over the same time.
local function divide_by_event(joined, side)
  local event, what = side.basis.event, side.what
  for r, run in ipairs(side.runs) do
    if not run.spec or run.spec.file.size == nil then
      usage_error("diff: per = \"event:…\" needs recordings that can be read again; %s is not",
        what)
    end
    local asked = records.samples(run.spec.file, event)
    local spec = spec_of(asked)
    spec.from, spec.to = run.spec.from, run.spec.to
    spec.keys, spec.split = {}, false
    local column = { name = "period", measure = "sum", ref = spec.scope:ref "period",
      kind = "unsigned" }
    local read = slices.read(asked, what, run.slices and side.most,
      { columns = { column, { name = "", measure = "count" } } })
    if read.slices then read.slices.offset = run.slices.offset end
    local sum = core.comparison_divide(joined.core, read.result, { side = side.what_side,
      number = r, slices = read.slices })
    if sum == 0 then usage_error("diff: %s has no samples of event '%s'", what, event) end
  end
end

-- Returns the events of a recording, by the names that they are matched by.
local function recorded_events(file)
  local events, has = {}, {}
  for i, event in ipairs(file.events) do events[i] = event.name end
  for _, name in pairs(names.events { events = events }) do has[name] = true end
  return has
end

-- Raises if a run did not record an event of another run: its amounts there are not 0.
local function check_events(side)
  local events = {}
  for event in pairs(side.events) do events[#events + 1] = event or nil end
  table.sort(events)
  for _, run in ipairs(events[1] and side.runs or {}) do
    local file = run.spec and run.spec.file
    local has = file and recorded_events(file)
    for _, event in ipairs(events) do
      if has and not has[event] then
        usage_error("diff: %s has no event '%s', which another run of its side has",
          fmt.paths(file.path), event)
      end
    end
  end
end

-- Sets the events of a side.
local function take_events(joined, side)
  side.events = {}
  for i, facts in ipairs(core.comparison_events(joined.core)) do
    side.events[joined.names[i]] = facts[side.what_side]
  end
end

local function add_side(joined, side, what, naming)
  side.what_side, side.original = what, {}
  for r in ipairs(side.runs) do add_run(joined, side, r, naming) end
  take_events(joined, side)
  check_events(side)
  if side.basis.event then divide_by_event(joined, side) end
end

---Joins sides that have rows.
---@param before table a side
---@param after table? nil: values of `before` are estimated
---@param own userdata? binaries (side.binaries) of `before`; nil: addresses where no function
--- is known are not compared
---@param other userdata? of `after`
---@return table
function join.sides(before, after, own, other)
  local joined = { core = create(before, after), names = {}, numbers = {}, before = before,
    after = after }
  add_side(joined, before, "before", { own = own, other = other })
  if after then add_side(joined, after, "after", { own = other, other = own }) end
  return joined
end

---Sets values, intervals and verdicts.
---@param joined table
---@param options { method: string, confidence: number, family: integer?, only: boolean? } see
--- core.comparison_judge
---@return integer tested rows
---@return "idle"|"loaded" # the load of the machine under which runs vary as these
function join.judge(joined, options)
  local sampled = {}
  for i, name in ipairs(joined.names) do sampled[i] = names.is_sampled(name) end
  local spec = joined.before.runs[1].spec
  options.priors, options.sampled = calibration.priors, sampled
  options.file = spec and spec.file
  return core.comparison_judge(joined.core, options)
end

---Returns rows that were judged, with the names of their events.
---@param joined table
---@param verdict string? default: rows of all verdicts
---@param most integer?
---@param least number? of both sides together
---@return table[] # see core.comparison_rows
function join.rows(joined, verdict, most, least)
  local rows = core.comparison_rows(joined.core, verdict, most, least)
  for _, row in ipairs(rows) do row.event = joined.names[row.event + 1] end
  return rows
end

-- Rows that may have been renamed: one is gone, and one of nearly the same size is new.

local NEARLY <const> = 0.2 -- of the larger row, by which they may differ
local MOST <const> = 3 -- hints
local ROWS <const> = 200 -- of each verdict, the largest ones, that are looked at

-- Returns the one change of names that makes the keys of a row those of another; nil: there is
-- none.
local function find_change(old, new, n)
  local from, to
  for i = 1, n do
    local a, b = old.keys[i], new.keys[i]
    if a ~= b then
      if type(a) ~= "string" or type(b) ~= "string" then return nil end
      if from and (from ~= a or to ~= b) then return nil end
      from, to = a, b
    end
  end
  return from, to
end

local function value_of(pair)
  return (pair.verdict == "gone" and pair.before or pair.after).value
end

local function text_of(pair, n)
  local parts = {}
  for i = 1, n do parts[i] = tostring(pair.keys[i]) end
  return table.concat(parts, "\n")
end

-- Returns the largest rows with a verdict.
local function list_rows(joined, verdict, n)
  local list = join.rows(joined, verdict)
  table.sort(list, function(a, b)
    local x, y = value_of(a), value_of(b)
    if x ~= y then return x > y end
    return text_of(a, n) < text_of(b, n)
  end)
  return table.move(list, 1, math.min(#list, ROWS), 1, {})
end

-- Returns the new row that is most like one that is gone, and the change of names.
local function find_renamed(old, candidates, n)
  local found, from, to
  local size, least = value_of(old), NEARLY
  for _, new in ipairs(candidates) do
    local now = value_of(new)
    local distance = math.abs(now - size) / math.max(now, size)
    if new.event == old.event and not new.is_taken and distance <= least then
      local x, y = find_change(old, new, n)
      if x then found, from, to, least = new, x, y, distance end
    end
  end
  return found, from, to
end

---Returns lines that say how rows are matched that may be the same by another name.
---@param joined table see sides(); its rows were judged
---@return string[] # escaped
function join.hints(joined)
  local n, lines, seen = #joined.before.runs[1].keys, {}, {}
  local candidates = list_rows(joined, "new", n)
  for _, old in ipairs(candidates[1] and list_rows(joined, "gone", n) or {}) do
    local found, from, to = find_renamed(old, candidates, n)
    if found then
      found.is_taken = true
      local pair = fmt.escape(from) .. "=" .. fmt.escape(to)
      if not seen[pair] and #lines < MOST then
        seen[pair] = true
        lines[#lines + 1] = ("%s is gone, and %s of nearly the same size is new: if it was "
          .. "renamed, compare them by --match '%s'"):format(fmt.escape(from), fmt.escape(to),
          pair)
      end
    end
  end
  return lines
end

return join
