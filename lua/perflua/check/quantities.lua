-- Measures the quantities of a performance spec: a value and the interval that it lies in.
--
-- Each is measured of all recordings as runs of the same work: { value, low, high, samples,
-- verdict and words (of a change), note, unknown (true: no recording has such a function),
-- is_gone (of a change: true if only the baseline has it) }. low and high are nil if they are
-- not known.

local words = require "perflua.check.words"
local core = require "perflua.core"
local diff = require "perflua.diff"
local estimate = require "perflua.diff.estimate"
local unfound = require "perflua.file.unfound"
local suggest = require "perflua.errors.suggest"

local quantities = {}

local CONFIDENCE <const> = 0.95

local function fail(format, ...) error(format:format(...), 0) end

local function quote(text) return (("%q"):format(text):gsub("\\\n", "\\n")) end

---@param file perflua.File
---@return perflua.Event[] # those with samples; none of a stream
function quantities.events(file)
  local list = {}
  for i, event in ipairs(file.size and core.count(file).events or {}) do
    if event.count > 0 then list[#list + 1] = file.events[i] end
  end
  return list
end

-- The event whose samples a quantity is of: that of its name, or the first with samples.
local function event_of(file, name) return name or quantities.events(file)[1] end

-- Queries of each file whose rows say whether a condition is true of a sample.
local function by_condition(files, condition, event, measure)
  local list = {}
  for i, file in ipairs(files) do
    local query = file:samples(event_of(file, event)):group_by(condition)
    list[i] = query[measure](query, "period")
  end
  return list
end

local function is_of(name) return "symbol == " .. quote(name) end

-- The name as a glob that matches nothing else.
local function is_under(name)
  return ("under(%s)"):format(quote((name:gsub("[*?%[\\]", "[%0]"))))
end

local function row_of(rows, key)
  for _, row in ipairs(rows) do
    if row.keys[1] == key then return row end
  end
end

local function count_samples(rows)
  local n = 0
  for _, row in ipairs(rows) do n = n + (row.samples or 0) end
  return n
end

-- Returns the bounds that a share of n samples has because they are so many: the score interval
-- of Wilson, which is not empty at 0 and 100 %. In percent, as the share.
local function bound_share(share, n)
  local z = core.student_quantile((1 - CONFIDENCE) / 2, 1e9)
  local p, more = share / 100, z * z / n
  local middle, half = p + more / 2, math.sqrt(more * (p * (1 - p) + more / 4))
  return 100 * math.max((middle - half) / (1 + more), 0),
    100 * math.min((middle + half) / (1 + more), 1)
end

-- Returns nil if a sample of the recordings, or a call chain, has a function of this name; else
-- `text` and the closest name. A stream cannot be read for it again.
local function describe_unknown(name, text, ...)
  local names = {}
  for _, files in ipairs { ... } do
    for _, file in ipairs(files) do
      if not file.size then return "none of its samples" end
      for symbol in pairs(unfound.functions(file)) do names[symbol] = true end
    end
  end
  if names[name] then return nil end
  return suggest.message(text, name, suggest.names(names))
end

-- The share of the samples of which a condition is true.
local function share_of(quantity, condition, files, baseline)
  local rows = estimate.of(by_condition(files, condition, quantity.event, "share"),
    { confidence = CONFIDENCE, what = "the recording" })
  local found, n = row_of(rows, true), count_samples(rows)
  if found then
    if found.low then
      local low, high = bound_share(found.value, n)
      found.low = math.max(math.min(found.low, low), 0.0)
      found.high = math.min(math.max(found.high, high), 100.0)
    end
    return found
  end
  if n == 0 then return { samples = 0, note = "no samples" } end
  local low, high = bound_share(0, n)
  local unknown = describe_unknown(quantity.of, "no recording has a function of this name",
    files, baseline)
  return { value = 0.0, low = low, high = high, samples = 0, unknown = unknown and true,
    note = unknown or "none of its samples" }
end

local measure = {}

function measure.share(quantity, ...) return share_of(quantity, is_of(quantity.of), ...) end

function measure.children(quantity, ...)
  return share_of(quantity, is_under(quantity.of), ...)
end

-- The spans of system calls of one name.
local function calls_of(file, name)
  if file.events["raw_syscalls:sys_enter"] then
    return file:samples():pair { open = "raw_syscalls:sys_enter",
      close = "raw_syscalls:sys_exit" }:where(("syscall == %s"):format(quote(name)))
  end
  local enter, exit = "syscalls:sys_enter_" .. name, "syscalls:sys_exit_" .. name
  if not file.events[enter] then
    fail("%s has neither raw_syscalls:sys_enter nor %s", file.path, enter)
  end
  return file:samples():pair { open = enter, close = exit }
end

local function spans_of(file, call)
  if type(call) == "table" then
    local spans = file:samples():pair { open = call.open, close = call.close, key = call.key }
    return call.where and spans:where(call.where) or spans
  end
  local name = call:match "^syscall ([%w_]+)$"
  if not name then fail("'%s': only \"syscall NAME\" has a time by its name", call) end
  return calls_of(file, name)
end

function measure.quantile(quantity, files)
  local list = {}
  for i, file in ipairs(files) do
    list[i] = spans_of(file, quantity.of):group_by("1 == 1"):quantile("duration", quantity.q)
  end
  local ok, rows = pcall(estimate.of, list,
    { confidence = CONFIDENCE, what = "the recording" })
  if ok and rows[1] then return rows[1] end
  if ok or tostring(rows):find "is empty" then
    return { samples = 0, note = "there was none" }
  end
  error(rows, 0)
end

-- The largest of what each recording has.
local function extreme(files, choose, measure_file)
  local value
  for _, file in ipairs(files) do
    local found = measure_file(file)
    value = value and choose(value, found) or found
  end
  return { value = value, low = value, high = value }
end

local function check_seekable(file, what)
  if not file.size then fail("%s is a stream, of which %s is not known", file.path, what) end
end

function measure.lost(_, files)
  return extreme(files, math.max, function(file)
    check_seekable(file, "the share of lost samples")
    local health = core.health(file)
    local lost, samples = health.lost_records, 0
    for _, event in ipairs(health.events) do
      lost, samples = lost + event.lost_samples, samples + event.samples
    end
    return lost + samples > 0 and 100 * lost / (lost + samples) or 0.0
  end)
end

function measure.samples(quantity, files)
  return extreme(files, math.min, function(file)
    return file:samples(event_of(file, quantity.event)):count()
  end)
end

function measure.number(quantity, files)
  local values, sum, squares = {}, 0, 0
  for i, file in ipairs(files) do
    local ok
    ok, values[i] = words.call_bounded(quantity.of, file)
    if not ok then error(values[i], 0) end
    if not math.type(values[i]) or values[i] ~= values[i] then
      fail("the function returned %s, not a number", tostring(values[i]))
    end
    sum = sum + values[i]
  end
  local mean = sum / #values
  if #values < 3 then
    return { value = mean, low = mean, high = mean }
  end
  for _, value in ipairs(values) do squares = squares + (value - mean) ^ 2 end
  local half = core.student_quantile((1 - CONFIDENCE) / 2, #values - 1)
    * math.sqrt(squares / (#values - 1) / #values)
  return { value = mean, low = mean - half, high = mean + half }
end

-- In percent of the value before, of which no more than all can be lost.
local function relative(pair)
  local before = pair.before.value
  local result = { samples = pair.samples, verdict = pair.verdict, words = pair.words }
  if before > 0 then
    result.value = 100 * pair.delta / before
    result.low = pair.low and math.max(100 * pair.low / before, -100.0)
    result.high = pair.high and math.max(100 * pair.high / before, -100.0)
  end
  return result
end

-- Compares the samples of which a condition is true.
local function compare_by(condition, event, files, baseline)
  local _, rows = diff.compare(by_condition(baseline, condition, event, "sum"),
    by_condition(files, condition, event, "sum"), { confidence = CONFIDENCE }, true)
  return row_of(rows(), true)
end

-- Returns whether a function that one side lacks may be among its samples without a function:
-- there are more of them than on the other side, by half of the row at least.
local function may_lack_symbol(pair, event, files, baseline)
  local unnamed = compare_by("symbol == nil", event, files, baseline)
  return unnamed ~= nil and unnamed.delta ~= 0 and unnamed.delta * pair.delta < 0
    and math.abs(unnamed.delta) >= math.abs(pair.delta) / 2
end

function measure.change(quantity, files, baseline)
  local name, event = quantity.of, quantity.event
  local pair = compare_by(is_of(name), event, files, baseline)
  if not pair then return { samples = 0, note = "none of its samples" } end
  local result = relative(pair)
  local before, after = pair.before.value > 0, pair.after.value > 0
  if before == after then return result end
  if may_lack_symbol(pair, event, files, baseline) then
    return { samples = pair.samples, note = "no symbols: samples of one side have no function, "
      .. "see perflua diff" }
  elseif before then
    result.is_gone = true
    result.note = describe_unknown(name, "gone, or renamed", files) or "none of its samples"
  end
  return result
end

---Measures a quantity.
---@param quantity table of words.lua
---@param files perflua.File[] runs of the same work
---@param baseline perflua.File[] runs to compare with
---@return table # see above; raises if it cannot be measured
function quantities.measure(quantity, files, baseline)
  return measure[quantity.kind](quantity, files, baseline)
end

return quantities
