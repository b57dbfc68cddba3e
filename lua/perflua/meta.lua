---@meta perflua
-- What editors know of perflua. Made by `make docs` from the tables of the core and
-- those of lua/perflua/api.

---Recordings of Linux perf, asked from Lua: `require "perflua"`, in the interpreter also a
---global.
---@class perflua
---@field version string # The version of perflua.
---@field stop any # A handler that returns this ends the run.
---Values of the options of the script that the interpreter runs, by name.
---@field options table<string, any>
---The functions `pair(query, options)` and `within(query, spans, options)`, which queries have
---as methods.
---@field intervals table
perflua = {}

---Opens a recording, or several as one File whose records carry `source`.
---@param path? string|string[] # A file, a directory, or "-" for standard input. Default:
---"perf.data".
---@param options? perflua.OpenOptions # How to read it.
---@return perflua.File? # The recording; nil if it cannot be read.
---@return string? # The error.
---@return string? # A code such as "ENOENT" or "FORMAT".
---Raises: A path of another type, an empty array, an unknown option or a value that it cannot
---have.
function perflua.open(path, options) end

---Writes an integer as 0x…, without a sign.
---@param x integer # Any integer.
---@return string
---Raises: Anything but an integer.
function perflua.hex(x) end

---Writes a time as perf does: "8590.143543".
---@param ns integer # Nanoseconds.
---@return string
---Raises: Anything but an integer.
function perflua.seconds(ns) end

---Looks up the name of a system call: "openat".
---@param number integer # As recorded.
---@param machine? string # As uname and `file.features.arch` call it: "aarch64". Default: this
---machine.
---@return string? # Nil if it has none.
---Raises: Anything but an integer.
function perflua.syscall(number, machine) end

---Looks up the name of an error: "ENOENT" of 2 and of -2.
---@param number integer # A system call's result or an errno.
---@param machine? string # As uname and `file.features.arch` call it: "aarch64". Default: this
---machine.
---@return string? # Nil if it has none.
---Raises: Anything but an integer.
function perflua.errno(number, machine) end

---Parses the command line of a script that opens recordings itself. --help and mistakes end the
---script, with the options and what is wrong.
---@param options perflua.Option[] # The options that are allowed.
---@param words string[] # The table `arg`, which stays as it is.
---@return table<string, any> # Values by name.
---@return string[] # The other words.
---Raises: A declaration that is wrong; in other hosts also mistakes and --help.
function perflua.parse(options, words) end

---Reads a Table that was saved; several that follow one another are merged.
---@param from file*|string # An open file, a path, or "-" for standard input.
---@return perflua.Table? # Nil if it cannot be read.
---@return string? # The error.
---@return string? # A code such as "ENOENT" or "FORMAT".
---Raises: Anything but a path or an open file.
function perflua.load(from) end

---Compares two recordings, or several runs on each side, by the first measure of the queries.
---@param before perflua.Query|perflua.Table|(perflua.Query|perflua.Table)[] # Grouped queries
---or tables: runs.
---@param after perflua.Query|perflua.Table|(perflua.Query|perflua.Table)[] # The same of the
---other side.
---@param options? perflua.DiffOptions # How to compare.
---@return perflua.Table # The keys and `before`, `after`, `delta`, `low`, `high` (the interval
---of delta), `verdict`; the largest differences first.
---Raises: Tables of different keys or measures, no common event, records without times where
---intervals need them, records on one side only, a measure that cannot be compared.
function perflua.diff(before, after, options) end

---Writes a query's samples in the format of another program: profiles, where they are added up
---by event, thread and call chain, or a row for each.
---@param query perflua.Query # Of samples, without group_by(); as speedscope, firefox,
---perfetto, chrome, csv and jsonl also of spans, as csv and jsonl of items by unnest().
---@param format string # "speedscope", "firefox", "perfetto", "pprof", "callgrind", "folded";
---"folded-diff" with the option `before`; "chrome", trace events; "csv" or "jsonl", whose
---columns are what select() named; "sqlite", to which these are added.
---@param out? file*|string # An open file or a path; of sqlite a path. Default: standard
---output.
---@param options? perflua.ExportOptions # What to write.
---@return table? # `samples`: how many were written, `set_aside`: how many have a period that
---is damage; of profiles and of chrome `notes`: sentences about times that were made coarser, a
---size that browsers do not read, and switches of which only some were recorded; nil if `out`
---cannot be written.
---@return string? # What is wrong.
---@return string? # A code such as "ENOENT" or "FORMAT".
---Raises: An unknown format; records that are no samples, but for csv and jsonl; an option that
---means nothing to the format; in a profile samples without call chain and address, without
---times where the format needs them or `timeline` asks for them, and several events where the
---format has room for one; in a row a view.
function perflua.export(query, format, out, options) end

---Options of `perflua.open(path, options)`.
---@class perflua.OpenOptions
---Workers that read in one pass at most, 1 to 16. Default: one for each processor.
---@field jobs? integer
---Damage raises an error instead of being stepped over. Default: false.
---@field strict? boolean
---Bytes of a stream that may wait for earlier records; at least 65536. In bytes. Default: 256
---MB.
---@field window? integer
---@field as? string # The version of perf whose text is printed: "6.1". Default: the newest.
---@field symfs? string # A directory in which binaries are looked for by their recorded paths.
---@field buildid_dir? string # The build-id cache. Default: ~/.debug.
---@field vmlinux? string # The kernel with its symbols, an ELF file.
---@field kallsyms? string # A copy of /proc/kallsyms.
---@field debuginfod? boolean # Servers named by DEBUGINFOD_URLS are asked. Default: false.
---Binaries of this machine are believed to be the recorded ones also without a build-id.
---Default: false.
---@field any_binary? boolean
---@field demangle? boolean # Names of C++, Rust and OCaml are demangled. Default: true.

---Options of `perflua.diff()`.
---@class perflua.DiffOptions
---@field per? string # "share" of the event's total, "second", or "event:NAME". Default: a run.
---Names of the keys that changed: `{ ["old name"] = "new name" }`.
---@field match? table<string, string>
---@field confidence? number # The confidence of intervals and verdicts. Default: 0.95.

---Options of `perflua.export()`.
---@class perflua.ExportOptions
---@field count? boolean # Count samples instead of adding up their periods. Default: false.
---@field before? perflua.Query # Of folded-diff: the samples to compare with.
---Look up source lines and inlined functions. Default: true for firefox, perfetto, pprof and
---callgrind.
---@field lines? boolean
---Bytes that a profile with times has at most: times are made coarser until it fits. In bytes.
---Default: 100 MB; of perfetto no limit.
---@field max_size? integer
---Keep the time of each sample: speedscope; firefox and perfetto always do. Default: false.
---@field timeline? boolean
---@field title? string # The name of the profile. Default: the recording's path.

---An open recording. It is closed by close(), `local file <close>`, or when it is collected.
---@class perflua.File
---@field path string|string[] # As it was given to open().
---@field size? integer # Its size; nil of a stream. In bytes.
---When it (of several, the first) was last written, as os.time() has it: perf's time of the
---recording; nil of a stream. In s.
---@field captured_on? integer
---"pipe": what `perf record -o -` wrote, also in a file.
---@field mode "file"|"directory"|"pipe"
---@field as string # The version of perf whose text is printed: "7.3".
---@field version integer # The version of the format: 1 is PERFFILE, 2 is PERFILE2.
---@field byte_order "little"|"big" # The byte order of the recorded machine.
---False when it is known that something is missing: cut off, never finished, or in part not
---readable.
---@field complete boolean
---@field damage perflua.Damage[] # Damage that passes have found so far, each position once.
---@field features perflua.Features # The header features, decoded when they are read.
---@field events perflua.Events # The events, by number and by name.
---@field first_time? integer # Time of the first sample; nil without times. In ns.
---@field last_time? integer # Time of the last sample; nil without times. In ns.
---Records that came too late for their place in the order, in the last pass.
---@field out_of_order integer
local File = {}

---Starts a query of the records, as they were recorded.
---@param options? string|perflua.RecordsOptions # A record type's name is short for { type =
---name }.
---@return perflua.Query
---Raises: A closed file, an unknown type, event or option.
function File:records(options) end

---Starts a query of samples, delivered for each counter value that moved.
---@param event? string|perflua.Event|(string|perflua.Event)[]|perflua.RecordsOptions # A name,
---a glob, an Event, several of them, or options without `type`. Default: every event.
---@return perflua.Query
---Raises: A closed file, an unknown event or option.
function File:samples(event) end

---Calls a handler for each record, in the order of time.
---@param handlers perflua.Handlers # Functions by record types and events.
---Raises: A closed file, an unknown key, and any error of a handler.
function File:run(handlers) end

---Looks up the thread that had an id at a time.
---@param tid integer # Id of a thread.
---@param time? integer # A time, in ns. Default: the end of the recording.
---@return perflua.Thread? # Nil if the recording says nothing of it.
---Raises: A closed file.
function File:thread(tid, time) end

---Lists all threads of the recording: of an id that was used again, one for each.
---@return perflua.Thread[]
---Raises: A closed file.
function File:threads() end

---Looks up the thread that ran on a processor at a time, by the switches that were recorded:
---sched:sched_switch, or perf record --switch-events.
---@param cpu integer # Number of a processor.
---@param time integer # A time, in ns.
---@return perflua.Thread? # Nil where the recording does not say which; of a thread that no
---other record names, what the switches say.
---Raises: A closed file, a stream that was read, recordings of several systems.
function File:running(cpu, time) end

---Looks up the map, binary, function and line of an address.
---@param pid integer # Id of a process.
---@param addr integer # An address in it.
---@param time? integer # A time, in ns. Default: the end of the recording.
---@return perflua.Resolved? # Nil if nothing was mapped there.
---Raises: A closed file.
function File:resolve(pid, addr, time) end

---Looks for the symbols of all binaries that were mapped.
---@return perflua.Missing[] # Those that have none.
---@return perflua.Unproven[] # Those that were used so far without a recorded build-id.
---Raises: A closed file.
function File:missing() end

---Lists every binary of the recording, and where its symbols and lines come from.
---@param options? perflua.BinariesOptions # Whose symbols are looked for.
---@return perflua.Binary[] # As they were first mapped.
---Raises: A closed file, an unknown option or a value that it cannot have.
function File:binaries(options) end

---Lists what was at an address over time: one item for each time range, without gaps.
---@param pid? integer # Id of a process; nil: only what the kernel had there.
---@param address integer # An address in it.
---@param time? integer # A time, in ns: only the range with this time.
---@param guest? integer # The pid of a guest: an address of its kernel, or of its process
---`pid`.
---@return perflua.Stay[] # In the order of time.
---@return "kernel"|"user"|"either" # Whose address it is, by itself; either: on machines where
---both have all.
---Raises: A closed file.
function File:history(pid, address, time, guest) end

---Closes the recording, also twice: its records, views and queries raise then; tables, copies
---and collected values stay.
function File:close() end

