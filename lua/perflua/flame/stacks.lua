-- The distinct stacks of a recording and what each weighs. The core adds them up; those with
-- inlined functions are made of records one by one (flame/inlined.lua).
--
-- A set is { event, samples, total, list, binaries } where list holds { stack, value, kinds,
-- samples }: stack as a folded line has it. If they were asked for, kinds has one letter for
-- each frame (see kinds.lua), and binaries has the binary of each function by its name; false:
-- it has none, or several.

local aggregate = require "perflua.group.aggregate"
local aside = require "perflua.group.aside"
local clean = require "perflua.flame.clean"
local events = require "perflua.recording.events"
local fmt = require "perflua.text.fmt"
local inlined = require "perflua.flame.inlined"
local kinds = require "perflua.flame.kinds"
local spec_of = require("perflua.core").query_spec

local stacks = {}

local function name_command(of) return of.comm or "[unknown]" end

-- The first frames of a stack, by name: the fields that each is made of, and how.
stacks.heads = {
  none = { fields = {}, text = function() return "" end },
  comm = { fields = { "comm" }, text = name_command },
  pid = {
    fields = { "comm", "pid" },
    text = function(of) return ("%s-%s"):format(name_command(of), of.pid or "?") end,
  },
  tid = {
    fields = { "comm", "pid", "tid" },
    text = function(of)
      return ("%s-%s/%s"):format(name_command(of), of.pid or "?", of.tid or "?")
    end,
  },
}

---Returns the events that a user means by a name; without a name, the first with samples.
---@param file perflua.File
---@param name string?
---@param counts table? what core.count() gave; nil of a stream
---@return table[]? events nil: all, of which one is chosen when they were read
---@return string? message
function stacks.choose(file, name, counts)
  if name then
    local found = events.lookup(file.events, name)
    if #found == 0 then
      return nil, ("%s: %s"):format(fmt.paths(file.path), events.unknown(file.events, name))
    end
    return found
  elseif counts then
    for i, count in ipairs(counts.events) do
      if count.count > 0 then return { file.events[i] } end
    end
  end
  return nil
end

-- Returns the sum of periods of a group's average, and 1 for each sample without one; nil if
-- the sum exceeds an integer.
local function sum_periods(g)
  local n, high, low = table.unpack(g[2])
  if high < 0 or high > 0x7fffffff then return nil end
  local sum = (high << 32 | low) + (g[1] - n)
  return sum >= 0 and sum or nil
end

