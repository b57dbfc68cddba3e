-- Table: see init.lua for the form.

local describe_presentation = require "perflua.api.presentation"

local OUT = { "out", "file*|string?", "an open file or a path", default = "standard output" }
local WRITTEN = { { "true?", "nil if it could not be written" }, { "string?", "the error" },
  { "string?", "a code such as \"ENOENT\"" } }

local classes = {
  Table = {
    name = "Table", kind = "object", prefix = "table:", len = true,
    doc = "The groups of a query as rows: `table[i]`, `#table`; tostring() gives aligned text. "
      .. "It keeps all groups, even those that it does not show.",
    index = {
      { "[integer]", "table<string, any>",
        "A shown row, by names of columns; `row.event` is the name of the event." },
    },
    fields = {
      { "counts", "PairCounts?", "For spans: counts of records that could not be paired." },
    },
    methods = {
      { "rows", "Iterates over the shown rows.",
        returns = { { "(fun(): table<string, any>?)",
        "an iterator" } } },
      { "csv", "Writes the shown rows as CSV: UTF-8, lines end with LF.",
        params = { OUT, { "options", "CsvOptions?", "how to write cells" } },
        returns = WRITTEN },
      { "json", "Writes the shown rows as JSON.", params = { OUT },
        returns = WRITTEN },
      { "tree",
        "Merges the call stacks of a table that is grouped by `\"callchain\"` into a tree, in "
          .. "which they share nodes as far as they are equal. The tree has all groups, even "
          .. "those that are not shown; other keys are added up. The weight is the first "
          .. "measure `count`, `sum` or `share`.",
        params = { { "options", "TreeOptions?", "what is a node" } },
        returns = { { "Node", "the root" } },
        errors = "no key is a call stack; no measure adds up; several events, and none is "
          .. "named; lines of a closed file" },
      { "merge", "Merges the groups of both tables.",
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

  TreeOptions = {
    name = "TreeOptions", kind = "options", doc = "Options of `table:tree(options)`.",
    fields = {
      { "by", "\"symbol\"|\"srcline\"|\"address\"|\"dso\"?",
        "What frames are one: those of a function of a binary, of a source line, of an "
          .. "address, of a binary; where frames of one binary follow one another, they are "
          .. "one.",
        default = "\"symbol\"" },
      { "order", "\"caller\"|\"callee\"?",
        "Whether the first callers are below the root, or the functions that were hit.",
        default = "\"caller\"" },
      { "event", "string?", "The event, if the table has several." },
    },
  },

  CsvOptions = {
    name = "CsvOptions", kind = "options", doc = "Options of `table:csv(out, options)`.",
    fields = {
      { "safe", "boolean?",
        "Cells that a spreadsheet would run begin with an apostrophe: those that begin with "
          .. "=, +, -, @, a tab or the end of a line, but for numbers.",
        default = "false" },
      { "crlf", "boolean?", "Lines end with CR LF instead of LF.", default = "false" },
    },
  },
}

for _, row in ipairs(describe_presentation "Table") do
  table.insert(classes.Table.methods, row)
end

return classes
