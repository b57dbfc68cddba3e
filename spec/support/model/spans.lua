-- Spans, and the records inside of them, in plain Lua: one pass over the records in the order
-- of time, with the open spans in tables of tables by the fields of their keys.
--
-- A context is what values are read from: { start, stop, opened, closed, record, span, state }:
-- the opening and the closing record, the record inside, and the span as functions of a script
-- see it.

local core = require "perflua.core"
local closures = require "spec.support.model.closures"
local engine = require "perflua.plan.engine"
local waits = require "perflua.intervals.waits"

local spans = {}

local LOST = { [2] = true, [13] = true } -- PERF_RECORD_LOST, PERF_RECORD_LOST_SAMPLES
local MOST_LOST = 1024

local span_meta = { __name = "perflua.Span" }

function span_meta:__tostring()
  local till = self.stop and core.seconds(self.stop) or "?"
  return ("span %s - %s (%s ns%s)"):format(core.seconds(self.start), till,
    self.duration or self.so_far or "?", self.so_far and " so far" or "")
end

-- Reads of a record what a Ref of records names.
local function of_record(ref)
  if ref.kind == "function" or ref.path then return ref.get end
  return closures(ref.node, of_record)
end
spans.of_record = of_record

local function condition(filter)
  return filter.node and closures(filter.node, of_record) or filter.fn
end

local function all_of(filters)
  local tests = {}
  for i, filter in ipairs(filters) do tests[i] = condition(filter) end
  return function(record)
    for i = 1, #tests do
      if not tests[i](record) then return false end
    end
    return true
  end
end

-- Returns a function that reads a key: one value of each function; nil if one is absent.
local function read_key(reads)
  if #reads == 0 then reads[1] = function() return 1 end end
  return function(of)
    local key = {}
    for i, read in ipairs(reads) do
      local value = read(of)
      if value == nil or value == false or value ~= value then return nil end
      key[i] = value
    end
    return key
  end
end

