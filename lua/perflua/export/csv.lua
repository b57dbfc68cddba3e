-- Rows as CSV (RFC 4180): times in nanoseconds, addresses in hexadecimal, nothing for what is
-- absent.

local fmt = require "perflua.text.fmt"
local rows = require "perflua.export.rows"

local csv = { name = "csv", description = "spreadsheets, pandas, DuckDB", takes_records = true }

local format = {
  head = function(_, i) return i > 1 and "," or "" end,
  first = function(names)
    local cells = {}
    for i, name in ipairs(names) do cells[i] = fmt.csv(name) end
    return table.concat(cells, ",") .. "\r\n"
  end,
}

function csv.export(query, out) return rows.export(query, out, format) end

return csv
