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
  for m, one in ipairs(data.measures) do
    if one.measure == "count" and not one.weight then return m end
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

---Returns the measure that a query or Table is compared by, before anything is read.
---@param item perflua.Query|perflua.Table
---@return table
function side.measure(item)
  if Table.is(item) then return item.data.measures[1] end
  return spec_of(item).columns[1] or { name = "count", measure = "count" }
end

-- Raises if the runs answer different questions.
local function check_alike(first, first_what, run, what)
  local function question(one)
    return { keys = one.keys, measures = { one.measure }, description = {
      groups = one.description and one.description.groups } }
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
    what = what, match = options.match, matched = options.matched }
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
  for _, one in ipairs { ... } do
    n, empty, what = n + #one.runs, empty + one.n_empty, what or one.empty
  end
  if what and empty < n then usage_error("diff: %s", what) end
  return empty == n
end

return side
