-- The rows of a report: a view of its result, and which of them each event has.

local columns = require "perflua.report.columns"
local core = require "perflua.core"
local expression = require "perflua.table.expression"
local sums = require "perflua.measures.sums"
local usage_error = require("perflua.errors").usage_error

local rows = {}

--- Where events are shown together, their columns have a name each.
---@param name string of a column
---@param slot integer place of the event, from 1 on
---@return string
function rows.named(name, slot) return slot == 1 and name or ("%s#%d"):format(name, slot) end

-- Returns the columns of the view.
local function list_columns(made)
  local list, n_own = {}, 2 + #made.extra
  local function add(name, kind, column)
    column.name, column.kind, column.measured = name, kind, column.measure ~= nil
    list[#list + 1] = column
  end
  -- measures have those of the first slot, then those of the second one
  local function add_all(name, is_share, measure, step, is_also)
    for slot = 1, made.slots do
      add(rows.named(name, slot), is_share and "percent" or "unsigned",
        { measure = measure + (slot - 1) * step, share = is_share, slot = slot,
          also = is_also })
    end
  end
  local function add_children(name, is_share)
    if made.has_callers then
      add_all(name, is_share, made.slots * n_own + 1, 1)
    elseif made.children then
      add_all(name, is_share, 2, n_own)
    end
  end
  add_children("children_percent", true)
  add_all("percent", true, 2, n_own)
  for i, key in ipairs(made.table_keys) do add(key.name, key.kind, { key = i }) end
  add_all("samples", false, 1, n_own)
  add_all("period", false, 2, n_own)
  add_children("children", false)
  for i, name in ipairs(made.extra) do
    local measure = columns.measure(name)
    add_all(name, measure.share, 2 + i, n_own, measure.also)
  end
  if made.also and made.has_callers then
    add_all("latency_children", true, made.slots * (n_own + 1) + 1, 1, true)
  elseif made.also and made.children then
    add_all("latency_children", true, made.also, n_own, true)
  end
  if made.sums_branches then
    local n_totals = made.has_totals and (made.also and 2 or 1) or 0
    for i, name in ipairs(columns.BRANCH_SUMS) do
      add(name, "unsigned", { measure = made.slots * (n_own + n_totals) + i })
    end
  end
  return list
end

-- Returns columns in the order of their names, of two with one name the last, as objects of
-- JSON have them.
local function by_name(list)
  local last, names, sorted = {}, {}, {}
  for _, column in ipairs(list) do
    if not last[column.name] then names[#names + 1] = column.name end
    last[column.name] = column
  end
  table.sort(names)
  for i, name in ipairs(names) do sorted[i] = last[name] end
  return sorted
end

-- Returns the sums that shares are of.
local function totals_of(sections, list)
  local totals, seen = {}, {}
  for _, column in ipairs(list) do
    local measure = column.share and column.measure
    for i, section in ipairs(measure and not seen[measure] and sections or {}) do
      local event = section.members and section.members[column.slot] or section
      totals[#totals + 1] = { measure = measure, whole = i,
        sum = (event.whole or event)[column.also and "also" or "period"] or 0 }
    end
    seen[measure or false] = true
  end
  return totals
end

-- Finds the rows of each section.
local function place_sections(sections, view)
  local first = 1
  for i, section in ipairs(sections) do
    local low, high = first - 1, #view -- the last row of the section is between them
    while low < high do
      local middle = (low + high + 1) // 2
      if core.view_section(view, middle) <= i then low = middle else high = middle - 1 end
    end
    section.first, section.n, first = first, low - first + 1, low + 1
  end
end

local SHARES <const> = { "overhead_children", "overhead" } -- what rows are sorted by

local in_view = { overhead_children = "children", overhead = "period", period = "period",
  sample = "samples" }

-- Returns the places of what rows are sorted by: { column, ascending }. first: the slot whose
-- measures come first.
local function order_of(order, made, places, first)
  local list, numbers = {}, {}
  for i, field in ipairs(made.fields) do numbers[field.word] = i end
  local function add(name, slot)
    local place = places[numbers[name] or rows.named(in_view[name] or name, slot)]
    if place then list[#list + 1] = { column = place, ascending = columns.ascends(name) } end
  end
  for _, name in ipairs(order or SHARES) do
    -- as in perf, the other events do not count for shares with callers
    local is_first = name == "overhead_children"
    add(name, is_first and 1 or first)
    -- nor does the leader, where rows are sorted by another one first
    for slot = 2, columns.measure(name) and not is_first and made.slots or 0 do
      if slot ~= first then add(name, slot) end
    end
  end
  return list
end

local TEXTS <const> = { string = true, symbol = true }

-- Returns the conditions on rows that are shown.
local function conditions_of(made, shown, list)
  local conditions, texts = { made.is_own and "samples > 0" or nil }, {}
  if shown.limit > 0 then
    conditions[#conditions + 1] = ("%s >= %.17g"):format(
      made.children and "children_percent" or "percent", shown.limit)
  end
  for _, key in ipairs(shown.text and made.keys or {}) do
    if TEXTS[key.kind] and key.name:find "^[%w_]+$" and key.name ~= "cpumode" then
      texts[#texts + 1] = ("find(%s, %q)"):format(key.name, shown.text):gsub("\\\n", "\\n")
    end
  end
  conditions[#conditions + 1] = texts[1] and table.concat(texts, " or ")
  for i, text in ipairs(conditions) do
    conditions[i] = expression.parse_condition(text, list)
  end
  return conditions
end

---Makes the view, and sets first and n of the sections.
---@param result userdata of the core
---@param made { table_keys: table[], extra: string[], also: integer?, slots: integer,
--- children: boolean?, has_callers: boolean?, is_own: boolean?, fields: table[] } table_keys:
--- { name, kind } of the result; extra: measures after samples and period, of which number
--- `also`, counted from samples on, is also of callers; slots: events of a section at most;
--- has_callers: the last measures are those with callers; is_own: callers have no rows;
--- children: these are shown, or are the periods; fields: the keys that were asked for, the
--- first of all
---@param sections table[] of report.read
---@param shown table as report.read takes it
---@return userdata view
---@return table<integer|string, integer> places of columns, as of report.read
function rows.view(result, made, sections, shown)
  local list, places = list_columns(made), {}
  if shown.by_name then list = by_name(list) end
  for place, column in ipairs(list) do
    places[column.key or column.name] = place
  end
  local first = math.min(shown.sort_slot or 1, made.slots)
  local order = order_of(shown.order, made, places, first)
  local by = table.remove(order, 1)
  local view, wrong = core.result_view(result, { columns = list, by = by and by.column,
    ascending = by and by.ascending, ties = order, top = shown.count,
    conditions = conditions_of(made, shown, list), totals = totals_of(sections, list) })
  if not view then usage_error("%s", sums.wrong[wrong]) end
  place_sections(sections, view)
  return view, places
end

return rows
