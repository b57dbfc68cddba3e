-- Table: see init.lua for the form.

local describe_presentation = require "perflua.api.presentation"

local OUT = { "out", "file*|string?", "an open file or a path", default = "standard output" }
local WRITTEN = { { "true?", "nil if it could not be written" }, { "string?", "the error" },
  { "string?", "a code such as \"ENOENT\"" } }

local classes = {
  Table = {
    name = "Table", kind = "object", prefix = "table:", len = true,
    doc = "The groups of a query as rows: `table[i]`, `#table`; tostring() gives aligned text. "
      .. "All groups are kept, whatever is shown.",
    index = {
      { "[integer]", "table<string, any>",
        "A row that is shown, by its columns' names; `row.event` is the event's "
        .. "name." },
    },
    fields = {
      { "counts", "PairCounts?", "For spans: counts of records that could not be paired." },
    },
    methods = {
      { "rows", "Walks over the rows that are shown.",
        returns = { { "(fun(): table<string, any>?)",
        "an iterator" } } },
      { "csv", "Writes the rows that are shown as CSV.",
        params = { OUT, { "options", "CsvOptions?", "how to write cells" } },
        returns = WRITTEN },
      { "json", "Writes the rows that are shown as JSON.", params = { OUT },
        returns = WRITTEN },
      { "merge", "Puts the groups of both together.",
        params = { { "other", "Table", "a table with the same keys and measures" } },
        returns = { { "Table", "a new one" } },
        errors = "a table of other keys or measures" },
      { "save", "Writes all groups as one line of text, for perflua.load and perflua reduce.",
        params = { { "out", "file*|string",
          "an open file, a path, or \"-\" for standard output" } }, returns = WRITTEN,
        errors = "columns that a Lua function makes" },
    },
  },

  TopOptions = {
    name = "TopOptions", kind = "options", doc = "Options of `top(n, column, options)`.",
    fields = {
      { "per", "string?", "A key: the first rows of each of its values, which stand together.",
        default = "the first rows of each event" },
    },
  },

  CsvOptions = {
    name = "CsvOptions", kind = "options", doc = "Options of `table:csv(out, options)`.",
    fields = {
      { "safe", "boolean?",
        "Cells that a spreadsheet would run (=, +, -, @) begin with an apostrophe.",
        default = "false" },
    },
  },
}

for _, row in ipairs(describe_presentation "Table") do
  table.insert(classes.Table.methods, row)
end

return classes
