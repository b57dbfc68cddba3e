-- The rows of perf report --stdio and of perflua report, to compare.
local dkjson = require "dkjson"
local files = require "spec.support.files"
local oracle = require "spec.support.oracle"
local run = require "spec.cli.run"

local report_rows = {}

--- Options of perf report whose rows report_rows.parse takes. Names have wide columns, with or
--- without a column of children: perf measures before exec renames a thread, and cuts its name.
report_rows.options = "--stdio -g none --no-inline --sort comm,dso,sym -n "
  .. "--show-total-period -w 0,0,0,64,64"

--- Lines of a table, by its columns as the dots below their titles show them.
function report_rows.of_text(text)
  local rows, columns = {}, nil
  for line in text:gmatch "[^\n]+" do
    if line:find "^# %.%.%." then
      columns = {}
      for from, to in line:gmatch "()%.+()" do
        table.insert(columns, { from, to - 1 })
      end
    elseif not line:find "^#" and columns then
      local row = {}
      for i, at in ipairs(columns) do
        row[i] = line:sub(at[1], i < #columns and at[2] or -1):match "^%s*(.-)%s*$"
      end
      table.insert(rows, row)
    end
  end
  return rows
end

--- The rows of a text of perf by "command binary function": { share of children or nil, share,
--- samples, period }.
function report_rows.parse(text)
  local all = {}
  for _, row in ipairs(report_rows.of_text(text)) do
    local children = #row > 6 and table.remove(row, 1):gsub("%%", "") or nil
    local share, samples, period, comm, dso, symbol = table.unpack(row)
    local key = ("%s %s %s"):format(comm, dso, symbol)
    -- functions of one name are several rows there
    local known = all[key] or { samples = 0, period = 0 }
    all[key] = known
    known.samples, known.period = known.samples + tonumber(samples),
      known.period + tonumber(period)
    known.children, known.share = tonumber(children), tonumber((share:gsub("%%", "")))
  end
  return all
end

--- Returns the rows of perf's report of a recording.
function report_rows.of_perf(path, options)
  return report_rows.parse(
    (files.output(("perf report %s %s -f -i %s 2>/dev/null"):format(report_rows.options,
      options,
    files.quote(path)))))
end

local levels = { kernel = "k", user = ".", hypervisor = "H", guest_kernel = "g",
  guest_user = "u", unknown = "H" }

--- Rows of the same name but for the level, "[k]", as one.
function report_rows.without_levels(rows)
  local all = {}
  for key, row in pairs(rows) do
    key = key:gsub("%[.%] ", "", 1)
    local known = all[key] or { samples = 0, period = 0 }
    all[key], known.samples, known.period = known, known.samples + row.samples,
      known.period + row.period
  end
  return all
end

--- Ours, as an installed perf has them.
function report_rows.of_ours(path, ...)
  local got = run.perflua { "report", "--json", "--as", oracle.version, path, ... }
  assert(got.err == "", got.err)
  local all = {}
  for _, event in ipairs(dkjson.decode(got.out).events) do
    for _, row in ipairs(event.rows) do
      local key = ("%s %s [%s] %s"):format(row.comm, row.dso, levels[row.cpumode], row.symbol)
      local known = all[key] or { samples = 0, period = 0 } -- of another event
      all[key] = row
      row.samples, row.period = row.samples + known.samples, row.period + known.period
    end
  end
  return all
end

return report_rows
