-- perflua pack IN -o OUT: a recording that has its names on any machine.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local names = require "perflua.toolkit.names"
local writing = require "perflua.toolkit.writing"

local tool = {
  description = "write a recording with its functions, lines and stacks, for other machines",
  usage = "pack [options] IN -o OUT",
  reads = "records", takes = "symbols", paged = false,
  options = { o = writing.options.o, force = writing.options.force }, prepare = writing.prepare,
  help = [[
OUT is IN with a bundle: the functions, source lines and inlined functions of the addresses that
occur, and what unwinds its copied stacks. On any machine, perflua then shows the names that it shows
here, where it does not find the binary itself; perflua doctor says so. Other programs ignore the
bundle. It is a header feature of files: what perflua convert writes to a pipe lacks it.

  $ perflua pack perf.data -o packed.data]],
}

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
  local bundle, found = core.pack(file)
  if not bundle then return nil, ("%s: %s"):format(fmt.paths(file.path), found) end
  return writing.run("pack", file:records { container = true }, args, out, settings, false,
    function(shown) shown:write("  ", names.describe(found, #bundle), "\n") end, bundle)
end

return tool
