-- Writes the records of a query, and what they need, as a recording.

local core = require "perflua.core"
local errors = require "perflua.errors"
local output = require "perflua.table.output"
local plan = require "perflua.plan"
local threads = require "perflua.write.threads"
local rules = require "perflua.write.rules"

local errno, guard, usage_error = errors.errno, errors.guard, errors.usage_error

local write = {}

local WHICH <const> = { hit = "hit", all = "all" }
local MAPPINGS <const> = { all = "identified", used = "used" }

local function choose(options, name, choices, expected)
  local value = options[name]
  if value == nil then return nil end
  if not choices[value] then
    usage_error("inject: %s: %s expected, got %s", name, expected, tostring(value))
  end
  return choices[value]
end

-- Returns build-ids as bytes, by name.
local function read_known(known)
  local read = {}
  for name, text in pairs(known or {}) do
    local is_id = type(text) == "string" and #text > 0 and #text <= 40 and #text % 2 == 0
      and not text:find "%X"
    if type(name) ~= "string" or not is_id then
      usage_error("inject: known: the build-id of %s: up to 40 hexadecimal digits expected, "
        .. "got %s", tostring(name), tostring(text))
    end
    read[name] = text:gsub("%x%x", function(byte) return string.char(tonumber(byte, 16)) end)
  end
  return read
end

---Returns the option `inject` of core.write().
---@param options table InjectOptions
---@param force boolean? files that exist are replaced
---@return table
local function inject_options(options, force)
  errors.check_options(options, "InjectOptions", "inject: unknown option '%s'")
  return {
    ids = choose(options, "build_ids", WHICH, "'hit' or 'all'"),
    mappings = choose(options, "mappings", MAPPINGS, "'all' or 'used'"),
    known = read_known(options.known),
    jit = options.jit, sched_stat = options.sched_stat, replaces = force,
  }
end

-- Thins out samples until a recording fits a size.

local TRIES <const> = 8

-- Returns of how many samples one is kept, so that a recording gets the size: every what a
-- recording has been counted with. nil: records that are not samples take more than that.
local function estimate(counted, every, size)
  local ratio = math.min(1, counted.bytes / math.max(counted.plain_bytes, 1)) -- of compression
  local samples = counted.sample_bytes * ratio
  local others = counted.bytes - samples
  if others >= size then return nil, math.ceil(others) end
  return math.max(every + 1, math.ceil(every * samples / (size - others)))
end

---Finds of how many samples one is kept.
---@param options table of core.write(); gets `every`
---@param size integer bytes at most
---@param count fun(): table?, string?, string? # counts what core.write() would write
---@return true?, string? message, string? code
local function fit_size(options, size, count)
  for _ = 1, TRIES do
    local counted, message, code = count()
    if not counted then return nil, message, code end
    if counted.bytes <= size then return true end
    local every, others = estimate(counted, options.every or 1, size)
    if not every then
      return nil, ("max_size: %d bytes are too few: the records that samples need take %d")
        :format(size, others), "ENOSPC"
    end
    options.every = every
  end
  return nil, ("max_size: no part of the samples was found that fits %d bytes"):format(
    size), "ENOSPC"
end

local SAMPLE <const> = 9 -- PERF_RECORD_SAMPLE
local COMPRESSED2 <const> = 2 -- compress: the type of compressed records

local function check_number(options, name, most)
  local value = options[name]
  if value == nil then return nil end
  local number = math.type(value) and math.tointeger(value)
  if not number or number < 1 or number > most then
    usage_error("write: %s: an integer from 1 to %d expected, got %s", name, most,
      tostring(value))
  end
  return number
end

-- Returns whether an order is big-endian; nil: it is that of the recording.
local function is_big(order)
  if order == nil then return nil end
  if order == "native" then return string.pack("=I2", 1) == "\0\1" end
  if order ~= "big" and order ~= "little" then
    usage_error("write: byte_order: 'little', 'big' or 'native' expected, got %s",
      tostring(order))
  end
  return order == "big"
end

