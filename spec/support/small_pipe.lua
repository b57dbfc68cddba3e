-- A small recording in pipe mode: two events, two features (hostname, event_desc), three
-- records.
local builder = require "spec.support.builder"

--- A builder with it; options: the builder's.
return function(options)
  options = options or {}
  options.container = "pipe"
  local b = builder.new(options)
  local kinds = { "identifier", "ip", "tid", "time" }
  local one = b:event { name = "one", sample_type = kinds, ids = { 11, 12 } }
  local two = b:event { name = "two", sample_type = kinds, ids = { 21 } }
  b:feature("hostname", "here")
  b:record("comm", { pid = 5, tid = 5, comm = "sh" }, { time = 1, identifier = 11 })
  b:sample(two, { identifier = 21, ip = 0x1000, pid = 5, time = 2 })
  b:sample(one, { identifier = 12, ip = 0x2000, pid = 5, time = 3 })
  return b
end
