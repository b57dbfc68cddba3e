-- Recordings of work: threads that take parts of the samples, one sample each millisecond.
--
--   works.write { seed = 1, seconds = 4, parts = { parse = 0.3, solve = 0.7 } }
--
-- Each sample belongs to a thread by chance; `parts` may add up to less than 1: the rest is
-- idle. Options: event (name, "cpu-clock"), host, times (false: samples have no time), phases
-- (milliseconds that one thread runs on), container, dso (path of the binary of all).
local builder = require "spec.support.builder"

local works = {}

local function sorted_names(parts)
  local names = {}
  for name in pairs(parts) do names[#names + 1] = name end
  table.sort(names)
  return names
end

--- Adds threads of these names, and a mapping of the binary.
local function add_threads(b, names, dso)
  for i, name in ipairs(names) do
    local id = { pid = i, tid = i, time = 1, id = 200 }
    b:record("comm", { pid = i, tid = i, comm = name }, id)
    if dso then
      b:record("mmap2", { pid = i, tid = i, addr = 0x1000, len = 0x1000, filename = dso,
        prot = 5, misc = 2 }, id)
    end
  end
end

--- The bytes of such a recording, in a file: returns its path.
function works.write(options)
  local b = builder.new { container = options.container }
  local parts = { "identifier", "ip", "tid", "period", "time" }
  if options.times == false then parts[5] = nil end
  local event = b:event { name = options.event or "cpu-clock", type = 1, config = 0,
    sample_type = parts, sample_id_all = options.times ~= false, ids = { 200 } }
  local more = options.more and b:event { name = options.more, type = 1, config = 1,
    sample_type = parts, ids = { 201 } }
  if options.host then b:feature("hostname", options.host) end
  local names = sorted_names(options.parts)
  add_threads(b, names, options.dso)
  math.randomseed(options.seed)
  local who
  for ms = 1, 1000 * (options.seconds or 4) do
    if not who or ms % (options.phases or 1) == 0 then
      local left = math.random()
      who = nil
      for i, name in ipairs(names) do
        left = left - options.parts[name]
        if left < 0 then
          who = i
          break
        end
      end
    end
    if who then
      b:sample(event, { ip = 0x1100 + who, pid = who, tid = who, time = ms * 1000000,
        period = 1000000, identifier = 200 })
    end
    if more and ms % 10 == 0 then
      b:sample(more, { ip = 0x1100, pid = 1, tid = 1, time = ms * 1000000, period = 500,
        identifier = 201 })
    end
  end
  return b:write()
end

return works
