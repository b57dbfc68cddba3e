-- What perf report makes of a recording: samples added up by command, binary, function or whatever field.
--
-- report.prepare(file, options) checks what is asked for; report.read of what it returns reads the file and gives
--
--   table     the rows as a perflua.Table: its keys are the fields, its columns samples, period and, with
--             children, children: the period of the samples that have the row anywhere in their call chain
--   events    of each event with samples { event, samples, period, rows, unresolved }: rows as they are shown,
--             { keys = {…}, samples, period, children }; unresolved: samples without a function, nil if none
--             were looked for
--   keys      { name, kind } of a row's keys: the fields, and with `symbol` the cpumode
--   symbols   true if the last key is the cpumode of the symbol
--   children  true if callers were counted

local blame = require "perflua.errors.blame"
local callers = require "perflua.report.callers"
local order = require "perflua.report.order"
local rows = require "perflua.report.rows"
local Table = require "perflua.table"

local report = {}

local DEFAULT = { "comm", "dso", "symbol" }
local CALLCHAIN = 1 << 5 -- PERF_SAMPLE_CALLCHAIN

-- perf's names of what is called otherwise.
local aliases = { sym = "symbol", cgroup = "cgroup_path" }

local function query_of(file, options)
  local query = file:samples { event = options.event, order = file.size and "file" or nil }
  for _, condition in ipairs(options.where or {}) do query = query:where(condition) end
  return query
end

-- Fields of a sample that depend on its ip: of its callers they are not known.
local of_ip = { ip = true, symoff = true, srcline = true, map = true, unresolved = true }

-- A field for which callers cannot be told apart.
local function not_of_callers(fields)
  for _, field in ipairs(fields) do
    if of_ip[field.name:match("^[^.%[]+")] then return field.name end
  end
end

local function has_chains(query)
  for _, event in ipairs(query.spec.scope:events()) do
    if event.sample_type & CALLCHAIN ~= 0 then return true end
  end
  return false
end

-- The fields by which rows are told apart, as { name, kind }.
local function fields_of(query, sort)
  local fields, seen = {}, {}
  for i, name in ipairs(sort) do
    name = aliases[name] or name
    local ref = query.spec.scope:ref(name)
    if ref.kind == "view" then blame("%s is a composite: name a part of it, as in %s[1].x", name, name) end
    if seen[name] then blame("field '%s' is named twice", name) end
    fields[i], seen[name] = { name = name, kind = ref.kind }, i
  end
  if seen.symbol and seen.cpumode then blame("cpumode is shown with the symbol") end
  return fields, seen
end

---@param file perflua.File
---@param options { sort: string[]?, event: any, where: any[]?, children: boolean? } children: nil does as perf,
--- which adds up callers where there are call chains
---@return table # for report.read; raises what is wrong with the options
function report.prepare(file, options)
  local query = query_of(file, options)
  local fields, place = fields_of(query, options.sort or DEFAULT)
  local children = options.children
  local hindered = not_of_callers(fields)
  if children == nil then
    children = not hindered and has_chains(query)
  elseif children and hindered then
    blame("callers are known by dso and symbol only, not by %s", hindered)
  end
  return {
    query = query, fields = fields, place = place,
    children = children and (place.dso or place.symbol) and true or false,
  }
end

-- Rows of samples: { samples, period, event = its index, keys = {…} }, with callers and the period of theirs;
-- unresolved: they have no function.
local function rows_of(prepared)
  local query, make = prepared.query, prepared.children and callers or rows
  local scope = query.spec.scope
  local keys = { { ref = scope:ref "event" } }
  for i, field in ipairs(make.fields(prepared)) do
    keys[i + 1] = { ref = scope:ref(field.name), other = field.other and scope:ref(field.other), at = field.at }
  end
  return make.rows(prepared, keys, { { measure = "count" }, { measure = "sum", ref = scope:ref "period" } })
end

local UNKNOWN = math.maxinteger -- of an event: behind all others

-- The events of the samples, in their order; a row's event becomes its place in that.
local function totals(list_of_rows, prepared)
  local list, by_event, events = {}, {}, prepared.query.spec.file.events
  for _, g in ipairs(list_of_rows) do
    local index = g.event or UNKNOWN
    local total = by_event[index]
    if not total then
      total = { event = g.event and events[index].name or "unknown event", index = g.event,
        samples = 0, period = 0, unresolved = prepared.place.symbol and 0 or nil }
      by_event[index], list[#list + 1] = total, total
    end
    total.samples, total.period = total.samples + g[1], total.period + g[2]
    if total.unresolved and g.unresolved then total.unresolved = total.unresolved + g[1] end
  end
  table.sort(list, function(a, b) return (a.index or UNKNOWN) < (b.index or UNKNOWN) end)
  for i, total in ipairs(list) do total.place = i end
  for _, g in ipairs(list_of_rows) do g.event = by_event[g.event or UNKNOWN].place end
  return list
end

-- Columns of the table: the fields, and the cpumode of functions, as the kernel's may have names that others have.
local function columns_of(prepared)
  local keys = table.move(prepared.fields, 1, #prepared.fields, 1, {})
  if prepared.place.symbol then keys[#keys + 1] = { name = "cpumode", kind = "string" } end
  local measures = {
    { name = "samples", measure = "count" }, { name = "period", measure = "sum", kind = "unsigned" },
  }
  if prepared.children then measures[3] = { name = "children", measure = "sum", kind = "unsigned" } end
  return keys, measures
end

---@param prepared table
---@return table
function report.read(prepared)
  local list = rows_of(prepared)
  local events = totals(list, prepared)
  local data = { events = {}, groups = list }
  data.keys, data.measures = columns_of(prepared)
  for i, event in ipairs(events) do data.events[i], event.rows = event.event, {} end
  for _, row in ipairs(data.groups) do
    local of_event = events[row.event].rows
    of_event[#of_event + 1] = row
  end
  for _, event in ipairs(events) do
    event.rows = order(event.rows, prepared.children and 3 or 2, data.keys, prepared.place.symbol)
  end
  return {
    table = Table.new(data, { column = data.measures[#data.measures].name }),
    events = events, keys = data.keys, children = prepared.children, symbols = prepared.place.symbol ~= nil,
  }
end

return report