---Options of `file:records(options)`, and without `type` of `file:samples(options)`.
---@class perflua.RecordsOptions
---Record types by name or number; `"unknown"`: all that have no name here. Default: all.
---@field type? string|integer|(string|integer)[]
---Only records that belong to it: a name, a glob, an Event, or several. Default: all.
---@field event? string|perflua.Event|(string|perflua.Event)[]
---Time order, or the order of the file. Default: "time"; of results that are the same in any
---order "file".
---@field order? "time"|"file"
---The loop hands out one record object again and again: fast; copy() keeps one. Default: false.
---@field reuse? boolean
---@field container? boolean # The container's own records, too. Default: false.
---Samples with counter values are delivered for each value that moved. Default: true for
---samples(), false for records().
---@field expand? boolean

---The events of a recording.
---@class perflua.Events
---@field [integer] perflua.Event # By number, from 1.
---@field [string] perflua.Event # The first of that name; modifiers and PMU may be left away.

---Something wrong with a recording, which was stepped over.
---@class perflua.Damage
---@field path string # The path of the damaged file.
---@field offset integer # Where it is in the file. In bytes.
---@field size integer # Bytes that were stepped over. In bytes.
---@field reason string # Found and expected value.

---A thread of the recorded system.
---@class perflua.Thread
---@field pid integer # Its process.
---@field tid integer # Its id.
---@field comm string # Its name at the time that was asked for, else its last.
---@field start? integer # The time it began; nil if unknown, or before the recording. In ns.
---@field exit? integer # The time it ended; nil if unknown, or after the recording. In ns.
---The recording it is of, from 1, where several are systems of their own.
---@field source? integer
---Maps of its process at the time that was asked for, else at the end.
---@field maps fun(): perflua.View.map[]

---The function, source line and map of an address.
---@class perflua.Resolved
---@field symbol? string # The function.
---@field symoff? integer # Distance of the address from its start. In bytes.
---@field dso string # The binary, as perf names it.
---@field map perflua.View.map # The map that covers the address.
---@field srcline? string # Source file and line.

---A binary whose symbols could not be used.
---@class perflua.Missing
---@field filename string # As it was recorded.
---@field build_id? string # In hex.
---@field reason string # Why its symbols cannot be used.
---@field tried string[] # The paths that were tried, with the result of each.

---A binary that was used for symbols though no build-id proves that it is the recorded one.
---@class perflua.Unproven
---@field filename string # As it was recorded.
---@field path string # The file that was used.

---Options of `file:binaries(options)`.
---@class perflua.BinariesOptions
---Whose symbols are looked for: of binaries that a sample's ip hit; of a stream that was read,
---of all. Default: "hit".
---@field load? "hit"|"all"|"none"

---A binary of the recording. From `symbols` on fields are nil if it is not `loaded`.
---@class perflua.Binary
---@field name string # As `dso` has it.
---@field build_id? string # In hex; nil if it was not recorded.
---@field kind "file"|"kernel"|"module"|"vdso"|"jit"|"bpf"|"memory" # The kind of the binary.
---@field guest? boolean # True of a guest's.
---The recording it is of, from 1, where several are systems of their own.
---@field source? integer
---Samples whose ip lies in it; of two with one name and build-id, of both. Nil: not counted.
---@field samples? integer
---@field loaded boolean # Its symbols were looked for.
---@field symbols? integer # Number of its symbols.
---@field symbol_file? string # The file they were read from.
---Where that file was found: "recorded path", "build-id cache", "debug link" ….
---@field found? string
---The file that was mapped: its program headers place symbols and lines.
---@field mapped_file? string
---The file with its debug information: source lines, inlined functions.
---@field debug_file? string
---@field unproven? boolean # True if no build-id was recorded that proves the file.
---@field reason? string # Why it has no symbols.
---@field tried? perflua.Tried[] # Each file that was looked at, in the order of the search.

---A file that was looked at for symbols.
---@class perflua.Tried
---@field path string # The file.
---@field where? string # Where the path comes from: "build-id cache" ….
---@field verdict string # "has the symbols", or why it was not taken.

---The map and the function at an address in one time range.
---@class perflua.Stay
---@field from? integer # Its start; nil: since before the recording. In ns.
---@field to? integer # Its end, not included; nil: to the recording's end. In ns.
---The recording it is of, from 1, where several are systems of their own.
---@field source? integer
---Name of the map that covered the address; nil: nothing was mapped, and all fields below are
---nil.
---@field map? perflua.View.map
---@field made? integer # When the map was made. In ns.
---@field binary? perflua.Binary # The binary that was mapped.
---In the binary: the offset in the file of a program; the address itself of the kernel.
---@field address? integer
---@field elf_address? integer # As nm and addr2line show it; nil if no file tells.
---@field covered? perflua.Symbol # The symbol that covers it; nil: none does.
---@field before? perflua.Symbol # The last one that begins before the address.
---@field after? perflua.Symbol # The first one that begins after it.
---Inlined functions first, innermost first.
---@field lines? { symbol: string?, srcline: string?, file: string? }[]

---A symbol of a binary.
---@class perflua.Symbol
---@field symbol string # Its name.
---@field start integer # Its address in the binary.
---@field stop integer # Its end, not included.

---A description of the records to read and of the result. Each step makes a new Query; nothing
---is read until it is looped over (`for record in query do`) or asked for a result.
---@overload fun(): perflua.Record
---@class perflua.Query
---@field counts? perflua.PairCounts # Counts of what the last pass could not pair.
local Query = {}

---Keeps the records that pass.
---@param filter string|table<string, any>|fun(record: perflua.Record): any # An expression,
---values by fields, or a function.
---@return perflua.Query
---Raises: A query that is grouped already, a malformed expression, a name that no record of the
---query can have.
function Query:where(filter) end

---Keeps the records of a span of time.
---@param from? integer|string|table[] # Included: ns as recorded, "@8590.143543", "1.5s" after
---the start, "10%", "2026-11-22 07:56:00"; or "10%/2", a slice, or a list of windows { from, to
---}. Default: the start.
---@param to? integer|string # Excluded. Default: the end.
---@return perflua.Query
---Raises: A query that is grouped already, a malformed time or one outside of the recording;
---the time of day of a recording that does not know it.
function Query:between(from, to) end

---Makes loops yield these values instead of records; an absent value is false.
---@param ... string # Fields, or expressions of fields.
---@return perflua.Query
---Raises: A query that is grouped already, a name that no record of the query can have.
function Query:select(...) end

---Makes spans, from a record that opens one to the record that closes it.
---@param options perflua.PairOptions # The records that open and close spans.
---@return perflua.Query # The spans.
---Raises: A query that is grouped already, one that selects fields, is of spans or in file
---order; an unknown name.
function Query:pair(options) end

---Keeps the records, or the spans, inside of spans; the fields of the span around them are
---named `span.FIELD`.
---@param spans perflua.Query # Spans of pair().
---@param options? perflua.WithinOptions # How records and spans meet.
---@return perflua.Query # Whose loops give the record or Span, and that around it.
---Raises: A query that is grouped already, a Query without spans, spans of another File; an
---unknown option.
function Query:within(spans, options) end

---Makes each item of a view a row: frames of a call chain (`frame.symbol`), branches
---(`branch.from`), counter values (`counter.value`), registers (`reg.name`), beside the fields
---of the record or span.
---@param view string # "callchain", "branch_stack", "read", "regs_user", "regs_intr"; of spans
---"open.callchain", "close.callchain" …
---@param options? perflua.UnnestOptions # The choice and the names of items.
---@return perflua.Query # The items.
---Raises: A query that is grouped already, one that selects fields, is of records inside of
---spans or of items already; a view that no record has.
function Query:unnest(view, options) end

---Puts records with the same values together; groups of samples are split by event.
---@param ... string|table<string, fun(record: perflua.Record): any> # Fields, expressions such
---as "bucket(time, '10ms')", "callchain" (a Stack), or functions by their columns' names.
---@return perflua.Query
---Raises: A query that is grouped already, a call without a key, two columns of one name, a
---view, a function that returns a table, a function or another object, a name that no record of
---the query can have.
function Query:group_by(...) end

---Puts samples of all events into the same groups.
---@return perflua.Query
function Query:all_events() end

---Names the last key or measure.
---@param name string # Name of its column.
---@return perflua.Query
---Raises: A query without group_by, two columns of one name.
function Query:as(name) end

---Counts records.
---After group_by a column `count`: Counts the records of each group.
---@return perflua.Query|integer
function Query:count() end

---The sum of a field.
---After group_by a column `FIELD`: The sum of each group.
---@param field string # A field, or an expression of fields.
---@return perflua.Query|number
---Raises: A sum above 2^63-1; a name that no record of the query can have.
function Query:sum(field) end

---The average of a field; nil without values.
---After group_by a column `avg_FIELD`: The average of each group.
---@param field string # A field, or an expression of fields.
---@return perflua.Query|number?
---Raises: A name that no record of the query can have, or whose values it cannot measure.
function Query:avg(field) end

---The least value; nil without values.
---After group_by a column `min_FIELD`: The least value of each group.
---@param field string # A field, or an expression of fields.
---@return perflua.Query|any
---Raises: A name that no record of the query can have, or whose values it cannot measure.
function Query:min(field) end

---The greatest value; nil without values.
---After group_by a column `max_FIELD`: The greatest value of each group.
---@param field string # A field, or an expression of fields.
---@return perflua.Query|any
---Raises: A name that no record of the query can have, or whose values it cannot measure.
function Query:max(field) end

---The value below or at which the share `q` of all lies, within 1 %.
---After group_by a column `quantile_FIELD`: That value of each group.
---@param field string # A field, or an expression of fields.
---@param q number|number[] # From 0 to 1; several are columns p50_FIELD, p99_FIELD …, without
---group_by an array.
---@return perflua.Query|number?
---Raises: A name that no record of the query can have, or whose values it cannot measure.
function Query:quantile(field, q) end

---The values counted by powers of two.
---After group_by a column `hist_FIELD`: The values of each group, counted.
---@param field string # A field, or an expression of fields.
---@return perflua.Query|perflua.HistogramBucket[]
---Raises: A name that no record of the query can have, or whose values it cannot measure.
function Query:hist(field) end

---Counts different values.
---After group_by a column `distinct_FIELD`: Counts the different values of each group.
---@param field string # A field, or an expression of fields.
---@return perflua.Query|integer
---Raises: A name that no record of the query can have, or whose values it cannot measure.
function Query:distinct(field) end

---The first record, row or selected values; nil if there is none.
---After group_by a column `first_FIELD`: The field of the first record of each group; without a
---field the first row.
---@param field? string # A field, after group_by.
---@return perflua.Query|any
---Raises: A name that no record of the query can have, or whose values it cannot measure.
function Query:first(field) end

---The last record, row or selected values; nil if there is none.
---After group_by a column `last_FIELD`: The field of the last record of each group; without a
---field the last row.
---@param field? string # A field, after group_by.
---@return perflua.Query|any
---Raises: A name that no record of the query can have, or whose values it cannot measure.
function Query:last(field) end

---Adds the sum of a field as % of its event's.
---@param field string # A field, or an expression of fields.
---@return perflua.Query
---Raises: A query without group_by, a name that no record of the query can have.
function Query:share(field) end

---Adds the sum of a field over the records of one event, divided by that of another's; groups
---hold all events together then.
---@param over string|perflua.Event # An event.
---@param under string|perflua.Event # An event.
---@param field? string # The field that is added up. Default: "period".
---@return perflua.Query
---Raises: A query without group_by, an event that the query does not read.
function Query:ratio(over, under, field) end

