-- The format of callgrind, for kcachegrind: the weight of each function and line by itself, and
-- of what each calls, over all threads. https://valgrind.org/docs/manual/cl-format.html

local names = require "perflua.export.names"

local callgrind = { name = "callgrind", description = "kcachegrind, callgrind_annotate",
  lines = true }

-- A name in a line of its own, without what would end or compress it: `(` begins a number.
local function clean(text)
  text = text:gsub("%c", "?")
  return text:find "^%(" and " " .. text or text
end

-- Returns a function that writes "fn=(3) name" the first time, then "fn=(3)".
local function compressor()
  local numbers, n = {}, 0
  return function(text)
    if numbers[text] then return numbers[text] end
    n = n + 1
    numbers[text] = ("(%d)"):format(n)
    return ("(%d) %s"):format(n, clean(text))
  end
end

-- Functions of the profile: frames of equal name, binary and file are one.
local function functions_of(frames)
  local list, by_key, of_frame = {}, {}, {}
  for i, frame in ipairs(frames) do
    local name = names.of(frame)
    local key = table.concat({ frame.dso, frame.file or "", name }, "\0")
    local one = by_key[key]
    if not one then
      one = { dso = frame.dso, file = frame.file or "???", name = name, self = {}, calls = {} }
      by_key[key], list[#list + 1] = one, one
    end
    of_frame[i] = one
  end
  return list, of_frame
end

local function add(costs, key, place, weight)
  local cost = costs[key]
  if not cost then
    cost = {}
    costs[key] = cost
  end
  cost[place] = (cost[place] or 0) + weight
end

-- Adds an entry: its callee's own weight, and each call of its stack once.
local function add_entry(entry, stack, frames, of_frame, place)
  local leaf, seen = stack[1], {}
  add(of_frame[leaf].self, frames[leaf].line or 0, place, entry.weight)
  for i = 2, #stack do
    local caller, callee, line = of_frame[stack[i]], of_frame[stack[i - 1]],
      frames[stack[i]].line or 0
    local calls = caller.calls[callee]
    if not calls then
      calls = {}
      caller.calls[callee] = calls
    end
    local cost = calls[line]
    if not cost then
      cost = { n = 0 }
      calls[line] = cost
    end
    if not seen[cost] then
      seen[cost] = true
      cost.n = cost.n + entry.count
      cost[place] = (cost[place] or 0) + entry.weight
    end
  end
end

local function costs_text(cost, n)
  local list = {}
  for i = 1, n do list[i] = ("%d"):format(cost[i] or 0) end
  return table.concat(list, " ")
end

local function sorted_keys(map, less)
  local list = {}
  for key in pairs(map) do list[#list + 1] = key end
  table.sort(list, less)
  return list
end

local function by_number(a, b) return a.number < b.number end

local function write_function(write, one, n_events, compress)
  write(("\nob=%s\nfl=%s\nfn=%s\n"):format(compress.ob(one.dso), compress.fl(one.file),
    compress.fn(one.name)))
  for _, line in ipairs(sorted_keys(one.self)) do
    write(("%d %s\n"):format(line, costs_text(one.self[line], n_events)))
  end
  for _, callee in ipairs(sorted_keys(one.calls, by_number)) do
    local calls = one.calls[callee]
    for _, line in ipairs(sorted_keys(calls)) do
      write(("cob=%s\ncfi=%s\ncfn=%s\n"):format(compress.ob(callee.dso),
        compress.fl(callee.file), compress.fn(callee.name)))
      write(("calls=%d 0\n%d %s\n"):format(calls[line].n, line,
        costs_text(calls[line], n_events)))
    end
  end
end

-- Names of events are one word in this format.
local function event_words(profile)
  local list, places = {}, {}
  for _, number in ipairs(sorted_keys(profile.events)) do
    list[#list + 1] = profile.events[number].name:gsub("[%s%c]", "_")
    places[number] = #list
  end
  return list, places
end

---@param write fun(text: string)
---@param profile table see profile.lua
---@param options { title: string }
function callgrind.write(write, profile, options)
  local words, places = event_words(profile)
  local list, of_frame = functions_of(profile.frames)
  for i, one in ipairs(list) do one.number = i end
  local totals = {}
  for _, entry in ipairs(profile.entries) do
    local place = places[entry.event]
    totals[place] = (totals[place] or 0) + entry.weight
    add_entry(entry, profile.stacks[entry.stack], profile.frames, of_frame, place)
  end
  write(("# callgrind format\nversion: 1\ncreator: perflua\ncmd: %s\n"):format(
    clean(options.title)))
  write(("positions: line\nevents: %s\nsummary: %s\n"):format(table.concat(words, " "),
    costs_text(totals, #words)))
  local compress = { ob = compressor(), fl = compressor(), fn = compressor() }
  for _, one in ipairs(list) do write_function(write, one, #words, compress) end
end

return callgrind
