-- perflua gen FILE: a script to start from, with a handler for each event of a recording.

local output = require "perflua.table.output"
local starter = require "perflua.meta.starter"
local survey = require "perflua.meta.survey"

local tool = {
  description = "write a script to start from: a handler for each event in a recording",
  usage = "gen [-o SCRIPT.lua] FILE",
  reads = "records", passes = 2, paged = false,
  refused = "it describes whole recordings",
  options = { o = { "SCRIPT.lua", "write to SCRIPT.lua, unless the file exists" } },
  help = [[
The script counts the samples of each event. Comments in each handler list the fields of such a sample,
with their kinds (types for the fields of a tracepoint) and an example. The other types of records in the
recording follow. The script runs as it is:

  perflua gen -o mine.lua perf.data && perflua mine.lua perf.data]],
}

local FAILED <const>, ENOENT <const> = 1, 2

function tool.prepare(args)
  if not args.o then return nil end
  local there, _, code = io.open(args.o)
  if there then there:close() end
  if there or code ~= ENOENT then
    return nil, ("gen: %s exists, and is not overwritten"):format(args.o), FAILED
  end
end

---@param file perflua.File
---@param args table
---@param out file*
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out)
  local path, parts, message = args.o, survey.of(file)
  if not parts then return nil, message end
  local text = starter.text(file, parts)
  if not path then
    out:write(text)
    return nil
  end
  local ok
  ok, message = output.to(path, function(write) write(text) end)
  return ok and 0 or nil, message
end

return tool
