-- How a query is read: which records the C cursor walks, and where its filters run.
--
-- When all fields a query names are plain the cursor yields their values and no record is made;
-- otherwise it yields records and the fields are read from them. Both give the same answer.
--
-- A spec is what a Query holds: file, types, events, event_nil, container, order, reuse, from, to, filters.

local guard = require "perflua.errors.guard"

local plan = {}

-- Fields that the core reads for one loop or handler.
plan.MAX_FIELDS = 32

-- Stands for an absent value where false is a value like any other.
plan.ABSENT = setmetatable({}, { __tostring = function() return "nil" end })

-- One record's values to v; v[1] is nil at the end.
local fill = {
  function(v, step) v[1] = step() end,
  function(v, step) v[1], v[2] = step() end,
  function(v, step) v[1], v[2], v[3] = step() end,
  function(v, step) v[1], v[2], v[3], v[4] = step() end,
  function(v, step) v[1], v[2], v[3], v[4], v[5] = step() end,
  function(v, step) v[1], v[2], v[3], v[4], v[5], v[6] = step() end,
}

local function fill_any(v, step)
  local values = table.pack(step())
  v[1] = nil
  table.move(values, 1, values.n, 1, v)
end

local function open_cursor(spec, names, reuse)
  return guard(spec.file.cursor, spec.file, {
    types = spec.types, events = spec.events, event_nil = spec.event_nil, container = spec.container,
    order = spec.order or "time", from = spec.from, to = spec.to, fields = names, reuse = reuse,
  })
end

local function all_plain(refs)
  for _, ref in ipairs(refs) do
    if not ref.plain then return false end
  end
  return true
end

local function filters_plain(spec)
  for _, filter in ipairs(spec.filters) do
    if not filter.refs or not all_plain(filter.refs) then return false end
  end
  return true
end

-- Whether the cursor can yield all the fields that refs and filters name.
local function yields_fields(spec, refs)
  local n = #refs
  for _, filter in ipairs(spec.filters) do n = n + (filter.refs and #filter.refs or 0) end
  return n <= plan.MAX_FIELDS and all_plain(refs) and filters_plain(spec)
end

local function by_record(ref) return ref.get end

-- All filters as one predicate of what access reads from; nil if there are none.
local function predicate(spec, access)
  local all
  for _, filter in ipairs(spec.filters) do
    local one = filter.bind(access)
    local before = all
    all = before and function(x) return before(x) and one(x) end or one
  end
  return all
end

---@return (fun(record: perflua.Record): boolean)? # all filters as one predicate of a record; nil if there are none
function plan.predicate(spec) return predicate(spec, by_record) end

local function calls_lua(spec)
  for _, filter in ipairs(spec.filters) do
    if not filter.refs then return true end
  end
  return false
end

-- Records for the query's own use may be one object again and again, unless a script's function
-- sees them.
local function reusable(spec, refs)
  if spec.reuse then return true end
  for _, ref in ipairs(refs) do
    if ref.kind == "view" or ref.kind == "function" then return false end
  end
  return not calls_lua(spec)
end

-- Whether the answer to a question about all records is the same in any order: nothing but plain
-- descriptions, none of them of the first or last. Then order "time" is not worth its price.
---@param spec table
---@param refs table[] the fields that are read
---@param columns table[] of measures
---@return boolean
function plan.any_order(spec, refs, columns)
  for _, column in ipairs(columns) do
    if column.measure == "first" or column.measure == "last" then return false end
  end
  for _, ref in ipairs(refs) do
    if ref.kind == "function" then return false end
  end
  -- what a stream says of names comes with its records
  return spec.file.size ~= nil and not calls_lua(spec)
end

local function filtered(cursor, keep)
  if not keep then return cursor end
  return function()
    local record = cursor()
    while record ~= nil and not keep(record) do record = cursor() end
    return record
  end
end

-- A closing value for a cursor.
function plan.closing(cursor)
  return setmetatable({}, { __close = function() cursor:close() end })
end

---@param spec table
---@return function step # -> the next record, nil at the end
---@return table cursor # to close
function plan.records(spec)
  local cursor = open_cursor(spec, nil, spec.reuse)
  return filtered(cursor, plan.predicate(spec)), cursor
end

local function rows_of_fields(spec, refs)
  local names, slot = {}, {}
  for i, ref in ipairs(refs) do
    names[i] = ref.root
    slot[ref.root] = i
  end
  local keep = predicate(spec, function(ref)
    local i = slot[ref.root]
    if not i then
      i = #names + 1
      names[i], slot[ref.root] = ref.root, i
    end
    return function(v) return v[i] or nil end
  end)
  if #names == 0 then names[1] = "type_id" end
  local cursor, take = open_cursor(spec, names), fill[#names] or fill_any
  return function(v)
    repeat
      take(v, cursor)
      if v[1] == nil then return false end
    until not keep or keep(v)
    return true
  end, cursor
end

local function rows_of_records(spec, refs)
  local cursor = open_cursor(spec, nil, reusable(spec, refs))
  local step, n, get = filtered(cursor, plan.predicate(spec)), #refs, {}
  for i, ref in ipairs(refs) do get[i] = ref.get end
  return function(v)
    local record = step()
    if record == nil then return false end
    for i = 1, n do
      local value = get[i](record)
      if value == nil then value = false end
      v[i] = value
    end
    return true
  end, cursor
end

---@param spec table
---@param refs table[]
---@return fun(v: table): boolean step # the next record's values to v[1 … #refs], absent ones false
---@return table cursor # to close
function plan.rows(spec, refs)
  if yields_fields(spec, refs) then return rows_of_fields(spec, refs) end
  return rows_of_records(spec, refs)
end

-- The cursor itself where it yields just the values of refs; nil where it does not.
local function values_cursor(spec, refs)
  if #refs == 0 or #spec.filters > 0 or not yields_fields(spec, refs) then return nil end
  local names = {}
  for i, ref in ipairs(refs) do names[i] = ref.root end
  return open_cursor(spec, names)
end

-- What is fastest to read.
---@param spec table
---@param refs table[]
---@return function source # direct: -> the next record's values, absent ones false; nil at the end. Else as plan.rows
---@return table cursor # to close
---@return boolean direct
function plan.source(spec, refs)
  local cursor = values_cursor(spec, refs)
  if cursor then return cursor, cursor, true end
  local step, closed = plan.rows(spec, refs)
  return step, closed, false
end

---@param spec table
---@param refs table[]
---@return function step # -> the next record's values, absent ones false; nil at the end
---@return table cursor # to close
function plan.values(spec, refs)
  local source, cursor, direct = plan.source(spec, refs)
  if direct then return source, cursor end
  local v, n, unpack = {}, #refs, table.unpack
  return function()
    if source(v) then return unpack(v, 1, n) end
  end, cursor
end

return plan