---@param file perflua.File
---@param order string? of WriteOptions
---@return boolean # is it another byte order than that of the recording?
function write.turns(file, order)
  return order ~= nil and is_big(order) ~= (file.byte_order == "big")
end

---Adds the options of a recording's form, pipe, byte_order, compress and level, to those of
---core.write().
---@param described table
---@param options table as a script gives them
---@return table described
function write.add_form(described, options)
  local compress = check_number(options, "compress", COMPRESSED2)
  local level = check_number(options, "level", core.compress_most())
  described.pipe, described.big = options.pipe, is_big(options.byte_order)
  if compress or level then
    described.level, described.padded = level or 1, compress == COMPRESSED2
  end
  return described
end

local function is_several(file) return type(file.path) == "table" and #file.path > 1 end

-- Returns the options of core.write().
local function options_of(spec, options)
  errors.check_options(options, "WriteOptions", "write: unknown option '%s'")
  local described = write.add_form(plan.walk(spec), options)
  described.unwinds, described.joins = options.unwind, options.merge_callchains
  -- names of a stream are known in the order of time only
  described.sorts = options.sort or spec.file.mode == "directory" or is_several(spec.file)
    or (options.inject and (options.inject.jit or options.inject.sched_stat))
    or (not spec.file.size and (#spec.filters > 0 or options.unwind
      or options.scrub and options.scrub.addresses or options.inject))
  described.order = described.sorts and "time" or "file"
  described.selects = spec.from ~= nil or spec.to ~= nil or spec.events ~= nil
    or #spec.filters > 0
  described.every = check_number(options, "every", math.maxinteger)
  described.max_size = check_number(options, "max_size", math.maxinteger)
  described.selects = described.selects or described.every ~= nil
    or described.max_size ~= nil
  described.scrub = options.scrub and rules.of(options.scrub)
  described.inject = options.inject and inject_options(options.inject, options.force)
  local changes = options.scrub and "scrub" or options.inject and "inject"
  if options.scrub and options.inject then
    usage_error("write: scrub takes records as they are: inject and write them first")
  elseif changes and (options.unwind or options.merge_callchains) then
    usage_error("write: %s takes records as they are: unwind and write them first", changes)
  elseif changes and (described.every or described.max_size) then
    usage_error("write: %s takes all samples: thin them out and write them first", changes)
  end
  return described
end

-- Returns why a File without a whole record is not written; nil: it has records, or is a file
-- that recorded none. A pipe without records was cut before the first one.
-- Scrubbing leaves out records that the summary does not count.
local function why_empty(file, summary, options)
  local left_out = summary.aux_records + summary.unturned_records
  if options.scrub or summary.records + left_out > 0 then return nil end
  local damage = file.damage[1]
  return damage and ("no record of %s is whole: offset %d: %s"):format(damage.path,
    damage.offset, damage.reason) or file.mode == "pipe" and "the recording has no records"
    or nil
end

-- Returns whether samples are chosen by their time alone, and written as they are.
local function can_outline(spec, options)
  local types = spec.types
  return spec.file.size and #spec.filters == 0 and not spec.events
    and types and next(types) == SAMPLE and next(types, SAMPLE) == nil
    and not (options.sorts or options.unwinds or options.joins or options.every
      or options.max_size or options.scrub or options.inject or options.level
      or options.directory or options.big ~= nil)
end

-- Writes to an open file, or to one at a path; nil: only counts. Returns the summary; or nil, a
-- message and a code.
local function write_all(spec, target, shown, options)
  local summary, message, code = guard(core.write, spec.file, target, options)
  if not summary then
    if not math.type(code) then return nil, message, code end -- of the recording that is read
    return errno(nil, ("%s: %s"):format(shown, message), code)
  elseif options.selects and summary.samples == 0 then
    return nil, shown .. ": no sample is chosen: nothing is written", "ENODATA"
  end
  local reason = why_empty(spec.file, summary, options)
  if reason then return nil, shown .. ": " .. reason, "ENODATA" end
  summary.every = options.every
  return summary
end

