-- Reports as CSV and JSON. Both functions take the result of report.read, the file, its health,
-- the destination and the options.

local aside = require "perflua.group.aside"
local core = require "perflua.core"
local interrupted = require "perflua.table.interrupted"
local json = require "perflua.text.json"
local output = require "perflua.table.output"
local quality = require "perflua.report.quality"
local row_output = require "perflua.table.row_output"

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

return written
