-- The call stacks of a recording and what each weighs, which the core adds up: as folded
-- stacks, and as the tree of a flame graph.

local engine = require "perflua.plan.engine"
local events = require "perflua.recording.events"
local flame = require "perflua.flame"
local fmt = require "perflua.text.fmt"
local profile = require "perflua.group.profile"
local spec_of = require("perflua.core").query_spec

local stacks = {}

local function name_command(thread) return thread.comm or "[unknown]" end

-- The first frames of a stack, by name: the fields that each is made of, and how.
stacks.heads = {
  none = { fields = {}, text = function() return "" end },
  comm = { fields = { "comm" }, text = name_command },
  pid = {
    fields = { "comm", "pid" },
    text = function(thread)
      return ("%s-%s"):format(name_command(thread), thread.pid or "?")
    end,
  },
  tid = {
    fields = { "comm", "pid", "tid" },
    text = function(thread)
      return ("%s-%s/%s"):format(name_command(thread), thread.pid or "?", thread.tid or "?")
    end,
  },
}

---Returns the events that a user means by a name; without a name all that are known.
---@param file perflua.File
---@param name string?
---@return perflua.Event[]? events
---@return string? message
function stacks.choose(file, name)
  if not name then return table.move(file.events, 1, #file.events, 1, {}) end
  local found = events.lookup(file.events, name)
  if #found > 0 then return found end
  return nil, ("%s: %s"):format(fmt.paths(file.path), events.unknown(file.events, name))
end

---@class perflua.flame.Stacks
---@field event perflua.Event? their only event
---@field others (perflua.Event|false)[] events that were left out; false: not known
---@field samples integer
---@field total integer
---@field private request table options of the core functions fold and tree
---@field private made table? functions of src/binding/query/call_tree.c; nil: no samples
local Stacks = {}
Stacks.__index = Stacks

-- Returns the position of the event that the recording names first; nil: there is none.
local function find_first(found)
  local first
  for i, event in ipairs(found) do
    local index = event.index or math.huge
    if not first or index < (found[first].index or math.huge) then first = i end
  end
  return first
end

-- Describes stacks to the core, as profile.describe() does.
local function describe(query, options)
  local by = options.by
  return profile.describe(query, spec_of(query),
    { "event", table.unpack(stacks.heads[by].fields) },
    { count = options.count, lines = options.inline or options.lines, folded = true,
      chain = options.names and not options.inline and "names" or nil,
      head = by ~= "none" and by or nil })
end

---@param query perflua.Query samples
---@param options table of stacks.collect
---@return table # what is read: { query, keys, columns }
function stacks.reading(query, options)
  local _, _, keys, columns = describe(query, options)
  return { query = query, keys = keys, columns = columns }
end

---@param query perflua.Query samples, in any order
---@param options table { by, count, inline, lines, split, names } by: one of stacks.heads;
--- lines: the tree has source lines; split: only of the first event, not of all together;
--- names: binaries and kinds of frames are not needed
---@return perflua.flame.Stacks
---@return integer # number of samples that were set aside
function stacks.collect(query, options)
  local spec, by = spec_of(query), options.by
  local description, counted = describe(query, options)
  local found, made = engine.groups(spec, description)
  local set = setmetatable({ samples = 0, total = 0, others = {}, made = found[1] and made,
    request = { head = by ~= "none", inlined = options.inline, lines = options.lines },
  }, Stacks)
  local first = options.split and find_first(found)
  local function event_of(entry)
    return entry and entry.index and spec.file.events[entry.index]
  end
  for i, entry in ipairs(found) do
    if not first or i == first then
      set.samples, set.total = set.samples + entry.samples, set.total + entry.weight
    else
      set.others[#set.others + 1] = event_of(entry) or false
    end
  end
  if first then set.request.event, set.event = first, event_of(found[first]) end
  return set, counted.n
end

---Writes folded stacks: see flame/folded.lua.
---@param out file*
---@param annotate boolean? mark kernel, inlined and JIT frames
---@return true? ok
---@return string? message
---@return integer? number of the error
function Stacks:fold(out, annotate)
  if not self.made then return true end
  self.request.annotate = annotate
  return self.made.fold(out, self.request)
end

---@param options table? { reverse, max_depth, min_share } as of flame.graph
---@return perflua.flame.Tree # with `unresolved`, a part of the total
function Stacks:tree(options)
  if not self.made then return flame.tree {} end
  options = options or {}
  local request = self.request
  request.reversed, request.max_depth = options.reverse, options.max_depth or flame.MAX_DEPTH
  request.least = self.total * (options.min_share or 0) / 100
  return self.made.tree(request)
end

---Frees the stacks in the core: fold() and tree() must not be called any more.
function Stacks:close() self.made = nil end

return stacks
