-- One side of a comparison: runs of the same work, whose groups are added up by the names that
-- rows are matched by.
--
-- A side has
--   runs    as slices.lua reads them, or { data, groups, keys, measure, description } of a
--           Table; `offset` is the number of the slices of the runs before
--   rows    by event and matched keys: { event, keys (as shown), states (by run), samples (nil:
--           not known), cells (slice → { over, under }), is_unnamed (true: no function) }
--   symbol  the place among the keys that has functions; nil: none
--   empty   a run that has no rows, in words; nil: each run has some. Of a side with such a run
--           rows and totals are not made; n_empty counts them
--   totals  by event: { samples, over = { by run }, cells = { by slice } }
--   original  by event: its name in the first run that has it
--   n_slices  of all runs; nil: a run has none
--   match   names that are renamed; `matched` has those that a row of either side has

local core = require "perflua.core"
local description = require "perflua.table.description"
local fmt = require "perflua.text.fmt"
local measures = require "perflua.measures"
local names = require "perflua.diff.names"
local query = require "perflua.query"
local records = require "perflua.file.records"
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
  if data.interrupted then usage_error("diff: %s is an interrupted table: not all is there",
    what) end
  local count, groups = find_count(data), {}
  for i, g in ipairs(core.result_groups(data.result)) do
    groups[i] = { event = g.event, keys = g.keys, g[1], count and g[count] }
  end
  return { data = data, groups = groups, keys = data.keys, measure = data.measures[1],
    description = data.description }
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

local function total_of(self, event)
  local total = self.totals[event]
  if not total then
    total = { samples = 0, over = {}, cells = {} }
    self.totals[event] = total
  end
  return total
end

local function add_cell(cells, slice, over, under)
  local cell = cells[slice]
  if not cell then
    cells[slice] = { over, under }
  else
    cell[1], cell[2] = cell[1] + over, cell[2] + under
  end
end

local function find_row(self, event, id, keys)
  local rows = self.rows[event] or {}
  self.rows[event] = rows
  local row = rows[id]
  if not row then
    row = { event = event, keys = keys, states = {}, samples = 0, cells = {} }
    rows[id] = row
  end
  return row
end

-- Adds what a group has in each slice to its row, and to the event's total.
local function add_slices(row, total, g, run, basis)
  for slice, state in pairs(g.slices) do
    local at = run.offset + slice
    local over, under = basis.over(state), basis.under and basis.under(state) or 0
    add_cell(row.cells, at, over, under)
    total.cells[at] = (total.cells[at] or 0) + over
  end
end

local function add_run(self, r, matched)
  local run, basis = self.runs[r], self.basis
  local events = names.events(run.data)
  for i, name in ipairs(run.data.events or {}) do
    self.original[events[i]] = self.original[events[i]] or name
  end
  for _, g in ipairs(run.groups) do
    local event = events[g.event or 0]
    -- an address of a binary is the same wherever that was mapped
    local id, keys = matched(g.keys, g.address and self.symbol)
    if g.address then id = id .. g.address end
    local row, total = find_row(self, event, id, keys), total_of(self, event)
    row.is_unnamed = g.address ~= nil or self.symbol ~= nil and keys[self.symbol] == nil
    local before = row.states[r]
    row.states[r] = before ~= nil and measures[run.measure.measure].merge(before, g[1],
      run.measure.kind) or g[1]
    row.samples = row.samples and g[2] and row.samples + g[2] or nil
    total.samples = total.samples and g[2] and total.samples + g[2] or nil
    if basis.over then
      local over = basis.over(g[1])
      if basis.is_amount then total.over[r] = (total.over[r] or 0) + over end
      if run.n_slices then add_slices(row, total, g, run, basis) end
    end
  end
end

