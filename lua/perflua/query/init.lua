-- Query: a description of what to read, made step by step; each step is a new Query. Nothing is
-- read until one is looped over or asked for a result.

local core = require "perflua.core"
local errors = require "perflua.errors"
local between = require "perflua.recording.between"
local description = require "perflua.table.description"
local recording = require "perflua.recording"
local filter = require "perflua.filter"
local group = require "perflua.group"
local measured = require "perflua.query.measured"
local queries = require "perflua.query.new"
local plan = require "perflua.plan"
local spec_of = core.query_spec
local usage_error, check_open, is_open = errors.usage_error, recording.check_open,
  recording.is_open

---@class perflua.Query
local Query = {}
local meta, derive, measure, not_final = queries.meta, queries.derive, measured.measure,
  measured.not_final

local function appended(list, ...)
  local longer = table.move(list, 1, #list, 1, {})
  for _, item in ipairs { ... } do longer[#longer + 1] = item end
  return longer
end

local function not_grouped(query, step)
  if spec_of(query).keys then usage_error("%s comes before group_by", step) end
end

---@param condition string|function|table
---@return perflua.Query
function Query:where(condition)
  not_grouped(self, "where")
  local added = filter.of(condition, spec_of(self).scope)
  added.source = description.filter(condition)
  return derive(self, { filters = appended(spec_of(self).filters, added) })
end

-- Names of the fields that say when a record was, or when a span began.
local record_fields = { time = "time", source = "source" }
local span_fields = { time = "start", source = "open.source" }

-- Keeps the records of windows of time, whose last one includes its end if `closed`.
local function narrow(query, from, to, closed)
  not_grouped(query, "between")
  local spec = spec_of(query)
  check_open(spec.file)
  local spans = appended(spec.spans or {}, description.span(from, to))
  local windows = between.windows(spec.file, from, to, spec.reader and span_fields
    or record_fields, closed)
  from, to = windows.from, windows.to
  if spec.from and math.ult(from, spec.from) then from = spec.from end
  if spec.to and (not to or math.ult(spec.to, to)) then to = spec.to end
  local filters = spec.filters
  if windows.condition then
    filters = appended(filters, filter.of_window(windows.condition, spec.scope))
  end
  return derive(query, { from = from, to = to, spans = spans, filters = filters })
end

---@param from integer|string|nil|table[] included; or a list of windows
---@param to integer|string|nil excluded
---@return perflua.Query
function Query:between(from, to) return narrow(self, from, to) end

---@param ... string fields, or expressions of them
---@return perflua.Query
function Query:select(...)
  not_grouped(self, "select")
  local names, refs = table.pack(...), {}
  if names.n == 0 then usage_error("select: names of fields expected, got none") end
  for i = 1, names.n do refs[i] = spec_of(self).scope:ref(names[i]) end
  return derive(self, { refs = refs })
end

---@param view string "callchain", "branch_stack", "read", "regs_user" or "regs_intr"
---@param options { as: string?, once: string?, inline: boolean? }?
---@return perflua.Query # whose rows are the items of the view
function Query:unnest(view, options)
  local unnest = require "perflua.query.unnest" -- loaded when it is asked for
  return derive(self, unnest(spec_of(self), view, options))
end

---@param ... string|table<string, function> fields, expressions, or functions of a record by
--- their columns' names
---@return perflua.Query
function Query:group_by(...)
  not_grouped(self, "a second group_by")
  if select("#", ...) == 0 then usage_error("group_by: names of keys expected, got none") end
  return derive(self, group.by(spec_of(self), ...))
end

---@return perflua.Query # whose groups hold the records of all events together
function Query:all_events() return derive(self, { split = false }) end

---@param name string for the last key or measure
---@return perflua.Query
function Query:as(name)
  if not spec_of(self).keys then
    usage_error("as comes after group_by: it renames a key or a measure")
  end
  not_final(self, "as")
  return derive(self, group.renamed(spec_of(self), name))
end

-- The next step of a query that is looped over: values, nil at the end; and what to close.
local function open(query)
  local spec = spec_of(query)
  if spec.keys then
    return group.table(spec):rows(), { close = function() end }
  elseif spec.refs then
    return plan.values(spec, spec.refs)
  elseif spec.unnest then
    usage_error "rows of unnest() are selected or grouped: select(…) or group_by(…) comes next"
  end
  return plan.records(spec)
end

-- Starts the loop of `for … in query do`, ending an unfinished one: what core.query_call calls
-- when the control value is nil.
---@param running table? cursor of the loop before
---@return function step, table cursor
function meta:__start(running)
  if running then running:close() end
  return open(self)
end

meta.__call = core.query_call

-- each(fn) calls fn for every record (or row, or with the selected values); each() is an
-- independent iterator, for loops that nest.
---@param fn function?
---@return function? step, nil, nil, any closing
function Query:each(fn)
  local step, cursor = open(self)
  local closing = plan.closing(cursor)
  if fn == nil then return step, nil, nil, closing end
  if type(fn) ~= "function" then
    usage_error("each: a function expected, got a %s", type(fn))
  end
  local _ <close> = closing
  local function pass(first, ...)
    if first == nil then return false end
    fn(first, ...)
    return true
  end
  if not pass(step()) then return queries.tell_empty(self) end
  while pass(step()) do end -- luacheck: ignore 542
end

-- Records, rows, or selected values: those of several fields as arrays.
---@return any[]
function Query:collect()
  local list = {}
  local several = spec_of(self).refs and #spec_of(self).refs > 1
  local copies = spec_of(self).reuse and not spec_of(self).refs and not spec_of(self).keys
  self:each(function(...)
    local item = several and { ... } or (...)
    list[#list + 1] = copies and item:copy() or item
  end)
  return list
end

-- Without a field the first record, row, or selected values; after group_by first(field) is a
-- measure.
function Query:first(field)
  if field ~= nil then return measure(self, "first", field) end
  local step, cursor = open(self)
  local _ <close> = plan.closing(cursor)
  local values = table.pack(step())
  if values[1] == nil then queries.tell_empty(self) end
  return table.unpack(values, 1, values.n)
end

-- The values that are selected of the last record.
local function last_values(query)
  local values = table.pack()
  query:each(function(...) values = table.pack(...) end)
  return table.unpack(values, 1, values.n)
end

-- Without a field the last record, row, or selected values; after group_by last(field) is a
-- measure.
function Query:last(field)
  if field ~= nil then return measure(self, "last", field) end
  local spec = spec_of(self)
  if spec.refs then return last_values(self) end
  if spec.reuse then self = derive(self, { reuse = false }) end
  local last
  self:each(function(item) last = item end)
  return last
end

---@return string # what is read, and where each step runs: in C or in Lua
-- loaded when it is asked for
function Query:explain() return (require "perflua.query.explain".spec(spec_of(self))) end

---@param target string|file*
---@param options table?
---@return table? summary, string? message, string? code
function Query:write(target, options)
  -- loaded when asked for
  return require "perflua.write".query(spec_of(self), target, options, self)
end

-- Tables that were made to be shown, by the specs of their queries.
local shown <const> = setmetatable({}, { __mode = "k" })

-- The table of a grouped query over a file that can be read again; else nil, and nothing is
-- read.
local function table_to_show(query)
  local spec = spec_of(query)
  if not spec.keys or spec.file.size == nil or not is_open(spec.file) then return nil end
  local made = shown[spec] or query:table()
  if not made.data.interrupted then shown[spec] = made end
  return made
end

function meta:__tostring()
  local made = table_to_show(self)
  if made then return tostring(made) end
  local path = spec_of(self).file.path
  if type(path) == "table" then path = table.concat(path, ", ") end
  return "perflua.Query over " .. path
end

---Gives all queries more methods: those of modules that are made of queries.
---@param methods table<string, fun(query: perflua.Query, ...): any>
local function extend(methods)
  for name, method in pairs(errors.checked(methods, meta, "Query")) do Query[name] = method end
end

extend(Query)
extend(measured.methods)

-- Names that scripts try as if a query were a list of records.
local NO_ARRAY =
  "a Query is not an array: loop with `for record in query do`, or make an array with collect()"
local method = errors.named(Query, "Query")

function meta:__index(key)
  if key == "counts" then return spec_of(self).counts end
  if math.type(key) == "integer" then usage_error(NO_ARRAY) end
  return method(self, key)
end

function meta.__len() usage_error("%s; count() counts its records", NO_ARRAY) end

function meta.__pairs() usage_error(NO_ARRAY) end

---@param value any
---@return boolean
local function is(value) return getmetatable(value) == meta end

return { new = queries.new, is = is, extend = extend, methods = Query,
  narrow = narrow }
