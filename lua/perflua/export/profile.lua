-- Profiles to export: samples added up by event, thread and call chain. The core makes and
-- writes them (src/export); here is which samples they are of.

local aside = require "perflua.group.aside"
local engine = require "perflua.plan.engine"
local errors = require "perflua.errors"
local fmt = require "perflua.text.fmt"
local output = require "perflua.table.output"
local spec_of = require("perflua.core").query_spec
local usage_error, errno = errors.usage_error, errors.errno

local profile = {}

---The formats, by name: see init.lua. The core has their writers.
profile.formats = {
  speedscope = { description = "https://www.speedscope.app" },
  pprof = { description = "pprof, Pyroscope, Grafana", lines = true },
  callgrind = { description = "kcachegrind, callgrind_annotate", lines = true },
  folded = { description = "flamegraph.pl, inferno, flamelens", one_event = true },
}

local KEYS <const> = { "event", "pid", "tid", "comm" }

-- The key that is the call chain, or without one the address; all addresses where nothing was
-- mapped are one.
local CHAIN <const> = { value = { op = "field", kind = "stack",
  field = { "stack", stack = true, mapped = true } } }

-- Describes the profile of a query to the core.
local function describe(query, format, options)
  local spec, keys = spec_of(query), {}
  local scope = spec.scope
  local is = { folded = format.name == "folded", lines = options.lines }
  if is.lines == nil then is.lines = format.lines end
  for _, name in ipairs(KEYS) do
    if scope:root(name) then
      keys[#keys + 1] = { ref = scope:ref(name) }
      is[name] = #keys
    end
  end
  local columns = { { measure = "count" } }
  if not options.count and scope:root "period" then
    columns[2] = { measure = "sum", ref = scope:ref "period" }
  end
  local counted = columns[2] and aside.from(query) or { n = 0 }
  local description = engine.grouping(spec, keys, columns)
  is.chain = #keys + 1
  description.keys[is.chain], description.profile = CHAIN, is
  return description, counted
end

-- Events are never added together.
local function check_events(name, file, events)
  local list = {}
  for i, event in ipairs(events) do
    list[i] = event.index and file.events[event.index].name or "unknown event"
  end
  if list[2] then
    usage_error("export: %s has room for one event, and there are %s: choose one", name,
      table.concat(list, ", "))
  end
end

---@param format table of profile.formats
---@param query perflua.Query of samples, without a group_by
---@param out file*|string|nil
---@param options table? see lua/perflua/api/module.lua
---@return { samples: integer, set_aside: integer }?
---@return string? message
---@return string? code
function profile.export(format, query, out, options)
  local spec = spec_of(query)
  if not spec.scope:root "callchain" and not spec.scope:root "ip" then
    usage_error("export: samples have neither a call chain nor an address")
  end
  local description, counted = describe(query, format, options)
  local events, write = engine.groups(spec, description)
  if format.one_event then check_events(format.name, spec.file, events) end
  local ok, message, code = output.with_file(out, function(file)
    if not write then return true end
    return errno(write(file, format.name, options.title or fmt.paths(spec.file.path)))
  end)
  if not ok then return nil, message, code end
  local written = { samples = 0, set_aside = counted.n }
  for _, event in ipairs(events) do written.samples = written.samples + event.samples end
  return written
end

return profile
