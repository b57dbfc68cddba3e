-- Spans as loops and functions of a script see them.

local core = require "perflua.core"

local spans = {}

---@class perflua.Span
---@field start integer ns
---@field stop integer? ns; nil: it is still open
---@field duration integer? ns
---@field so_far integer? ns from its start to the end of the recording, at which it was open
---@field cut boolean? whether it is a part of a span that was cut
---@field key any what open and close have in common; an array if it is several fields
---@field open perflua.Record|table<string, any> the record that opened it; with `fields` a
--- table of these
---@field close perflua.Record|table<string, any>|nil
local span_meta = { __name = "perflua.Span" }

function span_meta:__tostring()
  local till = self.stop and core.seconds(self.stop) or "?"
  return ("span %s - %s (%s ns%s)"):format(core.seconds(self.start), till,
    self.duration or self.so_far or "?", self.so_far and " so far" or "")
end

-- A key, or a record, of values from number `at` on.
local function key_of(n, values, at)
  if n == 0 then return nil end
  if n == 1 then return values[at] end
  return table.move(values, at, at + n - 1, 1, {})
end

local function record_of(names, values, at)
  if not names then return values[at] end
  local record = {}
  for i, name in ipairs(names) do record[name] = values[at + i - 1] end
  return record
end

--- Returns a function that makes spans of values, one for each serial number.
---@param n_keys integer
---@param names { open: string[]?, close: string[]?, more: string[], may_lack_close: boolean? }
--- of fields instead of records, and of fields that not all spans have; parts of unfinished
--- spans have a stop, but lack a close
---@return function made (serial, start, stop, more …, key …, open …, close …) -> span; without
--- a stop, which comes later, without what is of its close
---@return function ended (serial, stop, close …) of a span that was made without a stop;
--- without one it ends in nothing
function spans.maker(n_keys, names)
  local known, last = {}, { false }
  local n_open, n_more = names.open and #names.open or 1, #names.more
  local function made(serial, start, stop, ...)
    if last[1] == serial and last[3] == start then return last[2] end
    local span = known[serial]
    if not span then
      local values = { ... }
      local at = n_more + n_keys + 1
      span = setmetatable({
        start = start, stop = stop, duration = stop and stop - start,
        key = key_of(n_keys, values, n_more + 1), open = record_of(names.open, values, at),
      }, span_meta)
      for i, name in ipairs(names.more) do span[name] = values[i] end
      if stop and (not names.may_lack_close or #values >= at + n_open) then
        span.close = record_of(names.close, values, at + n_open)
      end
      if not stop and not span.so_far then known[serial] = span end
    end
    last[1], last[2], last[3] = serial, span, start
    return span
  end
  local function ended(serial, stop, ...)
    local span = known[serial]
    if span and stop then
      span.stop, span.duration, span.close = stop, stop - span.start,
        record_of(names.close, { ... }, 1)
    end
    known[serial] = nil
  end
  return made, ended
end

return spans
