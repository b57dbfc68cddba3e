-- perflua build X.lua -o OUT: a recording from its description.

local amounts = require "perflua.doctor.words"
local build = require "perflua.write.build"
local writing = require "perflua.toolkit.writing"

local USAGE <const> = 2

local tool = {
  description = "make a recording of a description, as perflua dump --lua prints it",
  usage = "build X.lua -o OUT",
  reads = "nothing", operands = { 1, 1 }, paged = false,
  options = { o = writing.options.o, force = "replace OUT if it exists" },
  help = [[
X.lua has the syntax of Lua, but it is read, not run: it has literals only. - reads standard input.
What is wrong with it is said with its line and field. perflua help writing has its form.

  $ perflua dump --lua perf.data >perf.lua
  $ perflua build perf.lua -o same.data && cmp perf.data same.data]],
}

---@param args table
---@param out file*
---@param host table
---@return integer? status
---@return string? message
function tool.run(args, out, host)
  local ok, wrong = writing.prepare(args, out, host)
  if not ok then return USAGE, "build: " .. wrong end
  local summary, message, code = build.file(args[1], args.o == "-" and out or args.o,
    { force = args.force })
  if not summary then
    return nil, code == "EEXIST" and message .. "; --force replaces it" or message
  end
  local shown = args.o == "-" and io.stderr or out
  shown:write(("%s: %s, %s\n"):format(args.o == "-" and "perflua: build" or args.o,
    amounts.count(summary.samples, "sample") .. " in "
      .. amounts.count(summary.records, "record"), amounts.bytes(summary.bytes)))
  return 0
end

return tool
