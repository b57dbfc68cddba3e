/*
 * The functions of perflua.core and the methods of a File. Each returns the number of its
 * results, as Lua's C functions do.
 */
#ifndef PERFLUA_BINDING_FUNCTIONS_H
#define PERFLUA_BINDING_FUNCTIONS_H

#include "binding.h"

int pl_measure(lua_State *L);	  /* core.measure(): see timing.c */
int pl_tell_timing(lua_State *L); /* core.timing([file]) -> table | nil: see timing.c */

int pl_open(lua_State *L); /* core.open(path|paths [, options]) -> File | nil, message, code */

/* Methods of a File, and functions that take one. */
int pl_file_thread(lua_State *L);     /* file:thread(tid [, time]) -> table | nil */
int pl_file_threads(lua_State *L);    /* file:threads() -> array of tables */
int pl_file_read_names(lua_State *L); /* core.read_names(file) */
int pl_file_resolve(lua_State *L);    /* file:resolve(pid, addr [, time]) -> table | nil */
int pl_file_missing(lua_State *L);    /* file:missing() -> array of tables */
int pl_file_history(lua_State *L); /* file:history(pid, address [, time]) -> array of tables */
int pl_file_collect(lua_State *L); /* core.collect(file): see pack.c */
int pl_file_has_source(lua_State *L); /* core.has_source(file) -> boolean */
int pl_file_pack(lua_State *L);	      /* core.pack(file) -> bundle, summary */
int pl_each_binary(lua_State *L);     /* core.each_binary(file, load, fn) */
/*
 * core.function_code(file, dso, address) -> Code | nil, reason, path | nil: of the function at
 * an address in the first binary of that name that has one there; see query/code.c
 */
int pl_function_code(lua_State *L);
int pl_file_fields(lua_State *L); /* core.fields_of(file, type_id [, event_index]) -> array */
int pl_file_data_section(lua_State *L); /* core.data_section(file) -> offset, bytes */
int pl_file_knows_times(lua_State *L);	/* core.knows_times(file) -> boolean */
int pl_file_clocks(lua_State *L);	/* core.clocks(file) -> array, by_wall */
int pl_file_members(lua_State *L);	/* core.members("file") -> array of names */
int pl_file_health(lua_State *L);	/* core.health(file [, finds_names]) -> table */
int pl_file_short_names(lua_State *L);	/* core.short_names(file) -> table, of the
		* binaries whose short name is not the end of their path */

/* Passes over the records of a File. */
int pl_file_cursor(lua_State *L);   /* core.cursor(file, options) -> cursor */
int pl_file_dispatch(lua_State *L); /* core.dispatch(file, options) */
int pl_file_dump(lua_State *L);	    /* core.dump(file, out, options) */
int pl_file_script(lua_State *L);   /* core.script(file, out, options) */
int pl_file_write(lua_State *L);    /* core.write(file, out, options): see write.c */
int pl_file_outline(lua_State *L);  /* core.outline(file, options): see outline.c */
int pl_outline_found(lua_State *L); /* core.outline_found(outline) */
int pl_watch_names(lua_State *L);   /* core.watch_names(file): see system.c */
int pl_push_forks(lua_State *L);    /* core.forks(file) -> { tid, ptid, ppid, … } | nil */
int pl_push_writer(lua_State *L);   /* core.writer(file, path, options): see write_records.c */
int pl_file_describe(lua_State *L); /* core.describe(file, out, options): see describe.c */
int pl_build(lua_State *L);	    /* core.build(from, path, out): see describe.c */
int pl_compress_most(lua_State *L); /* core.compress_most() */
/*
 * core.sharing(file, options) -> what the records that a cursor yields would tell: see
 * query/write.h
 */
int pl_file_sharing(lua_State *L);
/* core.scrub_kinds() -> { { name =, doc =, share =, anonymous = ACTION, can = {} }, … } */
int pl_scrub_kinds(lua_State *L);
int pl_sha256(lua_State *L);	 /* core.sha256(text) -> 32 bytes: scrub.c */
int pl_random_key(lua_State *L); /* core.random_key() -> 32 random bytes: scrub.c */
int pl_file_reads(lua_State *L); /* core.reads(file, path) */
int pl_file_group(lua_State *L); /* core.group(file, description) -> groups: query/group.c */
int pl_open_walk(lua_State *L);	 /* core.walk(file) -> walk, see query/watch.c */
int pl_file_group_threads(lua_State *L); /* core.group_workers(file, description) -> n, why */
int pl_file_loop_threads(lua_State *L);	 /* core.loop_workers(file, options) -> n, why */
/* core.count_workers(file [, is_health]) -> n, why, can_find */
int pl_file_count_threads(lua_State *L);
int pl_file_count(lua_State *L); /* core.count(file [, finds_names]) -> table */

