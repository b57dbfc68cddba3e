-- Profiles to export: the distinct stacks of each thread and event, and their weights.
--
-- A profile is
--   file      the recording
--   events    { { name, unit } … }; unit is "nanoseconds" or "count"
--   threads   { { comm, pid, tid } … }, in the order of their ids
--   stacks    { { numbers of frames, callee first } … }
--   frames    { { symbol, dso, build_id, address, kind, file, line, inlined } … }; file, line
--             and inlined, { { symbol, file, line } … } innermost first, are there only where
--             they were asked for
--   entries   { { event, thread, stack, count, weight } … }, by event and thread
--   set_aside number of samples whose period is damage, see group/aside.lua

local aside = require "perflua.group.aside"
local core = require "perflua.core"
local spec_of = core.query_spec
local usage_error = require("perflua.errors").usage_error

local profile = {}

local SOFTWARE <const>, CPU_CLOCK <const>, TASK_CLOCK <const> = 1, 0, 1

-- The clocks among the software events count in nanoseconds.
local function unit_of(event)
  local is_clock = event.type == SOFTWARE
    and (event.config == CPU_CLOCK or event.config == TASK_CLOCK)
  return is_clock and "nanoseconds" or "count"
end

local THREAD <const> = { "comm", "pid", "tid" }

-- The fields that frames are made of where no sample has a call chain.
local FLAT <const> = { "ip", "dso", "symbol" }

-- Groups the samples of a query: the groups, the place of each field among their keys, whether
-- their second measure is the sum of periods, and how many samples were set aside.
local function group(query, scope, has_chains, by_count)
  local keys, at = {}, {}
  local function add(name)
    if not scope:root(name) then return end
    keys[#keys + 1] = name
    at[name] = #keys
  end
  for _, name in ipairs(THREAD) do add(name) end
  for _, name in ipairs(has_chains and { "callchain" } or FLAT) do add(name) end
  local grouped, sums = query:group_by(table.unpack(keys)):count(), not by_count
    and scope:root "period" ~= nil
  if sums then grouped = grouped:sum "period" end
  local counted = sums and aside.from(grouped) or { n = 0 }
  return grouped:table().data.groups, at, sums, counted.n
end

-- Interns frames and stacks that the core did not make.
local function flat_stacks(result, at)
  local by_key = {}
  return function(keys)
    local ip, dso, symbol = keys[at.ip or 0], keys[at.dso or 0], keys[at.symbol or 0]
    local key = ("%s\0%s\0%s"):format(ip, dso, symbol)
    local number = by_key[key]
    if not number then
      number = #result.stacks + 1
      result.frames[number] = { symbol = symbol, dso = dso or "[unknown]", address = ip or 0,
        kind = "unknown" }
      result.stacks[number], by_key[key] = { number }, number
    end
    return number
  end
end

local function split_srcline(text)
  local file, line = (text or ""):match "^(.*):(%d+)$"
  return file, math.tointeger(line)
end

local function frame_of(frame, with_lines)
  local one = { symbol = frame.symbol, dso = frame.dso, build_id = frame.build_id,
    address = frame.address, kind = frame.kind }
  if with_lines then
    one.file, one.line = split_srcline(frame.srcline)
    one.inlined = frame.inlined
    for _, inlined in ipairs(one.inlined or {}) do
      inlined.file, inlined.line = split_srcline(inlined.srcline)
    end
  end
  return one
end

-- Interns the core's Stacks.
local function chain_stacks(result, at, with_lines)
  local numbers, known = {}, {}
  local none
  return function(keys)
    local stack = keys[at.callchain]
    local number = stack and numbers[stack] or none
    if number then return number end
    number = #result.stacks + 1
    if not stack then
      none = number
      result.frames[#result.frames + 1] = { dso = "[unknown]", address = 0, kind = "unknown" }
      result.stacks[number] = { #result.frames }
      return number
    end
    local frames = core.stack_frames(stack)
    for i, frame in ipairs(frames) do
      if not known[frame] then
        known[frame] = #result.frames + 1
        result.frames[known[frame]] = frame_of(stack[i], with_lines)
      end
      frames[i] = known[frame]
    end
    result.stacks[number], numbers[stack] = frames, number
    return number
  end
end

local function thread_key(keys, at)
  return ("%s\0%s\0%s"):format(keys[at.pid or 0], keys[at.tid or 0], keys[at.comm or 0])
end

-- Interns threads by id and name.
local function thread_interner(list, at)
  local known = {}
  return function(keys)
    local key = thread_key(keys, at)
    if not known[key] then
      known[key] = { comm = keys[at.comm or 0], pid = keys[at.pid or 0],
        tid = keys[at.tid or 0] }
      list[#list + 1] = known[key]
    end
    return known[key]
  end
end

local function compare_threads(a, b)
  local p, q = a.pid or -1, b.pid or -1
  if p ~= q then return p < q end
  p, q = a.tid or -1, b.tid or -1
  if p ~= q then return p < q end
  return (a.comm or "") < (b.comm or "")
end

-- Puts threads in order, and entries by event, thread and stack.
local function sort(result)
  table.sort(result.threads, compare_threads)
  for i, thread in ipairs(result.threads) do thread.number = i end
  for _, entry in ipairs(result.entries) do entry.thread = entry.thread.number end
  table.sort(result.entries, function(a, b)
    if a.event ~= b.event then return a.event < b.event end
    if a.thread ~= b.thread then return a.thread < b.thread end
    return a.stack < b.stack
  end)
end

---Adds up the samples of a query.
---@param query perflua.Query of samples, without a group_by
---@param options { count: boolean?, lines: boolean? } count: weigh each sample as 1
---@return table # a profile
function profile.collect(query, options)
  local spec = spec_of(query)
  local scope = spec.scope
  local has_chains = scope:root "callchain" ~= nil
  if not has_chains and not scope:root "ip" then
    usage_error("export: samples have neither a call chain nor an address")
  end
  local groups, at, sums, n_aside = group(query, scope, has_chains, options.count)
  local result = { file = spec.file, events = {}, threads = {}, stacks = {}, frames = {},
    entries = {}, set_aside = n_aside }
  local number_of = has_chains and chain_stacks(result, at, options.lines)
    or flat_stacks(result, at)
  local thread_of = thread_interner(result.threads, at)
  for i, g in ipairs(groups) do
    local event = g.event or 0
    result.entries[i] = { event = event, thread = thread_of(g.keys),
      stack = number_of(g.keys), count = g[1], weight = sums and g[2] or g[1] }
    groups[i] = false
    if not result.events[event] then
      local is = spec.file.events[event]
      result.events[event] = { name = is and is.name or "unknown event",
        unit = sums and is and unit_of(is) or "count" }
    end
  end
  sort(result)
  return result
end

return profile
