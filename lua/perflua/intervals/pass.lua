-- One pass over the records that open spans, close them, or tell that records were lost, in the order of their times.

local usage_error = require("perflua.errors").usage_error
local columns = require "perflua.intervals.columns"
local conditions = require "perflua.intervals.conditions"
local paired = require "perflua.intervals.paired"
local plan = require "perflua.plan"
local states = require "perflua.intervals.states"
local text = require "perflua.intervals.text"
local values = require "perflua.intervals.values"

local span_meta = paired.span_meta

local pass = {}

local MAX_LOCALS = 150 -- Lua has 200 in a function

-- Places of the fields of a key.
function pass.key_columns(all, refs, pairing)
  local places = {}
  if pairing.several then places[1] = all:add(pairing.source) end
  for _, ref in ipairs(refs) do places[#places + 1] = all:add(ref) end
  return places
end

-- NaN is no key.
local function is_there(places, refs, pairing)
  local tests, before = {}, pairing.several and 1 or 0
  for i, place in ipairs(places) do
    local ref = refs[i - before]
    local may_be_nan = ref and (ref.kind == "float" or ref.kind == "any")
    tests[i] = may_be_nan and ("c%d and c%d == c%d"):format(place, place, place) or "c" .. place
  end
  return table.concat(tests, " and ")
end

local LOSE_ALL = [[
  lost = lost + states.open(root, DEPTH)
  root, n_states, limit, n_held = {}, 0, states.FIRST_LIMIT, 0
]]

local LOSE = [[
  n_lost = n_lost + 1
  if not (SAYS) or n_lost > states.MOST_LOST then
    ALL
  else
    local dropped, rows = states.drop(root, DEPTH, { ONLY })
    lost, n_held = lost + dropped, n_held - rows
  end
]]

-- The text for a record that tells of lost ones: open spans that it may be about are dropped. They are those of its
-- recording; those of its cpu if the key says which cpu a span was on, else the thread may have been on any.
local function lost_text(all, pairing, depth)
  local only, says, before = {}, {}, pairing.several and 1 or 0
  local function add(i, place)
    says[#says + 1] = "c" .. place
    only[#only + 1] = ("[%d] = c%d"):format(i, place)
  end
  if pairing.several then add(1, all:add(pairing.source)) end
  for i, ref in ipairs(pairing.open.keys) do
    if ref.text == "cpu" and pairing.close.keys[i].text == "cpu" then add(before + i, all:add(ref)) end
  end
  local every = text.filled(LOSE_ALL, { DEPTH = depth })
  if #only == 0 then return every end
  return text.filled(LOSE, {
    DEPTH = depth, ALL = every, ONLY = table.concat(only, ", "), SAYS = table.concat(says, " or "),
  })
end

---What all passes have in common: their first columns, and the words of text.lua that need no more.
---@param pairing table
---@return table columns, table values, table<string, string> words
function pass.begun(pairing)
  local all = columns.of(pairing.scope)
  local words = { CLOSES = "c" .. all:push(pairing.close.ref), OPENS = "c" .. all:push(pairing.open.ref) }
  local time = all:add(pairing.time)
  words.TIME = "c" .. time
  local v = values.of(pairing, all, time)
  for side, name in pairs { open = "OPEN", close = "CLOSE" } do
    local keys = pairing[side].keys
    local places = pass.key_columns(all, keys, pairing)
    words["HAS_" .. name] = is_there(places, keys, pairing)
    words["FIND_" .. name] = side == "open" and text.reach(places) or text.find(places)
    if side == "open" then words.LAST = "c" .. places[#places] end
    words.DEPTH = tostring(#places)
  end
  words.LOST = lost_text(all, pairing, words.DEPTH)
  words.RESTARTED = ""
  return all, v, words
end

---@param v table values
---@return string # a key, as loops see it
function pass.key_text(v, n)
  if n == 1 then return v:key(1) .. " or nil" end
  local parts = {}
  for i = 1, n do parts[i] = v:key(i) .. " or nil" end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

-- A record as a span has it: itself, or the fields that were asked for.
function pass.record_text(v, pairing, side)
  local place = side == "open" and v.of_open or v.of_close
  if not pairing.fields then return place(v, v.columns:add(values.record)) end
  local parts = {}
  for i, ref in ipairs(pairing.fields[side]) do
    parts[i] = ("[%q] = %s"):format(ref.span.ref.text, v:or_nil(ref))
  end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

-- The times of a query that is not over the records themselves.
---@param v table values
---@param spec table
---@param time string Lua text
---@return string?
function pass.between_text(v, spec, time)
  local from, to = spec.from, spec.to
  if not from and not to then return nil end
  local test = v:fn(function(t)
    return t and not (from and math.ult(t, from)) and (not to or math.ult(t, to))
  end)
  return ("%s(%s)"):format(test, time)
end

---The filters of a query, as text.
---@param v table values
---@param filters perflua.Filter[]
---@param more string?
---@return string
function pass.kept_text(v, filters, more)
  local tests = { more }
  for _, filter in ipairs(filters) do tests[#tests + 1] = v:condition(filter) end
  return #tests > 0 and table.concat(tests, " and ") or "true"
end

---@param v table values
---@param refs table[]
---@return string
function pass.results_text(v, refs)
  local results = {}
  for i, ref in ipairs(refs) do results[i] = v:value(ref) end
  return #results > 0 and table.concat(results, ", ") or "true"
end

---@param pairing table
---@param all table columns
---@param v table values
---@param words table<string, string>
---@param filter perflua.Filter the records of the pass
---@return function step, table cursor
function pass.run(pairing, all, v, words, filter)
  local n = #all.refs
  if n + #v.opened + #v.sampled > MAX_LOCALS then usage_error("pair: too many fields of records are read") end
  local spec = setmetatable({ filters = { filter } }, { __index = pairing.reading })
  local read, cursor, direct = plan.source(spec, all.refs)
  local places, tells = {}, {}
  for i = 1, n do
    places[i] = i
    local presence = all.presence[i]
    if presence then tells[#tells + 1] = ("if not c%d then c%d = ABSENT end"):format(presence, i) end
  end
  local names = text.list("c", places)
  local reading = direct and "local %s = read()\nif c1 == nil then finish() return nil end\n"
    or "if not read(row) then finish() return nil end\nlocal %s = table.unpack(row, 1, " .. n .. ")\n"
  words.READ = reading:format(names) .. table.concat(tells, "\n")
  words.LOCALS = v:locals()
  words.NEW, words.REUSED = v:state()
  local step, finish = text.load(words)(read, {}, v.fns, states, pairing.counts, plan.ABSENT, span_meta, setmetatable)
  return step, { close = function()
    finish()
    cursor:close()
  end }
end

-- A pass that gives spans.
---@param pairing table
---@param spec table of the query over the spans
---@param refs table[]? what is read of them; nil: the spans themselves
---@return function step, table cursor
function pass.spans(pairing, spec, refs)
  local all, v, words = pass.begun(pairing)
  v.arguments, v.key_refs = function() return "span" end, pairing.close.keys
  words.KEPT = pass.kept_text(v, spec.filters, pass.between_text(v, spec, "start"))
  words.RESULTS = refs and pass.results_text(v, refs) or "span"
  local made = {}
  if v.calls_lua or not refs then
    made[1] = ("local span = setmetatable({ start = start, stop = %s, duration = %s - start, key = %s, open = %s, "
      .. "close = %s }, span_meta)"):format(v.time, v.time, pass.key_text(v, #v.key_refs),
      pass.record_text(v, pairing, "open"), pass.record_text(v, pairing, "close"))
  end
  table.move(v.fills, 1, #v.fills, #made + 1, made)
  words.MADE = table.concat(made, "\n")
  local step, cursor = paired.run(pairing, all, v, words)
  if step then return step, cursor end
  words.CLOSED = v:from("s", "start")
  words.OTHERS = ("if %s and not (%s or %s) then\n%s\nend"):format(words.TIME, words.CLOSES, words.OPENS, words.LOST)
  local filter = conditions.any { pairing.open.condition, pairing.close.condition, pairing.lost }
  return pass.run(pairing, all, v, words, filter)
end

return pass
