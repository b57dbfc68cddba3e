-- Spans that the core pairs, where all that is read of the records is described: what is asked of them, and what is
-- made of them, is left to Lua.

local core = require "perflua.core"
local plan = require "perflua.plan"
local text = require "perflua.intervals.text"

local paired = {}

-- A span, as loops and functions of a script see it.
---@class perflua.Span
---@field start integer ns
---@field stop integer? ns; nil: it is still open
---@field duration integer? ns
---@field key any what open and close have in common; an array if it is several fields
---@field open perflua.Record|table<string, any> the record that opened it; with `fields` a table of these
---@field close perflua.Record|table<string, any>|nil
local span_meta = { __name = "perflua.Span" }

function span_meta:__tostring()
  local till = self.stop and core.seconds(self.stop) or "?"
  return ("span %s - %s (%s ns)"):format(core.seconds(self.start), till, self.duration or "?")
end

paired.span_meta = span_meta

local PASS = [[
  local read, fns, finish, ABSENT, span_meta, setmetatable = ...
  local v = {}
  return function()
    while true do
      local NAMES = read()
      if start == nil then
        finish()
        return nil
      end
      TELLS
      MADE
      if KEPT then return RESULTS end
    end
  end
]]

-- What is raised there is raised here.
local SOURCE = debug.getinfo(1, "S").source

-- The values of a row, their names, and what tells whether some of them are there.
local function row_of(all, v, time)
  local values, names, tells = { { time, true }, { time, false } }, { "start", v.time }, {}
  local function add(name, place, of_open)
    values[#values + 1], names[#names + 1] = { place, of_open }, name
  end
  for list, of_open in pairs { [v.opened] = true, [v.closing] = false } do
    for _, place in ipairs(list) do
      local name = (of_open and "o" or "c") .. place
      if place ~= time or of_open then add(name, place, of_open) end
      if all.presence[place] then
        add("p" .. name, all.presence[place], of_open)
        tells[#tells + 1] = ("if not p%s then %s = ABSENT end"):format(name, name)
      end
    end
  end
  return values, table.concat(names, ", "), table.concat(tells, "\n")
end

local function keys_of(all, pairing)
  local keys = {}
  if pairing.several then
    local source = all:add(pairing.source)
    keys[1] = { open = source, close = source, loses = true }
  end
  for i, ref in ipairs(pairing.open.keys) do
    local other = pairing.close.keys[i]
    keys[#keys + 1] = {
      open = all:add(ref), close = all:add(other), loses = ref.text == "cpu" and other.text == "cpu",
    }
  end
  return keys
end

---@param pairing table
---@param all table columns, of which the first two say what closes and what opens
---@param values table[] of a row: { column, is it of the record that opened the span? }
---@return table[] refs # what is read of the records
---@return table how # they are paired, for the core
function paired.how(pairing, all, values)
  local how = {
    closes = 1, opens = 2, time = all:add(pairing.time), pairs_lost = pairing.pairs_lost, keys = keys_of(all, pairing),
    values = values,
  }
  local refs = table.move(all.refs, 1, #all.refs, 1, {})
  refs[1], refs[2] = pairing.close.quick, pairing.open.quick
  return refs, how
end

---@param pairing table
---@param all table columns, as of how()
---@param v table values
---@param words table<string, string> MADE, KEPT and RESULTS
---@return function? step nil: the core cannot
---@return table? cursor
function paired.run(pairing, all, v, words)
  local time = all:add(pairing.time)
  local values, tells
  values, words.NAMES, tells = row_of(all, v, time)
  words.TELLS = tells
  local refs, how = paired.how(pairing, all, values)
  local cursor = plan.pairs(setmetatable({ filters = {} }, { __index = pairing.reading }), refs, how)
  if not cursor then return nil end
  local counts = pairing.counts
  local function finish()
    for name, n in pairs(cursor:counts()) do counts[name] = n end
  end
  local step = assert(load(text.filled(PASS, words), SOURCE, "t"))
  return step(cursor, v.fns, finish, plan.ABSENT, span_meta, setmetatable), { close = finish }
end

return paired
