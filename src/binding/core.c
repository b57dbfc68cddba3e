/* The module perflua.core, which the Lua library is built on. Scripts use the library. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/columns.h"
#include "base/pattern.h"
#include "disasm/disasm.h"
#include "perfdata/tracepoint/syscalls.h"
#include "functions.h"
#include "names.h"
#include "stack.h"

/*
 * Returns the numbers of the architecture that an argument names; without one, those of this
 * machine, or NULL. Raises if the numbers of that name are not known.
 */
static const struct pd_abi *check_abi(lua_State *L, int arg)
{
	const char *machine = luaL_optstring(L, arg, NULL);
	const struct pd_abi *abi = machine ? pd_abi_find(machine, 0) : pd_abi_of_host();

	if (!abi && machine)
		luaL_argerror(L, arg,
			      lua_pushfstring(L, "the numbers of '%s' are not known", machine));
	return abi;
}

/* core.syscall(number [, machine]) -> name | nil */
static int core_syscall(lua_State *L)
{
	uint64_t number = (uint64_t)luaL_checkinteger(L, 1);

	lua_pushstring(L, pd_syscall_name(check_abi(L, 2), number)); /* NULL becomes nil */
	return 1;
}

/* core.errno(number [, machine]) -> name | nil. Number 2 and -2 have the same name. */
static int core_errno(lua_State *L)
{
	lua_Integer number = luaL_checkinteger(L, 1);
	uint64_t positive = number < 0 ? -(uint64_t)number : (uint64_t)number;

	lua_pushstring(L, pd_errno_name(check_abi(L, 2), positive));
	return 1;
}

/* core.hex(x) -> "0x…": the digits of an integer, which is taken as unsigned */
static int core_hex(lua_State *L)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)luaL_checkinteger(L, 1));
	lua_pushstring(L, text);
	return 1;
}

/* core.columns(text) -> the number of columns that a text takes on a terminal */
static int core_columns(lua_State *L)
{
	size_t n;
	const char *text = luaL_checklstring(L, 1, &n);

	lua_pushinteger(L, (lua_Integer)pb_count_columns(text, n));
	return 1;
}

/* core.shorten(text, columns) -> text of at most so many columns, with … in its middle */
static int core_shorten(lua_State *L)
{
	lua_Integer columns = luaL_checkinteger(L, 2);
	size_t n, head, tail;
	const char *text = luaL_checklstring(L, 1, &n);

	lua_settop(L, 1);
	if (columns > 0 && pb_shorten(text, n, (size_t)columns, &head, &tail)) {
		lua_pushlstring(L, text, head);
		lua_pushliteral(L, "…");
		lua_pushlstring(L, text + n - tail, tail);
		lua_concat(L, 3);
	}
	return 1;
}

/* core.seconds(ns) -> "8590.143543": a time as perf writes it, cut to microseconds */
static int core_seconds(lua_State *L)
{
	uint64_t ns = (uint64_t)luaL_checkinteger(L, 1);
	char text[40];

	snprintf(text, sizeof(text), "%llu.%06llu", (unsigned long long)(ns / 1000000000),
		 (unsigned long long)(ns % 1000000000 / 1000));
	lua_pushstring(L, text);
	return 1;
}

/*
 * core.stat(path) -> "file", size in bytes, time of the last change in s | "directory" |
 * "stream" (read once) | "other" | nil
 */
static int core_stat(lua_State *L)
{
	struct stat st;

	if (stat(luaL_checkstring(L, 1), &st) < 0)
		return 0;
	if (S_ISREG(st.st_mode)) {
		lua_pushliteral(L, "file");
		lua_pushinteger(L, st.st_size);
		lua_pushinteger(L, st.st_mtime);
		return 3;
	}
	if (S_ISDIR(st.st_mode))
		lua_pushliteral(L, "directory");
	else if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode) || S_ISSOCK(st.st_mode))
		lua_pushliteral(L, "stream");
	else
		lua_pushliteral(L, "other");
	return 1;
}

static int pattern_gc(lua_State *L)
{
	struct pb_pattern **pattern = lua_touserdata(L, 1);

	pb_pattern_destroy(*pattern);
	*pattern = NULL;
	return 0;
}

