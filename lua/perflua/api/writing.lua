-- Options and results of query:write(): see init.lua for the form.

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
      { "force", "boolean?",
        "Replaces a file that exists, but never the recording that is read.",
        default = "false" },
    },
  },

  WriteSummary = {
    name = "WriteSummary", kind = "result", doc = "What `query:write()` wrote.",
    fields = {
      { "records", "integer", "The number of records." },
      { "samples", "integer", "How many of them are samples." },
      { "bytes", "integer", "The size of the recording.", unit = "bytes" },
      { "aux_records", "integer", "Records of AUX areas that were left out." },
      { "aux_bytes", "integer", "The data of these.", unit = "bytes" },
      { "unreadable", "string[]", "Header features that cannot be read, and are left out." },
      { "unfit", "string[]", "Header features that pipe mode cannot carry." },
    },
  },
}
