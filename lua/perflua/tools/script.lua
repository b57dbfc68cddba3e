-- perflua script FILE: print samples as perf script does. Lines are made by the core.

local core = require "perflua.core"
local fields = require "perflua.script.fields"
local fmt = require "perflua.text.fmt"
local interrupted = require "perflua.table.interrupted"
local plan = require "perflua.plan"
local samples = require "perflua.toolkit.samples"
local strip_position = require("perflua.errors").strip_position
local symbols = require "perflua.toolkit.symbols"
local spec_of = core.query_spec

local USAGE = 2
local newest, oldest = core.perf_version()
local MAX_STACK = 127 -- as perf has it: PERF_MAX_STACK_DEPTH

local function document_fields()
  local lines = {}
  for _, field in ipairs(fields.all()) do
    lines[#lines + 1] = ("  %-16s%s"):format(field.name, field.doc)
  end
  return table.concat(lines, "\n")
end

local tool = {
  description = "print samples as perf script does",
  usage = "script [-F FIELDS] [-G] [OPTION]… FILE…",
  reads = "samples", several = true,
  applies = { event = false },
  options = {
    F = { "FIELDS",
      "fields of a line: comm,ip,sym or +addr,-dso; for one type of events: sw:comm,ip",
      many = true, fields = true },
    G = "no call chains",
    json = "one JSON object per sample on a line, with its recorded fields, "
      .. "comm, dso, symbol, stack",
    comms = { "NAME,…", "as --comm" },
    reltime = "times since the first sample",
    deltatime = "times since the sample before",
    as = symbols.as, verbose = symbols.verbose,
    ns = "times with nine decimals",
    inline = "show inlined functions in all call chains, not only in unwound stacks",
    ["no-inline"] = "no inlined functions",
    ["max-stack"] = { "N", "at most N frames of a call chain (127)" },
    k = { "FILE", "as --vmlinux" },
  },
}

setmetatable(tool, { __index = function(_, name)
  if name ~= "help" then return nil end
  return ([[
Prints as perf script of the version that made the recording, or of the one given
with --as, from %s to %s, except that names from the recording never drive a
terminal (\x1b instead), samples of guests are shown, a function that others were
inlined into is not itself called inlined, and texts of some tracepoints are shown
that older perfs cannot format.

Fields:
%s

Types of events are hw, sw, trace, cache, raw, break and other.]]):format(oldest, newest, document_fields())
end })

local function options_of(query, classes, max_stack, args)
  local options = plan.walk(spec_of(query))
  options.classes, options.ns, options.callchains = classes, args.ns, not args.G
  options.reltime, options.deltatime = args.reltime, args.deltatime
  options.inlined, options.inlined_unwound, options.max_stack = args.inline,
    not args["no-inline"], max_stack
  return options
end

-- Fields that are not recorded, but known of a sample from other records.
local NAMES <const> = { "comm", "dso", "symbol", "symoff", "stack" }

-- Returns the options of core.dump() for samples as JSON.
local function json_options(query)
  local options = plan.walk(spec_of(query))
  options.json, options.names = true, NAMES
  return options
end

-- Returns the events that have samples, by index; nil for a stream, which can be read only
-- once.
local function find_sampled(file)
  if not file.size then return nil end
  local set = {}
  for i, count in ipairs(core.count(file, { order = true }).events) do
    set[i] = count.count > 0 or nil
  end
  return set
end

function tool.prepare(args)
  local classes, message = fields.parse(args.F)
  if not classes then return nil, message end
  local max_stack = math.tointeger(tonumber(args["max-stack"] or MAX_STACK))
  if not max_stack or max_stack < 1 or max_stack > 1 << 30 then
    return nil, ("--max-stack: '%s' is not a number of frames"):format(args["max-stack"])
  end
  for _, name in ipairs { "F", "G", "reltime", "deltatime", "ns" } do
    if args.json and args[name] then
      return nil, ("--json and %s%s exclude each other"):format(#name == 1 and "-" or "--",
        name)
    end
  end
  if args.reltime and args.deltatime then
    return nil, "--reltime and --deltatime exclude each other"
  end
  args.vmlinux, args.comm = args.vmlinux or args.k, args.comm or args.comms
  return { classes = classes, max_stack = max_stack }
end

---@param file perflua.File
---@param args table
---@param out file*
---@param shape { classes: table, max_stack: integer }
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, shape)
  local events, wrong = samples.events(args)
  local ok, query = pcall(file.samples, file, events)
  if not ok then wrong = wrong or strip_position(query) end
  if wrong then return USAGE, "script: " .. wrong end
  if args.json then
    return core.dump(file, out, json_options(query))
  end
  local options = options_of(query, shape.classes, shape.max_stack, args)
  -- events may come late in a pipe: lines of those before them are written only if none refuses
  -- a field
  if args.F and file.mode == "pipe" then options.sampled = find_sampled(file) end
  local n, missing = core.script(file, out, options)
  if not n and not options.sampled then
    options.sampled = find_sampled(file)
    if options.sampled then n, missing = core.script(file, out, options) end
  end
  if n == 0 and not interrupted.part() then
    local unchosen = require "perflua.toolkit.unchosen" -- loaded when it is asked for
    out:flush()
    io.stderr:write(("perflua: script: %s: %s\n"):format(fmt.paths(file.path),
      unchosen.text(file, args)))
  end
  return not n and USAGE or nil, missing and "script: " .. missing
end

return tool
