/*
 * The functions of perflua.core and the methods of a File. Each returns the number of its
 * results, as Lua's C functions do.
 */
#ifndef PERFLUA_BINDING_FUNCTIONS_H
#define PERFLUA_BINDING_FUNCTIONS_H

#include "binding.h"

int pl_open(lua_State *L); /* core.open(path|paths [, options]) -> File | nil, message, code */

/* Methods of a File, and functions that take one. */
int pl_file_thread(lua_State *L);  /* file:thread(tid [, time]) -> table | nil */
int pl_file_threads(lua_State *L); /* file:threads() -> array of tables */
int pl_file_resolve(lua_State *L); /* file:resolve(pid, addr [, time]) -> table | nil */
int pl_file_missing(lua_State *L); /* file:missing() -> array of tables */
int pl_file_history(lua_State *L); /* file:history(pid, address [, time]) -> array of tables */
int pl_each_binary(lua_State *L);  /* core.each_binary(file, load, fn) */
int pl_file_fields(lua_State *L);  /* core.fields_of(file, type_id [, event_index]) -> array */
int pl_file_clocks(lua_State *L);  /* core.clocks(file) -> array, by_wall */
int pl_file_members(lua_State *L); /* core.members("file") -> array of names */
int pl_file_health(lua_State *L);  /* core.health(file) -> table, see health.c */
int pl_file_short_names(lua_State *L); /* core.short_names(file) -> table, see query/report.c */

/* Passes over the records of a File. */
int pl_file_cursor(lua_State *L);   /* core.cursor(file, options) -> cursor */
int pl_file_dispatch(lua_State *L); /* core.dispatch(file, options) */
int pl_file_dump(lua_State *L);	    /* core.dump(file, out, options) */
int pl_file_script(lua_State *L);   /* core.script(file, out, options) */
int pl_file_group(lua_State *L);    /* core.group(file, description) -> groups: query/group.c */
int pl_file_group_threads(lua_State *L); /* core.group_workers(file, description) -> n, why */
int pl_file_loop_threads(lua_State *L);	 /* core.loop_workers(file, options) -> n, why */
int pl_file_count(lua_State *L);	 /* core.count(file) -> table, see query/count.c */

/*
 * core.write_rows(cursor, out, columns, json) -> rows | nil, message, errno;
 * columns {{head =, kind =}, …}: see rows_lines.h
 */
int pl_write_rows(lua_State *L);
/*
 * core.csv(columns, rows, from, to, spell, options) -> lines of CSV
 *
 * Makes a line of each row rows[from] … rows[to], an array of values. The columns are { kind },
 * kinds of the library; spell(value, kind) returns the text of a value that is no scalar. The
 * options: safe, a ' before texts that a spreadsheet would take for formulas; by_column, `rows`
 * has an array of values for each column, or the one value of all rows.
 */
int pl_csv(lua_State *L);
/*
 * core.sort(lines, columns) -> the lines in order | nil, boolean
 *
 * Sorts tables by their values in one column after another: { place, its key in a line;
 * is_unsigned; descending; by_magnitude }. nil and NaN come last. Equal lines stay in their
 * order. nil, false: interrupted; nil, true: there are values that only Lua can compare.
 */
int pl_sort(lua_State *L);
int pl_gzip(lua_State *L); /* core.gzip(out) -> write, finish: see gzip.c */

/*
 * core.sqlite(cursor, path, options) -> rows, rows set aside | nil, message
 *
 * Writes the rows of a cursor over values to the empty file at `path` as a database, see
 * sqlite/database.h. The options: at, the places of the columns of database.h in a row, from 1
 * on; more, names of further columns; most, the largest period; notes, an array of { name,
 * value }.
 */
int pl_sqlite(lua_State *L);

/*
 * core.interrupted() -> boolean, number | true | nil
 *
 * Says whether the interrupt came, and which part of the recording the last pass had read when
 * that ended it (true: it is not known which; nil: the pass came to its end).
 */
int pl_interrupted(lua_State *L);

/* Queries. */
int pl_query_call(lua_State *L); /* query(nil, control) -> next */
int pl_query(lua_State *L);	 /* core.query(metatable, spec) -> Query */
int pl_query_spec(lua_State *L); /* core.query_spec(query) -> spec */

/* Facts of the format and of perf. */
int pl_script_fields(lua_State *L); /* core.script_fields() -> fields, classes */
int pl_syscall(lua_State *L);	    /* core.syscall(number [, machine]) -> name | nil */
int pl_errno(lua_State *L);	    /* core.errno(number [, machine]) -> name | nil */
int pl_types(lua_State *L);
int pl_views(lua_State *L);
int pl_feature_names(lua_State *L);
int pl_event_members(lua_State *L);
int pl_record_methods(lua_State *L); /* core.record_methods() -> array of names */
int pl_perf_version(lua_State *L);
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
int pl_adjust(lua_State *L);	       /* core.adjust({p …}) -> {p …} */
int pl_binomial_test(lua_State *L);    /* core.binomial_test(k, n, p) -> p */
int pl_student_quantile(lua_State *L); /* core.student_quantile(tail, freedom) -> t */

/* Make the metatables. [-0, +0] */
void pl_file_register(lua_State *L);
void pl_event_register(lua_State *L);
void pl_view_register(lua_State *L);
void pl_args_register(lua_State *L);
void pl_cursor_register(lua_State *L);

#endif
