-- A grouped query read with a hidden key, the slice of time, and a hidden measure, the number
-- of records.

local description = require "perflua.table.description"
local group = require "perflua.group"
local measures = require "perflua.measures"
local core = require "perflua.core"
local spec_of = core.query_spec
local usage_error = require("perflua.errors").usage_error

local slices = {}

--- Slices of all runs of a side.
slices.MOST = 200

local SECOND <const> = 1000000000

-- The times of the query's records: first, last; nil for a stream, which does not know yet.
-- Raises if no integer is the time between them: one of them is damaged.
local function time_range(spec, what)
  local file = spec.file
  if file.size == nil then return nil end
  local first, last = file.first_time, file.last_time
  if first and spec.from and math.ult(first, spec.from) then first = spec.from end
  if last and spec.to and math.ult(spec.to, last) then last = spec.to end
  if not (first and last) then return first, last end
  if math.ult(last, first) then return first, first end
  if last - first < 0 then
    usage_error("diff: records of %s are more than 292 years apart: compare a part of its time",
      what)
  end
  return first, last
end

-- The groups of a query's records by other keys, with other measures.
local function read_table(spec, keys, columns)
  local copy = {}
  for name, value in pairs(spec) do copy[name] = value end
  copy.keys, copy.columns, copy.show = keys, columns, nil
  local data = group.table(copy).data
  if data.interrupted then usage_error("diff: interrupted: nothing is compared") end
  data.groups = core.result_groups(data.result)
  return data
end

-- The keys of a query and those that are hidden: the slice of time, and with `naming` the place
-- of addresses, which stand where no function is known.
local function keys_of(spec, slice, naming)
  local keys = table.move(spec.keys or {}, 1, #(spec.keys or {}), 1, {})
  keys[#keys + 1] = slice
  if naming then
    local symbol = keys[naming.at]
    keys[naming.at] = { name = symbol.name, ref = symbol.ref,
      other = spec.scope:ref "unresolved" }
    for _, text in ipairs(naming.keys) do
      keys[#keys + 1] = { name = text, ref = spec.scope:ref(text) }
    end
  end
  return keys
end

-- Names the addresses among the keys of groups.
local function name_groups(groups, naming, first)
  for _, g in ipairs(groups) do
    local keys = g.keys
    keys[naming.at], g.address = naming.name(keys[naming.at],
      table.unpack(keys, first, first + #naming.keys - 1))
  end
end

local function slice_key(spec, first, width)
  local field = spec.reader and "start" or "time"
  local ok, ref = pcall(spec.scope.ref, spec.scope,
    ("(%s - %d) // %d"):format(field, first, width))
  if not ok then return nil end
  return { name = "slice", ref = ref }
end

-- Numbers the slices that records were found in from 1 on; of a stream at most so many, by
-- joining neighbours. Returns the number of a key's slice, and how many there are. Records
-- outside of the recording's times, as its header tells them, are in the slice at that end.
local function numbering(least, greatest, most)
  local n = greatest - least + 1
  local joined = (n + most - 1) // most
  n = (n + joined - 1) // joined
  return function(key) return math.max(1, math.min(n, (key - least) // joined + 1)) end, n
end

-- Returns the least and the greatest slice of the groups; nil if a record has no time.
local function slices_of(groups, at)
  local least, greatest = math.maxinteger, math.mininteger
  for _, g in ipairs(groups) do
    local slice = g.keys[at]
    if slice == nil then return nil end
    least, greatest = math.min(least, slice), math.max(greatest, slice)
  end
  return least, greatest
end

local function add_state(row, g, columns)
  if not row[1] then
    row[1], row[2] = g[1], g[2]
    return
  end
  row[1] = measures[columns[1].measure].merge(row[1], g[1], columns[1].kind)
  row[2] = row[2] + g[2]
end

-- Stand in the tree of groups for values that cannot be keys of Lua tables, and for the group.
local NIL, NAN, ROW = {}, {}, {}

local function get_child(node, value)
  if value == nil then value = NIL elseif value ~= value then value = NAN end
  local child = node[value]
  if not child then
    child = {}
    node[value] = child
  end
  return child
end

-- Groups without their slice: { event, keys, state, count, slices = { number → state },
-- address (which keys[] has instead of a function, with the build-id) }.
local function join_groups(data, n_keys, number)
  local rows, tree, columns = {}, {}, data.measures
  local merge, kind = measures[columns[1].measure].merge, columns[1].kind
  for _, g in ipairs(data.groups) do
    local node = get_child(tree, g.event or 0)
    for k = 1, n_keys do node = get_child(node, g.keys[k]) end
    if g.address then node = get_child(node, g.address) end
    local row = node[ROW]
    if not row then
      row = { event = g.event, keys = table.move(g.keys, 1, n_keys, 1, {}), slices = {},
        address = g.address }
      node[ROW], rows[#rows + 1] = row, row
    end
    add_state(row, g, columns)
    if number then
      local slice = number(g.keys[n_keys + 1])
      local before = row.slices[slice]
      row.slices[slice] = before and merge(before, g[1], kind) or g[1]
    end
  end
  return rows
end

-- The measure that is compared, and a count.
local function compared(spec)
  local first = spec.columns[1] or group.column(spec, "count")
  return { first, { name = "", measure = "count" } }
end

---@param spec table of a query
---@param keys { name: string, ref: table }[]
---@param columns table[] measures
---@return table[] # its groups by these keys, of all events
function slices.groups(spec, keys, columns) return read_table(spec, keys, columns).groups end

---Reads a query.
---@param query perflua.Query grouped, or of samples to be added up
---@param what string what messages call it
---@param most integer? slices at most; nil: no slices are asked for
---@param options { columns: table[]?, naming: table? } columns: measures; default: the first
--- of the query, and a count; naming: of addresses.namings()
---@return table # run: { data (of the Table), groups (see above), n_slices, seconds, spec }
function slices.read(query, what, most, options)
  local spec = spec_of(query)
  local first, last = time_range(spec, what)
  local width = first and last and math.max(1, (last - first) // (most or 1) + 1) or SECOND
  local key = most and slice_key(spec, first or 0, width)
  if most and not key then
    usage_error("diff: %s has no times, which intervals are made of", what)
  end
  local n_keys, naming = #(spec.keys or {}), options.naming
  local data = read_table(spec, keys_of(spec, key, naming), options.columns or compared(spec))
  if naming then name_groups(data.groups, naming, n_keys + (key and 2 or 1)) end
  local run = { data = data, spec = spec, n_keys = n_keys, first = first }
  for _, filter in ipairs(spec.filters) do run.has_gaps = run.has_gaps or filter.is_window end
  if first and last then run.seconds = math.max(last - first, 1) / SECOND end
  local number, least, greatest
  if most and #data.groups > 0 then
    least, greatest = slices_of(data.groups, n_keys + 1)
    if not least then
      usage_error("diff: records of %s have no time, which intervals are made of", what)
    end
    if first and last then least, greatest = 0, (last - first) // width end
    number, run.n_slices = numbering(least, greatest, most)
    run.seconds = run.seconds or greatest - least + 1
  end
  run.groups = join_groups(data, n_keys, number)
  run.keys = table.move(data.keys, 1, n_keys, 1, {})
  run.measure, run.description = data.measures[1], description.of(spec)
  return run
end

return slices