/* match(text) -> boolean; upvalue 1: the pattern */
static int match_pattern(lua_State *L)
{
	struct pb_pattern **pattern = lua_touserdata(L, lua_upvalueindex(1));
	bool matches;
	size_t n;
	const char *text = luaL_checklstring(L, 1, &n);

	if (!pb_pattern_match(*pattern, text, n, &matches))
		return luaL_error(L, "no memory for a text of %I bytes", (lua_Integer)n);
	lua_pushboolean(L, matches);
	return 1;
}

/*
 * core.pattern(text, is_glob) -> function(text) -> boolean | nil, message; a Lua pattern, or a
 * glob: see pattern.h
 */
static int core_pattern(lua_State *L)
{
	size_t n;
	const char *text = luaL_checklstring(L, 1, &n), *wrong;
	struct pb_pattern **pattern = pl_push_finalized(L, sizeof(*pattern), pattern_gc);

	*pattern = pb_pattern_create(text, n, lua_toboolean(L, 2), &wrong);
	if (!*pattern && !wrong)
		return luaL_error(L, "no memory for a pattern of %I bytes", (lua_Integer)n);
	if (!*pattern) {
		lua_pushnil(L);
		lua_pushstring(L, wrong);
		return 2;
	}
	lua_pushcclosure(L, match_pattern, 1);
	return 1;
}

/* core.field_names() -> {name = true}: the names of the fields of all record types */
static int core_field_names(lua_State *L)
{
	const struct pl_names *names = pl_names_get(L);

	lua_createtable(L, 0, (int)names->names.n);
	for (unsigned id = 1; id <= names->names.n; id++) {
		lua_pushboolean(L, 1);
		lua_setfield(L, -2, names->names.name[id]);
	}
	return 1;
}

/* core.methods("file") -> the table of a File's methods */
static int core_methods(lua_State *L)
{
	luaL_argcheck(L, strcmp(luaL_checkstring(L, 1), "file") == 0, 1, "no such type");
	lua_getfield(L, LUA_REGISTRYINDEX, PL_FILE_METHODS);
	return 1;
}

/* core.metatable("events") -> the metatable of file.events, for its look-up by name */
static int core_metatable(lua_State *L)
{
	luaL_argcheck(L, strcmp(luaL_checkstring(L, 1), "events") == 0, 1, "no such type");
	luaL_getmetatable(L, PL_EVENTS);
	return 1;
}

__attribute__((visibility("default"))) int luaopen_perflua_core(lua_State *L);

