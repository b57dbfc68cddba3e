-- One side of a comparison: runs of the same work, whose groups are added up by the names that
-- rows are matched by.
--
-- A side has
--   runs    as slices.lua reads them, or { data, result, count, keys, measure, description } of
--           a Table
--   symbol  the place among the keys that has functions; nil: none
--   empty   a run that has no rows, in words; nil: each run has some; n_empty counts them
--   n_slices  of all runs; nil: a run has none
--   match   names that are renamed; `matched` has those that a row of either side has
--
-- and once it is joined with the other side (join.lua):
--   events  by the name that it is matched by: { samples, unnamed } of its rows, nil if they
--           are not known
--   original  by event: its name in the first run that has it

local core = require "perflua.core"
local description = require "perflua.table.description"
local fmt = require "perflua.text.fmt"
local names = require "perflua.diff.names"
local query = require "perflua.query"
local slices = require "perflua.diff.slices"
local suggest = require "perflua.errors.suggest"
local Table = require "perflua.table"
local usage_error = require("perflua.errors").usage_error

local spec_of = core.query_spec

local side = {}

-- Returns the place of an unweighted count among the measures.
local function find_count(data)
  for m, measure in ipairs(data.measures) do
    if measure.measure == "count" and not measure.weight then return m end
  end
end

-- A Table as a run.
local function run_of_table(made, what)
  local data = made.data
  if data.interrupted then usage_error("diff: %s is an interrupted table, which is incomplete",
    what) end
  return { data = data, result = data.result, count = find_count(data), keys = data.keys,
    measure = data.measures[1], description = data.description }
end

local function check_item(item, what)
  if Table.is(item) then
    if Table.is_final(item.show) then
      usage_error("diff: %s: column, having and pivot come after diff", what)
    end
  elseif query.is(item) then
    local spec = spec_of(item)
    if not spec.keys then usage_error("diff: %s: group_by comes before diff", what) end
    if Table.is_final(spec.show) then
      usage_error("diff: %s: column, having, pivot and running come after diff", what)
    end
  else
    usage_error("diff: %s: a grouped query, a Table or a list of them expected, got %s", what,
      suggest.kind(item))
  end
end

---Checks an argument of diff.
---@param given any
---@param what string "before"
---@return (perflua.Query|perflua.Table)[]
function side.list(given, what)
  if Table.is(given) or query.is(given) or type(given) ~= "table" then given = { given } end
  if #given == 0 then usage_error("diff: %s: the list is empty", what) end
  for i, item in ipairs(given) do
    check_item(item, #given > 1 and ("%s[%d]"):format(what, i) or what)
  end
  return given
end

local AMOUNTS <const> = { count = true, sum = true, share = true }
local RATIOS <const> = { avg = true, ratio = true, quantile = true }

local function check_per(per)
  if per == nil then return "run" end
  if per == "share" or per == "second" then return per end
  local event = type(per) == "string" and per:match "^event:(.+)$"
  if not event then
    usage_error("diff: per: \"share\", \"second\" or \"event:NAME\" expected, got %s",
      type(per) == "string" and ("'%s'"):format(per) or "a " .. type(per))
  end
  return "event", event
end

local function amount_basis(measure, per)
  local kind, event = check_per(per)
  if measure.measure == "share" then
    if kind ~= "run" and kind ~= "share" then
      usage_error("diff: '%s' is a share already; per = \"%s\" goes with count and sum",
        measure.name, per)
    end
    kind = "share"
  end
  return { measure = measure, is_amount = true, per = kind, event = event }
end

-- Returns the measure that a query or Table is compared by, before anything is read.
local function measure_of(item)
  if Table.is(item) then return item.data.measures[1] end
  return spec_of(item).columns[1] or { name = "count", measure = "count" }
end

---Returns the basis of a comparison: a number of each run, made of a measure.
---@param item perflua.Query|perflua.Table
---@param per string?
---@return table # { measure, per: "run", "share", "second" or "event", as the core takes them;
--- event: the name of that event; quantile: which one; is_amount: a row that a run lacks is 0
--- there, and samples can be counted }
function side.basis(item, per)
  local measure = measure_of(item)
  local name = measure.measure
  if AMOUNTS[name] then return amount_basis(measure, per) end
  if not RATIOS[name] then
    usage_error("diff: %s cannot be compared; count, sum, share, avg, ratio and quantile can",
      name)
  elseif check_per(per) ~= "run" then
    usage_error("diff: per goes with count and sum, not with %s", name)
  elseif name == "quantile" and type(measure.option) == "table" then
    usage_error("diff: one quantile is compared, but %s are several", measure.name)
  elseif name == "quantile" and measure.weight then
    usage_error("diff: a weighted quantile cannot be compared: its values are not samples")
  end
  return { measure = measure, per = "run",
    quantile = name == "quantile" and measure.option or nil }
