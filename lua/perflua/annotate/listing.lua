-- The code of a function, line by line, with its samples: instructions, or where the code is
-- not known, sampled offsets.

local recorded = require "perflua.annotate.recorded"
local core = require "perflua.core"
local origin = require "perflua.annotate.origin"
local text -- perflua.annotate.text, loaded when it is asked for

---@class perflua.Listing
local Listing = {}
Listing.__name = "perflua.Listing"
local methods = {}

-- Adds the samples at an address to those of a line.
local function add_hits(self, line, hits)
  local by_event = self.hits[line] or {}
  self.hits[line] = by_event
  local sums = by_event[hits.event] or { samples = 0, period = 0 }
  sums.samples, sums.period = sums.samples + hits.samples, sums.period + hits.period
  by_event[hits.event] = sums
end

-- Gives each sampled address to the instruction that covers it.
local function place_by_code(self)
  for _, hits in ipairs(self.func.hits) do
    local offset = hits.address - self.func.start
    local line = self.code:find(offset)
    if line then
      add_hits(self, line, hits)
      if self.code:at(line) ~= offset then
        self.between = self.between + hits.samples
      end
    else
      self.outside = self.outside + hits.samples
    end
  end
end

-- Makes a line of each sampled address.
local function place_by_offset(self)
  local last
  for _, hits in ipairs(self.func.hits) do
    local offset = hits.address - self.func.start
    if offset ~= last then self.offsets[#self.offsets + 1] = offset end
    last = offset
    add_hits(self, #self.offsets, hits)
  end
end

-- Returns the metatable of tables by the index of an event, which have its name, too: of
-- several events with one name the first, as file.events has it.
local function by_name(events)
  return {
    __index = function(sums, name)
      local event = type(name) == "string" and events[name]
      return event and rawget(sums, event.index) or nil
    end,
  }
end

---@param file perflua.File
---@param read perflua.SampledFunctions
---@param func table one of read.list
---@param sources perflua.Sources
---@return perflua.Listing
function Listing.new(file, read, func, sources)
  local binary = read.calls.binary(func.number)
  local program = binary.kind == "bpf" and recorded.bpf(file, func) or nil
  local is_kernel = binary.kind == "kernel" or binary.kind == "module"
  local changes = is_kernel and recorded.changes(file, read, func) or nil
  local code, reason, path = read.calls.code(func.number, program, changes and changes.patches)
  if program then sources:add(program.texts) end
  local facts = code and code:facts()
  local self = {
    symbol = func.symbol, dso = func.dso, size = func.size, events = {}, binary = binary,
    code_file = facts and facts.path or path, lines_file = binary.debug_file,
    program = program, changes = changes and changes.lines or {},
    proof = origin.proof(binary, program), reason = reason, machine = facts and facts.machine,
    written = facts and facts.written,
    unknown = facts and facts.unknown or 0, missing = facts and func.size - facts.size or 0,
    between = 0, outside = 0,
    address = facts and facts.address or read.calls.elf_address(func.number, func.start)
      or func.start,
    file = file, read = read, func = func, code = code, sources = sources, hits = {},
    offsets = {}, by_name = by_name(file.events),
  }
  for index, sums in pairs(func.events) do
    local event = file.events[index]
    self.events[#self.events + 1] = { index = index, name = event.name,
      samples = sums.samples, period = sums.period, total = read.totals[index] }
  end
  table.sort(self.events, function(a, b) return a.index < b.index end)
  if code then place_by_code(self) else place_by_offset(self) end
  return setmetatable(self, Listing)
end

---@return integer # of lines
function Listing.__len(self)
  return rawget(self, "code") and #self.code or #rawget(self, "offsets")
end

-- Returns the functions at an offset, innermost first: { symbol, file, line, srcline }.
function methods:frames(offset)
  if self.program then return self.program.frames(offset) end
  return self.read.calls.lines(self.func.number, self.func.start + offset)
end

-- Returns what an instruction's operands mean: the name of where it goes.
local function target_of(self, target)
  local offset = target - self.address
  local name, distance = self.read.calls.name(self.func.number, self.func.start + offset)
  if not name then return nil end
  return distance == 0 and name or ("%s+0x%x"):format(name, distance)
end

local function add_instruction(self, line, i)
  local code = self.code
  local name, operands, target = code:text(i)
  local offset, size, kind, inside, is_target = code:at(i)
  line.offset, line.size, line.kind = offset, size, kind
  line.name, line.operands = name, operands
  line.bytes = code:bytes(i)
  line.text = operands == "" and name or name .. " " .. operands
  line.jump, line.is_target = inside, is_target
  line.goes_to = target
  line.target = target and target_of(self, target)
end

-- Sets what is known of the source of a line.
local function add_source(self, line)
  local frames = self:frames(line.offset)
  local inner = frames[1]
  if not inner then return end
  line.frames = frames
  line.srcline, line.path, line.number = inner.srcline, inner.file, inner.line
  line.source = inner.file and inner.line and self.sources:line(inner.file, inner.line)
end

local function add_samples(self, line, i)
  for _, field in ipairs { "samples", "period", "percent" } do
    line[field] = setmetatable({}, self.by_name)
  end
  for _, event in ipairs(self.events) do
    local sums = self.hits[i] and self.hits[i][event.index]
    if sums then
      line.samples[event.index], line.period[event.index] = sums.samples, sums.period
      line.percent[event.index] = Listing.share(self.hits[i], event, "local-period")
    end
  end
end

-- Makes line `i`. Lines are not kept: a function may have millions.
local function make_line(self, i)
  local line = { index = i }
  if self.code then add_instruction(self, line, i) else line.offset = self.offsets[i] end
  line.address = self.address + line.offset
  add_source(self, line)
  add_samples(self, line, i)
  return line
end

-- Shares by their names: the sum that they are of, and whether they are of all samples of the
-- event, not of those of the function.
local KINDS <const> = {
  ["local-period"] = { "period" }, ["local-hits"] = { "samples" },
  ["global-period"] = { "period", true }, ["global-hits"] = { "samples", true },
}

Listing.percent_types = { "local-period", "local-hits", "global-period", "global-hits" }

---Returns the share that samples have.
---@param by_event table<integer, table>? sums by the index of the event
---@param event table one of listing.events
---@param percent_type string one of Listing.percent_types
---@return number? # nil: there are none
function Listing.share(by_event, event, percent_type)
  local sums = by_event and by_event[event.index]
  if not sums then return nil end
  local field, is_global = table.unpack(KINDS[percent_type])
  local whole = (is_global and event.total or event)[field]
  return whole == 0 and 0 or 100 * sums[field] / whole
end

---@param index integer of an event of the recording
---@return table # one of listing.events, or one without samples
function methods:event(index)
  for _, event in ipairs(self.events) do
    if event.index == index then return event end
  end
  return { index = index, name = self.file.events[index].name, samples = 0, period = 0,
    total = self.read.totals[index] }
end

---Returns the shares of a line, of several events.
---@param i integer its number
---@param events table[] of listing.events
---@param percent_type string
---@return number[]? shares nil: it has no samples of them
---@return number most the largest
function methods:shares(i, events, percent_type)
  local shares, most, has = {}, 0, false
  for at, event in ipairs(events) do
    local share = Listing.share(self.hits[i], event, percent_type)
    has = has or share ~= nil
    shares[at] = share or 0
    most = math.max(most, shares[at])
  end
  return has and shares or nil, most
end

---Returns the numbers of the lines that have samples of events, in order.
---@param events table[] of listing.events
---@param least number? in percent: leave out lines with smaller shares
---@param percent_type string
---@return integer[]
function methods:hot_lines(events, least, percent_type)
  local list = {}
  for i in pairs(self.hits) do
    local shares, most = self:shares(i, events, percent_type)
    if shares and most >= (least or 0) then list[#list + 1] = i end
  end
  table.sort(list)
  return list
end

---Returns where line `i` is in the source, as a line has it, without what it does.
---@param i integer
---@return table # { offset, path, number, srcline, source, frames }
function methods:place(i)
  local line = { offset = self.code and self.code:at(i) or self.offsets[i] }
  add_source(self, line)
  return line
end

---@param found table a file of perflua.Sources
---@return boolean # true if it was written after the binary
function methods:is_newer(found)
  local written = self.written
  if not self.code and not self.binary.proof then
    local kind, _, changed = core.stat(self.code_file or self.binary.symbol_file or "")
    written = kind == "file" and changed or nil
  end
  return written ~= nil and found.modified ~= nil and found.modified > written
end

function Listing.__index(self, key)
  if math.type(key) == "integer" then
    if key < 1 or key > #self then return nil end
    return make_line(self, key)
  end
  return methods[key]
end

-- It is a sequence of its lines.
function Listing.__pairs(self)
  return function(_, i) if i < #self then return i + 1, self[i + 1] end end, self, 0
end

function Listing.__tostring(self)
  text = text or require "perflua.annotate.text"
  local parts = {}
  for _, event in ipairs(self.events) do
    text.write(self, { event }, {}, function(line) parts[#parts + 1] = line end)
  end
  return table.concat(parts, "\n")
end

return Listing
