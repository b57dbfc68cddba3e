-- Rows of a report with callers: a sample is in the row of its own function, and in `children`
-- of each that its call chain names, once.

local core = require "perflua.core"
local names = require "spec.support.model.report.names"
local sums = require "perflua.measures.sums"
local spec_of = core.query_spec

local find, sub = string.find, string.sub
local plus = sums.adder "unsigned"

-- Returns the index of the call chain among the fields that are read.
local function frames_at(prepared)
  local place = prepared.place
  return #prepared.fields + 1 - (place.dso and 1 or 0) - (place.symbol and 1 or 0)
end

-- Level, binary, function or address, as text, of a line "kBINARY\tFUNCTION" or
-- "kBINARY\t\tADDRESS".
local function parts_of(line)
  local tab = line:find("\t", 2, true)
  local from = line:byte(tab + 1) == 9 and tab + 2 or tab + 1
  return line:sub(1, 1), line:sub(2, tab - 1), line:sub(from)
end

-- Makes a function that finds the row of a line of frames, for samples that are equal in all
-- other fields. Different lines may be of one row: it is found by `id`, which is the line
-- itself if all of it is shown.
local function make_finder(g, prepared, list, short)
  local place, event = prepared.place, g.event
  local others, at, n = {}, 0, #prepared.fields
  for i = 1, n do
    if i ~= place.dso and i ~= place.symbol then
      at = at + 1
      others[i] = g.keys[at]
    end
  end
  local known = {} -- by id, and by line
  local function row_of(line)
    local level, dso, symbol = parts_of(line)
    local name = place.dso and short[dso] or ""
    local id = place.symbol and (name == dso and line or level .. name .. "\t" .. symbol)
      or name
    local row = rawget(known, id)
    if not row then
      local keys = table.move(others, 1, n, 1, {})
      if place.dso then keys[place.dso] = name end
      if place.symbol then keys[place.symbol], keys[n + 1] = symbol, names.cpumodes[level] end
      row = { 0, 0, 0, event = event, keys = keys, unresolved = line:find("\t\t", 1, true)
        ~= nil }
      known[id], list[#list + 1] = row, row
    end
    return row
  end
  return setmetatable(known, { __index = function(_, line)
    local row = row_of(line)
    known[line] = row
    return row
  end })
end

local ABSENT, FINDER = {}, {} -- values for tables

local function next_node(node, value)
  if value == nil then value = ABSENT end
  node[value] = node[value] or {}
  return node[value]
end

-- Makes the finders of groups: one for all groups that differ in their frames only.
local function make_finders(prepared, list)
  local root, n, name_of = {}, frames_at(prepared) - 1,
    names.dsos(core.short_names(spec_of(prepared.query).file))
  local short = setmetatable({}, { __index = function(known, dso)
    known[dso] = name_of(dso)
    return known[dso]
  end })
  return function(g)
    local node = next_node(root, g.event)
    for i = 1, n do node = next_node(node, g.keys[i]) end
    node[FINDER] = node[FINDER] or make_finder(g, prepared, list, short)
    return node[FINDER]
  end
end

local NOWHERE = "H[unknown]\t\t[unknown]\n" -- without an address

-- Turns groups by fields and call chains into rows; there may be very many, which are let go.
local function expand_groups(groups, prepared)
  local list, at = {}, frames_at(prepared)
  local finder_of = make_finders(prepared, list)
  for i, g in ipairs(groups) do
    groups[i] = false
    local rows_by_line, samples, period, frames = finder_of(g), g[1], g[2], g.keys[at]
      or NOWHERE
    local from, stop = 1, find(frames, "\n", 1, true) -- a pattern takes twice the time
    while stop do
      local row = rows_by_line[sub(frames, from, stop - 1)]
      if from == 1 then row[1], row[2] = row[1] + samples, plus(row[2], period) end
      if row.latest ~= g then row[3], row.latest = plus(row[3], period), g end
      from = stop + 1
      stop = find(frames, "\n", from, true)
    end
  end
  for _, row in ipairs(list) do row.latest = nil end
  return list
end

return expand_groups