-- Returns the keys and columns of a query for groups by event, first frame and stack, which is
-- `at` among the keys. A field that no record has is no key.
local function describe_query(query, options)
  local scope, head = spec_of(query).scope, stacks.heads[options.by]
  local keys, columns, at = { { ref = scope:ref "event" } }, { { measure = "count" } },
    #head.fields + 1
  local names = table.move(head.fields, 1, #head.fields, 1, {})
  names[at] = options.kinds and "annotated_stack" or "stack"
  for i, name in ipairs(names) do
    if scope:root(name) then keys[#keys + 1] = { ref = scope:ref(name), at = i } end
  end
  if not options.count and scope:root "period" then
    columns[2] = { measure = "avg", ref = scope:ref "period" }
  end
  return keys, columns, at
end

-- Takes each group as one = { event, head, stack, kinds, samples, value }, the same table every
-- time. Returns how many samples were set aside; nil if it is not taken.
local function each_group(query, options, add_group)
  local keys, columns, at = describe_query(query, options)
  local counted = columns[2] and aside.from(query) or { n = 0 }
  local groups, split, of, one = aggregate(spec_of(query), keys, columns, 1, true,
    options.kinds),
    kinds.splitter(), {}, {}
  local head = stacks.heads[options.by]
  for i, g in ipairs(groups) do
    for k, name in ipairs(head.fields) do of[name] = g.keys[k] end
    one.event, one.head, one.stack, one.kinds = g.event, head.text(of),
      clean.stack(g.keys[at] or ""), ""
    if options.kinds and one.stack ~= "" then one.stack, one.kinds = split(one.stack) end
    one.samples, one.value = g[1], g[2] and sum_periods(g) or not g[2] and g[1] or nil
    groups[i] = false -- there may be very many
    if not add_group(one) then return nil end
  end
  return counted.n, groups.rest, groups.binaries
end

-- Reads each record, with inlined functions.
local function each_record(query, options, add_group)
  local head, one, n_aside = stacks.heads[options.by], { samples = 1 }, 0
  for record in query do
    local value = options.count and 1 or record.period or 1
    if aside.is(value) then
      n_aside = n_aside + 1
    else
      local event, stack = record.event, inlined.stack(record)
      one.event, one.head, one.stack = event and event.index, head.text(record),
        clean.stack(stack or "")
      one.kinds = options.kinds and one.stack ~= "" and inlined.kinds(record) or ""
      one.value = value
      if not add_group(one) then return nil end
    end
  end
  return n_aside
end

local function new_set(event) return { event = event, samples = 0, total = 0, by_head = {} } end

-- Adds to a set what has this head and stack; false if the sum is too large.
local function add_entry(set, one)
  local known = set.by_head[one.head]
  if not known then
    known = {}
    set.by_head[one.head] = known
  end
  local entry, value = known[one.stack], one.value
  if not value or set.total + value < 0 then return false end
  if not entry then
    known[one.stack] = { value = value, kinds = one.kinds, samples = one.samples }
  else
    entry.value, entry.samples = entry.value + value, entry.samples + one.samples
    if one.kinds < entry.kinds then entry.kinds = one.kinds end
  end
  set.samples, set.total = set.samples + one.samples, set.total + value
  return true
end

-- Joins first frames, cleaned, and stacks; entries that are equal then become one.
local function sort_entries(set)
  local by_stack, list = {}, {}
  for head, entries in pairs(set.by_head) do
    head = clean.name(head)
    for stack, entry in pairs(entries) do
      local whole = head ~= "" and stack ~= "" and head .. ";" .. stack or head .. stack
      if whole == "" then whole = "[unknown]" end
      local letters = (head ~= "" and "n" or "") .. entry.kinds
      local same = by_stack[whole]
      if same then
        same.value, same.samples = same.value + entry.value, same.samples + entry.samples
        if letters < same.kinds then same.kinds = letters end
      else
        entry.stack, entry.kinds = whole, letters
        by_stack[whole], list[#list + 1] = entry, entry
      end
    end
  end
  set.by_head = nil
  table.sort(list, function(a, b) return a.stack < b.stack end)
  set.list = list
  return set
end

-- Returns the binary of each function by its name without its kind; false: several have one.
local function binaries_of(annotated)
  local binaries = {}
  for text, binary in pairs(annotated) do
    local name = kinds.parse(clean.stack(text))
    local known = binaries[name]
    binaries[name] = known == nil and binary or known == binary and binary
  end
  return binaries
end

---@param query perflua.Query samples, in any order; with `inline` one record again and again
---@param options table { by, count, kinds, inline, split } split: a set for each event
---@return table[]? sets those with samples, in the order of the events; only the first has its
--- list
---@return string? message
---@return integer? # how many samples were set aside
function stacks.collect(query, options)
  local sets, found, indexes, split = {}, {}, {}, options.split
  local function add_group(one)
    local index = split and one.event or 0
    local set = sets[index]
    if not set then
      set = new_set(split and one.event and spec_of(query).file.events[one.event] or nil)
      sets[index], indexes[#indexes + 1] = set, index
    end
    return add_entry(set, one)
  end
  local n_aside, rest, binaries = (options.inline and each_record or each_group)(query, options,
    add_group)
  if not n_aside then
    return nil, "the periods add up to more than 2^63: use --count to count samples"
  end
  for _, g in ipairs(rest or {}) do -- stacks that an interrupt left no time for
    local set = sets[split and g.event or 0]
    if set then
      set.samples, set.total = set.samples + g[1] // 1 | 0, set.total + (g[2] or g[1]) // 1 | 0
    end
  end
  binaries = binaries and binaries_of(binaries)
  table.sort(indexes)
  for i, index in ipairs(indexes) do
    found[i] = sets[index]
    found[i].binaries = binaries
  end
  if found[1] then sort_entries(found[1]) end
  return found, nil, n_aside
end

return stacks
