-- The format of pprof: gzip of protocol buffers, with a sample type for each event.
-- https://github.com/google/pprof/blob/main/proto/profile.proto (numbers of fields)

local core = require "perflua.core"
local json = require "perflua.text.json"
local names = require "perflua.export.names"
local protobuf = require "perflua.export.protobuf"
local integer, integers, bytes = protobuf.integer, protobuf.integers, protobuf.bytes

local pprof = { name = "pprof", description = "pprof, Pyroscope, Grafana", lines = true }

local PROFILE <const> = { sample_type = 1, sample = 2, mapping = 3, location = 4,
  ["function"] = 5, string_table = 6, default_sample_type = 14 }

-- Interns texts; the first is empty, as the format wants it. Invalid UTF-8 becomes U+FFFD.
local function string_table()
  local numbers, list = { [""] = 0 }, { "" }
  return list, function(text)
    text = text or ""
    local number = numbers[text]
    if not number then
      number = #list
      numbers[text], list[number + 1] = number, json.valid_utf8(text)
    end
    return number
  end
end

local function is_file(frame) return frame.dso:sub(1, 1) == "/" end

-- Writes binaries as mappings. Addresses in locations are those in the binary, so a mapping
-- begins at 0 and ends behind the last of them. Returns frame → id of its mapping.
local function write_mappings(put, frames, text)
  local ids, list = {}, {}
  for _, frame in ipairs(frames) do
    local key = frame.dso .. "\0" .. (frame.build_id or "")
    local one = ids[key]
    if not one then
      one = { id = #list + 1, frame = frame, limit = 0, lines = false }
      ids[key], list[#list + 1] = one, one
    end
    if math.ult(one.limit, frame.address + 1) then one.limit = frame.address + 1 end
    one.lines = one.lines or frame.file ~= nil
  end
  -- pprof takes the first mapping for the program
  table.sort(list, function(a, b)
    local x, y = is_file(a.frame), is_file(b.frame)
    if x ~= y then return x end
    return a.id < b.id
  end)
  for i, one in ipairs(list) do
    one.id = i
    put(PROFILE.mapping, integer(1, one.id) .. integer(3, one.limit)
      .. integer(5, text(one.frame.dso)) .. integer(6, text(one.frame.build_id))
      .. integer(7, 1) .. integer(8, one.lines and 1) .. integer(9, one.lines and 1))
  end
  return function(frame) return ids[frame.dso .. "\0" .. (frame.build_id or "")].id end
end

-- Returns a function that writes functions, those of equal name and file once, and returns
-- their ids.
local function function_writer(put, text)
  local ids, n = {}, 0
  return function(name, file)
    local key = name .. "\0" .. (file or "")
    if not ids[key] then
      n = n + 1
      ids[key] = n
      put(PROFILE["function"], integer(1, n) .. integer(2, text(name))
        .. integer(3, text(name)) .. integer(4, text(file)))
    end
    return ids[key]
  end
end

-- Writes frames as locations, whose last line is the function that the others are inlined in.
local function write_locations(put, frames, text)
  local mapping_of, id_of = write_mappings(put, frames, text), function_writer(put, text)
  for i, frame in ipairs(frames) do
    local lines = {}
    for _, inlined in ipairs(frame.inlined or {}) do
      lines[#lines + 1] = bytes(4, integer(1, id_of(inlined.symbol or "[unknown]",
        inlined.file)) .. integer(2, inlined.line))
    end
    lines[#lines + 1] = bytes(4, integer(1, id_of(names.of(frame), frame.file))
      .. integer(2, frame.line))
    put(PROFILE.location, integer(1, i) .. integer(2, mapping_of(frame))
      .. integer(3, frame.address) .. table.concat(lines))
  end
end

local function label(text, key, value, is_number)
  if value == nil then return "" end
  return bytes(3, integer(1, text(key)) .. (is_number and integer(3, value)
    or integer(2, text(value))))
end

-- Writes entries as samples: one of a thread and stack has a value for each event. Locations
-- are written with the stack's callee first.
local function write_samples(put, profile, places, n_events, text)
  local by_thread, n_stacks = {}, #profile.stacks
  for _, entry in ipairs(profile.entries) do
    local key = entry.thread * (n_stacks + 1) + entry.stack
    local one = by_thread[key]
    if not one then
      one = {}
      for i = 1, n_events do one[i] = 0 end
      by_thread[key] = one
    end
    one[places[entry.event]] = entry.weight
  end
  local labels = {}
  for i, thread in ipairs(profile.threads) do
    labels[i] = label(text, "thread", names.of_thread(thread))
      .. label(text, "pid", thread.pid, true) .. label(text, "tid", thread.tid, true)
  end
  for _, entry in ipairs(profile.entries) do
    local key = entry.thread * (n_stacks + 1) + entry.stack
    local values = by_thread[key]
    if values then
      by_thread[key] = nil
      put(PROFILE.sample, integers(1, profile.stacks[entry.stack]) .. integers(2, values)
        .. labels[entry.thread])
    end
  end
end

-- Returns the numbers of the events in order, and event → its place.
local function order_events(profile)
  local list, places = {}, {}
  for number in pairs(profile.events) do list[#list + 1] = number end
  table.sort(list)
  for i, number in ipairs(list) do places[number] = i end
  return list, places
end

---@param write fun(text: string)
---@param profile table see profile.lua
function pprof.write(write, profile)
  local deflate = core.gzip()
  local texts, text = string_table()
  local function put(field, message) write(deflate(bytes(field, message))) end
  local list, places = order_events(profile)
  for _, number in ipairs(list) do
    local event = profile.events[number]
    put(PROFILE.sample_type, integer(1, text(event.name)) .. integer(2, text(event.unit)))
  end
  write_samples(put, profile, places, #list, text)
  write_locations(put, profile.frames, text)
  if list[1] then
    write(deflate(integer(PROFILE.default_sample_type, text(profile.events[list[1]].name))))
  end
  for _, one in ipairs(texts) do put(PROFILE.string_table, one) end
  write(deflate())
end

return pprof
