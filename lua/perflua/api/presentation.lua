-- The steps that say how groups are shown: Query and Table have them by the same names.

local COLUMN = { "column", "string?", "a key's, measure's or column's name",
  default = "the first measure" }
local EXPRESSION = "expression of columns, as in filters: \"period / count\", \"['a/b'] > 2\""

---@param class "Query"|"Table"
---@return table[] # rows of its methods, see init.lua
return function(class)
  local is_query = class == "Query"
  local step, no_groups = is_query and "after" or nil, is_query and "a query without group_by, "
    or ""
  local reads = is_query and ", and any error while reading" or ""
  local same = { { class, not is_query and "a new one of the same groups" or nil } }
  local read = is_query and { { "Table" } } or same
  local begin = is_query and "Reads, and shows" or "Shows"
  local columns = no_groups .. "an unknown column"
  return {
    { "top", begin .. " the first rows of each event.", step = step, returns = read,
      params = { { "n", "integer", "rows to show" }, COLUMN,
        { "options", "TopOptions?", "the key that rows are counted by" } },
      errors = columns .. ", or that has no order; an unknown option" .. reads },
    { "sort", begin .. " all rows in order.", step = step, returns = read,
      params = { COLUMN, { "direction", "\"asc\"|\"desc\"?", "which come first",
        default = "\"desc\"" } },
      errors = columns .. ", or that has no order" .. reads },
    { "having", "Shows the rows for which a condition is true.", step = step, returns = same,
      params = { { "condition", "string", EXPRESSION } },
      errors = columns .. ", an expression that is not a condition" },
    { "column", "Adds a column that is computed of others.", step = step, returns = same,
      params = { { "name", "string", "name of the new column" },
        { "expression", "string", EXPRESSION } },
      errors = columns .. ", or is a histogram; two columns of one name" },
    { "running", "Adds the column `running_COLUMN`: the sum of a measure over the rows that "
      .. "are shown, from the first one of the event to each.", step = step, returns = same,
      params = { { "column", "string", "a measure" } },
      errors = columns .. ", or whose values do not add up" },
    { "pivot", "Turns the values of a key into columns: `row.pivot[value]` is the measure for "
      .. "that value, `row.other` that for all values without a column.",
      step = step, returns = same,
      params = { { "key", "string", "a key" },
        { "n", "integer?", "how many values, the greatest of each event", default = "all" } },
      errors = no_groups .. "an unknown key, more than 1000 values without `n`" },
    { "unit", "Shows a column's numbers with a unit in text; CSV and JSON have them plain.",
      step = step, returns = same,
      params = { { "unit", "\"duration\"|\"bytes\"|\"si\"",
        "ns us ms s, of nanoseconds; B KiB MiB …; k M G …" },
        { "column", "string?", "its name",
          default = "the last one; of several quantiles all" } },
      errors = columns .. ", or is not of numbers; another unit" },
  }
end
