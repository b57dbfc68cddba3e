-- Rows of a report where each sample is in one: what was added up by raw fields, by the names
-- that are shown.

local core = require "perflua.core"
local names = require "spec.support.model.report.names"
local sums = require "perflua.measures.sums"
local spec_of = core.query_spec

-- A string that is the same for the same values only; absent ones are nil.
local function encode_values(values, n)
  local parts = {}
  for i = 1, n do
    local text = tostring(values[i])
    parts[i] = ("%s %d:%s"):format(math.type(values[i]) or type(values[i]), #text, text)
  end
  return table.concat(parts)
end

-- Rows that are found by their event and keys; new ones are added to the list.
local function make_finder(list)
  local known = {}
  return function(event, keys, n)
    local of_event = known[event or 0] or {}
    known[event or 0] = of_event
    local id = encode_values(keys, n)
    local row = of_event[id]
    if not row then
      row = { 0, 0, event = event, keys = keys }
      of_event[id], list[#list + 1] = row, row
    end
    return row
  end
end

local ABSENT = {} -- a value for tables

local plus = sums.adder "unsigned"

-- Returns short names of binaries, and those that several binaries share.
local function short_names(groups, at, file)
  local short, owner, shared, name_of = {}, {}, {}, names.dsos(core.short_names(file))
  for _, g in ipairs(groups) do
    local dso = g.keys[at] or ABSENT
    if not short[dso] then
      local name = name_of(g.keys[at])
      short[dso], shared[name] = name, shared[name] or owner[name] ~= nil
      owner[name] = dso
    end
  end
  return short, shared
end

---Groups by raw fields become rows, or are added to one.
---@param groups table[]
---@param prepared table
---@return table[] # rows as sections.lua takes them
local function put_together(groups, prepared)
  local list, n, symbol, dso = {}, #prepared.fields, prepared.place.symbol, prepared.place.dso
  local row_of = make_finder(list)
  local short, shared = {}, {}
  if dso then short, shared = short_names(groups, dso, spec_of(prepared.query).file) end
  for _, g in ipairs(groups) do
    local keys = g.keys
    if dso then keys[dso] = short[keys[dso] or ABSENT] end
    if symbol then
      g.unresolved = type(keys[symbol]) ~= "string"
      keys[symbol] = names.symbol(keys[symbol])
      keys[n + 1] = keys[n + 1] or "unknown"
    end
    if dso and shared[keys[dso]] then
      local row = row_of(g.event, keys, symbol and n + 1 or n)
      row[1], row[2], row.unresolved = row[1] + g[1], plus(row[2], g[2]), g.unresolved
    else
      list[#list + 1] = g
    end
  end
  return list
end

return put_together
