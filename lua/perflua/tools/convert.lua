-- perflua convert IN -o OUT: the same recording in another form.

local writing = require "perflua.toolkit.writing"

local orders = { "little", "big", "native" }
local is_order = { little = true, big = true, native = true }

local tool = {
  description = "write a recording in another form: file or pipe, compressed or not, sorted",
  usage = "convert [--pipe] [--compress[=2]] [--sort] [--unwind] [OPTION]… IN -o OUT",
  reads = "records", paged = false,
  options = writing.with_options {
    ["byte-order"] = { "ORDER", "turn all whose form is known to byte order little, big, or "
      .. "native, which is this machine's", values = orders },
    directory = "as a directory with a file for each processor, as perf record --threads "
      .. "writes it; so is an OUT that ends with /",
    unwind = "replace copies of user stacks by the call chains that they lead to",
    ["merge-callchains"] = "put the user's part of call chains that were recorded later into "
      .. "their samples",
  },
  help = [[
All records keep their bytes, and the header features theirs; OUT is a file of version 2, or in
pipe mode. Compressed records are decompressed unless --compress is given. What pipe mode cannot
carry is left out, and said.

With --unwind a recording of --call-graph dwarf becomes one of call chains, which is a fraction of its
size, and needs the binaries for names only. A stack that cannot be followed to the outermost frame
keeps its bytes, so that it can be unwound where more is known.

  $ perflua convert perf.data -o - | perf report -i -
  $ perflua convert --compress perf.data -o small.data
  $ perflua convert --unwind perf.data -o chains.data]],
}

function tool.prepare(args, out, host)
  local settings, message = writing.prepare(args, out, host)
  if not settings then return nil, message end
  local order = args["byte-order"]
  if order and not is_order[order] then
    return nil, ("--byte-order: '%s' is none of little, big and native"):format(order)
  end
  settings.byte_order, settings.directory = order, args.directory
  settings.unwind, settings.merge_callchains = args.unwind, args["merge-callchains"]
  return settings
end

---@param file perflua.File
---@param args table
---@param out file*
---@param settings table
---@return integer? status
---@return string? message
function tool.run(file, args, out, settings)
  return writing.run("convert", file:records { container = true }, args, out, settings)
end

return tool
