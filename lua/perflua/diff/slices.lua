-- A grouped query read with hidden keys, the slice of time and the build-id of the binary, and
-- a hidden measure, the number of records.

local description = require "perflua.table.description"
local group = require "perflua.group"
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

-- The Table of a query's records by other keys, with other measures.
local function read_table(spec, keys, columns)
  local copy = {}
  for name, value in pairs(spec) do copy[name] = value end
  copy.keys, copy.columns, copy.show, copy.repeats = keys, columns, nil, true
  local data = group.table(copy).data
  if data.interrupted then usage_error("diff: interrupted: nothing is compared") end
  return data
end

-- The keys of a query and those that are hidden: the slice of time, and with `symbol`, the
-- number of a key, the build-ids of binaries in which addresses stand where no function is
-- known.
local function keys_of(spec, slice, symbol)
  local keys = table.move(spec.keys or {}, 1, #(spec.keys or {}), 1, {})
  keys[#keys + 1] = slice
  if symbol then
    keys[symbol] = { name = keys[symbol].name, ref = keys[symbol].ref,
      other = spec.scope:ref "unresolved" }
    keys[#keys + 1] = { name = "build_id", ref = spec.scope:ref "map.build_id" }
  end
  return keys
end

local function slice_key(spec, first, width)
  local field = spec.reader and "start" or "time"
  local ok, ref = pcall(spec.scope.ref, spec.scope,
    ("(%s - %d) // %d"):format(field, first, width))
  if not ok then return nil end
  return { name = "slice", ref = ref }
end

-- 1 of samples of a kernel, of a guest, too; 0 of others.
local IN_KERNEL <const> = "(misc & 7) % 3 % 2"

-- The measure that is compared, a count and, of samples, how many are of a kernel.
local function compared(spec)
  local first = spec.columns[1] or group.column(spec, "count")
  return { first, { name = "", measure = "count" }, spec.split and not spec.reader and {
    name = " ", measure = "sum", ref = spec.scope:ref(IN_KERNEL), kind = "signed" } or nil }
end

-- Numbers the slices that records were found in; of a stream at most so many, by joining
-- neighbours.
local function number_slices(key, least, greatest, most)
  local n = greatest - least + 1
  local joined = (n + most - 1) // most
  return { key = key, least = least, joined = joined, n = (n + joined - 1) // joined }
end

---Reads a query.
---@param query perflua.Query grouped, or of samples to be added up
---@param what string what messages call it
---@param most integer? slices at most; nil: no slices are asked for
---@param options { columns: table[]?, symbol: integer? } columns: measures; default: the first
--- of the query, and a count; symbol: the key where addresses stand for unknown functions
---@return table # run: { data (of the Table), result, count, kernel (measures), slices (of the
--- core), build_id (a key), seconds, spec, keys, measure, description }
function slices.read(query, what, most, options)
  local spec = spec_of(query)
  local first, last = time_range(spec, what)
  local width = first and last and math.max(1, (last - first) // (most or 1) + 1) or SECOND
  local key = most and slice_key(spec, first or 0, width)
  if most and not key then
    usage_error("diff: %s has no times, which intervals are made of", what)
  end
  local n = #(spec.keys or {})
  local columns = options.columns or compared(spec)
  local data = read_table(spec, keys_of(spec, key, options.symbol), columns)
  local run = { data = data, result = data.result, count = 2, kernel = columns[3] and 3,
    spec = spec, is_taken = true,
    build_id = options.symbol and n + (key and 2 or 1) }
  for _, filter in ipairs(spec.filters) do run.has_gaps = run.has_gaps or filter.is_window end
  if first and last then run.seconds = math.max(last - first, 1) / SECOND end
  if most and #data.result > 0 then
    local least, greatest = core.result_range(data.result, n + 1)
    if not least then
      usage_error("diff: records of %s have no time, which intervals are made of", what)
    end
    if first and last then least, greatest = 0, (last - first) // width end
    run.slices = number_slices(n + 1, least, greatest, most)
    run.seconds = run.seconds or greatest - least + 1
  end
  run.keys = table.move(data.keys, 1, n, 1, {})
  run.measure, run.description = data.measures[1], description.of(spec)
  return run
end

return slices
