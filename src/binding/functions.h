/*
 * The functions of perflua.core and the methods of a File. Each returns the number of its
 * results, as Lua's C functions do.
 */
#ifndef PERFLUA_BINDING_FUNCTIONS_H
#define PERFLUA_BINDING_FUNCTIONS_H

#include "binding.h"

int pl_open(lua_State *L); /* core.open(path|paths [, options]) -> File | nil, message, code */

/* Methods of a File, and functions that take one. */
int pl_file_thread(lua_State *L);   /* file:thread(tid [, time]) -> table | nil */
int pl_file_threads(lua_State *L);  /* file:threads() -> array of tables */
int pl_file_resolve(lua_State *L);  /* file:resolve(pid, addr [, time]) -> table | nil */
int pl_file_missing(lua_State *L);  /* file:missing() -> array of tables */
int pl_file_history(lua_State *L);  /* file:history(pid, address [, time]) -> array of tables */
int pl_file_binaries(lua_State *L); /* core.list_binaries(file, load) -> array of tables */
int pl_file_fields(lua_State *L);   /* core.fields_of(file, type_id [, event_index]) -> array */
int pl_file_clocks(lua_State *L);   /* core.clocks(file) -> array, by_wall */
int pl_file_members(lua_State *L);  /* core.members("file") -> array of names */
int pl_file_health(lua_State *L);   /* core.health(file) -> table, see health.c */
int pl_file_short_names(lua_State *L); /* core.short_names(file) -> table, see query_report.c */

/* Passes over the records of a File. */
int pl_file_cursor(lua_State *L);   /* core.cursor(file, options) -> cursor */
int pl_file_dispatch(lua_State *L); /* core.dispatch(file, options) */
int pl_file_dump(lua_State *L);	    /* core.dump(file, out, options) */
int pl_file_script(lua_State *L);   /* core.script(file, out, options) */
int pl_file_group(lua_State *L);    /* core.group(file, description) -> groups: query_group.c */
int pl_file_group_threads(lua_State *L); /* core.group_workers(file, description) -> n, why */
int pl_file_loop_threads(lua_State *L);	 /* core.loop_workers(file, options) -> n, why */
int pl_file_count(lua_State *L);	 /* core.count(file) -> table, see query_count.c */

/*
 * core.write_rows(cursor, out, columns, json) -> rows | nil, message, errno;
 * columns {{head =, kind =}, …}: see rows_lines.h
 */
int pl_write_rows(lua_State *L);

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
