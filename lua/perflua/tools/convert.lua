-- perflua convert IN -o OUT: the same recording in another form.

local writing = require "perflua.toolkit.writing"

local tool = {
  description = "write a recording in another form: file or pipe, compressed or not, sorted",
  usage = "convert [--pipe] [--compress[=2]] [--sort] IN -o OUT",
  reads = "records", paged = false,
  options = writing.options, prepare = writing.prepare,
  help = [[
All records keep their bytes, and the header features theirs; OUT is a file of version 2, or in
pipe mode. Compressed records are decompressed unless --compress is given. What pipe mode cannot
carry is left out, and said.

  $ perflua convert perf.data -o - | perf report -i -
  $ perflua convert --compress perf.data -o small.data]],
}

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
