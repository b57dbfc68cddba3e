-- perflua doctor FILE…: checks whether a recording is complete, and how to record better.

local doctor = require "perflua.doctor"
local fmt = require "perflua.text.fmt"
local interrupted = require "perflua.table.interrupted"
local json = require "perflua.text.json"
local sharing = require "perflua.doctor.sharing"
local show = require "perflua.doctor.show"

local tool = {
  description = "check a recording: damage, losses, gaps; how to record better",
  usage = "doctor [options] FILE…",
  reads = "records", passes = 4,
  takes = "symbols", refused = "it examines whole recordings",
  options = {
    json = "print one JSON object per file, each on one line",
    sharing = "instead tell what it would tell a stranger, by kind: see perflua scrub",
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

-- Prints what a recording would tell a stranger.
local function print_sharing(file, args, out, separator)
  local found, message = sharing.of(file)
  if not found then return nil, message end
  if args.json then
    json.write(function(text) out:write(text) end, json.object(convert_unsigned {
      path = file.path, kinds = found.kinds, unreadable = found.unreadable }))
    out:write("\n")
  else
    out:write(separator, "what ", fmt.escape(file.path), " tells\n")
    for _, line in ipairs(sharing.lines(found)) do out:write("  ", line, "\n") end
  end
  return { damaged = #file.damage > 0 }
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
    if file and args.sharing then
      report, message = print_sharing(file, args, out, separator)
      separator = "\n"
    elseif file then
      report, found = doctor.examine(file,
        { brief = not args.json, no_symbols = args["no-symbols"] })
    end
    if not report then
      io.stderr:write("perflua: ", fmt.escape(message), "\n")
      failed = true
    elseif args.sharing then
      damaged = damaged or report.damaged -- it is printed
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
