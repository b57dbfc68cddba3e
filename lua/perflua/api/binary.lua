-- Binaries of a recording, and what was at an address: see init.lua for the form.

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
}