---Weights each record in the last measure by the value of a field: count, avg, quantile or
---hist.
---@param field string # A field, or an expression of fields.
---@return perflua.Query
---Raises: Another measure before it, a weight that is not an integer or below 0.
function Query:weight(field) end

---Calls a function for each record, row, or with the selected values; without one it gives an
---iterator for `for`, which may be nested and lets go when the loop is left.
---@param fn? function # Called for each.
---@return function? # The iterator.
---Raises: A closed file, a second pass over a stream, any error of the function.
function Query:each(fn) end

---Reads all into an array: records, rows, or selected values, those of several fields as
---arrays.
---@return any[]
---Raises: A closed file, a second pass over a stream.
function Query:collect() end

---Reads, and shows all rows, in the order of the first measure unless a step says more.
---tostring() of a grouped query gives its text, made once; over a stream or a closed file it
---reads nothing.
---@return perflua.Table
---Raises: A query without group_by, and any error while reading.
function Query:table() end

---Says what is read and in which order, by how many workers, and where each step runs. Reads
---nothing.
---@return string
---Raises: A closed file.
function Query:explain() end

---Reads, and shows the first rows of each event.
---@param n integer # Rows to show.
---@param column? string # A key's, measure's or column's name. Default: the first measure.
---@param options? perflua.TopOptions # The key that rows are counted by.
---@return perflua.Table
---Raises: A query without group_by, an unknown column, or that has no order; an unknown option,
---and any error while reading.
function Query:top(n, column, options) end

---Reads, and shows all rows in order.
---@param column? string # A key's, measure's or column's name. Default: the first measure.
---@param direction? "asc"|"desc" # Which come first. Default: "desc".
---@return perflua.Table
---Raises: A query without group_by, an unknown column, or that has no order, and any error
---while reading.
function Query:sort(column, direction) end

---Shows the rows for which a condition is true.
---@param condition string # Expression of columns, as in filters: "period / count", "['a/b'] >
---2".
---@return perflua.Query
---Raises: A query without group_by, an unknown column, an expression that is not a condition.
function Query:having(condition) end

---Adds a column that is computed of others.
---@param name string # Name of the new column.
---@param expression string # Expression of columns, as in filters: "period / count", "['a/b'] >
---2".
---@return perflua.Query
---Raises: A query without group_by, an unknown column, or is a histogram; two columns of one
---name.
function Query:column(name, expression) end

---Adds the column `running_COLUMN`: the sum of a measure over the rows that are shown, from the
---first one of the event to each.
---@param column string # A measure.
---@return perflua.Query
---Raises: A query without group_by, an unknown column, or whose values do not add up.
function Query:running(column) end

---Turns the values of a key into columns: `row.pivot[value]` is the measure for that value,
---`row.other` that for all values without a column.
---@param key string # A key.
---@param n? integer # How many values, the greatest of each event. Default: all.
---@return perflua.Query
---Raises: A query without group_by, an unknown key, more than 1000 values without `n`.
function Query:pivot(key, n) end

---Shows a column's numbers with a unit in text; CSV and JSON have them plain.
---@param unit "duration"|"bytes"|"si" # Ns us ms s, of nanoseconds; B KiB MiB …; k M G …
---@param column? string # Its name. Default: the last one; of several quantiles all.
---@return perflua.Query
---Raises: A query without group_by, an unknown column, or is not of numbers; another unit.
function Query:unit(unit, column) end

---Options of `query:pair(options)`.
---@class perflua.PairOptions
---The records that open a span.
---@field open string|perflua.Event|(string|perflua.Event)[]|perflua.PairSide|fun(record:
---perflua.Record): any
---The records that close it.
---@field close string|perflua.Event|(string|perflua.Event)[]|perflua.PairSide|fun(record:
---perflua.Record): any
---The fields that both have in common; { open =, close = } where they are called differently;
---false: none, so that one span at a time is open in the whole recording. Default: "tid".
---@field key? string|string[]|table<string, any>|false
---Spans that are looped over have tables of these fields instead of records: faster.
---@field fields? string[]

---Records that open or close a span, in `open` and `close` of pair().
---@class perflua.PairSide
---@field event? string|perflua.Event|(string|perflua.Event)[] # Their event.
---@field type? string # Their record type.
---A filter, as where() takes it.
---@field where? string|table<string, any>|fun(record: perflua.Record): any

---Options of `query:within(spans, options)`.
---@class perflua.WithinOptions
---The fields of a record, or of a span inside, that are the key of the spans around. Default:
---those of the spans, if both ends have the same, else "tid".
---@field key? string|string[]
---Records wait for the end of their span, and those of spans without an end are left out.
---Default: true if the end is asked for.
---@field closed? boolean

---Options of `query:unnest(view, options)`.
---@class perflua.UnnestOptions
---Prefix of the names of an item's members. Default: "frame", "branch", "counter" or "reg".
---@field as? string
---A field or an expression: of the rows of a record, or span, the first with each value is
---kept.
---@field once? string
---Of callchain: inlined functions are rows, before the frame whose code they are. Default:
---false.
---@field inline? boolean

---A span of time, as loops over pair() give it.
---@class perflua.Span
---@field start integer # When it began. In ns.
---@field stop? integer # When it ended; nil: it has not ended yet. In ns.
---Time from the opening to the closing record; nil: it has not ended yet. In ns.
---@field duration? integer
---@field key any # Value that both records share; an array if the key has several fields.
---@field open perflua.Record|table<string, any> # The record that opened it.
---The record that closed it; nil: it has not ended yet.
---@field close? perflua.Record|table<string, any>

---Counts of a pass over spans.
---@class perflua.PairCounts
---@field pairs integer # Spans that were opened and closed.
---@field unopened integer # Records that closed a span which none opened.
---@field unclosed integer # Spans that were still open at the end.
---@field restarted integer # Spans that were dropped, opened once more before a close.
---@field lost integer # Spans that were dropped, as records were lost.
---@field unkeyed integer # Records without a key or time.

---Values from one power of two to the next.
---@class perflua.HistogramBucket
---@field from number # Included.
---@field to number # Excluded.
---@field count integer # Number of values.

---The groups of a query as rows: `table[i]`, `#table`; tostring() gives aligned text. All
---groups are kept, whatever is shown.
---@class perflua.Table
---@field counts? perflua.PairCounts # For spans: counts of records that could not be paired.
---A row that is shown, by its columns' names; `row.event` is the event's name.
---@field [integer] table<string, any>
---@operator len: integer
local Table = {}

---Walks over the rows that are shown.
---@return (fun(): table<string, any>?) # An iterator.
function Table:rows() end

---Writes the rows that are shown as CSV.
---@param out? file*|string # An open file or a path. Default: standard output.
---@param options? perflua.CsvOptions # How to write cells.
---@return true? # Nil if it could not be written.
---@return string? # The error.
---@return string? # A code such as "ENOENT".
function Table:csv(out, options) end

---Writes the rows that are shown as JSON.
---@param out? file*|string # An open file or a path. Default: standard output.
---@return true? # Nil if it could not be written.
---@return string? # The error.
---@return string? # A code such as "ENOENT".
function Table:json(out) end

---Puts the groups of both together.
---@param other perflua.Table # A table with the same keys and measures.
---@return perflua.Table # A new one.
---Raises: A table of other keys or measures.
function Table:merge(other) end

---Writes all groups as one line of text, for perflua.load and perflua reduce.
---@param out file*|string # An open file, a path, or "-" for standard output.
---@return true? # Nil if it could not be written.
---@return string? # The error.
---@return string? # A code such as "ENOENT".
---Raises: Columns that a Lua function makes.
function Table:save(out) end

---Shows the first rows of each event.
---@param n integer # Rows to show.
---@param column? string # A key's, measure's or column's name. Default: the first measure.
---@param options? perflua.TopOptions # The key that rows are counted by.
---@return perflua.Table # A new one of the same groups.
---Raises: An unknown column, or that has no order; an unknown option.
function Table:top(n, column, options) end

---Shows all rows in order.
---@param column? string # A key's, measure's or column's name. Default: the first measure.
---@param direction? "asc"|"desc" # Which come first. Default: "desc".
---@return perflua.Table # A new one of the same groups.
---Raises: An unknown column, or that has no order.
function Table:sort(column, direction) end

---Shows the rows for which a condition is true.
---@param condition string # Expression of columns, as in filters: "period / count", "['a/b'] >
---2".
---@return perflua.Table # A new one of the same groups.
---Raises: An unknown column, an expression that is not a condition.
function Table:having(condition) end

---Adds a column that is computed of others.
---@param name string # Name of the new column.
---@param expression string # Expression of columns, as in filters: "period / count", "['a/b'] >
---2".
---@return perflua.Table # A new one of the same groups.
---Raises: An unknown column, or is a histogram; two columns of one name.
function Table:column(name, expression) end

---Adds the column `running_COLUMN`: the sum of a measure over the rows that are shown, from the
---first one of the event to each.
---@param column string # A measure.
---@return perflua.Table # A new one of the same groups.
---Raises: An unknown column, or whose values do not add up.
function Table:running(column) end

---Turns the values of a key into columns: `row.pivot[value]` is the measure for that value,
---`row.other` that for all values without a column.
---@param key string # A key.
---@param n? integer # How many values, the greatest of each event. Default: all.
---@return perflua.Table # A new one of the same groups.
---Raises: An unknown key, more than 1000 values without `n`.
function Table:pivot(key, n) end

---Shows a column's numbers with a unit in text; CSV and JSON have them plain.
---@param unit "duration"|"bytes"|"si" # Ns us ms s, of nanoseconds; B KiB MiB …; k M G …
---@param column? string # Its name. Default: the last one; of several quantiles all.
---@return perflua.Table # A new one of the same groups.
---Raises: An unknown column, or is not of numbers; another unit.
function Table:unit(unit, column) end

---Options of `top(n, column, options)`.
---@class perflua.TopOptions
---A key: the first rows of each of its values, which stand together. Default: the first rows of
---each event.
---@field per? string

---Options of `table:csv(out, options)`.
---@class perflua.CsvOptions
---Cells that a spreadsheet would run (=, +, -, @) begin with an apostrophe. Default: false.
---@field safe? boolean

---A call stack as a value: the key of `group_by("callchain")`. Equal stacks are one object in a
---Table; `==` compares those of different Tables. tostring() is the text of the field `stack`;
---pairs() walks over the frames. It stays when the file is closed.
---@class perflua.Stack
---@field [integer] perflua.Frame # A frame: the innermost is the first; nil beyond the last.
---@operator len: integer

---A frame of a Stack. Frames are equal by `kind`, binary (its build-id, else its name) and
---`address`; in code made at run time also by `symbol`. pairs() walks over what is known
---without a look into the binary.
---@class perflua.Frame
---The address in the first record with the frame; nil if it was loaded from a file.
---@field ip? integer
---In the binary: the offset in the file of a program, the address itself of the kernel; without
---a binary `ip`.
---@field address integer
---@field symbol? string # The function.
---@field symoff? integer # Distance from its start; nil if it was loaded from a file.
---@field dso string # The binary; "[unknown]" if none was mapped there.
---@field build_id? string # Its build-id, hexadecimal.
---"kernel", "user", "jit" (made at run time), "hypervisor", "guest_kernel", "guest_user",
---"unknown".
---@field kind string
---Source file and line: looked up when it is read, which raises once the file is closed; nil if
---it was loaded from a file.
---@field srcline? string
---The functions inlined there, innermost first; as `srcline`.
---@field inlined? { symbol: string?, srcline: string? }[]

