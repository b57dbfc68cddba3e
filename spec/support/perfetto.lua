-- Reads traces of Perfetto back, as far as specs need it: apart from the library, from the
-- public definitions of the packets.
local files = require "spec.support.files"
local message = require("spec.support.profiles").message

local perfetto = {}

-- Adds the interned data of a packet to those of its sequence: frames as names, call chains as
-- these, caller first.
local function read_interned(bytes, sequence)
  local got = message(bytes)
  local function each(field, add)
    for _, item in ipairs(got[field] or {}) do
      local one = message(item)
      assert(not sequence[field] or not sequence[field][one[1][1]], "a number twice")
      sequence[field] = sequence[field] or {}
      sequence[field][one[1][1]] = add(one)
    end
  end
  local function text(one) return one[2][1] end
  for _, field in ipairs { 5, 16, 17, 18 } do each(field, text) end
  each(19, function(one)
    return { path = sequence[17][one[7][1]], build_id = one[2] and sequence[16][one[2][1]] }
  end)
  each(6, function(one)
    sequence.frames[#sequence.frames + 1] = { name = sequence[5][one[2][1]],
      mapping = assert(sequence[19][one[3][1]], "a frame without a mapping"),
      file = one[5] and sequence[18][one[5][1]], line = one[6] and one[6][1],
      kind = one[7][1] }
    return sequence.frames[#sequence.frames].name
  end)
  each(7, function(one)
    local names = {}
    for i, id in ipairs(one[2]) do names[i] = sequence[6][id] end
    return table.concat(names, ";")
  end)
end

-- Adds events of the scheduler as text: "cpu time pid name argument …".
local function read_sched(bundle, list)
  local names = { [4] = "switch", [17] = "wakeup", [20] = "waking", [114] = "wakeup_new" }
  for _, event in ipairs(bundle[2]) do
    event = message(event)
    for number, name in pairs(names) do
      local args, texts = event[number] and message(event[number][1]), {}
      for i = 1, 7 do texts[#texts + 1] = args and args[i] and args[i][1] end
      if args then
        list[#list + 1] = ("%d %d %d %s %s"):format(bundle[1][1], event[1][1], event[2][1],
          name, table.concat(texts, " "))
      end
    end
  end
end

-- Adds the track that a packet describes, and the process or thread that it names.
local function read_track(bytes, result)
  local one = message(bytes)
  local uuid, process, thread = one[1][1], one[3], one[4]
  local track = result.tracks[uuid] or { slices = {}, open = {} }
  assert(uuid > 0, "the number of the default track")
  track.name, track.parent = one[2] and one[2][1], one[5] and one[5][1]
  result.tracks[uuid] = track
  if process then
    process = message(process[1])
    track.pid = process[1][1]
    result.processes[track.pid] = process[6] and process[6][1]
  elseif thread then
    thread = message(thread[1])
    track.pid, track.tid = thread[1][1], thread[2][1]
    result.threads[track.tid] = thread[5] and thread[5][1]
  end
end

-- Adds slices to their tracks, as { name, start, stop, depth }. An end is that of the slice
-- that began last. Events of one time are in the order of the file.
local function read_slices(events, result)
  table.sort(events, function(a, b)
    if a.time ~= b.time then return a.time < b.time end
    return a.number < b.number
  end)
  for _, event in ipairs(events) do
    local track = result.tracks[event[11][1]]
    if event[9][1] == 1 then
      local slice = { name = event[23][1], start = event.time, depth = #track.open }
      table.insert(track.open, slice)
      table.insert(track.slices, slice)
    else
      assert(event[9][1] == 2 and track.open[1], "an end without a begin")
      table.remove(track.open).stop = event.time
    end
  end
  for _, track in pairs(result.tracks) do assert(not track.open[1], "left open") end
end

---@param path string of a trace of Perfetto
---@return { threads: table<integer, string>, processes: table<integer, string>, sequences:
--- table[] } sequences: { name, counter, frames = { { name, mapping, file, line, kind } … },
--- samples = { { time, stack, cpu, pid, tid, mode, count } … } }; sched: lines of text; system:
--- the kernel's name, release and architecture; tracks: by number { pid, tid, name, parent,
--- slices }
function perfetto.read(path)
  local result = { threads = {}, processes = {}, sequences = {}, sched = {}, tracks = {} }
  local events = {}
  for _, bytes in ipairs(message(files.read(path))[1] or {}) do
    local packet = message(bytes)
    if packet[45] then
      local utsname = message(message(packet[45][1])[1][1])
      result.system = { utsname[1][1], utsname[3][1], utsname[4] and utsname[4][1] }
    end
    for _, bundle in ipairs(packet[1] or {}) do read_sched(message(bundle), result.sched) end
    if packet[60] then read_track(packet[60][1], result) end
    if packet[11] then
      local event = message(packet[11][1])
      event.time, event.number = packet[8][1], #events + 1
      assert(packet[10][1] > 0, "an event of no sequence")
      events[event.number] = event
    end
    for _, tree in ipairs(packet[2] or {}) do
      for _, one in ipairs(message(tree)[2] or {}) do
        one = message(one)
        result.threads[one[1][1]] = one[2][1]
      end
    end
    local sequence = packet[10] and result.sequences[packet[10][1]]
    if packet[59] then
      assert(not sequence and packet[13][1] == 1 and packet[87][1] == 1)
      local timebase = message(message(message(packet[59][1])[12][1])[1][1])
      result.sequences[packet[10][1]] = { name = timebase[10][1], samples = {}, frames = {},
        counter = timebase[4] and timebase[4][1] }
    end
    if packet[12] then read_interned(packet[12][1], sequence) end
    if packet[66] then
      local one = message(packet[66][1])
      assert(packet[13][1] == 2, "a sample that needs no state")
      table.insert(sequence.samples, { time = packet[8][1], stack = sequence[7][one[4][1]],
        cpu = one[1] and one[1][1], pid = one[2][1], tid = one[3][1],
        mode = one[5] and one[5][1] or 0, count = one[6] and one[6][1] or 0 })
    end
  end
  read_slices(events, result)
  return result
end

return perfetto
