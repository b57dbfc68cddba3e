-- perflua doctor FILE…: checks whether a recording is complete, and how to record better.

local doctor = require "perflua.doctor"
local fmt = require "perflua.text.fmt"
local interrupted = require "perflua.table.interrupted"
local json = require "perflua.text.json"
local show = require "perflua.doctor.show"

local tool = {
  description = "check a recording: damage, losses, gaps; how to record better",
  usage = "doctor [options] FILE…",
  reads = "records", passes = 4,
  takes = "symbols", refused = "it examines whole recordings",
  options = {
    json = "print one JSON object per file, each on one line",
    ["no-symbols"] = "do not look for symbols; says the rest several times faster" },
  several = "each",
  help = [[
Tells what is wrong with a recording, what that means, and which options of perf record would help.
Looking for symbols takes most of the time.

Exit status: 3 if a recording is damaged or incomplete; 1 if one cannot be read.]],
}

local FAILED, DAMAGED = 1, 3

-- Integers of a recording have no sign.
local function convert_unsigned(value)
  if math.type(value) == "integer" and value < 0 then
    return json.unsigned(value)
  elseif type(value) == "table" then
    for key, member in pairs(value) do
      value[key] = convert_unsigned(member)
    end
  end
  return value
end

---@param files fun(): integer?, perflua.File?, string? opens the next recording
---@param args table
---@param out file*
---@return integer status
function tool.run(files, args, out)
  local failed, damaged, separator = false, false, ""
  warn "@off" -- what it would say of damage is in the report
  for _, file, message in files do
    local report, found
    if file then
      report, found = doctor.examine(file,
        { brief = not args.json, no_symbols = args["no-symbols"] })
    end
    if not report then
      io.stderr:write("perflua: ", fmt.escape(message), "\n")
      failed = true
    elseif args.json then
      json.write(function(text) out:write(text) end, json.object(convert_unsigned(report)))
      out:write("\n")
    else
      out:write(separator, table.concat(show(report, found), "\n"), "\n")
      if report.interrupted then out:write("  ", interrupted.text(report.interrupted), "\n") end
      separator = "\n"
    end
    damaged = damaged or report ~= nil and report.damaged
  end
  warn "@on"
  return failed and FAILED or damaged and DAMAGED or 0
end

return tool