---A record, with the fields that every type has. pairs() walks over its fields; tostring() is
---the line that `perflua dump` prints.
---@class perflua.AnyRecord
---@field type string # Name of the record's type; "unknown" if it has none here.
---@field type_id integer # Number of the record's type.
---Byte offset of the record in the file; a decompressed record has that of its compressed
---record.
---@field offset integer
---@field size integer # Bytes of the record, its header included.
---@field misc integer # Flags of the header; their meaning depends on the type.
---Context: "kernel", "user", "hypervisor", "guest_kernel", "guest_user" or "unknown".
---@field cpumode string
---The event that the record belongs to: the one with its id, or the first event if the record
---has no id; nil if no event has that id.
---@field event perflua.Event?
---Byte offset of a decompressed record in the contents of its compressed record.
---@field chunk_offset integer
---Number of the recording among those that were opened together, from 1 on.
---@field source integer
---@field time integer # Nanoseconds of the recording's clock.
---Nanoseconds since the first sample of the recording; in a stream since the first that was
---delivered, nil before it.
---@field elapsed integer?
---Nanoseconds since 1970 UTC; nil if the recording does not relate its clock to that.
---@field wall_time integer?
---@field pid integer # Process id; -1 if it has none any more.
---@field tid integer # Thread id; -1 if it has none any more.
---@field cpu integer # Processor.
---@field id integer # Id of the event.
---@field stream_id integer # Id of the event's instance.
---@field sample_id perflua.View.sample_id? # The trailer as recorded; nil if there is none.
---Name of the thread at that time; a colon and its id if the name is not known.
---@field comm string
local AnyRecord = {}

---The record as it is in the file, its header first.
---@return string
---Raises: A closed file.
function AnyRecord:bytes() end

---Makes a record that stays when the file is closed, and when a reused record moves on.
---@return perflua.Record
---Raises: A closed file.
function AnyRecord:copy() end

---A record with data behind it: `auxtrace` and `tracing_data`.
---@class perflua.PayloadRecord
local PayloadRecord = {}

---Reads the data that lie behind the record.
---@return string
---Raises: A closed file.
function PayloadRecord:data() end

---Handlers of `file:run(handlers)`, and what a script may return. A handler is a function of a
---record, or a list of fields and a function of their values: `{ "pid", "period", fn }`. A
---record goes to one; record types are keys, too.
---@class perflua.Handlers
---@field mmap? (fun(record: perflua.Record.mmap): any)|any[]
---@field lost? (fun(record: perflua.Record.lost): any)|any[]
---@field comm? (fun(record: perflua.Record.comm): any)|any[]
---@field exit? (fun(record: perflua.Record.exit): any)|any[]
---@field throttle? (fun(record: perflua.Record.throttle): any)|any[]
---@field unthrottle? (fun(record: perflua.Record.unthrottle): any)|any[]
---@field fork? (fun(record: perflua.Record.fork): any)|any[]
---@field read? (fun(record: perflua.Record.read): any)|any[]
---@field sample? (fun(record: perflua.Record.sample): any)|any[]
---@field mmap2? (fun(record: perflua.Record.mmap2): any)|any[]
---@field aux? (fun(record: perflua.Record.aux): any)|any[]
---@field itrace_start? (fun(record: perflua.Record.itrace_start): any)|any[]
---@field lost_samples? (fun(record: perflua.Record.lost_samples): any)|any[]
---@field switch? (fun(record: perflua.Record.switch): any)|any[]
---@field switch_cpu_wide? (fun(record: perflua.Record.switch_cpu_wide): any)|any[]
---@field namespaces? (fun(record: perflua.Record.namespaces): any)|any[]
---@field ksymbol? (fun(record: perflua.Record.ksymbol): any)|any[]
---@field bpf_event? (fun(record: perflua.Record.bpf_event): any)|any[]
---@field cgroup? (fun(record: perflua.Record.cgroup): any)|any[]
---@field text_poke? (fun(record: perflua.Record.text_poke): any)|any[]
---@field aux_output_hw_id? (fun(record: perflua.Record.aux_output_hw_id): any)|any[]
---@field callchain_deferred? (fun(record: perflua.Record.callchain_deferred): any)|any[]
---@field header_attr? (fun(record: perflua.Record.header_attr): any)|any[]
---@field event_type? (fun(record: perflua.Record.event_type): any)|any[]
---@field tracing_data? (fun(record: perflua.Record.tracing_data): any)|any[]
---@field build_id? (fun(record: perflua.Record.build_id): any)|any[]
---@field finished_round? (fun(record: perflua.Record.finished_round): any)|any[]
---@field id_index? (fun(record: perflua.Record.id_index): any)|any[]
---@field auxtrace_info? (fun(record: perflua.Record.auxtrace_info): any)|any[]
---@field auxtrace? (fun(record: perflua.Record.auxtrace): any)|any[]
---@field auxtrace_error? (fun(record: perflua.Record.auxtrace_error): any)|any[]
---@field thread_map? (fun(record: perflua.Record.thread_map): any)|any[]
---@field cpu_map? (fun(record: perflua.Record.cpu_map): any)|any[]
---@field stat_config? (fun(record: perflua.Record.stat_config): any)|any[]
---@field stat? (fun(record: perflua.Record.stat): any)|any[]
---@field stat_round? (fun(record: perflua.Record.stat_round): any)|any[]
---@field event_update? (fun(record: perflua.Record.event_update): any)|any[]
---@field time_conv? (fun(record: perflua.Record.time_conv): any)|any[]
---@field header_feature? (fun(record: perflua.Record.header_feature): any)|any[]
---@field compressed? (fun(record: perflua.Record.compressed): any)|any[]
---@field finished_init? (fun(record: perflua.Record.finished_init): any)|any[]
---@field compressed2? (fun(record: perflua.Record.compressed2): any)|any[]
---@field bpf_metadata? (fun(record: perflua.Record.bpf_metadata): any)|any[]
---@field schedstat_cpu? (fun(record: perflua.Record.schedstat_cpu): any)|any[]
---@field schedstat_domain? (fun(record: perflua.Record.schedstat_domain): any)|any[]
---@field begin? (fun(file: perflua.File): any) # Called first, with the file.
---@field finish? (fun(file: perflua.File)) # Called last, with the file.
---Called for the records that no other handler takes.
---@field other? (fun(record: perflua.Record): any)|any[]
---Called with each time at which interval_ms have passed in the recording, or by the clock on
---the wall. In ns.
---@field interval? (fun(time: integer): any)
---@field interval_ms? number # The step of interval. In ms.
---The clock that interval follows: that of the recording, or that on the wall, also while a
---stream brings no records. Then its times are ns since 1970. Default: recorded.
---@field interval_clock? "recorded"|"wall"
---@field meta? perflua.Meta # The script's description of itself.
---@field [string|perflua.Event] function|table # By an event's name or glob, or by an Event.

---A script's description of itself, for `perflua help SCRIPT` and before it is run over a
---recording. Without running the script it is read if it consists of constants. A script that
---opens recordings itself calls `open(path, meta)` of the module `perflua.meta.needs`.
---@class perflua.Meta
---@field description? string # One line.
---Events and fields without which it is not run; { any = { … } }: one of them is enough.
---@field needs? string|(string|table)[]|perflua.Needs
---@field record? string # The command that records them. Default: made from needs.
---Its options: their values are `perflua.options`, and the second argument of its function.
---@field options? perflua.Option[]

---An option of a script: a list of its name, without dashes, and its type. Types are "flag"
---(false or true), "string", "number", "integer", "time" (`1.5s`, `20ms`: an integer of
---nanoseconds), "choice" and "event" (a name or glob that the recordings have). An option of
---one letter has one dash; a long one may be cut short.
---@class perflua.Option
---@field help? string # One line for --help.
---@field default any # Its value where it is not given. Default: nil; of a flag false.
---@field value? string # It stands for the value in help. Default: by type.
---@field choices? string[] # The values of a choice.
---It may be repeated: its value is a list, empty without it. Default: false.
---@field many? boolean
---It is an argument before the recordings, which must be there. Default: false.
---@field positional? boolean

---The field `needs` of a script's meta.
---@class perflua.Needs
---@field events? string|(string|table)[] # Names or globs of events.
---Fields of the samples of these events: "callchain", "args.prev_state".
---@field fields? string|(string|table)[]
---@field any? string[] # In place of a name: one of these is enough.