int luaopen_perflua_core(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{ "measure", pl_measure },
		{ "timing", pl_tell_timing },
		{ "open", pl_open },
		{ "cursor", pl_file_cursor },
		{ "dispatch", pl_file_dispatch },
		{ "fields_of", pl_file_fields },
		{ "clocks", pl_file_clocks },
		{ "knows_times", pl_file_knows_times },
		{ "read_names", pl_file_read_names },
		{ "data_section", pl_file_data_section },
		{ "count", pl_file_count },
		{ "count_workers", pl_file_count_threads },
		{ "group", pl_file_group },
		{ "walk", pl_open_walk },
		{ "group_workers", pl_file_group_threads },
		{ "short_names", pl_file_short_names },
		{ "loop_workers", pl_file_loop_threads },
		{ "health", pl_file_health },
		{ "pattern", core_pattern },
		{ "dump", pl_file_dump },
		{ "script", pl_file_script },
		{ "write", pl_file_write },
		{ "outline", pl_file_outline },
		{ "outline_found", pl_outline_found },
		{ "watch_names", pl_watch_names },
		{ "forks", pl_push_forks },
		{ "sharing", pl_file_sharing },
		{ "scrub_kinds", pl_scrub_kinds },
		{ "random_key", pl_random_key },
		{ "sha256", pl_sha256 },
		{ "writer", pl_push_writer },
		{ "describe", pl_file_describe },
		{ "build", pl_build },
		{ "compress_most", pl_compress_most },
		{ "collect", pl_file_collect },
		{ "pack", pl_file_pack },
		{ "has_source", pl_file_has_source },
		{ "reads", pl_file_reads },
		{ "hex", core_hex },
		{ "columns", core_columns },
		{ "shorten", core_shorten },
		{ "seconds", core_seconds },
		{ "share_color", pl_share_color },
		{ "fit_columns", pl_fit_columns },
		{ "stat", core_stat },
		{ "field_names", core_field_names },
		{ "types", pl_types },
		{ "views", pl_views },
		{ "features", pl_feature_names },
		{ "event_members", pl_event_members },
		{ "each_binary", pl_each_binary },
		{ "function_code", pl_function_code },
		{ "labels", pl_labels },
		{ "members", pl_file_members },
		{ "record_methods", pl_record_methods },
		{ "methods", core_methods },
		{ "metatable", core_metatable },
		{ "query", pl_query },
		{ "query_spec", pl_query_spec },
		{ "query_call", pl_query_call },
		{ "script_fields", pl_script_fields },
		{ "perf_version", pl_perf_version },
		{ "set_chain_options", pl_set_chain_options },
		{ "perf_differences", pl_perf_differences },
		{ "syscall", core_syscall },
		{ "errno", core_errno },
		{ "processors", pl_processors },
		{ "result", pl_result_create },
		{ "result_add", pl_result_add },
		{ "result_put", pl_result_put },
		{ "result_places", pl_result_places },
		{ "result_groups", pl_result_groups },
		{ "measures", pl_measures },
		{ "bucket_middle", pl_bucket_middle },
		{ "power_bucket", pl_power_bucket },
		{ "histogram", pl_histogram },
		{ "result_tree", pl_result_tree },
		{ "result_range", pl_result_range },
		{ "comparison", pl_comparison },
		{ "comparison_add", pl_comparison_add },
		{ "comparison_divide", pl_comparison_divide },
		{ "comparison_divide_by", pl_comparison_divide_by },
		{ "comparison_events", pl_comparison_events },
		{ "comparison_stacks", pl_comparison_stacks },
		{ "comparison_judge", pl_comparison_judge },
		{ "comparison_rows", pl_comparison_rows },
		{ "comparison_kinds", pl_comparison_kinds },
		{ "comparison_result", pl_comparison_result },
		{ "binaries", pl_binaries },
		{ "binaries_unnamed", pl_binaries_unnamed },
		{ "result_save", pl_result_save },
		{ "result_load", pl_result_load },
		{ "result_view", pl_result_view },
		{ "view_row", pl_view_row },
		{ "report_lines", pl_report_lines },
		{ "report_levels", pl_report_levels },
		{ "report_levels_add", pl_report_levels_add },
		{ "report_levels_write", pl_report_levels_write },
		{ "view_section", pl_view_section },
		{ "view_write", pl_view_write },
		{ "folded_tree", pl_folded_tree },
		{ "stacks", pl_stacks },
		{ "stacks_number", pl_stacks_number },
		{ "stacks_frame", pl_stacks_add_frame },
		{ "stacks_add", pl_stacks_add },
		{ "stack_frames", pl_stacks_frames },
		{ "sqlite", pl_sqlite },
		{ "expect_work", pl_expect_work },
		{ "foreign_owner", pl_file_foreign_owner },
		{ "write_rows", pl_write_rows },
		{ "write_table", pl_write_table },
		{ "replace", pl_replace },
		{ "source", pl_source },
		{ "measure_spans", pl_measure_spans },
		{ "write_spans", pl_write_spans },
		{ "write_sched", pl_write_sched },
		{ "interrupted", pl_interrupted },
		{ "bootstrap", pl_bootstrap },
		{ "compare", pl_compare },
		{ "compare_quantiles", pl_compare_quantiles },
		{ "adjust", pl_adjust },
		{ "binomial_test", pl_binomial_test },
		{ "shrink", pl_shrink },
		{ "student_quantile", pl_student_quantile },
		{ NULL, NULL },
	};

	luaL_checkversion(L);
	pl_names_get(L);
	pl_file_register(L);
	pl_event_register(L);
	pl_view_register(L);
	pl_args_register(L);
	pl_cursor_register(L);
	pl_stack_register(L);
	pl_frame_register(L);
	pl_result_register(L);
	pl_node_register(L);
	pl_code_register(L);
	luaL_newlib(L, functions);
	lua_pushstring(L, pd_zstd_version());
	lua_setfield(L, -2, "zstd");
	lua_pushstring(L, ps_elfutils_version());
	lua_setfield(L, -2, "elfutils");
	lua_pushboolean(L, ps_can_demangle());
	lua_setfield(L, -2, "demangles");
	lua_pushstring(L, pi_version());
	lua_setfield(L, -2, "capstone");
	return 1;
}