-- Does the same, with as few samples as the options ask for.
local function write_to(spec, target, shown, options)
  if options.max_size then
    local directory = options.directory
    options.directory = nil -- it is counted as one file
    local ok, message, code = fit_size(options, options.max_size, function()
      return write_all(spec, nil, shown, options)
    end)
    if not ok then return nil, message, code end
    options.directory = directory
  end
  return write_all(spec, target, shown, options)
end

local function check_stream(file, options)
  if not file.size and options.max_size then
    return nil, "max_size: how many samples fit is counted first, so it takes a recording that "
      .. "can be read again: save the stream to a file", "ESPIPE"
  end
  if file.size then return true end
  if options.inject and options.inject.jit then
    return nil, "inject: jit: the program that is recorded may still write its jitdump: save "
      .. "the stream to a file", "ESPIPE"
  end
  if not options.merge_callchains then return true end
  return nil, "merge_callchains: the user's part of a call chain comes after its sample, so it "
    .. "takes a recording that can be read again: save the stream to a file", "ESPIPE"
end

-- Adds to the options which threads are kept, if a condition chooses samples.
local function choose_threads(query, spec, options)
  local is_chosen = #spec.filters > 0 or spec.from or spec.to
  if not is_chosen or select(2, plan.calls(spec, {})) then return end
  options.outline = can_outline(spec, options) and core.outline(spec.file, options) or nil
  options.kept_threads, options.kept_processes = threads.of(query, spec.file, options.outline)
end

---Checks that a recording may be written to a path.
---@param file perflua.File? that is read
---@param path string
---@param force boolean? an existing file is replaced
---@return true?, string?, string? # nil, a message and a code if it may not
function write.check_target(file, path, force)
  if file and (core.reads(file, path) or core.reads(file, path .. "/data")) then
    return nil, path .. ": this is the recording that is read: choose another name", "EBUSY"
  elseif not force and core.stat(path) and core.stat(path) ~= "stream" then
    return nil, path .. ": the file exists", "EEXIST"
  end
  return true
end

---Writes the records of a query as a recording, with those of other types that they need.
---@param spec table
---@param target string|file* a path, or an open file, which gets pipe mode
---@param options table? WriteOptions
---@param query perflua.Query of the spec
---@param bundle string? of core.pack(), instead of that of the recording
---@return table? summary, string? message, string? code
function write.query(spec, target, options, query, bundle)
  options = options or {}
  if spec.keys or spec.reader or spec.refs or spec.unnest then
    usage_error("write() takes records: a query without group_by, select, pair and unnest")
  elseif spec.types and not spec.types[SAMPLE] then
    usage_error("write() takes samples, or all records: a query of samples() or records()")
  end
  local described = options_of(spec, options)
  if is_several(spec.file) and (described.every or described.max_size or described.unwinds
    or described.joins
    or described.scrub or described.inject or described.big ~= nil or options.directory
    or type(target) == "string" and target:find "./$") then
    usage_error("write() takes the records of several recordings as they are: write them first "
      .. "as one")
  end
  described.bundle = bundle
  local ok, message, code = check_stream(spec.file, options)
  if not ok then return output.fail(message, code) end
  if io.type(target) == "file" then
    described.pipe = true
    choose_threads(query, spec, described)
    return write_to(spec, target, "cannot write", described)
  elseif type(target) ~= "string" then
    usage_error("a path or an open file expected, got a %s", io.type(target) or type(target))
  end
  ok, message, code = write.check_target(spec.file, target, options.force)
  if not ok then return output.fail(message, code) end
  described.directory = options.directory or target:find "./$" ~= nil
  if described.directory and options.pipe then
    usage_error("write: a directory has no pipe mode")
  end
  choose_threads(query, spec, described)
  if described.directory then
    local summary
    summary, message, code = write_to(spec, target, target, described)
    if not summary then return output.fail(message, code) end
    return summary
  end
  described.pipe = described.pipe or core.stat(target) == "stream"
  local summary
  ok, message, code = output.replace(target, function(path)
    local reason, kind
    summary, reason, kind = write_to(spec, path, target, described)
    return summary and true, reason, kind
  end, false, true)
  if not ok then return nil, message, code end
  return summary
end

return write
