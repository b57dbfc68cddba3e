-- Handlers and meta, which a script gives, and the globals that it finds. See init.lua for the
-- form.

return {
  Handlers = {
    name = "Handlers", kind = "options",
    doc = "Handlers of `file:run(handlers)`, and what a script may return. A handler is a "
      .. "function of a record, or a list of fields and a function of their values: `{ "
      .. "\"pid\", \"period\", fn }`. A record goes to one; record types are keys, too.",
    fields = {
      { "begin", "(fun(file: File): any)?", "Called first, with the file." },
      { "finish", "(fun(file: File))?", "Called last, with the file." },
      { "other", "(fun(record: Record): any)|any[]?",
        "Called for the records that no other handler takes." },
      { "interval", "(fun(time: integer): any)?",
        "Called with each time at which interval_ms have passed in the "
        .. "recording, or by the clock on the wall.",
        unit = "ns" },
      { "interval_ms", "number?", "The step of interval.", unit = "ms" },
      { "interval_clock", "\"recorded\"|\"wall\"?",
        "The clock that interval follows: that of the recording, or that on the wall, also "
          .. "while a stream brings no records. Then its times are ns since 1970.",
        default = "recorded" },
      { "meta", "Meta?", "The script's description of itself." },
    },
    index = {
      { "[string|Event]", "function|table", "By an event's name or glob, or by an Event." },
    },
  },

  Meta = {
    name = "Meta", kind = "options",
    doc = "A script's description of itself, for `perflua help SCRIPT` and before it is run "
      .. "over a recording. Without running the script it is read if it consists of constants. "
      .. "A script that opens recordings itself calls `open(path, meta)` "
      .. "of the module `perflua.meta.needs`.",
    fields = {
      { "description", "string?", "One line." },
      { "needs", "string|(string|table)[]|Needs?",
        "Events and fields without which it is not run; { any = { … } }: "
        .. "one of them is enough." },
      { "record", "string?", "The command that records them.", default = "made from needs" },
      { "options", "Option[]?",
        "Its options: their values are `perflua.options`, and the second argument of its "
          .. "function." },
    },
  },

  Option = {
    name = "Option", kind = "options",
    doc = "An option of a script: a list of its name, without dashes, and its type. Types are "
      .. "\"flag\" (false or true), \"string\", \"number\", \"integer\", \"time\" (`1.5s`, "
      .. "`20ms`: an integer of nanoseconds), \"choice\" and \"event\" (a name or glob that "
      .. "the recordings have). An option of one letter has one dash; a long one may be "
      .. "cut short.",
    fields = {
      { "help", "string?", "One line for --help." },
      { "default", "any", "Its value where it is not given.",
        default = "nil; of a flag false" },
      { "value", "string?", "It stands for the value in help.", default = "by type" },
      { "choices", "string[]?", "The values of a choice; of a flag those that may be "
        .. "joined to it: --name=VALUE." },
      { "many", "boolean?", "It may be repeated: its value is a list, empty without it.",
        default = "false" },
      { "positional", "boolean?",
        "It is an argument before the recordings, which must be there.", default = "false" },
    },
  },

  Needs = {
    name = "Needs", kind = "options", doc = "The field `needs` of a script's meta.",
    fields = {
      { "events", "string|(string|table)[]?", "Names or globs of events." },
      { "fields", "string|(string|table)[]?",
        "Fields of the samples of these events: \"callchain\", "
        .. "\"args.prev_state\"." },
      { "any", "string[]?", "In place of a name: one of these is enough." },
    },
  },

  globals = {
    name = "globals", kind = "globals",
    doc = "Globals that scripts of the interpreter find beside those of Lua.",
    fields = {
      { "perflua", "perflua", "The module." },
      { "arg", "string[]",
        "The arguments; the script's path is at 0, the words before it are below." },
      { "file", "File",
        "In statements of -e, and at the prompt: the recordings on the command line, opened "
          .. "when first read.", default = "perf.data" },
      { "help", "fun(about: any)", "At the prompt: explains a method or function, or what has "
        .. "the name." },
    },
  },
}