/*
 * core.write_rows(cursor, out, columns [, csv]) -> rows | nil, message, errno;
 * columns {{name =, kind =}, …}; csv { safe =, crlf = }: lines of CSV below the names; default:
 * lines of JSON
 */
int pl_write_rows(lua_State *L);
/*
 * core.expect_work([bytes]) -> bytes that are expected, bytes that are done: says that so many
 * more bytes will be read, of all passes, for the estimate of progress. nil: what was done and
 * expected counts no more.
 */
int pl_expect_work(lua_State *L);
int pl_file_foreign_owner(lua_State *L); /* core.foreign_owner(file): see open.c */
int pl_folded_tree(lua_State *L); /* core.folded_tree(list, options): see query/call_tree.c */
int pl_source(lua_State *L);	  /* core.source(path, file, machine): see source.c */
int pl_share_color(lua_State *L); /* core.share_color(percent) -> SGR parameters | nil */
/* core.fit_columns(widths, least, room): see pr_fit_columns() */
int pl_fit_columns(lua_State *L);
int pl_replace(lua_State *L); /* core.replace(): see replacement.c */

/*
 * core.measure_spans(cursor, format, at, most) -> the least length of the spans that have room
 * in `most` bytes, in ns: 0 if all have, math.maxinteger if not even the longest
 * core.write_spans(cursor, format, at, most, out, title, start | nil, least | nil)
 * -> spans, shorter ones, their length | false | nil, message, errno
 *
 * Writes the rows of a cursor as spans, but for those shorter than `least`. `at` is an array of
 * the positions of the values of enum pe_span_column in a row, from 1 on; 0: there is no such
 * value. `start` is the time of the first sample. Ends with false once there are more than
 * `most` bytes.
 */
int pl_measure_spans(lua_State *L);
int pl_write_spans(lua_State *L);
/*
 * core.write_sched(cursor, out, events [, release [, arch]]) -> true | nil, message, errno
 *
 * Writes rows { time, cpu, tid, event, argument … } as FtraceEvents. `events` has for each
 * event a table { index, field of an FtraceEvent, field of each argument, or 0 … }. A kernel's
 * release, if given, is written first.
 */
int pl_write_sched(lua_State *L);

/*
 * core.sqlite(cursor, path, options) -> rows, rows set aside | nil, message [, code]
 *
 * Writes the rows of a cursor over values to the empty or new file at `path` as a database, see
 * sqlite/database.h. The options: at, the places of the columns of database.h in a row, from 1
 * on; more, names of further columns; most, the largest period; notes, an array of { name,
 * value }. An error of the file has a code: "ENOSPC" or "EIO".
 */
int pl_sqlite(lua_State *L);

/*
 * core.interrupted() -> boolean, number | true | nil, true | nil
 *
 * Says whether the interrupt came; which part of the recording the last pass had read when that
 * ended it (true: it is not known which; nil: the pass came to its end, and had its names); and
 * whether it lacks names.
 */
int pl_interrupted(lua_State *L);

/* Queries. */
int pl_query_call(lua_State *L); /* query(nil, control) -> next */
int pl_query(lua_State *L);	 /* core.query(metatable, spec) -> Query */
int pl_query_spec(lua_State *L); /* core.query_spec(query) -> spec */

/* Facts of the format and of perf. */
int pl_script_fields(lua_State *L); /* core.script_fields() -> fields, classes */
int pl_types(lua_State *L);
int pl_views(lua_State *L);
int pl_feature_names(lua_State *L);
int pl_event_members(lua_State *L);
int pl_record_methods(lua_State *L); /* core.record_methods() -> array of names */
int pl_perf_version(lua_State *L);
int pl_set_chain_options(lua_State *L);
int pl_perf_differences(lua_State *L);
int pl_processors(lua_State *L); /* core.processors() -> integer: how many perflua may use */

/*
 * Statistics (src/stats).
 *
 * core.bootstrap({n =, shared = {number …} | nil, own = boolean}, rows, seed) -> errors,
 * freedom: an array each, by row; a row is {slice, value, under, slice, value, under …}, slices
 * from 1 on
 */