---An event of a recording.
---@class perflua.Event
---@field name string # Name of the event, as perf has it.
---@field index integer # Number of the event in the file, from 1.
---@field ids any[] # Array of the ids by which samples name this event.
---@field sample_fields any[] # Array of the names of the fields that its samples have.
---@field leader perflua.Event # The leader of its group; itself if it has none.
---@field members any[] # Array of the events of its group, the leader first.
---Array of the numbers of the recordings that have it, as a record's `source`, where several
---are read as one.
---@field sources any[]
---Bytes that the recording has for its attr, which may be more than its `size`.
---@field attr_size integer
---@field unit string # Unit of its counts, such as `msec`, from an event_update that was read.
---@field scale number # Factor of its counts, from an event_update that was read.
---@field system string # Subsystem of a tracepoint, such as `sched`.
---Array of the fields of a tracepoint, `{name, type, kind, offset, size, count, signed,
---dynamic, common}`.
---@field fields any[]
---@field print_fmt string # Format of the text of a tracepoint, as the kernel gives it.
---Position and reason where the `print_fmt` of a tracepoint cannot be read; nil if it can.
---@field print_fmt_error string?
---@field type integer # PMU type: 0 hardware, 1 software, 2 tracepoint …
---@field size integer # Bytes of the attr as the recorder knew it.
---@field config integer # Number by which the PMU knows the event.
---Events from one sample to the next; nil if a frequency was asked for.
---@field sample_period integer?
---Samples per second that were asked for; nil if a period was asked for.
---@field sample_freq integer?
---@field sample_type integer # PERF_SAMPLE_* bits.
---@field read_format integer # PERF_FORMAT_* bits.
---@field disabled boolean # Off until it is enabled.
---@field inherit boolean # Children inherit it.
---@field pinned boolean # Must always be on the PMU.
---@field exclusive boolean # The only group on the PMU.
---@field exclude_user boolean # Does not count in user mode.
---@field exclude_kernel boolean # Does not count in the kernel.
---@field exclude_hv boolean # Does not count in the hypervisor.
---@field exclude_idle boolean # Does not count when idle.
---@field mmap boolean # Records MMAP of code.
---@field comm boolean # Records COMM.
---@field freq boolean # Samples by frequency, not by period.
---@field inherit_stat boolean # Per-task counts.
---@field enable_on_exec boolean # The next exec enables it.
---@field task boolean # Records FORK and EXIT.
---@field watermark boolean # Wakes up by bytes, not by samples.
---@field precise_ip integer # Skid: 0 arbitrary, 1 constant, 2 asked to be 0, 3 is 0.
---@field mmap_data boolean # Records MMAP of data.
---@field sample_id_all boolean # Records that are not samples end with a sample_id.
---@field exclude_host boolean # Does not count on the host.
---@field exclude_guest boolean # Does not count in guests.
---@field exclude_callchain_kernel boolean # Call chains leave the kernel's part out.
---@field exclude_callchain_user boolean # Call chains leave the user's part out.
---@field mmap2 boolean # Records MMAP2 instead of MMAP.
---@field comm_exec boolean # COMM records say if exec() named the thread.
---@field use_clockid boolean # Times are those of the clock `clockid`.
---@field context_switch boolean # Records SWITCH.
---@field write_backward boolean # The ring buffer is written from its end.
---@field namespaces boolean # Records NAMESPACES.
---@field ksymbol boolean # Records KSYMBOL.
---@field bpf_event boolean # Records BPF_EVENT.
---@field aux_output boolean # Its samples go to the AUX area.
---@field cgroup boolean # Records CGROUP.
---@field text_poke boolean # Records TEXT_POKE.
---@field build_id boolean # MMAP2 records carry build-ids.
---@field inherit_thread boolean # Only threads inherit it, not processes.
---@field remove_on_exec boolean # An exec removes it.
---@field sigtrap boolean # Sends SIGTRAP to the task.
---@field defer_callchain boolean # User call chains may come in records of their own.
---@field defer_output boolean # Records CALLCHAIN_DEFERRED.
---Samples from one wake-up to the next; nil if watermark is set.
---@field wakeup_events integer?
---Bytes from one wake-up to the next; nil unless watermark is set.
---@field wakeup_watermark integer?
---Accesses that a breakpoint stops at, added up: 1 read, 2 write, 4 execute.
---@field bp_type integer
---@field bp_addr integer # Address of a breakpoint.
---@field bp_len integer # Length of a breakpoint in bytes.
---@field config1 integer # More of config, as the PMU defines it.
---@field config2 integer # More of config, as the PMU defines it.
---@field branch_sample_type integer # PERF_SAMPLE_BRANCH_* bits.
---User registers in each sample, by the architecture's numbers.
---@field sample_regs_user integer
---@field sample_stack_user integer # Bytes of user stack in each sample.
---@field clockid integer # Clock of the times, if use_clockid is set.
---Interrupted registers in each sample, by the architecture's numbers.
---@field sample_regs_intr integer
---@field aux_watermark integer # Bytes of AUX data from one wake-up to the next.
---@field sample_max_stack integer # Most frames that a call chain has.
---@field aux_sample_size integer # Bytes of AUX data in each sample.
---@field aux_action integer # Its effect on the AUX area.
---@field aux_start_paused boolean # The AUX area starts paused.
---@field aux_pause boolean # An overflow pauses the AUX area.
---@field aux_resume boolean # An overflow resumes the AUX area.
---@field sig_data integer # Value that SIGTRAP gives to the task.
---@field config3 integer # More of config, as the PMU defines it.
---@field config4 integer # More of config, as the PMU defines it.

---@class perflua.Features
---Summary of the tracepoint formats: version, byte order, page size, events per system.
---@field tracing_data any
---@field build_id any # Build-ids of the binaries that samples hit.
---@field hostname any # Name of the recorded machine.
---@field osrelease any # Kernel release of the recorded machine.
---@field version any # Version of the perf that recorded.
---@field arch any # Architecture, as uname -m says it.
---@field nrcpus any # Number of CPUs available and online.
---@field cpudesc any # CPU model as the kernel describes it.
---@field cpuid any # CPU model as numbers; on x86 vendor,family,model,stepping.
---@field total_mem any # Memory of the machine in kB.
---@field cmdline any # Command line of the recorder, perf itself first.
---@field event_desc any # Name, ids and attribute of each event.
---@field cpu_topology any # CPUs that share a socket, die or core, and the ids of each CPU's.
---@field numa_topology any # NUMA nodes: memory in kB and CPUs.
---@field branch_stack any # True: samples have branch stacks.
---@field pmu_mappings any # Names of the PMUs and their attr.type.
---Event groups: name, index of the leader in file.events, number of events.
---@field group_desc any
---@field auxtrace any # Index of the AUXTRACE records: file offset and size.
---@field stat any # True: the file was written by perf stat record.
---CPU caches: level, line size in bytes, sets, ways, type, size, CPUs that share them.
---@field cache any
---@field sample_time any # Time of the first and the last sample, in ns.
---@field mem_topology any # Memory block size in bytes, and the numbers of each node's blocks.
---@field clockid any # Resolution of the clock of the times, in ns.
---@field dir_format any # Version of the directory format.
---@field bpf_prog_info any # BPF programs that were loaded, as bpf_prog_info tells of them.
---@field bpf_btf any # BPF type information, one raw blob per id.
---@field compressed any # How records were compressed: type (1: zstd), level, ratio.
---@field cpu_pmu_caps any # Capabilities of the CPU's PMU.
---@field clock_data any # One moment in ns on the wall clock and on the clock of the times.
---@field hybrid_topology any # CPUs of each core PMU of a hybrid system.
---@field pmu_caps any # Capabilities of each PMU.
---@field cpu_domain_info any # Scheduling domains of each CPU.
---@field e_machine any # Machine and flags of the recorder's ELF header.
---@field cln_size any # Bytes of a cache line.

---The fields of a tracepoint by name; those that all tracepoints have come first.
---@class perflua.View.args
---@field [string] integer
---@operator len: integer

---An event's attribute, by the names of struct perf_event_attr.
---@class perflua.View.attr
---@field type integer # PMU type: 0 hardware, 1 software, 2 tracepoint …
---@field size integer # Bytes of the attr as the recorder knew it.
---@field config integer # Number by which the PMU knows the event.
---Events from one sample to the next; nil if a frequency was asked for.
---@field sample_period integer?
---Samples per second that were asked for; nil if a period was asked for.
---@field sample_freq integer?
---@field sample_type integer # PERF_SAMPLE_* bits.
---@field read_format integer # PERF_FORMAT_* bits.
---@field disabled boolean # Off until it is enabled.
---@field inherit boolean # Children inherit it.
---@field pinned boolean # Must always be on the PMU.
---@field exclusive boolean # The only group on the PMU.
---@field exclude_user boolean # Does not count in user mode.
---@field exclude_kernel boolean # Does not count in the kernel.
---@field exclude_hv boolean # Does not count in the hypervisor.
---@field exclude_idle boolean # Does not count when idle.
---@field mmap boolean # Records MMAP of code.
---@field comm boolean # Records COMM.
---@field freq boolean # Samples by frequency, not by period.
---@field inherit_stat boolean # Per-task counts.
---@field enable_on_exec boolean # The next exec enables it.
---@field task boolean # Records FORK and EXIT.
---@field watermark boolean # Wakes up by bytes, not by samples.
---@field precise_ip integer # Skid: 0 arbitrary, 1 constant, 2 asked to be 0, 3 is 0.
---@field mmap_data boolean # Records MMAP of data.
---@field sample_id_all boolean # Records that are not samples end with a sample_id.
---@field exclude_host boolean # Does not count on the host.
---@field exclude_guest boolean # Does not count in guests.
---@field exclude_callchain_kernel boolean # Call chains leave the kernel's part out.
---@field exclude_callchain_user boolean # Call chains leave the user's part out.
---@field mmap2 boolean # Records MMAP2 instead of MMAP.
---@field comm_exec boolean # COMM records say if exec() named the thread.
---@field use_clockid boolean # Times are those of the clock `clockid`.
---@field context_switch boolean # Records SWITCH.
---@field write_backward boolean # The ring buffer is written from its end.
---@field namespaces boolean # Records NAMESPACES.
---@field ksymbol boolean # Records KSYMBOL.
---@field bpf_event boolean # Records BPF_EVENT.
---@field aux_output boolean # Its samples go to the AUX area.
---@field cgroup boolean # Records CGROUP.
---@field text_poke boolean # Records TEXT_POKE.
---@field build_id boolean # MMAP2 records carry build-ids.
---@field inherit_thread boolean # Only threads inherit it, not processes.
---@field remove_on_exec boolean # An exec removes it.
---@field sigtrap boolean # Sends SIGTRAP to the task.
---@field defer_callchain boolean # User call chains may come in records of their own.
---@field defer_output boolean # Records CALLCHAIN_DEFERRED.
---Samples from one wake-up to the next; nil if watermark is set.
---@field wakeup_events integer?
---Bytes from one wake-up to the next; nil unless watermark is set.
---@field wakeup_watermark integer?
---Accesses that a breakpoint stops at, added up: 1 read, 2 write, 4 execute.
---@field bp_type integer
---@field bp_addr integer # Address of a breakpoint.
---@field bp_len integer # Length of a breakpoint in bytes.
---@field config1 integer # More of config, as the PMU defines it.
---@field config2 integer # More of config, as the PMU defines it.
---@field branch_sample_type integer # PERF_SAMPLE_BRANCH_* bits.
---User registers in each sample, by the architecture's numbers.
---@field sample_regs_user integer
---@field sample_stack_user integer # Bytes of user stack in each sample.
---@field clockid integer # Clock of the times, if use_clockid is set.
---Interrupted registers in each sample, by the architecture's numbers.
---@field sample_regs_intr integer
---@field aux_watermark integer # Bytes of AUX data from one wake-up to the next.
---@field sample_max_stack integer # Most frames that a call chain has.
---@field aux_sample_size integer # Bytes of AUX data in each sample.
---@field aux_action integer # Its effect on the AUX area.
---@field aux_start_paused boolean # The AUX area starts paused.
---@field aux_pause boolean # An overflow pauses the AUX area.
---@field aux_resume boolean # An overflow resumes the AUX area.
---@field sig_data integer # Value that SIGTRAP gives to the task.
---@field config3 integer # More of config, as the PMU defines it.
---@field config4 integer # More of config, as the PMU defines it.
---@operator len: integer

---@class perflua.View.bpf_metadata.item
---@field key string # Name of the program's variable.
---@field value string # Its value as text.

---Metadata that a BPF program carries.
---@class perflua.View.bpf_metadata
---@field [integer] perflua.View.bpf_metadata.item
---@operator len: integer

---@class perflua.View.branch_stack.item
---@field from integer # Address of the branch instruction.
---@field to integer # Address that the branch went to.
---@field mispred boolean # True if the target was predicted wrongly.
---True if the target was predicted rightly; if mispred is false, too, the hardware does not
---tell.
---@field predicted boolean
---@field in_tx boolean # True if the branch ran inside a hardware transaction.
---@field abort boolean # True if the branch was the abort of a hardware transaction.
---@field cycles integer # Cycles since the previous branch; 0 if not measured.
---Kind of branch as perf names it: "COND", "CALL", "RET" …; nil if not recorded.
---@field type string?
---Outcome of speculation: "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH" or "SPEC_CORRECT_PATH";
---nil if not recorded.
---@field spec string?
---Kind of branch when type is "EXTEND_ABI": "FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1"
---…
---@field new_type string
---Privilege that the branch ran with: "user", "kernel" or "hv"; nil if it was not recorded.
---@field priv string?
---True if the branch was not taken, so that `to` is the next instruction.
---@field not_taken boolean
---Occurrences of the group's events since the previous branch, packed as the PMU's
---branch_counter_width says.
---@field counters integer
---@field symbol_from string? # Function at from; nil if it is not known.
---@field symbol_to string? # Function at to; nil if it is not known.
---@field dso_from string # Binary that was mapped at from.
---@field dso_to string # Binary that was mapped at to.

