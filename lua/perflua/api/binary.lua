-- Binaries of a recording, what was at an address, and listings of code: see init.lua for the
-- form.

return {
  BinariesOptions = {
    name = "BinariesOptions", kind = "options", doc = "Options of `file:binaries(options)`.",
    fields = {
      { "load", "\"hit\"|\"all\"|\"none\"?",
        "Whose symbols are looked for: of binaries that a sample's ip hit; of a stream that "
        .. "was read, of all.", default = "\"hit\"" },
    },
  },

  Binary = {
    name = "Binary", kind = "result",
    doc = "A binary of the recording. Unless it is `loaded`, `symbols` and the fields after it "
      .. "are nil.",
    fields = {
      { "name", "string", "Its name, as in `dso`." },
      { "build_id", "string?", "In hex; nil if it was not recorded." },
      { "kind", "\"file\"|\"kernel\"|\"module\"|\"vdso\"|\"jit\"|\"bpf\"|\"memory\"",
        "The kind of the binary." },
      { "guest", "boolean?", "True if it belongs to a guest." },
      { "source", "integer?",
        "The recording it is of, from 1, where several are systems of their own." },
      { "samples", "integer?",
        "Samples whose ip lies in it; binaries with the same name and build-id share them. "
        .. "Nil: not counted." },
      { "loaded", "boolean", "True if its symbols were searched for." },
      { "symbols", "integer?", "Number of its symbols." },
      { "symbol_file", "string?", "The file they were read from." },
      { "found", "string?",
        "Where that file was found: \"recorded path\", \"build-id cache\", \"debug link\" …; "
        .. "\"the bundle\": where `perflua pack` made it, and not here." },
      { "proof", "string?",
        "What proved there that the symbols are its own, if they are from the bundle." },
      { "mapped_file", "string?",
        "The file that was mapped: its program headers place symbols and lines." },
      { "debug_file", "string?",
        "The file with its debug information: source lines, inlined functions." },
      { "unproven", "boolean?", "True if no build-id was recorded that proves the file." },
      { "reason", "string?", "Why it has no symbols." },
      { "tried", "Tried[]?", "Each file that was considered, in the order of the search." },
    },
  },

  Tried = {
    name = "Tried", kind = "result", doc = "A file that was considered for symbols.",
    fields = {
      { "path", "string", "The file." },
      { "where", "string?", "Where the path comes from: \"build-id cache\" …." },
      { "verdict", "string", "\"has the symbols\", or why it was not taken." },
    },
  },

  Stay = {
    name = "Stay", kind = "result",
    doc = "The map and the function at an address in one time range.",
    fields = {
      { "from", "integer?", "Its start; nil: since before the recording.", unit = "ns" },
      { "to", "integer?", "Its end, not included; nil: to the recording's end.", unit = "ns" },
      { "source", "integer?",
        "The recording it is of, from 1, where several are systems of their own." },
      { "map", "View.map?",
        "Name of the map that covered the address; nil: nothing was mapped, and all fields "
          .. "below are nil." },
      { "made", "integer?", "When the map was made.", unit = "ns" },
      { "binary", "Binary?", "The binary that was mapped." },
      { "address", "integer?",
        "In the binary: the offset in the file of a program; the address itself of the "
        .. "kernel." },
      { "elf_address", "integer?", "As nm and addr2line show it; nil if no file tells." },
      { "covered", "Symbol?", "The symbol that covers it; nil: none does." },
      { "before", "Symbol?", "The last one that begins before the address." },
      { "after", "Symbol?", "The first one that begins after it." },
      { "lines", "{ symbol: string?, srcline: string?, file: string? }[]?",
        "Inlined functions first, innermost first." },
    },
  },

  Symbol = {
    name = "Symbol", kind = "result", doc = "A symbol of a binary.",
    fields = {
      { "symbol", "string", "Its name." },
      { "start", "integer", "Its address in the binary." },
      { "stop", "integer", "Its end, not included." },
    },
  },

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