int pl_bootstrap(lua_State *L);
/* core.compare(before, error, freedom, after, error, freedom, confidence) -> low, high, p */
int pl_compare(lua_State *L);
/* core.compare_quantiles({value, count …}, {value, count …}, q, confidence) -> low, high, p */
int pl_compare_quantiles(lua_State *L);
/* core.shrink(squares, freedom, prior) -> factor, freedom */
int pl_shrink(lua_State *L);
int pl_adjust(lua_State *L);	       /* core.adjust({p …}) -> {p …} */
int pl_binomial_test(lua_State *L);    /* core.binomial_test(k, n, p) -> p */
int pl_student_quantile(lua_State *L); /* core.student_quantile(tail, freedom) -> t */

/* Make the metatables. [-0, +0] */
void pl_file_register(lua_State *L);
void pl_event_register(lua_State *L);
void pl_view_register(lua_State *L);
void pl_args_register(lua_State *L);
void pl_cursor_register(lua_State *L);

/* Results: see query/result.h. */

/* core.result(shape) -> an empty result */
int pl_result_create(lua_State *L);
/*
 * core.result_add(result, other, sections | nil) -> result | nil, the name of the fault
 * with a sum. Adds all groups of another result of its shape; those of section s become groups
 * of section sections[s].
 */
int pl_result_add(lua_State *L);
/*
 * core.result_put(result, groups) -> result | nil, the name of the fault with a sum. Adds
 * an array of groups, as core.result_groups() returns it.
 */
int pl_result_put(lua_State *L);
/*
 * core.result_tree(result, options) -> Node: the root of a tree of its stacks. Options: {by =
 * "symbol", "srcline", "address" or "dso", from_callee = boolean, key = number of the key with
 * the stacks, weight = number of a measure, count = that of a count | nil, section | nil}
 */
int pl_result_tree(lua_State *L);
/*
 * core.result_places(result, places, other): makes sections, which are the indexes of events,
 * places: section s becomes places[s], or `other`.
 */
int pl_result_places(lua_State *L);
/*
 * core.result_range(result, key) -> the least and the greatest value of a key; nothing if one
 * is not an integer
 */
int pl_result_range(lua_State *L);
/*
 * core.result_groups(result) -> array of { event = section, keys = {…}, state, state … },
 * states as pl_push_state() pushes them (query/result.h)
 */
int pl_result_groups(lua_State *L);

/* core.measures() -> rows by name, with what Lua needs of them (struct pq_measure_row) */
int pl_measures(lua_State *L);
/* core.bucket_middle(kind, bucket) -> the middle of a quantile's bucket */
int pl_bucket_middle(lua_State *L);
/* core.power_bucket(integer) -> its bucket in a histogram */
int pl_power_bucket(lua_State *L);
/* core.histogram(counts by bucket) -> array of { from, to, count } */
int pl_histogram(lua_State *L);

/*
 * core.result_save(result, write, head): writes it as a line (result/saved.h), after a text of
 * the caller's
 */
int pl_result_save(lua_State *L);
/*
 * core.result_load(head, line, at, shape, sections) -> result | nil, byte, expected: reads such
 * a line from byte `at` on, which is after the head
 */
int pl_result_load(lua_State *L);
/*
 * Comparisons (src/compare): see query/compare.c.
 *
 * core.comparison { keys, measures, per = "run"|"share"|"second"|"event", quantile, before =
 * number of runs, after = number of runs, symbol = key | nil, binary = key | nil, matched = {
 * boolean … }, match_stacks, match = function(text, key, is_stack) -> text } -> comparison
 */
int pl_comparison(lua_State *L);
/*
 * core.comparison_add(comparison, result, run) -> true | nil, the name of the fault with a
 * sum. run: { side = "before"|"after", number, count = measure | nil, kernel = sum | nil,
 * seconds, events = { section → event }, slices = { key, least, joined, n, offset } | nil,
 * naming = { own, other, build_id = key } | nil, is_taken: the result is freed }
 */
int pl_comparison_add(lua_State *L);
/*
 * core.comparison_divide(comparison, result, run) -> the sum of the result, which has no keys
 * but slices: the run's rows are divided by it
 */
int pl_comparison_divide(lua_State *L);
/* core.comparison_divide_by(comparison, side, run, event, sum, is_first): by a sum */
int pl_comparison_divide_by(lua_State *L);
/* core.comparison_events(comparison) -> array of { before = { samples, unnamed }, after } */
int pl_comparison_events(lua_State *L);
/*
 * core.comparison_stacks(comparison, path, event, options) -> tree
 *
 * Replaces the rows, which are judged, by beginnings of stacks. path(keys, n) returns the path
 * of a row. The tree is that of the rows of the event, as core.folded_tree() makes it with the
 * options; its `nodes` are the keys of rows.
 */
