-- Spans, and the options of pair(), within(), union() and intersection(): see init.lua for the
-- form.

return {
  PairOptions = {
    name = "PairOptions", kind = "options", doc = "Options of `query:pair(options)`.",
    fields = {
      { "open",
        "string|Event|(string|Event|PairSide)[]|PairSide|fun(record: Record): any",
        "The records that open a span." },
      { "close",
        "string|Event|(string|Event|PairSide)[]|PairSide|fun(record: Record): any",
        "The records that close it." },
      { "key", "string|string[]|table<string, any>|false?",
        "The fields that both have in common; { open =, close = } if their names differ; "
        .. "false: none, so that one span at a time is open in the whole recording.",
        default = "\"tid\"" },
      { "fields", "string[]?",
        "In loops, spans have tables of these fields instead of records, which is faster." },
      { "change", "PairSide|PairSide[]?",
        "The records that change the state of an open span. Each has a `state`, and so has "
          .. "`open`; spans have fields `in_STATE`, the time that they spent in that state, "
          .. "and `at_STATE.FIELD`, of the record with which they entered it last." },
      { "slice", "string|integer?",
        "Spans are cut at multiples of this time, \"10ms\" or nanoseconds." },
      { "window", "any[]?",
        "Times `{ from, to }` as in between(): only parts of spans inside it are rows." },
      { "lost", "\"drop\"|\"keep\"?",
        "What to do with spans that were open when records were lost, and that a record "
          .. "closes later.",
        default = "\"drop\"" },
      { "unfinished", "boolean?",
        "Spans that are open at the end are rows, too; they have `so_far`, but no `stop`.",
        default = "false" },
    },
  },

  PairSide = {
    name = "PairSide", kind = "options",
    doc = "Records that open, close or change a span, in `open`, `close` and `change` of "
      .. "pair().",
    fields = {
      { "event", "string|Event|(string|Event)[]?", "Their event." },
      { "type", "string?", "Their record type." },
      { "where", "string|table<string, any>|fun(record: Record): any?",
        "A filter, as for where(). In `close` and `change` it can name fields of the record "
          .. "that opened the span, or with which it entered a state: "
          .. "\"args.id == open.args.id\", \"cpu == at_running.cpu\"." },
      { "key", "string|string[]|false?", "The fields that are the key of these records.",
        default = "`key` of pair()" },
      { "state", "string?", "In `open` and `change`: the state of a span from then on." },
      { "to", "string|string[]?", "In `change`: fields that are the key of the span from then "
        .. "on; `state` is optional.", default = "the key stays" },
      { "from", "string|string[]?", "In `close` and `change`: the states of the spans that it "
        .. "closes or changes.", default = "all" },
      { "again", "\"drop\"|\"keep\"?",
        "In `open`: what to do with a span of the same key that is open already.",
        default = "\"drop\"" },
      { "next_on_cpu", "boolean?",
        "In `close`: a span ends with the first of these records on the cpu where it began; "
          .. "one that does not close it drops it.", default = "false" },
    },
  },

  WithinOptions = {
    name = "WithinOptions", kind = "options",
    doc = "Options of `query:within(spans, options)`.",
    fields = {
      { "key", "string|string[]?",
        "The fields of a record or inner span that are compared with the key of the enclosing "
          .. "spans.",
        default = "those of the spans, if both ends have the same, else \"tid\"" },
      { "closed", "boolean?",
        "Records wait for the end of their span, and those of spans without an end are left "
          .. "out.",
        default = "true if the query needs fields of the end" },
    },
  },

  CoverOptions = {
    name = "CoverOptions", kind = "options",
    doc = "Options of `spans:union(options)` and `spans:intersection(other, options)`.",
    fields = {
      { "key", "string|string[]|false?",
        "Fields of the spans by which they are combined; false: all of them.",
        default = "the key of the spans" },
    },
  },

  Span = {
    name = "Span", kind = "result", doc = "A span, in loops over pair().",
    fields = {
      { "start", "integer", "When it began.", unit = "ns" },
      { "stop", "integer?", "When it ended; nil: it has not ended yet.", unit = "ns" },
      { "duration", "integer?",
        "Time from the opening to the closing record; nil: it has not ended yet.",
        unit = "ns" },
      { "key", "any",
        "Value that both records share; an array if the key has several fields." },
      { "so_far", "integer?",
        "With `unfinished` of pair(), for a span that has not ended: time from the opening "
          .. "record to the last one that is read.",
        unit = "ns" },
      { "cut", "boolean?",
        "With `slice` or `window` of pair(): true for a part of a span." },
      { "open", "Record|table<string, any>", "The record that opened it." },
      { "close", "Record|table<string, any>?",
        "The record that closed it; nil: it has not ended yet." },
    },
  },

  Cover = {
    name = "Cover", kind = "result", doc = "Time that spans cover, in loops.",
    fields = {
      { "start", "integer", "When it began.", unit = "ns" },
      { "stop", "integer", "When it ended.", unit = "ns" },
      { "duration", "integer", "Time from start to stop.", unit = "ns" },
      { "key", "any", "Value of the key; an array if it has several fields." },
    },
  },

  PairCounts = {
    name = "PairCounts", kind = "result", doc = "Counts of a pass over spans.",
    fields = {
      { "pairs", "integer", "Spans that were opened and closed." },
      { "unopened", "integer", "Closing records without an opening record." },
      { "unclosed", "integer", "Spans that were open at the end, and are not rows." },
      { "unfinished", "integer", "Spans that were open at the end, and are rows." },
      { "restarted", "integer", "Spans that were dropped because their key was opened again." },
      { "repeated", "integer", "With `again = \"keep\"`: opening records of a key that was "
        .. "open." },
      { "mismatched", "integer", "Spans that were dropped because a record that could close "
        .. "them did not match." },
      { "lost", "integer", "Spans that were dropped because records were lost." },
      { "lost_at_least", "integer", "How long these were open at least: up to the last record "
        .. "before the loss, of the same cpu if records tell theirs.", unit = "ns" },
      { "lost_at_most", "integer", "How long they were open at most: up to the next record of "
        .. "their key that opens or closes spans, or else to the last record.", unit = "ns" },
      { "kept", "integer", "With `lost = \"keep\"`: spans among `pairs` that were open when "
        .. "records were lost." },
      { "stray", "integer", "Records of `change` that changed no span: none of their key was "
        .. "open, or it had a later change." },
      { "unkeyed", "integer", "Records without a key or time." },
    },
  },
}
