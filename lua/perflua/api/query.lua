-- Query, and the options and results of its steps: see init.lua for the form.

local describe_presentation = require "perflua.api.presentation"

local FIELD = { "field", "string", "a field, or an expression of fields" }
local QUERY = { { "Query" } }
local UNKNOWN = "a name that no record of the query can have"
local GROUPED = "a query that is grouped already, "
local UNGROUPED = "a query without group_by"

-- Describes a measure: its value without group_by, and its column after it.
local function describe_measure(name, returns, doc, column, grouped, errors)
  return {
    name, doc, params = name ~= "count" and { FIELD } or nil,
    returns = { { "Query|" .. returns } }, step = "both",
    column = column, grouped = grouped,
    errors = name ~= "count" and (errors or UNKNOWN .. ", or whose values it cannot measure")
      or nil,
  }
end

local quantile = describe_measure("quantile", "number?",
  "The value that a share `q` of all values does not exceed, within 1 %.",
  "quantile_FIELD", "That value of each group.")
quantile.params = { FIELD, { "q", "number|number[]",
  "from 0 to 1; several are columns p50_FIELD, p99_FIELD …, without group_by an array" } }

local last = describe_measure("last", "any",
  "The last record, row or selected values; nil if there is none.", "last_FIELD",
  "The field of the last record of each group; without a field the last row.")
local first = describe_measure("first", "any",
  "The first record, row or selected values; nil if there is none.", "first_FIELD",
  "The field of the first record of each group; without a field the first row.")
first.params = { { "field", "string?", "a field, after group_by" } }
last.params = first.params