-- Shares of rows that are items of records are of the records.
local function take_wholes(self, r)
  local run = self.runs[r]
  if run.measure.measure ~= "share" then return end
  local taken = {}
  for _, one in ipairs(run.data.whole or {}) do
    local event = run.data.events and names.event(one.event or "unknown event") or false
    local total = total_of(self, event)
    total.over[r] = (taken[total] and total.over[r] or 0) + one[1]
    taken[total], total.is_whole = true, true
  end
end

-- Replaces the totals by those of another event, whose periods are added up over the same time.
local function count_event(self, event, what)
  local total = { over = {}, cells = {} }
  for r, run in ipairs(self.runs) do
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
    local read = slices.read(asked, what, run.n_slices and self.most,
      { columns = { column, { name = "", measure = "count" } } })
    local sum = read.groups[1]
    if not sum or sum[1] == 0 then
      usage_error("diff: %s has no samples of event '%s'", what, event)
    end
    total.over[r] = sum[1]
    for slice, state in pairs(sum.slices) do total.cells[run.offset + slice] = state end
  end
  for name, own in pairs(self.totals) do
    self.totals[name] = { samples = own.samples, over = total.over, cells = total.cells }
  end
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

-- Returns the events of a recording, by the names that they are matched by.
local function recorded_events(file)
  local events, has = {}, {}
  for i, event in ipairs(file.events) do events[i] = event.name end
  for _, name in pairs(names.events { events = events }) do has[name] = true end
  return has
end

-- Raises if a run did not record an event of another run: its amounts there are not 0.
local function check_events(self)
  local events = {}
  for event in pairs(self.rows) do events[#events + 1] = event or nil end
  table.sort(events)
  for _, run in ipairs(events[1] and self.runs or {}) do
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

---Reads a side.
---@param list (perflua.Query|perflua.Table)[] from list()
---@param what string
---@param options { basis: table, match: table, matched: table, sliced: boolean, like: table?,
--- naming: table? } like: the side that must have the same keys and measure; matched: gets the
--- names of `match` that were found; naming: of addresses.namings()
---@return table
function side.read(list, what, options)
  local basis, most = options.basis, slices.MOST // #list
  local self = { runs = {}, rows = {}, totals = {}, original = {}, basis = basis,
    n_slices = 0, n_empty = 0, most = most, what = what, match = options.match,
    matched = options.matched }
  local is_sliced = options.sliced and basis.over ~= nil
  for r, item in ipairs(list) do
    local of = #list > 1 and ("%s[%d]"):format(what, r) or what
    local run = Table.is(item) and run_of_table(item, of)
      or slices.read(item, of, is_sliced and most or nil, { naming = options.naming })
    run.offset = self.n_slices or 0
    self.n_slices = self.n_slices and run.n_slices and self.n_slices + run.n_slices or nil
    self.runs[r] = run
    local like = options.like or self
    check_alike(like.runs[1], like.what, run, of)
    if #run.groups == 0 then
      self.n_empty = self.n_empty + 1
      self.empty = ("%s is empty: no record was read%s, or none passed the filter"):format(of,
        run.spec and " from " .. fmt.paths(run.spec.file.path) or "")
    end
  end
  self.symbol = names.symbol(self.runs[1].keys)
  if self.n_empty > 0 then return self end
  local matched = names.matcher(self.runs[1].keys, options.match, options.matched)
  for r in ipairs(self.runs) do
    add_run(self, r, matched)
    take_wholes(self, r)
  end
  check_events(self)
  if basis.event then count_event(self, basis.event, what) end
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

---Returns a run's value of a row.
---@param self table
---@param row table? nil: no run has it
---@param r integer
---@param event string|false
---@return number? # nil: it has none
function side.value(self, row, r, event)
  local basis, state = self.basis, row and row.states[r]
  if not basis.is_amount then return state and basis.finish(state) end
  local over = state and basis.over(state) or 0
  if basis.per == nil then return over end
  if basis.per == "second" then return over / self.runs[r].seconds end
  local total = self.totals[event]
  local under = total and total.over[r] or 0
  if under == 0 then return nil end
  return (basis.per == "share" and 100 or 1) * (over / under)
end

return side