int pl_comparison_stacks(lua_State *L);
/*
 * core.comparison_judge(comparison, { method = "none"|"runs"|"slices"|"order", confidence,
 * family = key | nil, only = boolean | nil, priors = { idle = { program = { dispersion, drift,
 * freedom }, kernel }, loaded }, sampled = { boolean … } of events, file: its workers judge |
 * nil: one does }) -> number of rows that were tested, the load under which runs vary so;
 * "none" needs no priors
 */
int pl_comparison_judge(lua_State *L);
/*
 * core.comparison_rows(comparison, verdict | nil, most | nil, least | nil) -> array of { event,
 * keys, before = { value, error, n, samples }, after = …, samples, delta, low, high, freedom
 * (nil: each side has its own), counting, verdict, words }: all, or the first ones of a
 * verdict; without those that are less than `least` on both sides together
 */
int pl_comparison_rows(lua_State *L);
/*
 * core.comparison_kinds(comparison) -> the kinds of values, of delta, of bounds
 * core.comparison_result(comparison, { section of event … }) -> result
 */
int pl_comparison_kinds(lua_State *L);
int pl_comparison_result(lua_State *L);
/*
 * core.binaries({ result, file, build_id = key, symbol = key, count = measure } …) -> the
 * binaries of runs: see compare/binaries.h
 * core.binaries_unnamed(binaries, other) -> samples in binaries of both without a function
 */
int pl_binaries(lua_State *L);
int pl_binaries_unnamed(lua_State *L);

/*
 * core.result_view(result, show) -> view | nil, problem, n. show is what presentation.lua
 * makes: { columns = { { name, kind, unit, measured, by_magnitude, key | measure | node |
 * running, option } … }, conditions = { tree … }, by, ascending, top, per, pivot, n_pivot,
 * totals = { { measure, whole, sum } … } | nil }. `#view` is its number of rows.
 */
int pl_result_view(lua_State *L);
/* core.view_row(view, i) -> table of its values by column, section */
int pl_view_row(lua_State *L);
/*
 * core.report_lines(view, from, to, columns [, out [, graph]]): without `out` raises `room` of
 * the columns to the widths of their cells; with it, a file, writes lines of that width, and
 * returns them if it is true. columns.separator stands between cells that are not padded. A
 * column is { shown = "plain" | … of script/report.h, at, beside = places of cells, room,
 * right, last, joined, fixed }. With graph the tree of calls of each row is written below its
 * line: { trees = those of the report, form = "graph" | "fractal" | "flat" | "folded", value =
 * "percent" | "period" | "count", least = share, most = n, skips_top = boolean, total = what
 * shares are of }.
 */
int pl_report_lines(lua_State *L);
/*
 * core.labels({ symbol, binary, text … }, none) -> labels: the texts of functions, and that of
 * others, for a column { shown = "label", labels, binary }
 */
int pl_labels(lua_State *L);
/*
 * core.report_levels(view, columns, measures) -> levels: rows below rows, see script/levels.h,
 * for the columns of core.report_lines(); a measure is { at = place of the cell, room, shown =
 * "share" of `total` | "shares" that are added up | "number", total, joined }.
 */
int pl_report_levels(lua_State *L);
/*
 * core.report_levels_add(levels, view, from, to, columns): adds rows, and raises `room` of the
 * columns
 */
int pl_report_levels_add(lua_State *L);
/*
 * core.report_levels_write(levels, out, how [, view, graph]). how: an array of the numbers of
 * measures that rows are sorted by, with limited = number of a measure, limit = percent of
 * `total` that rows have at least, color = true: shares have the colours of their size. view
 * and graph: as of core.report_lines().
 */
int pl_report_levels_write(lua_State *L);
/* core.view_section(view, i) -> section of row i */
int pl_view_section(lua_State *L);
/*
 * core.view_write(format, out, options, view, from, to) -> rows that were written, or nil,
 * message, errno. Writes rows from … to as "text", "csv" or "json", which is what stands
 * between [ and ], to an open file or a function. Options: events, names by section, which
 * become a column; safe, a ' before texts of CSV that a spreadsheet would take for formulas;
 * crlf, lines of CSV that end with CR LF; no_heads, CSV without names of columns; stops, an
 * interrupt ends it; stack, a function that gives a Stack's JSON.
 */
int pl_view_write(lua_State *L);
/*
 * core.write_table(format, out, options, columns, rows) does the same for rows of Lua values,
 * arrays by the columns { name, kind, unit, measured }. Values that are not scalars are written
 * as tostring() has them, histograms as arrays of { from, to, count }.
 */
int pl_write_table(lua_State *L);

void pl_result_register(lua_State *L);
void pl_node_register(lua_State *L);
void pl_code_register(lua_State *L);

#endif
