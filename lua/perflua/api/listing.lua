-- Listings of code: see init.lua for the form.

return {
  AnnotateOptions = {
    name = "AnnotateOptions", kind = "options",
    doc = "Options of `file:annotate(symbol, options)`.",
    fields = {
      { "event", "string|Event|(string|Event)[]?", "Only samples of it.", default = "all" },
      { "dso", "string?", "The binary of the function, as in `dso`.", default = "any" },
      { "prefix", "string?", "Put in front of the paths of source files." },
      { "prefix_strip", "integer?", "Leading parts of absolute ones that are left out before.",
        default = "0" },
    },
  },

  Listing = {
    name = "Listing", kind = "object", prefix = "listing:", len = true,
    doc = "The code of a function, with its samples. Its lines are instructions; where they "
      .. "are not known, the sampled offsets. A line is made when it is read, and source lines "
      .. "need the open file. tostring() prints it as perf annotate --stdio2 does.",
    index = {
      { "[integer]", "ListingLine", "A line, by its number from 1 on; nil beyond the last." },
    },
    fields = {
      { "symbol", "string", "The function." },
      { "dso", "string", "Its binary." },
      { "address", "integer", "Where it begins in the file, as nm shows it." },
      { "size", "integer", "Its size.", unit = "bytes" },
      { "events", "{ name: string, index: integer, samples: integer, period: integer }[]",
        "The events with samples in it." },
      { "binary", "Binary", "Where its symbols come from." },
      { "code_file", "string?", "The file of the code; nil: it was not found." },
      { "lines_file", "string?", "The file of the source lines; nil: none was found." },
      { "proof", "string?", "What proves that the binary is the recorded one." },
      { "machine", "string?", "The machine that the code is for: \"x86-64\"." },
      { "reason", "string?", "Why there are no instructions." },
      { "unknown", "integer", "Bytes that libcapstone cannot decode." },
      { "missing", "integer", "Bytes of the function that the file does not have." },
      { "between", "integer",
        "Samples at an address between two instructions, counted at the one that covers it." },
      { "outside", "integer", "Samples beyond the code that is there." },
    },
  },

  ListingLine = {
    name = "ListingLine", kind = "result", doc = "A line of a Listing.",
    fields = {
      { "index", "integer", "Its number." },
      { "address", "integer", "In the file, as nm and objdump show it." },
      { "offset", "integer", "From the start of the function." },
      { "size", "integer?", "Of the instruction; nil without code.", unit = "bytes" },
      { "bytes", "string?", "The bytes of the instruction." },
      { "text", "string?", "The instruction; `.byte …`: bytes that cannot be decoded." },
      { "name", "string?", "Its first word." },
      { "operands", "string?", "The rest of it." },
      { "kind", "\"plain\"|\"jump\"|\"call\"|\"return\"|\"unknown\"?",
        "What the instruction does." },
      { "jump", "integer?", "The offset that it jumps to, inside of the function." },
      { "is_target", "boolean?", "True if a jump of the function goes to it." },
      { "goes_to", "integer?", "The address that it jumps to or calls." },
      { "target", "string?", "The function at that address." },
      { "srcline", "string?", "Its source line: \"hot.c:12\"." },
      { "path", "string?", "The source file, as the compiler knew it." },
      { "number", "integer?", "The line in it." },
      { "source", "string?", "The text of that line; nil: the file is not there." },
      { "frames", "{ symbol: string?, file: string?, line: integer?, srcline: string? }[]?",
        "The functions inlined there, innermost first; the last one is the function itself." },
      { "samples", "table<string|integer, integer>",
        "Its samples, by the event's name or index; of events with one name, the first's." },
      { "period", "table<string|integer, integer>", "The sum of their periods, likewise." },
      { "percent", "table<string|integer, number>",
        "Its share of the function's period, likewise." },
    },
  },
}