---The latest taken branches, newest first.
---@class perflua.View.branch_stack
---Position of the newest entry in the hardware's own buffer, by which stacks are joined; -1 if
---it is not known.
---@field hw_idx integer
---@field [integer] perflua.View.branch_stack.item
---@operator len: integer

---@class perflua.View.callchain.item
---Address of the instruction in the first frame, return address in the others.
---@field ip integer
---@field cpumode string # Context that the frame ran in: "kernel", "user", "hypervisor" …
---@field symbol string? # Function at ip; nil if it is not known.
---@field symoff integer # Bytes from the start of the function to ip.
---@field dso string # Binary that was mapped at ip, as perf names it.
---@field srcline string? # Source file and line of ip; nil without debug information.
---Array of {symbol, srcline} of the functions inlined at ip, innermost first; nil if there are
---none.
---@field inlined any[]?

---The frames of a call chain, callee first; context markers are consumed.
---@class perflua.View.callchain
---@field ips any[] # The chain as recorded, context markers included.
---Number of the callchain_deferred record that has the user part; nil if none is to come.
---@field cookie integer?
---@field [integer] perflua.View.callchain.item
---@operator len: integer

---Numbers of processors, ascending; -1 stands for any.
---@class perflua.View.cpus
---@field [integer] integer
---@operator len: integer

---A memory access, and the level that served it; as a string, the text of perf script -F
---data_src.
---@class perflua.View.data_src
---@field value integer # All fields as recorded, in one integer.
---@field op string # Kind of access: "LOAD", "STORE", "PFETCH", "EXEC", "N/A".
---@field lvl string # Level that served it, hit or missed, as perf shows it: "L1 hit".
---Level by number alone: "L1" … "L4", "RAM", "PMEM", "CXL" …; nil if none.
---@field lvl_num string?
---@field remote string? # "Remote" when the level is another socket's or core's; else nil.
---Snoop results joined by " or ": "None", "Hit", "Miss", "HitM", "Fwd", "Peer", "N/A".
---@field snoop string
---@field snoopx string? # Extended snoop result alone: "Fwd", "Peer"; nil if none.
---@field lock string # "Yes" if the access was locked, "No" if not, or "N/A".
---@field dtlb string # Data TLB access: "L1 or L2 hit", "Walker miss" …, "N/A".
---@field blk string # Reason why the access was blocked: "Data", "Addr", "N/A".
---@field hops string? # Distance of the level: "core, same node" …; nil if it was not recorded.
---Cache or memory region: "MMIO", "Memory region 0" …; nil if not recorded.
---@field region string?
---@operator len: integer

---@class perflua.View.id_index.item
---@field id integer # Id of an event as samples carry it.
---@field idx integer # Index of the ring buffer that the event was recorded through.
---@field cpu integer # Processor that the event counted on; -1 for any.
---@field tid integer # Thread that the event counted; -1 for any.
---@field machine_pid integer # Process id of the guest's virtual machine; 0 for the host.
---@field vcpu integer # Virtual processor of the guest.

---The event that each id belongs to.
---@class perflua.View.id_index
---@field [integer] perflua.View.id_index.item
---@operator len: integer

---Ids of the event, one for each processor or thread that it was opened on.
---@class perflua.View.ids
---@field [integer] integer
---@operator len: integer

---Addresses as recorded.
---@class perflua.View.ips
---@field [integer] integer
---@operator len: integer

---The mapping that covered an address.
---@class perflua.View.map
---@field start integer # Address of its first byte.
---@field len integer # Its size in bytes.
---@field pgoff integer # Offset in the file; for the kernel the address of its first symbol.
---@field filename string # The path that was mapped, as recorded.
---@field build_id string? # Build-id of the file in hex digits; nil if it is not known.
---@field prot integer? # PROT_…: 1 read, 2 write, 4 execute; nil if it was not recorded.
---@operator len: integer

---@class perflua.View.namespaces.item
---@field dev integer # Device number of the namespace's file.
---@field ino integer # Inode number: the number in "net:[4026531840]".

---Namespaces by name: net, uts, ipc, pid, user, mnt, cgroup.
---@class perflua.View.namespaces
---@field [string] perflua.View.namespaces.item
---@operator len: integer

---Words; their meaning depends on the type of the AUX area.
---@class perflua.View.priv
---@field [integer] integer
---@operator len: integer

---@class perflua.View.read.item
---@field value integer # The counter.
---@field id integer # Id of the event.
---@field lost integer # Samples of the event that were lost so far.
---@field event perflua.Event # The event, found by its id.

---Counter values that were read with the record: the value of one event, or an array of those
---of a group.
---@class perflua.View.read
---@field value integer? # The counter; nil for a group, whose items have their own.
---@field time_enabled integer # Nanoseconds that the event was enabled.
---Nanoseconds that the event was counted; less than time_enabled if it was multiplexed.
---@field time_running integer
---@field id integer? # Id of the event; nil for a group.
---@field lost integer? # Samples of the event that were lost so far; nil for a group.
---@field [integer] perflua.View.read.item
---@operator len: integer

---Registers where the event happened, by name in lower case.
---@class perflua.View.regs_intr
---@field abi integer # Registers of a 32-bit (1) or 64-bit (2) context; 0: none were recorded.
---@field [string] integer
---@operator len: integer

---Registers of the user context, by name in lower case.
---@class perflua.View.regs_user
---@field abi integer # Registers of a 32-bit (1) or 64-bit (2) context; 0: none were recorded.
---@field [string] integer
---@operator len: integer

---The trailer of a record that is not a sample, as recorded.
---@class perflua.View.sample_id
---@field pid integer # Process id; -1 if it has none any more.
---@field tid integer # Thread id; -1 if it has none any more.
---@field time integer # Nanoseconds of the recording's clock.
---@field id integer # Id of the event.
---@field stream_id integer # Id of the event's instance.
---@field cpu integer # Processor.
---Id of the event, at a position that does not depend on its sample_type.
---@field identifier integer
---@operator len: integer

---@class perflua.View.thread_map.item
---@field pid integer # Thread id; -1 stands for all threads.
---@field comm string # Name of the event or thread.

---The threads that were recorded, in the order in which stat records number them.
---@class perflua.View.thread_map
---@field [integer] perflua.View.thread_map.item
---@operator len: integer

---A file or memory was mapped.
---@class perflua.Record.mmap: perflua.AnyRecord
---@field pid integer # Process that has the mapping; -1 for the kernel.
---@field tid integer # Thread that made the mapping.
---@field addr integer # Address of its first byte.
---@field len integer # Its length in bytes.
---@field pgoff integer # Offset in the file, in bytes, that is mapped at addr.
---@field filename string # The file, or a name like "[vdso]" or "//anon".
---@field data boolean # True if the mapping has no right to execute.

---The ring buffer was full, and records were lost.
---@class perflua.Record.lost: perflua.AnyRecord
---@field id integer # Id of the event that noticed.
---Number of records that the ring buffer had no room for since the last such record.
---@field lost integer

---A thread got a name.
---@class perflua.Record.comm: perflua.AnyRecord
---@field pid integer # Process whose thread is named.
---@field tid integer # Thread that is named.
---@field comm string # The new name.
---@field exec boolean # True if exec() named the thread.

---A thread ended.
---@class perflua.Record.exit: perflua.AnyRecord
---@field pid integer # Process of the thread.
---@field ppid integer # Process of the thread's parent.
---@field tid integer # The thread.
---@field ptid integer # The thread's parent.
---@field time integer # Nanoseconds of the recording's clock.

---An event fired so often that it was stopped for a while.
---@class perflua.Record.throttle: perflua.AnyRecord
---@field time integer # Nanoseconds of the recording's clock.
---@field id integer # Id of the event.
---@field stream_id integer # Id of the event's instance.

---A stopped event goes on.
---@class perflua.Record.unthrottle: perflua.AnyRecord
---@field time integer # Nanoseconds of the recording's clock.
---@field id integer # Id of the event.
---@field stream_id integer # Id of the event's instance.

---A thread started.
---@class perflua.Record.fork: perflua.AnyRecord
---@field pid integer # Process of the thread.
---@field ppid integer # Process of the thread's parent.
---@field tid integer # The thread.
---@field ptid integer # The thread's parent.
---@field time integer # Nanoseconds of the recording's clock.
---True if perf wrote the record for a thread that it found, whose mappings follow.
---@field exec boolean

---The counters of a thread at its exit.
---@class perflua.Record.read: perflua.AnyRecord
---@field pid integer # Process that was counted.
---@field tid integer # Thread that was counted.
---@field read perflua.View.read # The counters of the thread at its exit.

---An event happened; the event's sample_type decides which fields a sample has.
---@class perflua.Record.sample: perflua.AnyRecord
---@field ip integer # Address of the instruction.
---@field pid integer # Process id; -1 if it has none any more.
---@field tid integer # Thread id; -1 if it has none any more.
---@field time integer # Nanoseconds of the recording's clock.
---@field addr integer # Address that the event is about: that of the data, of the breakpoint …
---@field id integer # Id of the event.
---@field stream_id integer # Id of the event's instance.
---@field cpu integer # Processor.
---@field socket integer? # Socket of the processor; nil if the recording does not tell.
---Number of events that the sample stands for: the recorded one, else the event's sample_period
---if that is fixed, else 1.
---@field period integer
---@field exact_ip boolean # True if ip is exactly the instruction of the event.
---@field read perflua.View.read # Counters read with the sample.
---@field callchain perflua.View.callchain # The call chain, callee first.
---@field raw string # Raw data; those of a tracepoint are its fields.
---@field branch_stack perflua.View.branch_stack # The latest taken branches, newest first.
---@field regs_user perflua.View.regs_user # Registers of the user context.
---@field stack_user string # The user stack from its pointer on.
---@field weight integer # Cost of the access, mostly its latency in cycles.
---Latency of the instruction in cycles; nil if only one weight is recorded.
---@field ins_lat integer?
---Cycles from the previous instruction's retirement (x86) or of the pipeline stage (powerpc);
---nil if only one weight is recorded.
---@field retire_lat integer?
---@field data_src perflua.View.data_src # Description of the memory access.
---Hardware transaction: 1 elision, 2 transaction, 4 synchronous, 8 asynchronous, 0x10 retry,
---0x20 conflict, 0x40 capacity of writes, 0x80 of reads; from bit 32 on the abort code.
---@field transaction integer
---@field regs_intr perflua.View.regs_intr # Registers where the event happened.
---@field phys_addr integer # Physical address of addr; 0 if it is not known.
---@field cgroup integer # Id of the control group.
---@field cgroup_path string # Path of the control group.
---@field data_page_size integer # Bytes of the page at addr; 0 if unknown.
---@field code_page_size integer # Bytes of the page at ip; 0 if unknown.
---@field aux string # A piece of the AUX area.
---@field symbol string? # Function at ip; nil if it is not known.
---@field symoff integer # Bytes from the start of the function to ip.
---@field dso string # Binary that was mapped at ip, as perf names it.
---@field srcline string? # Source file and line of ip; nil without debug information.
---@field srcfile string? # Source file of ip; nil without debug information.
---@field symbol_size integer # Bytes of the function at ip.
---Bytes that are mapped at ip; of a kernel whose kallsyms was found, those from its first
---symbol to the end of the last one, as in perf report.
---@field dso_size integer
---First function of the call chain, callee first, that is named sys_* or do_page_fault*, as in
---perf report; "[other]" if there is none.
---@field parent string
---@field comm_nodigit string # Name of the thread with <N> for the numbers in it.
---@field map perflua.View.map # The mapping that covered ip then.
---@field symbol_daddr string? # Symbol at addr; nil if it is not known.
---@field dso_daddr string # Binary that was mapped at addr.
---@field stack string # The call chain in one string: functions, caller first, joined by ";".
---The text of stack with _[k] behind the names of kernel frames and _[j] behind those of code
---made at run time, as flame graph tools take it.
---@field annotated_stack string
---The call chain as text, a line for each frame, callee first: level, binary, tab, function; or
---tab, address.
---@field frames string
---Address of ip in its binary, if no function is known there; else nil.
---@field unresolved integer?
---Process id of the guest's virtual machine; nil if the sample is not of a guest.
---@field machine_pid integer?
---@field vcpu integer? # Virtual processor of the guest; nil if the sample is not of a guest.
---@field args perflua.View.args # A tracepoint's fields by name.
---Name of the system call of a sample of raw_syscalls:* or syscalls:*; nil if it has none.
---@field syscall string?
---Name of the error that the system call returned, in samples of sys_exit*; nil if it returned
---none.
---@field errno string?
---@field message string # A tracepoint's formatted text, as perf script shows it.

