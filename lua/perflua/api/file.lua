-- File, and the tables that its fields and methods give: see init.lua for the form.

local EVENT = "string|Event|(string|Event)[]?"
local TIME = { "time", "integer?", "a time, in ns", default = "the end of the recording" }
local CLOSED = "a closed file"

return {
  File = {
    name = "File", kind = "object", prefix = "file:",
    doc = "An open recording. It is closed by close(), `local file <close>`, or when it is "
      .. "collected.",
    fields = {
      { "path", "string|string[]", "As it was given to open()." },
      { "size", "integer?", "Its size; nil for a stream.", unit = "bytes" },
      { "captured_on", "integer?",
        "When it (of several, the first) was last written, as from os.time(): perf's time of "
        .. "the recording; nil for a stream.", unit = "s" },
      { "mode", "\"file\"|\"directory\"|\"pipe\"",
        "\"pipe\": the output of `perf record -o -`, even in a file." },
      { "as", "string", "The version of perf whose text is printed: \"7.3\"." },
      { "version", "integer", "The version of the format: 1 is PERFFILE, 2 is PERFILE2." },
      { "byte_order", "\"little\"|\"big\"", "The byte order of the recorded machine." },
      { "complete", "boolean",
        "False if it is known that something is missing: it was cut off, never finished, or is "
        .. "in part not readable." },
      { "damage", "Damage[]", "Damage that passes have found so far, each position once." },
      { "features", "Features", "The header features, decoded when they are read." },
      { "events", "Events", "The events, by number and by name." },
      { "first_time", "integer?", "Time of the first sample; nil without times.", unit = "ns" },
      { "last_time", "integer?", "Time of the last sample; nil without times.", unit = "ns" },
      { "out_of_order", "integer",
        "Records of the last pass that came too late to be sorted." },
    },
    methods = {
      { "records", "Starts a query of the records, as they were recorded.",
        params = { { "options", "string|RecordsOptions?",
          "a record type's name is short for { type = name }" } },
        returns = { { "Query" } }, errors = CLOSED .. ", an unknown type, event or option" },
      { "samples", "Starts a query of samples, delivered for each counter value that changed.",
        params = { { "event", "string|Event|(string|Event)[]|RecordsOptions?",
          "a name, a glob, an Event, several of them, or options without `type`",
          default = "every event" } },
        returns = { { "Query" } }, errors = CLOSED .. ", an unknown event or option" },
      { "run", "Calls a handler for each record, in time order.",
        params = { { "handlers", "Handlers", "functions by record types and events" } },
        errors = CLOSED .. ", an unknown key, and any error of a handler" },
      { "thread", "Looks up the thread that had an id at a time.",
        params = { { "tid", "integer", "id of a thread" }, TIME },
        returns = { { "Thread?", "nil if it does not occur in the recording" } },
        errors = CLOSED },
      { "threads",
        "Lists all threads of the recording. A reused id has several threads.",
        returns = { { "Thread[]" } }, errors = CLOSED },
      { "running", "Looks up the thread that ran on a processor at a time, by the switches "
        .. "that were recorded: sched:sched_switch, or perf record --switch-events.",
        params = { { "cpu", "integer", "number of a processor" },
          { "time", "integer|string",
            "a time in ns, or the text of one as for `between`: \"@440.5\"" } },
        returns = { { "Thread?", "nil if the recording does not tell; a thread that no other "
          .. "record names is as the switches describe it" },
          { "string?", "the reason, if no record says where and when threads were switched" } },
        errors = CLOSED .. ", a stream that was read, recordings of several systems" },
      { "resolve", "Looks up the map, binary, function and line of an address.",
        params = { { "pid", "integer", "id of a process" },
          { "addr", "integer", "an address in it" }, TIME },
        returns = { { "Resolved?", "nil if nothing was mapped there" } }, errors = CLOSED },
      { "missing", "Searches for the symbols of all binaries that were mapped.",
        returns = { { "Missing[]", "those that have none" },
          { "Unproven[]", "those used so far without a recorded build-id" } },
            errors = CLOSED },
      { "binaries",
        "Lists every binary of the recording, and where its symbols and lines come from.",
        params = { { "options", "BinariesOptions?", "whose symbols are looked for" } },
        returns = { { "Binary[]", "as they were first mapped" } },
        errors = CLOSED .. ", an unknown option or a value that it cannot have" },
      { "annotate", "Lists the code of a function with its samples, in one pass over them.",
        params = { { "symbol", "string", "the name of the function" },
          { "options", "AnnotateOptions?", "which samples, and where source files are" } },
        returns = { { "Listing?", "of several functions of that name, the one with the most "
          .. "samples; nil: no sample is in one" }, { "string?", "a message" } },
        errors = CLOSED .. ", an unknown event or option" },
      { "history",
        "Lists the maps of an address over time: one item for each time range, without gaps.",
        params = {
          { "pid", "integer?", "id of a process; nil: only what the kernel had there" },
          { "address", "integer", "an address in it" },
          { "time", "integer?", "a time, in ns: only the range with this time" },
          { "guest", "integer?",
            "the pid of a guest: an address of its kernel, or of its process `pid`" },
        },
        returns = {
          { "Stay[]", "in time order" },
          { "\"kernel\"|\"user\"|\"either\"",
            "whose address it is, by itself; either: on machines where both have "
            .. "all" },
        }, errors = CLOSED },
      { "timing", "Reports where the time went so far: the passes over the recording, and "
        .. "the stages of each.",
        returns = { { "Timing", "a table whose tostring() is a text" } },
        errors = "a recording that was opened without `timing = true`" },
      { "close",
        "Closes the recording; a second call does nothing. Afterwards its records, views and "
          .. "queries raise; tables, copies and collected values remain usable." },
    },
  },

  RecordsOptions = {
    name = "RecordsOptions", kind = "options",
    doc = "Options of `file:records(options)`, and without `type` of `file:samples(options)`.",
    fields = {
      { "type", "string|integer|(string|integer)[]?",
        "Record types by name or number; `\"unknown\"`: all that perflua has no name for.",
        default = "all" },
      { "event", EVENT, "Only records that belong to it: a name, a glob, an Event, or several.",
        default = "all" },
      { "order", "\"time\"|\"file\"?",
        "Time order or file order.",
        default = "\"time\"; \"file\" for results that are the same in any order" },
      { "reuse", "boolean?",
        "The loop delivers the same object for each record, which is fast; copy() keeps one.",
        default = "false" },
      { "container", "boolean?", "The container's own records as well.", default = "false" },
      { "expand", "boolean?",
        "Delivers samples with counter values once for each value that changed.",
        default = "true for samples(), false for records()" },
    },
  },

  Events = {
    name = "Events", kind = "object", doc = "The events of a recording.",
    index = {
      { "[integer]", "Event", "By number, from 1." },
      { "[string]", "Event", "The first of that name; modifiers and PMU may be left away." },
    },
  },

  Timing = {
    name = "Timing", kind = "result",
    doc = "Where the time of a recording went. tostring() makes it a text.",
    fields = {
      { "path", "string|string[]", "As it was given to open()." },
      { "size", "integer?", "Its size; nil of a stream.", unit = "bytes" },
      { "passes", "Pass[]", "The passes over it, in the order in which they began." },
      { "binaries", "TimedBinary[]", "The binaries whose symbols and source lines were "
        .. "loaded, the heaviest first." },
    },
  },

  Pass = {
    name = "Pass", kind = "result", doc = "A pass over a recording.",
    fields = {
      { "what", "string", "Its purpose, such as \"groups\", \"loop\" or \"index of times\"." },
      { "times", "integer", "Passes that it stands for: more than 1 only if there were very "
        .. "many." },
      { "wall", "integer", "From its beginning to its end, including passes inside it and, in "
        .. "a loop, the work of the script.", unit = "ns" },
      { "processor", "integer", "Processor time of all threads.", unit = "ns" },
      { "stages", "Stage[]", "Its stages." },
    },
  },

  Stage = {
    name = "Stage", kind = "result", doc = "A stage of a pass. The stages add up to the pass.",
    fields = {
      { "name", "string", "\"read\", \"decompress\", \"order\" (sorting by time), "
        .. "\"names\" (threads and maps), \"symbols\" (with source lines), \"counts\", "
        .. "\"groups\", \"rows\" or \"text\"." },
      { "wall", "integer", "Time of the caller.", unit = "ns" },
      { "processor", "integer", "Processor time of all threads.", unit = "ns" },
      { "records", "integer?", "Records or rows that it handled." },
      { "bytes", "integer?", "Bytes that it read, or decompressed.", unit = "bytes" },
    },
  },

  TimedBinary = {
    name = "TimedBinary", kind = "result", doc = "A binary whose symbols were loaded.",
    fields = {
      { "name", "string", "As perf names it." },
      { "wall", "integer", "Time of the threads that loaded them.", unit = "ns" },
    },
  },

  Damage = {
    name = "Damage", kind = "result",
    doc = "Something wrong with a recording, which was stepped over.",
    fields = {
      { "path", "string", "The path of the damaged file." },
      { "offset", "integer", "Where it is in the file.", unit = "bytes" },
      { "size", "integer", "Bytes that were stepped over.", unit = "bytes" },
      { "reason", "string", "Found and expected value." },
    },
  },

  Thread = {
    name = "Thread", kind = "result", doc = "A thread of the recorded system.",
    fields = {
      { "pid", "integer", "Its process." },
      { "tid", "integer", "Its id." },
      { "comm", "string", "Its name at the given time, or else its last name." },
      { "start", "integer?",
        "The time it began; nil if unknown, or before the recording.", unit = "ns" },
      { "exit", "integer?",
        "The time it ended; nil if unknown, or after the recording.", unit = "ns" },
      { "source", "integer?",
        "The recording it is of, from 1, where several are systems of their own." },
      { "maps", "fun(): View.map[]",
        "Maps of its process at the given time, or else at the end." },
    },
  },

  Resolved = {
    name = "Resolved", kind = "result",
    doc = "The function, source line and map of an address.",
    fields = {
      { "symbol", "string?", "The function." },
      { "symoff", "integer?", "Distance of the address from its start.", unit = "bytes" },
      { "dso", "string", "The binary, as perf names it." },
      { "map", "View.map", "The map that covers the address." },
      { "srcline", "string?", "Source file and line." },
    },
  },

  Missing = {
    name = "Missing", kind = "result", doc = "A binary whose symbols could not be used.",
    fields = {
      { "filename", "string", "As it was recorded." },
      { "build_id", "string?", "In hex." },
      { "reason", "string", "Why its symbols cannot be used." },
      { "tried", "string[]", "The paths that were tried, with the result of each." },
    },
  },

  Unproven = {
    name = "Unproven", kind = "result",
    doc = "A binary that was used for symbols though no build-id proves that it is "
      .. "the recorded one.",
    fields = {
      { "filename", "string", "As it was recorded." },
      { "path", "string", "The file that was used." },
    },
  },
}
