-- Rows as lines of JSON (https://jsonlines.org): an object each, numbers exact, addresses as
-- "0x…" strings, null for what is absent.

local rows = require "perflua.export.rows"

local jsonl = { name = "jsonl", takes_records = true, check = rows.check,
  readings = rows.readings, description = "jq, pandas, DuckDB; an object for each sample" }

function jsonl.export(query, out) return rows.export(query, out) end

return jsonl
