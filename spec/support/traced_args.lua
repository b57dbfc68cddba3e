-- A recording of one tracepoint and one sample of it, for specs on reading them.
local reading = require "spec.support.reading"
local tracing = require "spec.support.builder_tracing"

local traced_args = {}

--- A recording with a tracepoint of these fields and a sample with these values, or raw data;
--- options are those of the tracing data, `more` members of the event (print_fmt …).
function traced_args.open(fields, values, options, more)
  local t = tracing.new(options)
  local how = { fields = fields }
  for k, v in pairs(more or {}) do
    how[k] = v
  end
  local event = t:event("sys", "ev", how)
  local b, events = t:recording()
  b:sample(events[1], { time = 1, raw = type(values) == "string" and values
    or t:raw(event, values) })
  return reading.open(b)
end

--- The args of that sample, and the file.
function traced_args.of(fields, values, options, more)
  local file = traced_args.open(fields, values, options, more)
  return file:samples():first().args, file
end

--- The value of one field.
function traced_args.value(field, value, options, more)
  return traced_args.of({ field }, { [field[2]] = value }, options, more)[field[2]]
end

--- A view or table as a plain list.
function traced_args.list(values)
  return table.move(values, 1, #values, 1, {})
end

return traced_args