---A file or memory was mapped; the record identifies the file.
---@class perflua.Record.mmap2: perflua.AnyRecord
---@field pid integer # Process that has the mapping; -1 for the kernel.
---@field tid integer # Thread that made the mapping.
---@field addr integer # Address of its first byte.
---@field len integer # Its length in bytes.
---@field pgoff integer # Offset in the file, in bytes, that is mapped at addr.
---@field maj integer? # Major device number of the file; nil when build_id is recorded.
---@field min integer? # Minor device number of the file; nil when build_id is recorded.
---@field ino integer? # Inode of the file; nil when build_id is recorded.
---@field ino_generation integer? # Generation of the inode; nil when build_id is recorded.
---@field build_id string? # Build-id of the file in hex; nil when its inode is recorded.
---@field prot integer? # Protection: 1 read, 2 write, 4 execute; nil before Linux 3.16.
---@field flags integer? # MAP_* flags: 1 shared, 2 private …; nil before Linux 3.16.
---@field filename string # The file, or a name like "[vdso]" or "//anon".
---@field data boolean # True if the mapping has no right to execute.

---Data came into the AUX area.
---@class perflua.Record.aux: perflua.AnyRecord
---@field aux_offset integer # Offset of the data in the AUX area, in bytes.
---@field aux_size integer # Bytes of data.
---1 truncated, 2 overwritten, 4 has gaps, 8 collided; bits 8 to 15: the PMU's format.
---@field flags integer

---Instruction tracing began.
---@class perflua.Record.itrace_start: perflua.AnyRecord
---@field pid integer # Process that is traced.
---@field tid integer # Thread that is traced.

---Samples were lost.
---@class perflua.Record.lost_samples: perflua.AnyRecord
---@field lost integer # Number of lost samples.
---@field bpf boolean # True if a BPF filter dropped the samples.

---The recorded thread was switched in or out.
---@class perflua.Record.switch: perflua.AnyRecord
---@field out boolean # True if the thread was switched out, false if it was switched in.
---@field preempt boolean # True if the thread was switched out although it could have run on.

---A processor switched from one thread to another.
---@class perflua.Record.switch_cpu_wide: perflua.AnyRecord
---@field next_prev_pid integer # Process of the thread that runs next, or ran before.
---@field next_prev_tid integer # Thread that runs next (out), or ran before (in).
---@field out boolean # True if the thread was switched out, false if it was switched in.
---@field preempt boolean # True if the thread was switched out although it could have run on.

---The namespaces of a thread that starts or changes them.
---@class perflua.Record.namespaces: perflua.AnyRecord
---@field pid integer # Process of the thread.
---@field tid integer # The thread.
---@field namespaces perflua.View.namespaces # The namespaces it is in.

---Code was added to the kernel or removed from it.
---@class perflua.Record.ksymbol: perflua.AnyRecord
---@field addr integer # Address of the code.
---@field len integer # Its length in bytes; 0 if it is not compiled.
---@field ksym_type integer # 1 BPF program, 2 out-of-line code of kprobes or ftrace.
---@field flags integer # 1: the code was removed.
---@field unregister boolean # True if the code was removed, false if it was added.
---@field name string # Name of the symbol.

---A BPF program was loaded or unloaded.
---@class perflua.Record.bpf_event: perflua.AnyRecord
---@field bpf_type integer # 1: a program was loaded, 2: one was unloaded.
---@field flags integer # Not used yet.
---@field prog_id integer # Id of the program.
---@field tag string # Tag of the program: a hash of its instructions, in hex.

---The path of a control group.
---@class perflua.Record.cgroup: perflua.AnyRecord
---@field cgroup_id integer # Id of the group, as samples carry it.
---@field path string # Path of the group from the root of the hierarchy.

---The kernel changed its own code.
---@class perflua.Record.text_poke: perflua.AnyRecord
---@field addr integer # Address of the kernel code that changed.
---@field old_len integer # Bytes of old.
---@field new_len integer # Bytes of new.
---@field old string # The code before.
---@field new string # The code after.

---The number by which the AUX data names an event.
---@class perflua.Record.aux_output_hw_id: perflua.AnyRecord
---@field hw_id integer # The number of the event in the AUX data.

---The user part of earlier samples' call chains.
---@class perflua.Record.callchain_deferred: perflua.AnyRecord
---Number that the samples of the same thread have whose chains this record ends.
---@field cookie integer
---@field ips perflua.View.ips # The user part of their call chains, callee first.

---An event of a stream, as a file has it in its header.
---@class perflua.Record.header_attr: perflua.AnyRecord
---@field attr perflua.View.attr # The event's attribute.
---@field ids perflua.View.ids # The event's ids.

---Name of an event, in recordings of 2012 and before.
---@class perflua.Record.event_type: perflua.AnyRecord
---@field event_id integer # Config of the event.
---@field name string # Name of the event.

---The formats of tracepoints follow the record.
---@class perflua.Record.tracing_data: perflua.AnyRecord, perflua.PayloadRecord
---@field data_size integer # Bytes of tracing data that follow the record.

---Build-id of a file.
---@class perflua.Record.build_id: perflua.AnyRecord
---@field pid integer # Process id of the virtual machine that the file is in; -1 for the host.
---@field build_id string # Build-id of the file in hex.
---@field filename string # The file.

---All ring buffers were read once.
---@class perflua.Record.finished_round: perflua.AnyRecord

---The event that each id belongs to.
---@class perflua.Record.id_index: perflua.AnyRecord
---@field entries perflua.View.id_index # The event that each id belongs to.

---Values that decoding the AUX areas needs.
---@class perflua.Record.auxtrace_info: perflua.AnyRecord
---Kind of trace: 1 Intel PT, 2 Intel BTS, 3 CoreSight ETM, 4 Arm SPE, 5 s390 CPUMSF, 6
---HiSilicon PTT, 7 VPA DTL.
---@field auxtrace_type integer
---@field priv perflua.View.priv # Values that the decoder of that kind needs.

---A piece of an AUX area follows.
---@class perflua.Record.auxtrace: perflua.AnyRecord, perflua.PayloadRecord
---@field data_size integer # Bytes of trace that follow the record.
---@field data_offset integer # Offset of the trace in the AUX area, in bytes.
---@field reference integer # Unique number that keeps overlapping buffers apart.
---@field idx integer # Index of the ring buffer.
---@field tid integer # Thread that is traced; -1 for any.
---@field cpu integer # Processor that is traced; -1 for any.

---An AUX area could not be decoded.
---@class perflua.Record.auxtrace_error: perflua.AnyRecord
---@field error_type integer # 1: decoding instruction trace failed.
---@field code integer # The decoder's own number of the error.
---@field fmt integer # Version of the record: from 1 on it has time, from 2 on guests.
---@field cpu integer # Processor whose trace it was; -1 if unknown.
---@field pid integer # Process whose trace it was; -1 if unknown.
---@field tid integer # Thread whose trace it was; -1 if unknown.
---@field ip integer # Address where decoding stopped.
---@field time integer? # Nanoseconds; nil if not recorded.
---@field msg string # The error as a text.
---@field machine_pid integer? # Process id of the guest's virtual machine; nil if not recorded.
---@field vcpu integer? # Virtual processor of the guest; nil if not recorded.

---The threads that were recorded.
---@class perflua.Record.thread_map: perflua.AnyRecord
---@field threads perflua.View.thread_map # The threads that were recorded.

---The processors that were recorded.
---@class perflua.Record.cpu_map: perflua.AnyRecord
---@field cpus perflua.View.cpus # The processors that were recorded.

---The settings of perf stat.
---@class perflua.Record.stat_config: perflua.AnyRecord
---Mode in which counts are summed up, as the writer numbers it: versions of perf differ.
---@field aggr_mode integer
---@field interval integer # Milliseconds between rounds; 0 for only one.
---@field scale integer # 1: counts of multiplexed events are scaled up.
---@field aggr_level integer # Level of cache that counts are summed up for.

---A count of perf stat.
---@class perflua.Record.stat: perflua.AnyRecord
---@field id integer # Id of the event.
---@field cpu integer # Processor; -1 for any.
---@field thread integer # Number of the thread in the thread_map, from 0.
---@field val integer # The counter.
---@field ena integer # Nanoseconds that the event was enabled.
---@field run integer # Nanoseconds that the event was counted.

---Perf stat read all counters.
---@class perflua.Record.stat_round: perflua.AnyRecord
---@field round_type integer # 0: an interval ended, 1: the last round.
---@field time integer # Nanoseconds since counting began.

---Unit, scale, name or processors of an event.
---@class perflua.Record.event_update: perflua.AnyRecord
---Number of the value that the record has: 0 unit, 1 scale, 2 name, 3 cpus.
---@field update_type integer
---@field id integer # Id of the event.
---@field unit string # Unit of its counts.
---@field scale number # The factor of its counts.
---@field name string # Name of the event or thread.
---@field cpus perflua.View.cpus # The processors that the event is counted on.

---The values that convert cycles to nanoseconds.
---@class perflua.Record.time_conv: perflua.AnyRecord
---@field time_shift integer # Bits to shift right after multiplying.
---@field time_mult integer # Factor from cycles to nanoseconds.
---@field time_zero integer # Nanoseconds when the cycle counter was 0.
---@field time_cycles integer? # Cycles that time_mask counts from; nil in old recordings.
---@field time_mask integer? # Bits of a short cycle counter; nil in old recordings.
---@field cap_user_time_zero boolean? # True if time_zero is valid; nil in old recordings.
---True if the cycle counter is short; nil in old recordings.
---@field cap_user_time_short boolean?

---A header feature of a stream.
---@class perflua.Record.header_feature: perflua.AnyRecord
---@field feature string # Name of the header feature; an unknown one has its number.
---@field value string # Bytes of the header feature.

