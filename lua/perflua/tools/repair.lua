-- perflua repair IN -o OUT: what can be saved of a recording, as one that perf opens.

local amounts = require "perflua.doctor.words"
local writing = require "perflua.toolkit.writing"

local tool = {
  description = "write what can be saved of a cut, unfinished or damaged recording",
  usage = "repair [--sort] IN -o OUT",
  reads = "records", paged = false,
  options = writing.options,
  help = [[
OUT has all records of IN that are whole, and the header features that can be read; perf opens it
without complaint. What is lost is said: the damaged places, and the features.

  $ perflua repair perf.data -o repaired.data]],
}

function tool.prepare(args, out, host)
  warn "@off" -- run() says the damage
  return writing.prepare(args, out, host)
end

---@param file perflua.File
---@param args table
---@param out file*
---@param settings table
---@return integer? status
---@return string? message
function tool.run(file, args, out, settings)
  local status, message = writing.run("repair", file:records { container = true }, args, out,
    settings)
  if not status then return nil, message end
  local shown = args.o == "-" and io.stderr or out
  for _, damage in ipairs(file.damage) do
    shown:write(("  lost at offset %d, %s: %s\n"):format(damage.offset,
      amounts.bytes(damage.size), damage.reason))
  end
  return status
end

return tool
