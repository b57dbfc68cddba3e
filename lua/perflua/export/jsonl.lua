-- Rows as lines of JSON (https://jsonlines.org): an object each, numbers exact, addresses as
-- "0x…" strings, null for what is absent.

local json = require "perflua.text.json"
local rows = require "perflua.export.rows"

local jsonl = { name = "jsonl", takes_records = true,
  description = "jq, pandas, DuckDB; an object for each sample" }

local format = {
  json = true,
  head = function(name, i) return (i > 1 and "," or "{") .. json.string(name) .. ":" end,
}

function jsonl.export(query, out) return rows.export(query, out, format) end

return jsonl
