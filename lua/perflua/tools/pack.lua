-- perflua pack IN -o OUT: a recording that has its names on any machine.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local names = require "perflua.toolkit.names"
local writing = require "perflua.toolkit.writing"

local tool = {
  description = "write a recording with its functions, lines and stacks, for other machines",
  usage = "pack [options] IN -o OUT",
  reads = "records", takes = "symbols", paged = false,
  options = {
    o = writing.options.o, force = writing.options.force,
    source = "also the code and source text of hot functions, for perflua annotate",
    ["min-share"] = { "PERCENT", "with --source: of functions with this share of an event or "
      .. "more; default: 0.5" },
  },
  help = [[
OUT is IN with a bundle: the functions, source lines and inlined functions of the addresses that
occur, and what unwinds its copied stacks. On any machine, perflua then shows the names that it shows
here, where it does not find the binary itself; perflua doctor says so. Other programs ignore the
bundle. It is a header feature of files: what perflua convert writes to a pipe lacks it.

With --source it also has the text of source lines and the code of hot functions, which perflua
annotate then shows; look at them before you send it.

  $ perflua pack perf.data -o packed.data
  $ perflua pack --source --min-share 1 perf.data -o packed.data]],
}

local DEFAULT_SHARE <const> = 0.5

function tool.prepare(args, out, host)
  local settings, message = writing.prepare(args, out, host)
  if not settings then return nil, message end
  local share = args["min-share"] and tonumber(args["min-share"])
  if args["min-share"] and not (share and share >= 0 and share <= 100) then
    return nil, ("--min-share: a percentage expected, got '%s'"):format(args["min-share"])
  end
  return settings
end

---@param file perflua.File
---@param args table
---@param out file*
---@param settings table
---@return integer? status
---@return string? message
function tool.run(file, args, out, settings)
  if not file.size then
    return nil, ("%s: a stream is read once; save it to a file first"):format(
      fmt.paths(file.path))
  elseif settings.pipe then
    return nil, "pack: a pipe has no room for the names: -o FILE"
  end
  core.collect(file)
  names.ask(file)
  -- what was packed before stays
  if args.source or args["min-share"] or core.has_source(file) then
    names.ask_source(file, tonumber(args["min-share"]) or DEFAULT_SHARE)
  end
  local bundle, found = core.pack(file)
  if not bundle then return nil, ("%s: %s"):format(fmt.paths(file.path), found) end
  return writing.run("pack", file:records { container = true }, args, out, settings, false,
    function(shown) shown:write("  ", names.describe(found, #bundle), "\n") end, bundle)
end

return tool