---Compressed records.
---@class perflua.Record.compressed: perflua.AnyRecord
---@field data_size integer # Bytes of compressed data.

---The end of the records that describe the system before recording.
---@class perflua.Record.finished_init: perflua.AnyRecord

---Compressed records, padded.
---@class perflua.Record.compressed2: perflua.AnyRecord
---@field data_size integer # Bytes of compressed data, without their padding.

---Metadata that a BPF program carries.
---@class perflua.Record.bpf_metadata: perflua.AnyRecord
---@field prog_name string # Name of the BPF program.
---@field entries perflua.View.bpf_metadata # The program's description of itself.

---Scheduler statistics of a processor.
---@class perflua.Record.schedstat_cpu: perflua.AnyRecord
---@field timestamp integer # Time of the reading, in jiffies.
---@field cpu integer # Processor.
---@field version integer # Version of /proc/schedstat.
---@field yld_count integer # Calls of sched_yield().
---@field array_exp integer # Not used any more.
---@field sched_count integer # Calls of schedule().
---@field sched_goidle integer # Calls of schedule() that left the processor idle.
---@field ttwu_count integer # Calls of try_to_wake_up().
---@field ttwu_local integer # Calls of try_to_wake_up() for this processor.
---@field rq_cpu_time integer # Time tasks ran on it, in nanoseconds.
---@field run_delay integer # Time tasks waited to run on it, in nanoseconds.
---@field pcount integer # Time slices run on it.

---Scheduler statistics of a scheduling domain of a processor.
---@class perflua.Record.schedstat_domain: perflua.AnyRecord
---@field timestamp integer # Time of the reading, in jiffies.
---@field cpu integer # Processor.
---@field version integer # Version of /proc/schedstat.
---@field domain integer # Number of the domain, 0 is the innermost.
---@field busy_lb_count integer # Load balancing runs while busy.
---@field busy_lb_balanced integer # Runs while busy that found the load balanced.
---@field busy_lb_failed integer # Runs while busy that failed to move a task.
---@field busy_lb_imbalance integer # Sum of imbalances found while busy; up to version 16.
---Sum of imbalances in load found while busy; from version 17 on.
---@field busy_lb_imbalance_load integer
---Sum of imbalances in utilization found while busy; from version 17 on.
---@field busy_lb_imbalance_util integer
---Sum of imbalances in number of tasks found while busy; from version 17 on.
---@field busy_lb_imbalance_task integer
---Sum of imbalances in misfit tasks found while busy; from version 17 on.
---@field busy_lb_imbalance_misfit integer
---@field busy_lb_gained integer # Tasks pulled while busy.
---Tasks pulled while busy though hot in another processor's cache.
---@field busy_lb_hot_gained integer
---@field busy_lb_nobusyq integer # Runs while busy that found no busier queue.
---@field busy_lb_nobusyg integer # Runs while busy that found no busier group.
---@field idle_lb_count integer # Load balancing runs while idle.
---@field idle_lb_balanced integer # Runs while idle that found the load balanced.
---@field idle_lb_failed integer # Runs while idle that failed to move a task.
---@field idle_lb_imbalance integer # Sum of imbalances found while idle; up to version 16.
---Sum of imbalances in load found while idle; from version 17 on.
---@field idle_lb_imbalance_load integer
---Sum of imbalances in utilization found while idle; from version 17 on.
---@field idle_lb_imbalance_util integer
---Sum of imbalances in number of tasks found while idle; from version 17 on.
---@field idle_lb_imbalance_task integer
---Sum of imbalances in misfit tasks found while idle; from version 17 on.
---@field idle_lb_imbalance_misfit integer
---@field idle_lb_gained integer # Tasks pulled while idle.
---Tasks pulled while idle though hot in another processor's cache.
---@field idle_lb_hot_gained integer
---@field idle_lb_nobusyq integer # Runs while idle that found no busier queue.
---@field idle_lb_nobusyg integer # Runs while idle that found no busier group.
---@field newidle_lb_count integer # Load balancing runs while becoming idle.
---@field newidle_lb_balanced integer # Runs while becoming idle that found the load balanced.
---@field newidle_lb_failed integer # Runs while becoming idle that failed to move a task.
---Sum of imbalances found while becoming idle; up to version 16.
---@field newidle_lb_imbalance integer
---Sum of imbalances in load found while becoming idle; from version 17 on.
---@field newidle_lb_imbalance_load integer
---Sum of imbalances in utilization found while becoming idle; from version 17 on.
---@field newidle_lb_imbalance_util integer
---Sum of imbalances in number of tasks found while becoming idle; from version 17 on.
---@field newidle_lb_imbalance_task integer
---Sum of imbalances in misfit tasks found while becoming idle; from version 17 on.
---@field newidle_lb_imbalance_misfit integer
---@field newidle_lb_gained integer # Tasks pulled while becoming idle.
---Tasks pulled while becoming idle though hot in another processor's cache.
---@field newidle_lb_hot_gained integer
---@field newidle_lb_nobusyq integer # Runs while becoming idle that found no busier queue.
---@field newidle_lb_nobusyg integer # Runs while becoming idle that found no busier group.
---@field alb_count integer # Runs of active load balancing.
---@field alb_failed integer # Runs of active load balancing that failed to move a task.
---@field alb_pushed integer # Tasks moved by active load balancing.
---@field sbe_count integer # Not used any more.
---@field sbe_balanced integer # Not used any more.
---@field sbe_pushed integer # Not used any more.
---@field sbf_count integer # Not used any more.
---@field sbf_balanced integer # Not used any more.
---@field sbf_pushed integer # Not used any more.
---@field ttwu_wake_remote integer # Wakeups of tasks that last ran on another processor.
---@field ttwu_move_affine integer # Wakeups that moved a task as its cache had gone cold.
---@field ttwu_move_balance integer # Wakeups that moved a task to balance load.

---A record of any type: nil is what its type does not have.
---@class perflua.Record: perflua.AnyRecord, perflua.PayloadRecord
---@field addr integer
---@field aggr_level integer
---@field aggr_mode integer
---@field alb_count integer
---@field alb_failed integer
---@field alb_pushed integer
---@field annotated_stack string
---@field args perflua.View.args
---@field array_exp integer
---@field attr perflua.View.attr
---@field aux string
---@field aux_offset integer
---@field aux_size integer
---@field auxtrace_type integer
---@field bpf boolean
---@field bpf_type integer
---@field branch_stack perflua.View.branch_stack
---@field build_id string
---@field busy_lb_balanced integer
---@field busy_lb_count integer
---@field busy_lb_failed integer
---@field busy_lb_gained integer
---@field busy_lb_hot_gained integer
---@field busy_lb_imbalance integer
---@field busy_lb_imbalance_load integer
---@field busy_lb_imbalance_misfit integer
---@field busy_lb_imbalance_task integer
---@field busy_lb_imbalance_util integer
---@field busy_lb_nobusyg integer
---@field busy_lb_nobusyq integer
---@field callchain perflua.View.callchain
---@field cap_user_time_short boolean
---@field cap_user_time_zero boolean
---@field cgroup integer
---@field cgroup_id integer
---@field cgroup_path string
---@field code integer
---@field code_page_size integer
---@field comm string
---@field comm_nodigit string
---@field cookie integer
---@field cpu integer
---@field cpus perflua.View.cpus
---@field data boolean
---@field data_offset integer
---@field data_page_size integer
---@field data_size integer
---@field data_src perflua.View.data_src
---@field domain integer
---@field dso string
---@field dso_daddr string
---@field dso_size integer
---@field ena integer
---@field entries perflua.View.id_index|perflua.View.bpf_metadata
---@field errno string
---@field error_type integer
---@field event_id integer
---@field exact_ip boolean
---@field exec boolean
---@field feature string
---@field filename string
---@field flags integer
---@field fmt integer
---@field frames string
---@field hw_id integer
---@field id integer
---@field idle_lb_balanced integer
---@field idle_lb_count integer
---@field idle_lb_failed integer
---@field idle_lb_gained integer
---@field idle_lb_hot_gained integer
---@field idle_lb_imbalance integer
---@field idle_lb_imbalance_load integer
---@field idle_lb_imbalance_misfit integer
---@field idle_lb_imbalance_task integer
---@field idle_lb_imbalance_util integer
---@field idle_lb_nobusyg integer
---@field idle_lb_nobusyq integer
---@field ids perflua.View.ids
---@field idx integer
---@field ino integer
---@field ino_generation integer
---@field ins_lat integer
---@field interval integer
---@field ip integer
---@field ips perflua.View.ips
---@field ksym_type integer
---@field len integer
---@field lost integer
---@field machine_pid integer
---@field maj integer
---@field map perflua.View.map
---@field message string
---@field min integer
---@field msg string
---@field name string
---@field namespaces perflua.View.namespaces
---@field new string
---@field new_len integer
---@field newidle_lb_balanced integer
---@field newidle_lb_count integer
---@field newidle_lb_failed integer
---@field newidle_lb_gained integer
---@field newidle_lb_hot_gained integer
---@field newidle_lb_imbalance integer
---@field newidle_lb_imbalance_load integer
---@field newidle_lb_imbalance_misfit integer
---@field newidle_lb_imbalance_task integer
---@field newidle_lb_imbalance_util integer
---@field newidle_lb_nobusyg integer
---@field newidle_lb_nobusyq integer
---@field next_prev_pid integer
---@field next_prev_tid integer
---@field old string
---@field old_len integer
---@field out boolean
---@field parent string
---@field path string
---@field pcount integer
---@field period integer
---@field pgoff integer
---@field phys_addr integer
---@field pid integer
---@field ppid integer
---@field preempt boolean
---@field priv perflua.View.priv
---@field prog_id integer
---@field prog_name string
---@field prot integer
---@field ptid integer
---@field raw string
---@field read perflua.View.read
---@field reference integer
---@field regs_intr perflua.View.regs_intr
---@field regs_user perflua.View.regs_user
---@field retire_lat integer
---@field round_type integer
---@field rq_cpu_time integer
---@field run integer
---@field run_delay integer
---@field sbe_balanced integer
---@field sbe_count integer
---@field sbe_pushed integer
---@field sbf_balanced integer
---@field sbf_count integer
---@field sbf_pushed integer
---@field scale integer|number
---@field sched_count integer
---@field sched_goidle integer
---@field socket integer
---@field srcfile string
---@field srcline string
---@field stack string
---@field stack_user string
---@field stream_id integer
---@field symbol string
---@field symbol_daddr string
---@field symbol_size integer
---@field symoff integer
---@field syscall string
---@field tag string
---@field thread integer
---@field threads perflua.View.thread_map
---@field tid integer
---@field time integer
---@field time_cycles integer
---@field time_mask integer
---@field time_mult integer
---@field time_shift integer
---@field time_zero integer
---@field timestamp integer
---@field transaction integer
---@field ttwu_count integer
---@field ttwu_local integer
---@field ttwu_move_affine integer
---@field ttwu_move_balance integer
---@field ttwu_wake_remote integer
---@field unit string
---@field unregister boolean
---@field unresolved integer
---@field update_type integer
---@field val integer
---@field value string
---@field vcpu integer
---@field version integer
---@field weight integer
---@field yld_count integer

return perflua
