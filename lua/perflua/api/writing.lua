-- Recordings that scripts write: see init.lua for the form.

local CODE = { "string?", "a code such as \"ENOSPC\"" }

return {
  WriteOptions = {
    name = "WriteOptions", kind = "options", doc = "Options of `query:write(target, options)`.",
    fields = {
      { "pipe", "boolean?", "In pipe mode, as perf record -o - writes it; else a file.",
        default = "false; true for what can only be written from front to end" },
      { "compress", "integer?",
        "Compresses the records by zstd: 1 in records of type COMPRESSED, 2 of COMPRESSED2, "
          .. "which perf 6.1 does not read.", default = "they are not compressed" },
      { "level", "integer?", "The level of compression.", default = "1" },
      { "sort", "boolean?", "In the order of time; a directory always is.", default = "false" },
      { "directory", "boolean?",
        "As a directory, with a file of records for each processor, or each thread where "
          .. "processors were not recorded, as perf record --threads writes it.",
        default = "false; true if the path ends with /" },
      { "byte_order", "\"little\"|\"big\"|\"native\"?",
        "The byte order. Of another one than the recording's, records of AUX areas, unknown "
          .. "records and raw data whose format is not known are left out.",
        default = "that of the recording" },
      { "unwind", "boolean?",
        "Replaces copies of user stacks by the call chains that they lead to. A stack that "
          .. "does not lead to the outermost frame keeps its bytes; other samples have no "
          .. "registers.",
        default = "false" },
      { "merge_callchains", "boolean?",
        "Puts the user's part of a call chain that was recorded later into its sample. Not for "
          .. "streams.", default = "false" },
      { "every", "integer?",
        "Keeps one of so many samples of each event, whose period is multiplied by that; where "
          .. "samples have no periods, that of the attr.", default = "1" },
      { "max_size", "integer?",
        "Thins out samples, as `every` does, until the recording has no more bytes. Not for "
          .. "streams.", default = "none", unit = "bytes" },
      { "force", "boolean?",
        "Replaces a file that exists, but never the recording that is read.",
        default = "false" },
      { "scrub", "ScrubOptions?", "Drops or hashes names and other data, by rules.",
        default = "nothing is changed" },
      { "inject", "InjectOptions?",
        "Adds what files of this machine tell of the recording, as perf inject does.",
        default = "nothing is added" },
    },
  },

  InjectOptions = {
    name = "InjectOptions", kind = "options",
    doc = "The option `inject` of `query:write(target, options)`. A build-id is the recorded "
      .. "one, else that of the file here, if that is provably the one that was mapped.",
    fields = {
      { "build_ids", "\"hit\"|\"all\"?",
        "Adds build-ids to the table of the header, in pipe mode as records: \"hit\" those of "
          .. "binaries with frames of samples, \"all\" those of all binaries that were mapped.",
        default = "none is added" },
      { "mappings", "\"all\"|\"used\"?",
        "Makes records of mappings MMAP2 with the build-id of their binary; \"used\" leaves "
          .. "out those of binaries whose symbols this File was never asked for.",
        default = "they stay" },
      { "known", "table<string, string>?",
        "Build-ids by the names of binaries, in hexadecimal digits, in place of those that are "
          .. "recorded or found.", default = "none" },
      { "jit", "boolean?",
        "Makes the functions of jitdumps mappings of ELF files, jitted-PID-N.so, which are "
          .. "written beside the jitdump; one that exists with other bytes is replaced with "
          .. "`force` only. Not for streams.", default = "false" },
      { "sched_stat", "boolean?",
        "Makes samples of sched:sched_stat_* those of the last sched:sched_switch of their "
          .. "thread, with their own time and period, and leaves out the other samples of "
          .. "both.",
        default = "false" },
    },
  },

  Injected = {
    name = "Injected", kind = "result", doc = "What injecting did.",
    fields = {
      { "build_ids", "integer", "Build-ids that the table did not have." },
      { "mappings", "integer", "Records of mappings that got a build-id." },
      { "dropped", "integer", "Records of mappings that were left out." },
      { "jitdumps", "integer", "Jitdumps whose functions became mappings." },
      { "functions", "integer", "Functions that became mappings." },
      { "merged", "integer", "Samples of sched:sched_stat_* that became those of a switch." },
      { "unidentified", "Unidentified[]", "Binaries without a build-id." },
      { "unread", "Unidentified[]", "Jitdumps that were not used, or not whole." },
    },
  },

  Unidentified = {
    name = "Unidentified", kind = "result",
    doc = "A binary that got no build-id, or a jitdump that was not used as a whole.",
    fields = {
      { "filename", "string", "Its name." },
      { "reason", "string", "What is wrong with it." },
    },
  },

  ScrubOptions = {
    name = "ScrubOptions", kind = "options",
    doc = "The option `scrub` of `query:write(target, options)`. `perflua scrub --help` lists "
      .. "the kinds of data. What no rule knows is dropped.",
    fields = {
      { "preset", "string?", "The rules to begin with: \"anonymous\" or \"share\".",
        default = "\"anonymous\"" },
      { "keep", "string|string[]?", "Kinds that are kept.", default = "those of the preset" },
      { "hash", "string|string[]?", "Kinds whose names are replaced by keyed hashes.",
        default = "those of the preset" },
      { "drop", "string|string[]?", "Kinds that are dropped.",
        default = "those of the preset" },
      { "addresses", "boolean?", "Makes addresses relative to their binary; 0 takes the place "
        .. "of those that were mapped nowhere.", default = "false: they stay" },
      { "key", "string?", "The key of the hashes: of one key, equal names have equal hashes "
        .. "in all recordings.", default = "a random one" },
    },
  },

  WriterOptions = {
    name = "WriterOptions", kind = "options",
    doc = "Options of `perflua.writer(path, like, options)`.",
    fields = {
      { "sideband", "boolean?",
        "First writes the records of `like` that describe threads, mappings, namespaces, "
          .. "cgroups, code of the kernel and ids; `write` leaves these out then.",
        default = "true; false if `like` is a stream" },
      { "pipe", "boolean?", "In pipe mode, as perf record -o - writes it; else a file.",
        default = "false" },
      { "compress", "integer?",
        "Compresses the records by zstd: 1 in records of type COMPRESSED, 2 of COMPRESSED2.",
        default = "they are not compressed" },
      { "level", "integer?", "The level of compression.", default = "1" },
      { "force", "boolean?",
        "Replaces a file that exists, but never the recording that is read.",
        default = "false" },
    },
  },

  Writer = {
    name = "Writer", kind = "object", prefix = "writer:",
    doc = "A recording that a script writes. As a to-be-closed variable it is closed at the "
      .. "end of its block; an error there, and a Writer that is never closed, leaves no file.",
    methods = {
      { "write", "Adds a record, as it was recorded. A sample that stands for several counter "
          .. "values is written once.",
        params = { { "record", "Record",
          "of `like`, or of another File if `like` has its event" } },
        returns = { { "true?", "nil if it cannot be written" }, { "string?", "the error" },
          CODE },
        errors = "anything but a record, a Writer that is closed, a File that is closed" },
      { "close", "Writes the end of the recording, and gives the file its name.",
        returns = { { "WriteSummary?",
          "what was written; nil if that or an earlier write failed" },
          { "string?", "the error" }, CODE },
        errors = "a Writer that is closed, a File that is closed" },
    },
  },

  WriteSummary = {
    name = "WriteSummary", kind = "result", doc = "What `query:write()` or a Writer wrote.",
    fields = {
      { "records", "integer", "The number of records." },
      { "samples", "integer", "How many of them are samples." },
      { "bytes", "integer", "The size of the recording.", unit = "bytes" },
      { "aux_records", "integer", "Records of AUX areas that were left out." },
      { "aux_bytes", "integer", "The data of these.", unit = "bytes" },
      { "unwound", "integer", "Samples whose copy of the stack became a call chain." },
      { "kept_stacks", "integer",
        "Samples that keep their copy, as it does not lead to the outermost frame, or not by "
          .. "call frame information of proven binaries alone." },
      { "merged_callchains", "integer",
        "Samples that got the part of their call chain that was recorded later." },
      { "unmatched_callchains", "integer", "Samples whose part was not recorded." },
      { "damaged_samples", "integer",
        "Samples that are left out, or keep their call chain, as the new one does not fit." },
      { "unturned_records", "integer",
        "Records that are left out, as they cannot be turned to the other byte order." },
      { "unturned_data", "integer", "Samples that lost raw data or AUX data so." },
      { "unturned", "string[]", "Header features that are left out so." },
      { "unreadable", "string[]", "Header features that cannot be read, and are left out." },
      { "unfit", "string[]", "Header features that pipe mode cannot carry." },
      { "every", "integer?", "Of how many samples one was kept; nil: all were." },
      { "plain_bytes", "integer", "The size of the records before they are compressed.",
        unit = "bytes" },
      { "sample_bytes", "integer", "The size of samples among them.", unit = "bytes" },
      { "merged", "MergeSummary?", "How several recordings became one; nil: there was one." },
      { "scrubbed", "Scrubbed?", "What became of its data; nil unless it was scrubbed." },
      { "injected", "Injected?", "What was added to it; nil unless that was asked for." },
    },
  },

  MergeSummary = {
    name = "MergeSummary", kind = "result",
    doc = "How `query:write()` made one recording of several.",
    fields = {
      { "events", "integer", "The number of events." },
      { "doubles", "integer",
        "Records that an earlier recording has, too, and that were written once." },
      { "rebuilt", "integer",
        "Build-ids left out, as an earlier recording has another one of the same binary." },
      { "unpacked", "boolean",
        "Whether names that `perflua pack` added are left out: they differ." },
      { "shifts", "integer[]",
        "For each recording, what was added to its times to have those of one clock.",
        unit = "ns" },
    },
  },

  Scrubbed = {
    name = "Scrubbed", kind = "result", doc = "What scrubbing did.",
    fields = {
      { "kinds", "ScrubbedKind[]", "The kinds of data, in a fixed order." },
      { "names", "string[][]",
        "The names that were hashed: what took their place, the kind, the name." },
      { "left_out", "integer", "Records that were not written." },
      { "unreadable", "integer", "How many of them could not be read as their type." },
      { "features", "string[]", "Header features that could not be read, and were left out." },
    },
  },

  ScrubbedKind = {
    name = "ScrubbedKind", kind = "result", doc = "What became of a kind of data.",
    fields = {
      { "name", "string", "The kind, as of perflua scrub --keep." },
      { "doc", "string", "The data of this kind." },
      { "action", "string", "\"keep\", \"hash\", \"drop\"; \"base\": of a path only the "
        .. "directory was hashed." },
      { "n", "integer", "How often there was such data." },
      { "bytes", "integer", "The size of data that are not names.", unit = "bytes" },
      { "distinct", "integer",
        "How many different names there were, if they were not dropped." },
      { "examples", "string[]", "The most frequent of them, as the recording has them now." },
    },
  },
}
