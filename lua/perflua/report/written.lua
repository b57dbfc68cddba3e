-- Reports as CSV, JSON and text. Each function takes the result of report.read, the file, its
-- health, the destination and the options.

local aside = require "perflua.group.aside"
local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local interrupted = require "perflua.table.interrupted"
local json = require "perflua.text.json"
local output = require "perflua.table.output"
local quality = require "perflua.report.quality"
local row_output = require "perflua.table.row_output"
local show = require "perflua.report.show"

local written = {}

---@return string? # how much was read before an interrupt; nil: all
function written.part()
  local part = interrupted.part()
  return part and interrupted.text(part)
end

-- Writes the rows of all events; see row_output.rows(). `write` is called with the destination
-- and a function that writes the rows of the view first … first + n - 1 there, or nothing after
-- an interrupt, and returns nil, a message and a code if it cannot.
local function write_rows(out, format, options, result, write)
  local n, done = 0, 0
  for _, event in ipairs(result.events) do n = n + event.n end
  return output.with_file(out, function(file)
    return row_output.rows(file, n, options, function(to)
      local ended, message, code
      write(to, function(first, count)
        if ended then return end
        local n_done
        n_done, message, code = core.view_write(format, to, options, result.view, first,
          first + count - 1)
        ended, done = (n_done or -1) < count, done + (n_done or 0)
      end)
      if message then return nil, message, code end
      return done
    end)
  end)
end

---Writes CSV.
function written.csv(result, _, _, out, args)
  local remark, ended = aside.said(result.aside), written.part()
  if remark then io.stderr:write("perflua: report: ", remark, "\n") end
  if ended then interrupted.log(ended) end
  local options = row_output.csv_form(args.csv)
  options.events = result.names
  return write_rows(out, "csv", options, result, function(_, write)
    write(1, #result.view)
  end)
end

---Writes an object of JSON.
function written.json(result, file, health, out)
  local options = { one_line = true }
  return write_rows(out, "json", options, result, function(to, write)
    local events = json.array()
    for i, event in ipairs(result.events) do
      events[i] = json.object { event = event.event, samples = event.samples,
        period = event.period, unresolved = event.unresolved, all = event.whole
          and json.object { samples = event.whole.samples, period = event.whole.period },
        rows = json.written(function() write(event.first, event.n) end),
        lost_samples = health and quality.lost(event, health) }
    end
    local part, unnamed = interrupted.value()
    local put = type(to) == "function" and to or function(text) to:write(text) end
    json.write(put, json.object {
      path = file.path, interrupted = part, unnamed = unnamed, complete = file.complete,
      damage = #file.damage,
      lost_records = health and health.lost_records, set_aside = result.aside, events = events,
    })
    put "\n"
  end)
end

-- A report as text: what is said of its recording and events, and their rows.

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
function written.text(result, file, health, out, args, columns, empty, cut)
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

return written
