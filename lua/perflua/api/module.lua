-- perflua, and the options of perflua.open(): see init.lua for the form.

local CODE = { "string?", "a code such as \"ENOENT\" or \"FORMAT\"" }
local MACHINE = { "machine", "string?",
  "as uname and `file.features.arch` call it: \"aarch64\"",
  default = "this machine" }

return {
  perflua = {
    name = "perflua", kind = "module", prefix = "perflua.",
    doc = "Recordings of Linux perf, asked from Lua: `require \"perflua\"`, in the "
      .. "interpreter also a global.",
    fields = {
      { "version", "string", "The version of perflua." },
      { "stop", "any", "A handler that returns this ends the run." },
      { "options", "table<string, any>",
        "Values of the options of the script that the interpreter runs, by name." },
      { "intervals", "table",
        "The functions `pair(query, options)` and `within(query, spans, options)`, which "
          .. "queries have as methods." },
    },
    methods = {
      { "open", "Opens a recording, or several as one File whose records carry `source`.",
        params = {
          { "path", "string|string[]?", "a file, a directory, or \"-\" for standard input",
            default = "\"perf.data\"" },
          { "options", "OpenOptions?", "how to read it" },
        },
        returns = { { "File?", "the recording; nil if it cannot be read" },
          { "string?", "the error" }, CODE },
        errors = "a path of another type, an empty array, an unknown option or a value that "
          .. "it cannot have" },
      { "hex", "Writes an integer as 0x…, without a sign.",
        params = { { "x", "integer", "any integer" } }, returns = { { "string" } },
          errors = "anything but an integer" },
      { "seconds", "Writes a time as perf does: \"8590.143543\".",
        params = { { "ns", "integer", "nanoseconds" } }, returns = { { "string" } },
          errors = "anything but an integer" },
      { "syscall", "Looks up the name of a system call: \"openat\".",
        params = { { "number", "integer", "as recorded" }, MACHINE },
        returns = { { "string?", "nil if it has none" } },
        errors = "anything but an integer" },
      { "errno", "Looks up the name of an error: \"ENOENT\" of 2 and of -2.",
        params = { { "number", "integer", "a system call's result or an errno" }, MACHINE },
        returns = { { "string?", "nil if it has none" } }, errors = "anything but an integer" },
      { "parse", "Parses the command line of a script that opens recordings itself. --help "
          .. "and mistakes end the script, with the options and what is wrong.",
        params = { { "options", "Option[]", "the options that are allowed" },
          { "words", "string[]", "the table `arg`, which stays as it is" } },
        returns = { { "table<string, any>", "values by name" },
          { "string[]", "the other words" } },
        errors = "a declaration that is wrong; in other hosts also mistakes and --help" },
      { "load", "Reads a Table that was saved; several that follow one another are merged.",
        params = { { "from", "file*|string",
          "an open file, a path, or \"-\" for standard input" } },
        returns = { { "Table?", "nil if it cannot be read" }, { "string?", "the error" },
          CODE },
        errors = "anything but a path or an open file" },
      { "diff", "Compares two recordings, or several runs on each side, by the first measure "
          .. "of the queries.",
        params = {
          { "before", "Query|Table|(Query|Table)[]", "grouped queries or tables: runs" },
          { "after", "Query|Table|(Query|Table)[]", "the same of the other side" },
          { "options", "DiffOptions?", "how to compare" },
        },
        returns = { { "Table",
          "the keys and `before`, `after`, `delta`, `low`, `high` (the interval of delta), "
            .. "`verdict`; the largest differences first" } },
        errors = "tables of different keys or measures, no common event, records without times "
          .. "where intervals need them, records on one side only, a measure that cannot be "
          .. "compared" },
      { "export",
        "Writes a query's samples in the format of another program: profiles, where they are "
          .. "added up by event, thread and call chain, or a row for each.",
        params = {
          { "query", "Query", "of samples, without group_by(); as speedscope, firefox, "
            .. "perfetto, chrome, csv and jsonl also of spans, as csv and jsonl of items by "
            .. "unnest()" },
          { "format", "string", "\"speedscope\", \"firefox\", \"perfetto\", \"pprof\", "
            .. "\"callgrind\", \"folded\"; \"folded-diff\" with the option `before`; "
            .. "\"chrome\", trace events; "
            .. "\"csv\" or \"jsonl\", whose columns are what select() named; \"sqlite\", to "
            .. "which these are added" },
          { "out", "file*|string?", "an open file or a path; of sqlite a path",
            default = "standard output" },
          { "options", "ExportOptions?", "what to write" },
        },
        returns = { { "table?",
          "`samples`: how many were written, `set_aside`: how many have a period that is "
            .. "damage; of profiles and of chrome `notes`: sentences about times that were "
            .. "made coarser, a size that browsers do not read, and switches of which only "
            .. "some were recorded; nil if `out` cannot be written" },
          { "string?", "what is wrong" }, CODE },
        errors = "an unknown format; records that are not samples, but for csv and jsonl; an "
          .. "option that means nothing to the format; in a profile samples without call chain "
          .. "and address, without times where the format needs them or `timeline` asks for "
          .. "them, and several events where the format has room for one; in a row a view" },
      { "writer", "Begins a recording to which records are written one by one. Its header, "
          .. "events and features are those of another.",
        params = {
          { "path", "string", "the file to write; it is there once the Writer is closed" },
          { "like", "File", "the recording that it is like, and whose records it gets" },
          { "options", "WriterOptions?", "its form, and what is written by itself" },
        },
        returns = { { "Writer?", "nil if the file cannot be written" },
          { "string?", "the error" }, CODE },
        errors = "a File of several recordings, an unknown option, a value that it cannot "
          .. "have" },
    },
  },

  DiffOptions = {
    name = "DiffOptions", kind = "options", doc = "Options of `perflua.diff()`.",
    fields = {
      { "per", "string?", "\"share\" of the event's total, \"second\", or \"event:NAME\".",
        default = "a run" },
      { "match", "table<string, string>?",
        "Names of the keys that changed: `{ [\"old name\"] = \"new name\" }`." },
      { "confidence", "number?", "The confidence of intervals and verdicts.",
        default = "0.95" },
    },
  },

  ExportOptions = {
    name = "ExportOptions", kind = "options", doc = "Options of `perflua.export()`.",
    fields = {
      { "count", "boolean?", "Count samples instead of adding up their periods.",
        default = "false" },
      { "before", "Query?", "Of folded-diff: the samples to compare with." },
      { "crlf", "boolean?", "Of csv: lines end with CR LF instead of LF.", default = "false" },
      { "lines", "boolean?", "Look up source lines and inlined functions.",
        default = "true for firefox, perfetto, pprof and callgrind" },
      { "max_size", "integer?", "Bytes that a profile with times, or a file of spans, has at "
        .. "most: times are made coarser until it fits; the shortest spans are left out.",
        unit = "bytes",
        default = "100 MB" },
      { "safe", "boolean?", "Of csv: cells that a spreadsheet would run begin with an "
        .. "apostrophe.", default = "false" },
      { "timeline", "boolean?",
        "Keep the time of each sample: speedscope; firefox and perfetto always do.",
        default = "false" },
      { "title", "string?", "The name of the profile.", default = "the recording's path" },
    },
  },

  OpenOptions = {
    name = "OpenOptions", kind = "options", doc = "Options of `perflua.open(path, options)`.",
    fields = {
      { "jobs", "integer?", "Workers that read in one pass at most, 1 to 16.",
        default = "one for each processor" },
      { "strict", "boolean?", "Damage raises an error instead of being stepped over.",
        default = "false" },
      { "window", "integer?",
        "Bytes of a stream that may wait for earlier records; at least 65536.",
        unit = "bytes", default = "256 MB" },
      { "as", "string?", "The version of perf whose text is printed: \"6.1\", or \"recorded\" "
          .. "for the one that made the recording; of several, the first.",
        default = "the newest" },
      { "symfs", "string?",
        "A directory in which binaries are looked for by their recorded paths." },
      { "buildid_dir", "string?", "The build-id cache.", default = "~/.debug" },
      { "vmlinux", "string?", "The kernel with its symbols, an ELF file." },
      { "kallsyms", "string?", "A copy of /proc/kallsyms." },
      { "debuginfod", "boolean?", "Servers named by DEBUGINFOD_URLS are asked.",
        default = "false" },
      { "any_binary", "boolean?",
        "Binaries of this machine are believed to be the recorded ones also without a "
        .. "build-id.",
        default = "false" },
      { "demangle", "boolean?", "Names of C++, Rust and OCaml are demangled.",
        default = "true" },
      { "full_source_path", "boolean?", "Source lines have the path of their file, as "
        .. "`perf report --full-source-path` prints them.", default = "false" },
      { "timing", "boolean?", "Where the time goes is measured, for file:timing().",
        default = "false" },
    },
  },
}