local classes = {
  Query = {
    name = "Query", kind = "object", prefix = "query:", call = "fun(): Record",
    doc = "A description of the records to read and of the result. Each step makes a new "
      .. "Query; nothing is read until it is looped over (`for record in query do`) or asked "
      .. "for a result.",
    fields = {
      { "counts", "PairCounts?", "Counts of spans and unpaired records in the last pass." },
    },
    methods = {
      { "where", "Keeps the records for which a condition holds.", step = "before",
        params = { { "filter", "string|table<string, any>|fun(record: Record): any",
          "an expression, values by fields, or a function" } },
        returns = QUERY, errors = GROUPED .. "a malformed expression, " .. UNKNOWN },
      { "between", "Keeps the records in a time range.", step = "before",
        params = {
          { "from", "integer|string|table[]?",
            "included: ns as recorded, \"@8590.143543\", \"1.5s\" after the start, \"10%\", "
              .. "\"2026-11-22 07:56:00\"; or \"10%/2\", a slice, or a list of windows "
              .. "{ from, to }", default = "the start" },
          { "to", "integer|string?", "excluded", default = "the end" },
        }, returns = QUERY,
        errors = GROUPED .. "a malformed time or one outside the recording; a time of day, if "
          .. "the recording does not know it" },
      { "select",
        "Makes loops yield these values instead of records; an absent value is false.",
        step = "before",
        params = { { "...", "string", "fields, or expressions of fields" } }, returns = QUERY,
        errors = GROUPED .. UNKNOWN },
      { "pair", "Makes spans, from a record that opens one to the record that closes it.",
        step = "before",
        params = { { "options", "PairOptions", "the records that open and close spans" } },
        returns = { { "Query", "the spans" } },
        errors = GROUPED
          .. "one that selects fields, is of spans or in file order; an unknown name" },
      { "within",
        "Keeps the records or spans that lie inside spans; fields of the enclosing span are "
          .. "named `span.FIELD`.",
        step = "before",
        params = { { "spans", "Query", "spans of pair()" },
          { "options", "WithinOptions?", "how records belong to spans" } },
        returns = { { "Query", "whose loops give the record or Span, and the outer Span" } },
        errors = GROUPED .. "a Query without spans, spans of another File; an unknown option" },
      { "union",
        "Makes rows of the time covered by any of the spans, by key: with `start`, `stop`, "
          .. "`duration` and `key`.",
        step = "before", params = { { "options", "CoverOptions?", "the key" } },
        returns = { { "Query", "whose loops give Covers" } },
        errors = GROUPED .. "a Query without spans, spans filtered by a Lua function; an "
          .. "unknown option" },
      { "intersection",
        "Makes rows of the time covered by spans of both queries, by key, as union() does.",
        step = "before",
        params = { { "other", "Query", "spans of the same File" },
          { "options", "CoverOptions?", "the key" } },
        returns = { { "Query", "whose loops give Covers" } },
        errors = GROUPED .. "a Query without spans, spans of another File, keys that are never "
          .. "equal; an unknown option" },
      { "unnest",
        "Turns each item of a view into a row: frames of a call chain (`frame.symbol`), "
          .. "branches (`branch.from`), counter values (`counter.value`), registers "
          .. "(`reg.name`), together with the fields of the record or span.",
        step = "before",
        params = {
          { "view", "string",
            "\"callchain\", \"branch_stack\", \"read\", \"regs_user\", "
              .. "\"regs_intr\"; of spans \"open.callchain\", \"close.callchain\" …" },
          { "options", "UnnestOptions?", "the choice and the names of items" },
        },
        returns = { { "Query", "the items" } },
        errors = GROUPED .. "one that selects fields, is of records inside of spans or of "
          .. "items already; a view that no record has" },
      { "group_by",
        "Puts records with the same values into one group; groups of samples are split by "
          .. "event.",
        step = "before",
        params = { { "...", "string|table<string, fun(record: Record): any>",
          "fields, expressions such as \"bucket(time, '10ms')\", \"callchain\" (a Stack), or "
            .. "functions by their columns' names" } },
        returns = QUERY, errors = GROUPED
          .. "a call without a key, two columns of one name, a view, "
          .. "a function that returns a table, a function or another object, " .. UNKNOWN },
      { "all_events", "Puts samples of all events into the same groups.",
        returns = QUERY },
      { "as", "Names the last key or measure.", step = "after",
        params = { { "name", "string", "name of its column" } },
        returns = QUERY, errors = UNGROUPED .. ", two columns of one name" },
      describe_measure("count", "integer", "Counts records.", "count",
        "Counts the records of each group."),
      describe_measure("sum", "number", "The sum of a field.", "FIELD",
        "The sum of each group.",
        "a sum above 2^63-1; " .. UNKNOWN),
      describe_measure("avg", "number?", "The average of a field; nil without values.",
        "avg_FIELD",
        "The average of each group."),
      describe_measure("min", "any", "The least value; nil without values.", "min_FIELD",
        "The least value of each group."),
      describe_measure("max", "any", "The greatest value; nil without values.", "max_FIELD",
        "The greatest value of each group."),
      quantile,
      describe_measure("hist", "HistogramBucket[]", "The values counted by powers of two.",
        "hist_FIELD",
        "The values of each group, counted."),
      describe_measure("distinct", "integer", "Counts different values.", "distinct_FIELD",
        "Counts the different values of each group."),
      first,
      last,
      { "share", "Adds the sum of a field in percent of the event's total.", step = "after",
        column = "share_FIELD", params = {
        FIELD, { "whole", "string?",
          "\"absolute\": of all samples of the event, whatever filters leave of them, as perf "
            .. "report has it", default = "\"relative\", of those that the query reads" } },
        returns = QUERY, errors = UNGROUPED .. ", " .. UNKNOWN
          .. ", \"absolute\" of spans or of a stream" },
      { "max_by",
        "Adds the value of a field in the record in which another is greatest; of several such "
          .. "records in the first.", step = "after", column = "max_by_FIELD",
        params = { FIELD, { "by", "string", "an integer from 0 on; records with 0, or without "
          .. "it, have no part" } },
        returns = QUERY, errors = UNGROUPED .. ", " .. UNKNOWN
          .. ", a `by` that is not an integer, or below 0" },
      { "ratio",
        "Adds the sum of a field over the records of one event, divided by that of another; "
          .. "groups then hold all events together.", step = "after", column = "OVER/UNDER",
        params = { { "over", "string|Event", "an event" },
          { "under", "string|Event", "an event" },
          { "field", "string?", "the field that is added up", default = "\"period\"" } },
        returns = QUERY, errors = UNGROUPED .. ", an event that the query does not read" },
      { "weight",
        "Weights each record in the last measure by the value of a field: count, avg, "
          .. "quantile or hist.",
        step = "after", params = { FIELD }, returns = QUERY,
        errors = "another measure before it, a weight that is not an integer or below 0" },
      { "each",
        "Calls a function for each record or row, or with the selected values. Without a "
          .. "function it returns an iterator for `for`, which can be nested and releases the "
          .. "file when the loop is left.",
        params = { { "fn", "function?", "called for each" } },
        returns = { { "function?", "the iterator" } },
        errors = "a closed file, a second pass over a stream, any error of the function" },
      { "collect",
        "Reads all records, rows or selected values into an array; several selected values "
          .. "are an array each.",
        returns = { { "any[]" } }, errors = "a closed file, a second pass over a stream" },
      { "table", "Reads, and returns a Table with all rows, sorted by the first measure unless "
        .. "a step says otherwise. tostring() of a grouped query gives its text, which is made "
        .. "once; for a stream or a closed file it reads nothing.", step = "after",
        returns = { { "Table" } },
        errors = UNGROUPED .. ", and any error while reading" },
      { "explain",
        "Tells what is read and in which order, by how many workers, and where each step "
          .. "runs. Reads nothing.",
        returns = { { "string" } }, errors = "a closed file" },
      { "write",
        "Writes the records as a recording, with those of other types that they need. "
          .. "Several recordings become one, if they are of one system. A warning says what "
          .. "fails, too. Nothing is overwritten unless forced, and an old file is replaced "
          .. "once the new one is whole.", step = "before",
        params = {
          { "target", "string|file*", "a path, or an open file, which gets pipe mode" },
          { "options", "WriteOptions?", "the form" },
        },
        returns = { { "WriteSummary?", "nil: see the message" }, { "string?", "message" },
          { "string?", "code: \"EEXIST\"; \"EBUSY\": it is the file that is read; "
            .. "\"ENODATA\": no sample is chosen, or no record is whole …" } },
        errors = GROUPED .. "one that selects fields, of spans or items, of records without "
          .. "samples; an option that changes or thins out the records of several "
          .. "recordings; an unknown option" },
    },
  },

  UnnestOptions = {
    name = "UnnestOptions", kind = "options", doc = "Options of `query:unnest(view, options)`.",
    fields = {
      { "as", "string?", "Prefix of the names of an item's members.",
        default = "\"frame\", \"branch\", \"counter\" or \"reg\"" },
      { "once", "string?",
        "A field or an expression: keeps, of the rows of a record or span, the first with each "
          .. "value." },
      { "inline", "boolean?",
        "For callchain: inlined functions are rows, before the frame that they are inlined in.",
        default = "false" },
    },
  },

  HistogramBucket = {
    name = "HistogramBucket", kind = "result",
    doc = "Values from one power of two to the next.",
    fields = {
      { "from", "number", "Included." },
      { "to", "number", "Excluded." },
      { "count", "integer", "Number of values." },
    },
  },
}

for _, row in ipairs(describe_presentation "Query") do
  table.insert(classes.Query.methods, row)
end

return classes
