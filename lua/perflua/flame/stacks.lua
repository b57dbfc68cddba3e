-- The distinct stacks of a recording and what each weighs, in one pass over its samples.
--
-- A set is { event, samples, total, list } where list holds { stack, value, kinds }: stack as a folded
-- line has it, kinds one letter a frame (see kinds.lua) if they were asked for.

local clean = require "perflua.flame.clean"
local events = require "perflua.file.events"
local inlined = require "perflua.flame.inlined"
local kinds = require "perflua.flame.kinds"

local stacks = {}

-- What stands before the frames of a stack: by its name, the name of a command.
stacks.heads = {
  none = function() return "" end,
  comm = function(record) return record.comm or "[unknown]" end,
  pid = function(record) return ("%s-%s"):format(record.comm or "[unknown]", record.pid or "?") end,
  tid = function(record)
    return ("%s-%s/%s"):format(record.comm or "[unknown]", record.pid or "?", record.tid or "?")
  end,
}

---The events that a user means, those that are wanted if he names none: the first with samples.
---@param file perflua.File
---@param name string?
---@param counts table? what file:count() gave; nil of a stream
---@return table[]? events nil: all, of which one is chosen when they were read
---@return string? message
function stacks.choose(file, name, counts)
  if name then
    local found = events.lookup(file.events, name)
    if #found == 0 then
      return nil, ("%s: there is no event '%s'; there are: %s"):format(file.path, name,
        table.concat(events.names(file.events), ", "))
    end
    return found
  elseif counts then
    for i, count in ipairs(counts.events) do
      if count.count > 0 then return { file.events[i] } end
    end
  end
  return nil
end

local function new_set(event) return { event = event, samples = 0, total = 0, by_head = {} } end

-- Adds one sample, to entries by head and by stack; false if the sum is too large.
local function take(set, record, head, stack, value, kinds_of)
  stack = stack or ""
  local entries = set.by_head[head]
  if not entries then
    entries = {}
    set.by_head[head] = entries
  end
  local entry = entries[stack]
  if not entry then
    entry = { value = 0, kinds = kinds_of and stack ~= "" and kinds_of(record) or "" }
    entries[stack] = entry
  end
  entry.value = entry.value + value
  set.samples = set.samples + 1
  set.total = set.total + value
  return value >= 0 and set.total >= 0
end

-- Head and stack joined and cleaned; what is the same then becomes one.
local function listed(set)
  local by_stack, list = {}, {}
  for head, entries in pairs(set.by_head) do
    head = clean.name(head)
    for stack, entry in pairs(entries) do
      stack = clean.stack(stack)
      local whole = head ~= "" and stack ~= "" and head .. ";" .. stack or head .. stack
      if whole == "" then whole = "[unknown]" end
      local letters = (head ~= "" and "n" or "") .. entry.kinds
      local same = by_stack[whole]
      if same then
        same.value = same.value + entry.value
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

---@param query perflua.Query samples, in any order, one record again and again
---@param options table { by, count, kinds, inline, split } split: a set for each event
---@return table[]? sets those with samples, in the order of the events; only the first has its list
---@return string? message
function stacks.collect(query, options)
  local head_of, sets = stacks.heads[options.by], {}
  local count, inline, split = options.count, options.inline, options.split
  local kinds_of = options.kinds and (inline and inlined.kinds or kinds.of)
  local set = not split and new_set(nil) or nil
  for record in query do
    if split then
      local event = record.event
      local index = event and event.index or 0
      set = sets[index]
      if not set then
        set = new_set(event)
        sets[index] = set
      end
    end
    local stack = inline and inlined.stack(record) or record.stack
    if not take(set, record, head_of(record), stack, count and 1 or record.period or 1, kinds_of) then
      return nil, "the periods add up to more than 2^63: --count counts samples instead"
    end
  end
  local found = {}
  if not split then
    found[1] = set.samples > 0 and listed(set) or nil
    return found
  end
  local indexes = {}
  for index in pairs(sets) do indexes[#indexes + 1] = index end
  table.sort(indexes)
  for i, index in ipairs(indexes) do found[i] = sets[index] end
  if found[1] then listed(found[1]) end
  return found
end

return stacks
