-- Tells where the time goes: the passes over recordings, and the stages of each
-- (src/base/timing.h).

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local json = require "perflua.text.json"
local units = require "perflua.text.units"

local timing = {}

local OWN_LINES <const> = 8 -- passes of one kind that have lines of their own
local HEAVIEST <const> = 5  -- binaries that the text names

-- Adds the amounts of one list of stages to another.
local function add_stages(to, from)
  local by_name = {}
  for _, stage in ipairs(to) do by_name[stage.name] = stage end
  for _, stage in ipairs(from) do
    local sum = by_name[stage.name]
    if not sum then
      sum = { name = stage.name, wall = 0, processor = 0 }
      to[#to + 1] = sum
    end
    for _, key in ipairs { "wall", "processor", "records", "bytes" } do
      if stage[key] then sum[key] = (sum[key] or 0) + stage[key] end
    end
  end
end

local function sum_of(stages, key)
  local sum = 0
  for _, stage in ipairs(stages) do sum = sum + (stage[key] or 0) end
  return sum
end

-- Returns what was measured of session `number`.
local function session_of(told, number)
  local session = told.sessions[number]
  local measured = { path = session.path, size = session.size, passes = {}, binaries = {} }
  for _, pass in ipairs(told.passes) do
    if pass.session == number then
      measured.passes[#measured.passes + 1] = { what = pass.what, times = pass.times,
        wall = pass.wall, processor = sum_of(pass.stages, "processor"), stages = pass.stages }
    end
  end
  for _, part in ipairs(told.parts) do
    if part.session == number then
      measured.binaries[#measured.binaries + 1] = { name = part.name, wall = part.wall }
    end
  end
  table.sort(measured.binaries, function(a, b)
    if a.wall ~= b.wall then return a.wall > b.wall end
    return a.name < b.name
  end)
  return measured
end

-- Passes as the text shows them: those of a kind of which there are many share a line.
local function shown_passes(passes)
  local shown, of_kind = {}, {}
  for _, pass in ipairs(passes) do
    local kind = of_kind[pass.what] or { n = 0 }
    of_kind[pass.what] = kind
    kind.n = kind.n + 1
    if kind.n <= OWN_LINES then
      shown[#shown + 1] = pass
    else
      if not kind.others then
        kind.others = { what = pass.what, times = 0, wall = 0, processor = 0, stages = {} }
        shown[#shown + 1] = kind.others
      end
      local others = kind.others
      others.times, others.wall = others.times + pass.times, others.wall + pass.wall
      others.processor = others.processor + pass.processor
      add_stages(others.stages, pass.stages)
    end
  end
  return shown
end

local function duration(ns) return ns and ns > 0 and units.format(ns, "duration") or "" end

local function bytes(n, size)
  if not n then return "" end
  local text = units.format(n, "si") .. "B"
  return size and size > 0 and ("%s, %.2f × the file"):format(text, n / size) or text
end

local NAME <const> = 30 -- columns of a name

-- Adds a line of a name and up to four amounts.
local function add_line(lines, name, wall, processor, records, read)
  local room = NAME - (utf8.len(name) or #name)
  local line = ("%s%s%8s  %10s  %10s  %s"):format(name, (" "):rep(math.max(room, 1)),
    wall or "", processor or "", records or "", read or "")
  lines[#lines + 1] = fmt.trim_end(line)
end

local function add_stage_lines(lines, stages, size)
  for _, stage in ipairs(stages) do
    -- bytes that are decompressed are not bytes of the file
    local read = stage.name == "read" and bytes(stage.bytes, size) or bytes(stage.bytes)
    add_line(lines, "    " .. stage.name, duration(stage.wall), duration(stage.processor),
      stage.records and ("%d"):format(stage.records), read)
  end
end

local function add_session_lines(lines, session)
  local size = session.size and ", " .. units.format(session.size, "si") .. "B" or ""
  add_line(lines, fmt.escape(fmt.paths(session.path)) .. size)
  for _, pass in ipairs(shown_passes(session.passes)) do
    local what = pass.times > 1 and ("%s, %d times"):format(pass.what, pass.times) or pass.what
    add_line(lines, "  " .. what, duration(pass.wall), duration(pass.processor))
    add_stage_lines(lines, pass.stages, session.size)
  end
  if session.binaries[1] then
    add_line(lines, "  symbols by binary")
    for i = 1, math.min(#session.binaries, HEAVIEST) do
      local binary = session.binaries[i]
      add_line(lines, "    " .. fmt.escape(binary.name), duration(binary.wall))
    end
    if #session.binaries > HEAVIEST then
      add_line(lines, ("    %d others"):format(#session.binaries - HEAVIEST))
    end
  end
end

local function add_heads(lines)
  add_line(lines, "", "wall", "processors", "records", "read")
end

---@class perflua.Timing
local Timing = {}
Timing.__index = Timing
Timing.__name = "perflua.Timing"

function Timing:__tostring()
  local lines = {}
  add_heads(lines)
  add_session_lines(lines, self)
  return table.concat(lines, "\n")
end

---@param file perflua.File
---@return perflua.Timing? # nil: it is not measured
function timing.of(file)
  local told = core.timing(file)
  return told and setmetatable(session_of(told, told.number), Timing)
end

-- Returns what was measured of the process: its sessions, the stages outside of passes, and the
-- processor time of no stage.
local function process_of(told)
  local files, measured = {}, told.start
  for i = 1, #told.sessions do files[i] = session_of(told, i) end
  for _, pass in ipairs(told.passes) do
    measured = measured + sum_of(pass.stages, "processor")
  end
  return {
    wall = told.wall, user = told.user, system = told.system, start = told.start,
    unmeasured = math.max(told.user + told.system - measured, 0), peak_memory = told.peak,
    files = files, stages = told.passes[1].stages,
  }
end

---@return string? # where the time of the process went, as JSON; nil: nothing is measured
function timing.json()
  local told = core.timing()
  return told and json.encode(process_of(told)) .. "\n"
end

---@return string? # where the time of the process went, for people; nil: nothing is measured
function timing.text()
  local told = core.timing()
  if not told then return nil end
  local process, lines = process_of(told), {}
  add_heads(lines)
  for _, session in ipairs(process.files) do add_session_lines(lines, session) end
  add_line(lines, "outside of passes")
  add_line(lines, "    start", nil, duration(process.start))
  add_stage_lines(lines, process.stages)
  if process.unmeasured > 0 then
    add_line(lines, "    not measured", nil, duration(process.unmeasured))
  end
  add_line(lines, "all", duration(process.wall), duration(process.user + process.system), nil,
    ("at most %s of memory"):format(units.format(process.peak_memory, "bytes")))
  return table.concat(lines, "\n") .. "\n"
end

return timing