-- The fields of a key as functions, the recording first where there are several.
local function key_of(pairing, refs)
  local reads = {}
  if pairing.several then reads[1] = of_record(pairing.source) end
  for _, ref in ipairs(refs) do reads[#reads + 1] = of_record(ref) end
  return read_key(reads)
end

local function find(root, key)
  local node = root
  for i = 1, #key do
    node = node and node[key[i]]
  end
  return node
end

local function put(root, key, state)
  local node = root
  for i = 1, #key - 1 do
    node[key[i]] = node[key[i]] or {}
    node = node[key[i]]
  end
  node[key[#key]] = state
end

-- Returns the fields by which records of losses name spans, with their places in a key.
local function told_of_lost(pairing)
  local places, before = {}, pairing.several and 1 or 0
  if pairing.several then places[1] = of_record(pairing.source) end
  for i, ref in ipairs(pairing.open.keys) do
    local is_cpu = true
    for _, side in ipairs { pairing.open, pairing.close } do
      for _, part in ipairs(side.parts) do is_cpu = is_cpu and part.keys[i].text == "cpu" end
    end
    if is_cpu then places[before + i] = of_record(ref) end
  end
  return places
end

local Pass = {}
Pass.__index = Pass

-- Notes the time of a record, which it returns. self.previous becomes the time of the one
-- before, of its cpu if that is known; nil: there was none.
function Pass:time(record)
  local time, source = self.time_of(record), record.source or 1
  self.place = nil
  if not time then return nil end
  local cpu = self.cpu_of and self.cpu_of(record)
  local places = { source, cpu and cpu >= 0 and cpu < 65536 and source .. " " .. cpu or nil }
  self.previous = self.last[places[#places]]
  self.place = places[2]
  for _, place in ipairs(places) do
    if math.ult(self.last[place] or 0, time) then self.last[place] = time end
  end
  return time
end

-- Returns when a span began, or entered its state.
local function since(state) return state.phases[#state.phases].since end

-- Takes the span that began on a record's cpu from there, if this record alone may close it.
function Pass:hold(record)
  self.held = nil
  for _, part in ipairs(self.place and self.sides.close or {}) do
    if part.next_on_cpu and part.is_kind(record) then
      self.held = self.held or self.on_cpu[self.place]
      self.on_cpu[self.place] = nil
    end
  end
end

function Pass:is_held(state)
  return self.held and self.held.state == state and self.held.since == since(state)
end

-- Notes on a record's cpu that a span began there, or entered a state.
function Pass:note_begin(state)
  if self.held and self.held.state == state then self.held = nil end
  for _, part in ipairs(self.place and self.sides.close or {}) do
    if part.next_on_cpu and (not part.from or part.from >> state.phases[#state.phases].state - 1
      & 1 == 1) then
      self.on_cpu[self.place] = { state = state, since = since(state) }
    end
  end
end

-- Drops the span that was taken from a cpu, unless the record has closed it.
function Pass:drop_held(time)
  local state = self.held and self.held.state
  if state and (self.open[state] or self.lost[state]) and self:is_held(state) then
    self:drop(state, time, "restarted")
  end
  self.held = nil
end

-- Whether a record is in the window outside of which there are no rows, or has no time.
function Pass:in_window(time)
  return not time or not (self.from and time < self.from) and not (self.to and time >= self.to)
end

function Pass:clip(time)
  if self.from and time < self.from then return self.from end
  if self.to and time > self.to then return self.to end
  return time
end

function Pass:count(name, time)
  if self:in_window(time) then self.counts[name] = self.counts[name] + 1 end
end

-- Counts a record without a key or time, once.
function Pass:count_unkeyed(record, time)
  if self.unkeyed ~= record then self:count("unkeyed", time) end
  self.unkeyed = record
end

-- Calls `add` with each part of a span that is in the window: from, to, whether the span goes
-- on after it, and whether it is cut.
function Pass:parts_of(start, stop, has_stop, add)
  local from, to = self:clip(start), self:clip(stop)
  if start == stop then
    if self:in_window(start) then add(start, stop, has_stop, false) end
    return
  end
  while from < to do
    local till = to
    if self.slice then till = math.min(to, (from // self.slice + 1) * self.slice) end
    local is_last = till == to and not (self.to and self.to < stop)
    add(from, till, has_stop or not is_last, from ~= start or till ~= stop)
    from = till
  end
end

-- Queues contexts for the parts of a span that ends at `stop`; `of` has what they share.
-- Returns whether there is any.
function Pass:add_parts(queue, state, stop, has_stop, of)
  local any = false
  self:parts_of(state.start, stop, has_stop, function(from, to, ends, is_cut)
    local context = { phases = state.phases, from = from, to = to, ends = stop, is_part = true }
    for name, value in pairs(of) do context[name] = value end
    context.start, context.stop = from, ends and to or nil
    context.so_far, context.cut = not ends and to - from or nil, is_cut
    queue[#queue + 1], any = context, true
  end)
  return any
end

-- Returns the number of the state in which a part of a span ends.
local function last_state(context)
  local phases = context.phases
  local number = phases[1].state
  for i = 2, #phases do
    if phases[i].since < context.to or context.to == (context.ends or context.to) then
      number = phases[i].state
    end
  end
  return number
end

-- Returns the time that a part of a span spent in a state.
local function time_in(context, number)
  local sum, phases = 0, context.phases
  for i, phase in ipairs(phases) do
    local next_phase = phases[i + 1]
    local from = math.max(phase.since, context.from)
    local to = math.min(next_phase and next_phase.since or context.to, context.to)
    if phase.state == number and to > from then sum = sum + to - from end
  end
  return sum
end

-- Returns true if a part closes or changes spans that are in the state of this one.
local function is_from(part, state)
  return not part.from or part.from >> state.phases[#state.phases].state - 1 & 1 == 1
end

-- Gives a span another key.
function Pass:move(state, part, record, time)
  local key = part.to(record)
  state.changed, self.moved = record, { record = record, group = part.group }
  if not key then
    self:count_unkeyed(record)
    return
  end
  local there = find(self.root, key)
  if there == state then return end
  if there then self:drop(there, time, "restarted") end
  put(self.root, state.key, nil)
  put(self.root, key, state)
  state.key = key
end

-- Returns true if a record changed the span of a part's key, or gave it another.
function Pass:has_changed(state, part, record)
  return state and state.changed == record
    or self.moved and self.moved.record == record and self.moved.group == part.group
end

-- Changes the states of spans, and their keys; a record that may close one is not stray.
function Pass:change(parts, may_close, record, time)
  for _, part in ipairs(parts) do
    local key = part.key(record)
    local state = key and find(self.root, key)
    if not (time and key) then
      self:count_unkeyed(record, time)
    elseif self:has_changed(state, part, record) then
      goto continue
    elseif state and self.lost[state] and not self.keeps_lost then
      self:drop(state, time)
    elseif not state or not is_from(part, state)
      or not part.answers { record = record, opened = state.opened,
        entered = state.entered } then
      if not may_close then self:count("stray", time) end
    elseif time < state.phases[#state.phases].since then
      self.counts.stray = self.counts.stray + 1
    else
      state.changed = record
      if part.state then
        state.phases[#state.phases + 1] = { since = time, state = part.state }
        state.entered[part.state] = record
        self:note_begin(state)
      end
      if part.to then self:move(state, part, record, time) end
    end
    ::continue::
  end
end

-- Parts of a key as spans keep it.
local function kept_key(pairing, state)
  local values = {}
  for i = #state.key - #pairing.open.keys + 1, #state.key do
    values[#values + 1] = math.tointeger(state.key[i]) or state.key[i]
  end
  return values
end

-- Sets what contexts of a state that ends share.
local function described(pairing, state, context)
  context.start, context.opened, context.state = context.start or state.start, state.opened,
    state
  context.entered = state.entered
  if pairing.stores_key then context.key_values = kept_key(pairing, state) end
  return context
end

-- Ends the spans that are open at the end, if they are rows: `ended` is called with each, and
-- the time of the end; false: it has no rows.
function Pass:end_unfinished(pairing, ended)
  if not pairing.unfinished then return end
  local states = {}
  for state in pairs(self.open) do states[#states + 1] = state end
  for state in pairs(self.keeps_lost and self.lost or {}) do
    states[#states + 1], self.lost[state] = state, nil
  end
  table.sort(states, function(a, b) return a.order < b.order end)
  for _, state in ipairs(states) do
    self.open[state] = nil
    if ended(state, self.last[state.source]) ~= false then
      self.counts.unfinished = self.counts.unfinished + 1
    end
  end
end

-- Makes open spans lost ones: all, or those that a record of lost ones may be about.
function Pass:lose(record)
  local only, says, candidates = {}, false, next(self.lost_places) ~= nil
  for place, read in pairs(self.lost_places) do
    only[place] = read(record) or nil
    says = says or only[place] ~= nil
  end
  if candidates then self.n_lost = self.n_lost + 1 end
  if not says or self.n_lost > MOST_LOST then only = {} end
  for state in pairs(self.open) do
    local meant = true
    for place, value in pairs(only) do meant = meant and state.key[place] == value end
    if meant then
      state.at_least = math.max(0, self:clip(self.previous or 0) - self:clip(state.start))
      self.open[state], self.lost[state] = nil, true
      if not self.keeps_lost then state.rows = nil end
    end
  end
end

-- Counts a lost span, whose key has the next record at `time`.
function Pass:count_lost(state, time)
  local counts = self.counts
  if self.from and time < self.from then return end
  counts.lost = counts.lost + 1
  counts.lost_at_least = counts.lost_at_least + state.at_least
  counts.lost_at_most = counts.lost_at_most
    + math.max(self:clip(time) - self:clip(state.start), state.at_least)
end

-- Returns the parts of a side that a record belongs to; nil: none.
function Pass:parts(name, record)
  local parts = {}
  for _, part in ipairs(self.sides[name]) do
    if part.test(record) then parts[#parts + 1] = part end
  end
  return #parts > 0 and parts or nil
end

-- Drops an open or lost span at the time of a record of its key.
function Pass:drop(state, time, why)
  put(self.root, state.key, nil)
  if self.lost[state] then
    self:count_lost(state, time)
  elseif not (self.from and time < self.from) then
    self.counts[why] = self.counts[why] + 1
  end
  self.open[state], self.lost[state] = nil, nil
end

-- Closes a span, and returns it; else returns nil and a function that counts the record, unless
-- it changes the span to which it does not answer.
function Pass:close(parts, record, time)
  local counts, has_key, missed = self.counts, false, nil
  for _, part in ipairs(parts) do
    local key = time and part.key(record)
    local state = key and find(self.root, key)
    has_key = has_key or key ~= nil
    if state and time - state.start >= 0 then
      if (not self.lost[state] or self.keeps_lost)
        and is_from(part, state) and (not part.next_on_cpu or self:is_held(state))
        and part.answers { record = record, opened = state.opened,
          entered = state.entered } then
        put(self.root, state.key, nil)
        if self:add_parts({}, state, time, true, {}) then
          if self.lost[state] then counts.kept = counts.kept + 1 end
          counts.pairs = counts.pairs + 1
        end
        self.open[state], self.lost[state] = nil, nil
        return state
      end
      missed = state
    end
  end
  return nil, function()
    if missed and missed.changed == record then return end
    if time and has_key then
      self:count("unopened", time)
    else
      self:count_unkeyed(record, time)
    end
    if missed then self:drop(missed, time, "mismatched") end
  end
end

function Pass:begin(parts, record, time)
  local key = parts[1].key(record)
  if not (time and key) then
    self:count_unkeyed(record, time)
    return
  end
  local before = find(self.root, key)
  if self:has_changed(before, parts[1], record) then return end
  if before and parts[1].leaves_open and (not self.lost[before] or self.keeps_lost) then
    self:count("repeated", time)
    return
  end
  if before then self:drop(before, time, "restarted") end
  if self.to and time >= self.to then return end
  self.clock.n = self.clock.n + 1
  local state = { start = time, opened = record, key = key, order = self.clock.n,
    source = record.source or 1, phases = { { since = time, state = parts[1].state } },
    entered = { [parts[1].state or 0] = record } }
  put(self.root, key, state)
  self.open[state] = true
  self:note_begin(state)
end

local function fields_of(refs, record)
  local values = {}
  for _, ref in ipairs(refs) do values[ref.span.ref.text] = of_record(ref.span.ref)(record) end
  return values
end

local function shown_record(pairing, side, record)
  return pairing.fields and fields_of(pairing.fields[side], record) or record
end

local function shown_key(context)
  local key = {}
  for i, ref in ipairs(context.key_refs) do
    key[i] = context.key_values and context.key_values[i]
    if not context.key_values then key[i] = of_record(ref)(context.key_record) end
  end
  if #context.key_refs <= 1 then return key[1] end
  return key
end

-- The end of a span becomes known.
local function end_span(pairing, span, context)
  span.stop, span.duration = context.stop, context.stop - context.start
  span.close = shown_record(pairing, "close", context.closed)
end

local function new_span(pairing, context)
  local span = setmetatable({
    start = context.start, so_far = context.so_far, key = shown_key(context),
    open = shown_record(pairing, "open", context.opened),
  }, span_meta)
  if context.closed then end_span(pairing, span, context) end
  span.stop, span.duration = context.stop, context.stop and context.stop - context.start
  if pairing.cuts then span.cut = context.cut end
  for i, name in ipairs(context.phases and pairing.states or {}) do
    span["in_" .. name] = time_in(context, i)
    span.state = pairing.states[last_state(context)]
  end
  return span
end

-- The span of a context, one for all that lie in it.
local function span_of(pairing, context)
  local state = context.is_part and context or context.state
  state.span = state.span or new_span(pairing, context)
  return state.span
end

local own = {
  start = function(context) return context.start end,
  stop = function(context) return context.stop end,
  duration = function(context) return context.stop and context.stop - context.start end,
  so_far = function(context) return context.so_far end,
  cut = function(context) return context.cut end,
}

-- Reads a field of a span, or of a record inside, of a context; `around` of a span inside is
-- the context of the span that it is in.
local of_one
local function of_context(ref)
  local get = of_one(ref)
  if not ref.around then return get end
  return function(context) return get(context.around or context) end
end

function of_one(ref)
  local span = ref.span
  if not span then
    local get = of_record(ref)
    return function(context) return get(context.record) end
  elseif span.own == "in_state" then
    return function(context)
      if context.phases then return time_in(context, span.number) end
    end
  elseif span.own == "state" then
    return function(context)
      if context.phases then return ref.words[last_state(context)] end
    end
  elseif span.own then
    return own[span.own]
  elseif span.key then
    return function(context)
      if context.key_values then return context.key_values[span.key] end
      return of_record(context.key_refs[span.key])(context.key_record)
    end
  end
  local get = of_record(span.ref)
  local place = span.side == "open" and "opened" or "closed"
  return function(context)
    local record = context[place]
    if span.state then record = context.entered and context.entered[span.state] end
    if record ~= nil then return get(record) end
  end
end

-- Returns what reads a Ref of a query over spans (or of records inside of them); calls(fn) ->
-- how functions are called.
local function reader_of(calls)
  return function(ref)
    if ref.kind == "function" then return calls(ref.get) end
    if ref.path then return of_context(ref) end
    return closures(ref.node, of_context)
  end
end

local function times_of(spec, name)
  return function(context)
    local t = context[name]
    if not spec.from and not spec.to then return true end
    return t and not (spec.from and math.ult(t, spec.from))
      and (not spec.to or math.ult(t, spec.to))
  end
end

-- Filters of a query as one test of a context.
local function kept_by(filters, calls, first)
  local tests = { first }
  for _, filter in ipairs(filters) do
    tests[#tests + 1] = filter.node and closures(filter.node, of_context) or calls(filter.fn)
  end
  return function(context)
    for i = 1, #tests do
      if not tests[i](context) then return false end
    end
    return true
  end
end

-- Returns a function that numbers parts: those with the same fields as keys have one number.
local function numbered_keys()
  local numbers, n = {}, 0
  return function(part)
    if not part then return n end
    local texts = {}
    for i, ref in ipairs(part.keys) do texts[i] = ref.text end
    local text = table.concat(texts, "\n")
    if not numbers[text] then n, numbers[text] = n + 1, n + 1 end
    return numbers[text]
  end
end

local function parts_of(pairing, side, number_of)
  local parts = {}
  for i, part in ipairs(side.parts) do
    local answers = {}
    for k, filter in ipairs(part.answers or {}) do
      answers[k] = closures(filter.node, of_context)
    end
    parts[i] = {
      leaves_open = part.leaves_open, next_on_cpu = part.next_on_cpu,
      state = part.state, from = part.from, group = number_of(part),
      test = all_of(table.move(part.filters, 1, #part.filters, #part.kinds + 1,
        { table.unpack(part.kinds) })),
      is_kind = all_of(part.kinds),
      key = key_of(pairing, part.keys),
      to = part.to_keys and key_of(pairing, part.to_keys),
      answers = function(context)
        for _, test in ipairs(answers) do
          if not test(context) then return false end
        end
        return true
      end,
    }
  end
  return parts
end

local function begun(pairing, clock)
  local counts = { pairs = 0, unopened = 0, restarted = 0, repeated = 0, lost = 0, unkeyed = 0,
    unfinished = 0, mismatched = 0, lost_at_least = 0, lost_at_most = 0, kept = 0, stray = 0 }
  local cuts, number_of = pairing.cuts or {}, numbered_keys()
  for _, part in ipairs(pairing.change and pairing.change.parts or {}) do
    if part.to_keys then number_of(part) end
  end
  local close = parts_of(pairing, pairing.close, number_of)
  local open = parts_of(pairing, pairing.open, number_of)
  local change = pairing.change and parts_of(pairing, pairing.change, number_of) or {}
  return setmetatable({
    slice = cuts.slice, from = cuts.from, to = cuts.to,
    keeps_lost = pairing.keeps_lost, cpu_of = pairing.cpu and of_record(pairing.cpu),
    counts = counts, root = {}, open = {}, lost = {}, n_lost = 0, clock = clock or { n = 0 },
    sides = { open = open, close = close, change = change }, n_groups = number_of(),
    lost_places = told_of_lost(pairing), last = {}, on_cpu = {},
    time_of = of_record(pairing.time),
  }, Pass)
end

-- Ends a pass: its counts become the query's.
function Pass:finish(pairing)
  local counts, n = pairing.counts, 0
  self.is_finished = true
  for state in pairs(self.lost) do self:count_lost(state, self.last[state.source]) end
  for name, count in pairs(self.counts) do counts[name] = count end
  for _ in pairs(self.open) do n = n + 1 end
  counts.unclosed = n
end

-- Returns those of a list of parts that have the number of a group; nil: none.
local function of_group(parts, group)
  local list = {}
  for _, part in ipairs(parts or {}) do
    if part.group == group then list[#list + 1] = part end
  end
  return #list > 0 and list or nil
end

-- Closes and changes spans; `ended` is called with one that ends.
function Pass:meet_ends(closes, changes, record, time, ended)
  local state, settle = nil, nil
  if closes then state, settle = self:close(closes, record, time) end
  if state then ended(state, record, time) end
  if changes then self:change(changes, closes, record, time) end
  if settle then settle() end
end

-- Closes, changes and opens spans, those of one key after those of another; `ended` is called
-- with each that ends.
function Pass:meet(record, time, closes, changes, opens, ended)
  self:hold(record)
  for group = 1, self.n_groups do
    local closing, changing = of_group(closes, group), of_group(changes, group)
    local opening = of_group(opens, group)
    self:meet_ends(closing, changing, record, time, ended)
    if opening then self:begin(opening, record, time) end
  end
  self:drop_held(time)
end

---@param pairing table of intervals.pair
---@param spec table of the query over the spans
---@param next_record fun(): perflua.Record?
---@return fun(): table? next_context
---@return function reader
---@return function span of a context
function spans.pair(pairing, spec, next_record)
  local pass = begun(pairing)
  local function span(context) return span_of(pairing, context) end
  local function calls(fn) return function(context) return fn(span(context)) end end
  local keeps, queue = kept_by(engine.split_filters(spec), calls, times_of(spec, "start")), {}
  local function next_queued()
    while #queue > 0 do
      local context = table.remove(queue, 1)
      if keeps(context) then return context end
    end
  end
  local function meet(record)
    local is_lost, time = LOST[record.type_id], pass:time(record)
    local asks = not is_lost or pairing.pairs_lost
    local closes = asks and pass:parts("close", record)
    local opens = asks and pass:parts("open", record)
    local changes = asks and pass:parts("change", record)
    pass:meet(record, time, closes, changes, opens, function(state)
      pass:add_parts(queue, state, time, true, described(pairing, state, { closed = record,
        record = record, key_refs = pairing.close.keys, key_record = record }))
    end)
    if is_lost and time and not (closes or opens or changes) then pass:lose(record) end
  end
  local function step()
    while not pass.is_finished do
      local context = next_queued()
      if context then return context end
      local record = next_record()
      if record then
        meet(record)
      else
        pass:end_unfinished(pairing, function(state, stop)
          return pass:add_parts(queue, state, stop, false, described(pairing, state,
            { key_refs = pairing.close.keys }))
        end)
        pass:finish(pairing)
      end
    end
    return next_queued()
  end
  return step, reader_of(calls), span
end

---@param inner table of intervals.within
---@param spec table of the query over the records inside
---@param refs table[]? what is read of them
---@param next_record fun(): perflua.Record?
---@return fun(): table? next_context
---@return function reader
---@return function span of a context
function spans.within(inner, spec, refs, next_record)
  local pairing, waiting = inner.pairing, waits(inner, spec, refs)
  local pass, queue = begun(pairing), {}
  local is_inner, inner_key = all_of(inner.filters), key_of(pairing, inner.keys)
  local function span(context) return span_of(pairing, context) end
  local function of_span(fn) return function(context) return fn(span(context)) end end
  local function of_both(fn)
    return function(context) return fn(context.record, span(context)) end
  end
  local keeps_span = kept_by(inner.spans.filters, of_span, times_of(inner.spans, "start"))
  local keeps = kept_by(spec.filters, of_both, times_of(spec, "time"))

  local function meet(record)
    local key = inner_key(record)
    local state = key and find(pass.root, key)
    if not state or pass.lost[state] and not (pass.keeps_lost and waiting) then return end
    local context = described(pairing, state, { record = record, key_refs = inner.keys,
      key_record = record, time = pass.time_of(record) })
    if not waiting then queue[1] = context return end
    state.rows = state.rows or {}
    table.insert(state.rows, context)
  end

  local function ended(state, record, time)
    local known = { start = state.start, stop = time, closed = record }
    if state.span then end_span(pairing, state.span, known) end
    for _, context in ipairs(state.rows or {}) do
      context.phases, context.from, context.to = state.phases, state.start, time
      context.stop, context.closed = time, record
      context.key_refs, context.key_record = pairing.close.keys, record
      queue[#queue + 1] = context
    end
  end

  local function unfinished(state, stop)
    for _, context in ipairs(state.rows or {}) do
      context.so_far, context.key_refs = stop - state.start, pairing.close.keys
      context.phases, context.from, context.to = state.phases, state.start, stop
      queue[#queue + 1] = context
    end
  end

  local function step()
    while true do
      while #queue > 0 do
        local context = table.remove(queue, 1)
        if keeps_span(context) and keeps(context) then return context end
      end
      if pass.is_finished then return nil end
      local record = next_record()
      if record == nil then
        if waiting then pass:end_unfinished(pairing, unfinished) end
        pass:finish(pairing)
        goto continue
      end
      local is_lost, time = LOST[record.type_id], pass:time(record)
      local closes, opens = pass:parts("close", record), pass:parts("open", record)
      local changes = pass:parts("change", record)
      pass:meet(record, time, closes, changes, opens, ended)
      if is_inner(record) then
        meet(record)
      elseif is_lost and time and not (closes or opens or changes) then
        pass:lose(record)
      end
      ::continue::
    end
  end
  return step, reader_of(of_both), span
end

-- The key by which a span inside looks for the one around it.
local function key_around(inner)
  local reads = {}
  if inner.pairing.several then
    local source = of_record(inner.pairing.source)
    reads[1] = function(context) return source(context.opened) end
  end
  for _, ref in ipairs(inner.keys) do reads[#reads + 1] = of_context(ref) end
  return read_key(reads)
end

---Spans inside of spans: those that open no earlier and close no later.
---@param inner table of intervals.within, with `nested`
---@param spec table of the query over the spans inside
---@param refs table[]? what is read of them
---@param next_record fun(): perflua.Record?
---@return fun(): table? next_context
---@return function reader
---@return function objects of a context: both spans
function spans.nested(inner, spec, refs, next_record)
  local pairing, nested, waiting = inner.pairing, inner.nested, waits(inner, spec, refs)
  local pass, queue = begun(pairing), {}
  local inside, key_of_context = begun(nested, pass.clock), key_around(inner)
  local function objects(context)
    return span_of(nested, context), span_of(pairing, context.around)
  end
  local function of_around(fn)
    return function(context) return fn(span_of(pairing, context)) end
  end
  local function of_inside(fn)
    return function(context) return fn(span_of(nested, context)) end
  end
  local function of_both(fn) return function(context) return fn(objects(context)) end end
  local keeps_around = kept_by(inner.spans.filters, of_around, times_of(inner.spans, "start"))
  local keeps_inside = kept_by(inner.on.filters, of_inside, times_of(inner.on, "start"))
  local keeps = kept_by(spec.filters, of_both, times_of(spec, "start"))

  local function meet(state, record, time)
    local context = described(nested, state, { stop = time, closed = record,
      record = record, key_refs = nested.close.keys, key_record = record,
      phases = state.phases, from = state.start, to = time })
    local key = key_of_context(context)
    local around = key and find(pass.root, key)
    if not around or around.order > state.order then return end
    if pass.lost[around] and not (pass.keeps_lost and waiting) then return end
    context.around = described(pairing, around,
      { key_refs = pairing.open.keys, key_record = around.opened })
    if not waiting then queue[1] = context return end
    around.rows = around.rows or {}
    table.insert(around.rows, context)
  end

  local function ended(state, record, time)
    if state.span then
      end_span(pairing, state.span, { start = state.start, stop = time, closed = record })
    end
    for _, context in ipairs(state.rows or {}) do
      local around = context.around
      around.stop, around.closed = time, record
      around.phases, around.from, around.to = state.phases, state.start, time
      around.key_refs, around.key_record = pairing.close.keys, record
      queue[#queue + 1] = context
    end
  end

  local function unfinished(state, stop)
    for _, context in ipairs(state.rows or {}) do
      local around = context.around
      around.so_far, around.key_refs = stop - state.start, pairing.close.keys
      around.phases, around.from, around.to = state.phases, state.start, stop
      queue[#queue + 1] = context
    end
  end

  local function step()
    while true do
      while #queue > 0 do
        local context = table.remove(queue, 1)
        if keeps_around(context.around) and keeps_inside(context) and keeps(context) then
          return context
        end
      end
      if pass.is_finished then return nil end
      local record = next_record()
      if record == nil then
        if waiting then pass:end_unfinished(pairing, unfinished) end
        pass:finish(pairing)
        goto continue
      end
      local is_lost, time = LOST[record.type_id], pass:time(record)
      local asks, asks_inside = not is_lost or pairing.pairs_lost, not is_lost
        or nested.pairs_lost
      local closes = asks and pass:parts("close", record)
      local opens = asks and pass:parts("open", record)
      local closes_inside = asks_inside and inside:parts("close", record)
      local opens_inside = asks_inside and inside:parts("open", record)
      local changes = asks and pass:parts("change", record)
      local changes_inside = asks_inside and inside:parts("change", record)
      inside.place = pass.place
      pass:hold(record)
      inside:hold(record)
      inside:meet_ends(closes_inside, changes_inside, record, time, meet)
      pass:meet_ends(closes, changes, record, time, ended)
      if opens then pass:begin(opens, record, time) end
      if opens_inside then inside:begin(opens_inside, record, time) end
      pass:drop_held(time)
      inside:drop_held(time)
      if is_lost and time and not (closes or opens or changes or closes_inside or opens_inside
        or changes_inside) then
        pass:lose(record)
        inside:lose(record)
      end
      ::continue::
    end
  end
  return step, reader_of(of_both), objects
end

return spans
