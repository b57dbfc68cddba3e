-- The time that spans cover, in plain Lua: all spans by key, sorted and joined at the end.

local closures = require "spec.support.model.closures"
local core = require "perflua.core"
local engine = require "perflua.plan.engine"
local spans = require "spec.support.model.spans"

local cover_meta = { __name = "perflua.Cover" }

function cover_meta:__tostring()
  return ("cover %s - %s (%d ns)"):format(core.seconds(self.start), core.seconds(self.stop),
    self.duration)
end

-- The spans of one kind, in the order of the records that end them: { at, from, to, key }.
local function spans_of(cover, records)
  local at = 0
  local step, reader = spans.pair(cover.pairing, cover.spans, function()
    at = at + 1
    return records[at]
  end)
  local reads, list = {}, {}
  for i, ref in ipairs(cover.refs) do reads[i] = reader(ref) end
  for context in step do
    local key, has_key = {}, true
    for i, read in ipairs(reads) do
      local value = read(context)
      has_key = has_key and value ~= nil and value == value
      key[i] = has_key and math.type(value) and math.tointeger(value) or value
    end
    list[#list + 1] = has_key and { at = at, from = context.from, to = context.to, key = key }
      or nil
  end
  return list
end

local function name_of(key)
  local parts = {}
  for i, value in ipairs(key) do
    parts[i] = ("%s %s"):format(math.type(value) and "number" or type(value), value)
  end
  return table.concat(parts, "\0")
end

local function joined(list)
  table.sort(list, function(a, b) return a.from < b.from end)
  local result = {}
  for _, one in ipairs(list) do
    local last = result[#result]
    if last and one.from <= last.to then
      last.to = math.max(last.to, one.to)
    else
      result[#result + 1] = { from = one.from, to = one.to }
    end
  end
  return result
end

local function common(a, b)
  local result = {}
  for _, one in ipairs(a) do
    for _, other in ipairs(b) do
      result[#result + 1] = { from = math.max(one.from, other.from),
        to = math.min(one.to, other.to) }
    end
  end
  return result
end

-- All rows, in the order of their starts.
local function rows_of(made, records)
  local all, by_key, order = {}, {}, {}
  for side, cover in ipairs(made.covers) do
    for i, one in ipairs(spans_of(cover, records)) do
      one.side, one.i = side, i
      all[#all + 1] = one
    end
  end
  table.sort(all, function(a, b)
    if a.at ~= b.at then return a.at < b.at end
    if a.side ~= b.side then return a.side < b.side end
    return a.i < b.i
  end)
  for _, one in ipairs(all) do
    local name = name_of(one.key)
    local group = by_key[name]
    if not group then
      group = { key = one.key, number = #order, {}, {} }
      by_key[name], order[#order + 1] = group, group
    end
    table.insert(group[one.side], one)
  end
  local rows = {}
  for _, group in ipairs(order) do
    local times = joined(group[1])
    if #made.covers > 1 then times = common(times, joined(group[2])) end
    for _, time in ipairs(times) do
      if time.from < time.to then
        rows[#rows + 1] = { start = time.from, stop = time.to, key = group.key,
          number = group.number }
      end
    end
  end
  table.sort(rows, function(a, b)
    if a.start ~= b.start then return a.start < b.start end
    return a.number < b.number
  end)
  return rows
end

local function of_row(ref)
  if ref.cover == "duration" then return function(row) return row.stop - row.start end end
  if type(ref.cover) == "string" then return function(row) return row[ref.cover] end end
  return function(row) return row.key[ref.cover] end
end

---@param made table of union() or intersection()
---@param spec table of the query over them
---@param cursor fun(): perflua.Record?
---@return fun(): table? next_row
---@return function reader
---@return function object of a row
return function(made, spec, cursor)
  local n = #made.kinds
  local function object(row)
    local key = row.key[1]
    if n ~= 1 then key = n > 1 and table.move(row.key, 1, n, 1, {}) or nil end
    return setmetatable({ start = row.start, stop = row.stop, key = key,
      duration = row.stop - row.start }, cover_meta)
  end
  local tests = {}
  for i, filter in ipairs((engine.split_filters(spec))) do
    local fn = filter.fn
    tests[i] = filter.node and closures(filter.node, of_row)
      or function(row) return fn(object(row)) end
  end
  local function keeps(row)
    if spec.from and math.ult(row.start, spec.from) then return false end
    if spec.to and not math.ult(row.start, spec.to) then return false end
    for _, test in ipairs(tests) do
      if not test(row) then return false end
    end
    return true
  end
  local rows, at = nil, 0
  local function step()
    if not rows then
      local records = {}
      for record in cursor do records[#records + 1] = record end
      rows = rows_of(made, records)
    end
    repeat at = at + 1 until not rows[at] or keeps(rows[at])
    return rows[at]
  end
  local function reader(ref)
    if ref.kind == "function" then return function(row) return ref.get(object(row)) end end
    return ref.path and of_row(ref) or closures(ref.node, of_row)
  end
  return step, reader, object
end
