-- A report as text: what is said of its recording and events, and their rows.

local fmt = require "perflua.text.fmt"
local interrupted = require "perflua.table.interrupted"
local quality = require "perflua.report.quality"
local show = require "perflua.report.show"
local written = require "perflua.report.written"

local text = {}

-- Says how many rows were written before an interrupt; nil: all.
local function describe_written(result)
  local n, all = 0, 0
  for _, event in ipairs(result.events) do
    n, all = n + event.written, all + event.n
  end
  return n < all and interrupted.rows(n, all) or nil
end

---Writes a report.
---@param result table of report.read
---@param file perflua.File
---@param health table? of core.health()
---@param out file*
---@param args table options of the tool
---@param columns table of report/columns.lua
---@param empty string? what is said if there are no samples
---@param cut string? what is said of rows that are not shown
function text.write(result, file, health, out, args, columns, empty, cut)
  local function note(...)
    if not args.quiet then out:write("# ", ...) end
  end
  for _, line in ipairs(quality.file(result, file, health)) do note(line, "\n") end
  local write_section = show.sections(result, columns, args, out)
  local line_of = quality.events(health, result.branches and { "branch", "branches" })
  for i, event in ipairs(result.events) do
    if i > 1 then out:write "\n\n" end
    note(line_of(event), "\n# Event count: ", fmt.unsigned((event.whole or event).period),
      "\n#\n")
    write_section(event)
  end
  if #result.events == 0 then
    note(interrupted.part() and "no samples" or empty or "no samples", "\n")
  end
  if cut then note(cut, "\n") end
  local remark = describe_written(result) or written.part()
  if remark then note(remark, "\n") end
end

return text
