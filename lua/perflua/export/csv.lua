-- Rows as CSV (RFC 4180, but lines end with LF by default): times in nanoseconds, addresses in
-- hexadecimal, nothing for what is absent.

local rows = require "perflua.export.rows"

local csv = { name = "csv", description = "spreadsheets, pandas, DuckDB", takes_records = true,
  check = rows.check, readings = rows.readings }

function csv.export(query, out, options) return rows.export(query, out, options) end

return csv