end

-- Raises if the runs answer different questions.
local function check_alike(first, first_what, run, what)
  local function question(answer)
    return { keys = answer.keys, measures = { answer.measure }, description = {
      groups = answer.description and answer.description.groups } }
  end
  local difference = description.difference(question(first), question(run), true)
  if difference then
    usage_error("diff: %s and %s are results of different queries: %s", first_what, what,
      difference)
  end
end

---Reads the runs of a side.
---@param list (perflua.Query|perflua.Table)[] from list()
---@param what string
---@param options { basis: table, match: table, matched: table, sliced: boolean, like: table?,
--- symbol: integer? } like: the side that must have the same keys and measure; matched: gets
--- the names of `match` that were found; symbol: the key where addresses stand for functions
---@return table
function side.read(list, what, options)
  local basis, most = options.basis, slices.MOST // #list
  local self = { runs = {}, basis = basis, n_slices = 0, n_empty = 0, most = most,
    what = what, match = options.match, matched = options.matched, clocks = options.clocks }
  local is_sliced = options.sliced and not basis.quantile
  for r, item in ipairs(list) do
    local name = #list > 1 and ("%s[%d]"):format(what, r) or what
    local run = Table.is(item) and run_of_table(item, name)
      or slices.read(item, name, is_sliced and most or nil, { symbol = options.symbol })
    if run.slices then run.slices.offset = self.n_slices or 0 end
    self.n_slices = self.n_slices and run.slices and self.n_slices + run.slices.n or nil
    self.runs[r] = run
    local like = options.like or self
    check_alike(like.runs[1], like.what, run, name)
    if #run.result == 0 then
      self.n_empty = self.n_empty + 1
      self.empty = ("%s is empty: no record was read%s, or none passed the filter"):format(name,
        run.spec and " from " .. fmt.paths(run.spec.file.path) or "")
    end
  end
  self.symbol = names.symbol(self.runs[1].keys)
  return self
end

---Returns whether sides have nothing at all. Raises if only some of their runs are empty.
---@param ... table
---@return boolean
function side.are_empty(...)
  local n, empty, what = 0, 0, nil
  for _, made in ipairs { ... } do
    n, empty, what = n + #made.runs, empty + made.n_empty, what or made.empty
  end
  if what and empty < n then usage_error("diff: %s", what) end
  return empty == n
end

-- Samples without a function in binaries that both sides have, by their build-ids, are compared
-- by address, or get the names that the other side knows.

local LEAST <const> = 20 -- samples of both sides without a function: fewer are not named

-- Returns the key of a query that has functions of binaries; nil: none has.
local function find_symbol(item)
  local spec = query.is(item) and spec_of(item)
  if not spec or not spec.file.size or spec.reader or spec.unnest then return nil end
  local keys = {}
  for i, key in ipairs(spec.keys) do keys[i] = { name = key.name, text = key.ref.text } end
  local symbol = names.symbol(keys)
  return symbol and keys[symbol].text == "symbol" and symbol or nil
end

local function build_ids_of(list)
  local ids = {}
  for _, item in ipairs(list) do
    core.each_binary(spec_of(item).file, false, function(binary)
      if binary.build_id then ids[binary.build_id] = true end
    end)
  end
  return ids
end

local function have_common(a, b)
  for id in pairs(a) do
    if b[id] then return true end
  end
  return false
end

---Returns whether addresses where no function is known are worth to be read.
---@param before (perflua.Query|perflua.Table)[]
---@param after (perflua.Query|perflua.Table)[]
---@return integer? # the key whose values they are; nil: they are not
function side.symbol_of_addresses(before, after)
  local symbol
  for _, list in ipairs { before, after } do
    for _, item in ipairs(list) do
      local place = find_symbol(item)
      if not place or symbol and place ~= symbol then return nil end
      symbol = place
    end
  end
  return have_common(build_ids_of(before), build_ids_of(after)) and symbol or nil
end

local function binaries_of(made)
  local results = {}
  for i, run in ipairs(made.runs) do
    results[i] = { result = run.result, file = run.spec.file, build_id = run.build_id,
      symbol = made.symbol, count = run.count }
  end
  return core.binaries(table.unpack(results))
end

---Returns the binaries of both sides, if samples without a function are in some that both have.
---@param before table a side
---@param after table
---@return userdata? # of before; nil: addresses are not compared
---@return userdata? # of after
function side.binaries(before, after)
  if not (before.runs[1].build_id and after.runs[1].build_id) then return nil end
  local a, b = binaries_of(before), binaries_of(after)
  if core.binaries_unnamed(a, b) < LEAST then return nil end
  return a, b
end

return side
