-- The pass over records that lie inside of spans: each is given with the span that its thread, or another key, was in.
--
-- A span is known when it begins, not yet where it ends. So records are given as they are met, unless their span's end,
-- or the record that closes it, is asked for: then they wait for it.

local usage_error = require("perflua.errors").usage_error
local conditions = require "perflua.intervals.conditions"
local expr = require "perflua.filter.expr"
local pass = require "perflua.intervals.pass"
local text = require "perflua.intervals.text"
local values = require "perflua.intervals.values"

local inside = {}

-- Records that may wait for the ends of their spans.
local MOST_HELD = 1 << 22

local function of_end(ref)
  local span = ref.span
  return span and (span.side == "close" or span.own == "stop" or span.own == "duration") or false
end

local function any_of_end(refs)
  for _, ref in ipairs(refs) do
    local node = (ref.of or ref).node
    for _, one in ipairs(node and expr.refs(node) or {}) do
      if of_end(one) then return true end
    end
  end
  return false
end

-- Do records wait? For a function that judges spans, too: it may ask for all of one.
local function waits(inner, spec, refs)
  if inner.closed or any_of_end(refs or {}) then return true end
  for _, filter in ipairs(inner.spans.filters) do
    if not filter.node or any_of_end(filter.refs) then return true end
  end
  for _, filter in ipairs(spec.filters) do
    if filter.node and any_of_end(filter.refs) then return true end
  end
  return false
end

local function numbered(prefix, n)
  local items = {}
  for i = 1, n do items[i] = ("%s[%d]"):format(prefix, i) end
  return table.concat(items, ", ")
end

local function assigned(names, items) return names ~= "" and ("%s = %s"):format(names, items) or "" end

local function lists(...)
  local filled = {}
  for _, one in ipairs { ... } do
    if one ~= "" then filled[#filled + 1] = one end
  end
  return table.concat(filled, ", ")
end

local MADE = [[
  local span = WHERE
  if not span then
    span = setmetatable({ start = start, ENDS key = KEY, open = OPEN }, span_meta)
    WHERE = span
  end
]]

local ENDED = [[
  local known = WHERE
  if known then known.stop, known.duration, known.close = TIME, TIME - s[1], CLOSE end
]]

-- Records are given as they are met; a span that was given with one is told of its end when that comes.
local function at_once(v, words, span)
  if span then
    local place = ("[%d]"):format(#v.opened + 2)
    v.keeps_span, span.ENDS, span.TIME = true, "", v.time
    span.WHERE = "s" .. place
    words.CLOSED = text.filled(ENDED, span)
    span.WHERE = "inner" .. place
  else
    words.CLOSED = ""
  end
  return ("inner = s\n%s\n%s"):format(v:from("s", "start"),
    assigned(text.list("r", v.sampled), text.list("c", v.sampled)))
end

local HOLD = [[
  local rows = s.rows
  if not rows then
    rows = {}
    s.rows = rows
  end
  rows[#rows + 1] = { VALUES }
  n_held = n_held + 1
  if n_held > MOST then TOO_MANY() end
]]

local function too_many()
  usage_error(
    "within: more than %d records wait for the ends of their spans; ask for what is known when a span begins, "
    .. "or for fewer records", MOST_HELD)
end

-- Records wait for the end of their span.
local function at_end(v, words, span)
  if span then
    span.WHERE = "held.span"
    span.ENDS = ("stop = %s, duration = %s - start, close = %s,"):format(v.time, v.time, span.CLOSE)
  end
  local o, c = text.list("o", v.opened), text.list("c", v.closing)
  words.HELD = ("local %s = %s\n%s"):format(lists("start", v.time, o, c),
    numbered("held", 2 + #v.opened + #v.closing),
    assigned(text.list("r", v.sampled), numbered("row", #v.sampled)):gsub("^r", "local r"))
  local kept = {}
  for i = 1, #v.opened do kept[i] = ("s[%d]"):format(i + 1) end
  words.CLOSED = ("if s.rows then\nqueue, at, held = s.rows, 0, { %s }\nn_held, s.rows = n_held - #queue, nil\nend")
    :format(lists("s[1]", v.time, table.concat(kept, ", "), c))
  words.RESTARTED = "if s.rows then n_held, s.rows = n_held - #s.rows, nil end"
  return text.filled(HOLD, {
    VALUES = text.list("c", v.sampled), MOST = tostring(MOST_HELD), TOO_MANY = v:fn(too_many),
  })
end

-- The parts of a span that loops and functions see.
local function span_parts(v, pairing)
  return {
    KEY = pass.key_text(v, #v.key_refs), OPEN = pass.record_text(v, pairing, "open"),
    CLOSE = pass.record_text(v, pairing, "close"),
  }
end

-- The text for a record that may lie inside of a span.
local function meeting(words, is_inner, places, found)
  return ("if %s then\n%s\nif s and s[1] then\n%s\nend\nelseif %s and not (%s or %s) then\n%s\nend"):format(
    is_inner, text.find(places), found, words.TIME, words.CLOSES, words.OPENS, words.LOST)
end

---@param inner table what within() made: pairing, spans (the spec of that query), ref, condition, keys, closed
---@param spec table of the query over the records inside
---@param refs table[]? what is read of them; nil: the records, each with its span
---@return function step, table cursor
function inside.open(inner, spec, refs)
  local pairing, waiting = inner.pairing, waits(inner, spec, refs)
  local all, v, words = pass.begun(pairing)
  local is_inner, places = "c" .. all:push(inner.ref), pass.key_columns(all, inner.keys, pairing)
  v.key_refs, v.keys_are_sampled = waiting and pairing.close.keys or inner.keys, not waiting
  local function record() return v:of_sample(all:add(values.record)) end
  v.arguments = function() return "span" end
  local kept = pass.kept_text(v, inner.spans.filters, pass.between_text(v, inner.spans, "start"))
  v.arguments = function() return record() .. ", span" end
  local time = (spec.from or spec.to) and pass.between_text(v, spec, v:of_sample(all:add(pairing.time)))
  words.KEPT = kept .. " and " .. pass.kept_text(v, spec.filters, time)
  words.RESULTS = refs and pass.results_text(v, refs) or v.arguments()
  local span = (v.calls_lua or not refs) and span_parts(v, pairing)
  local found = (waiting and at_end or at_once)(v, words, span)
  words.MADE = (span and text.filled(MADE, span) or "") .. table.concat(v.fills, "\n")
  words.OTHERS = meeting(words, is_inner, places, found)
  local filter = conditions.any { pairing.open.condition, pairing.close.condition, inner.condition, pairing.lost }
  return pass.run(pairing, all, v, words, filter)
end

return inside
