/*
 * Tells Lua where the time goes: turns the measuring on, and tells what was measured. The
 * core's long functions become stages by a wrapper, which is put in their place when time is
 * first measured: before that it costs nothing.
 */
#include "timing.h"

#include <string.h>

#include "functions.h"

/* The userdata at PL_TIMING. Its user value is the array of { path, size } of the sessions. */
struct pl_timing {
	struct pb_timing *timing;
	bool is_for_all; /* recordings that are opened without the option are measured, too */
};

#define PL_TIMING     "perflua.timing"
#define PL_TIMING_LAP "perflua.timing.lap"

/* A function that is a stage, and a pass over the File that is its first argument. */
struct timed_function {
	const char *name;
	enum pb_stage stage;
	const char *pass; /* NULL: it belongs to the current pass, or to none */
};

static const struct timed_function timed_functions[] = {
	{ "count", PB_STAGE_COUNTS, "counts of records" },
	{ "health", PB_STAGE_COUNTS, "counts for doctor" },
	{ "group", PB_STAGE_GROUPS, "groups" },
	{ "outline", PB_STAGE_COUNTS, "outline" },
	{ "script", PB_STAGE_TEXT, "lines of samples" },
	{ "dump", PB_STAGE_TEXT, "lines of records" },
	{ "result_view", PB_STAGE_ROWS, NULL },
	{ "result_tree", PB_STAGE_ROWS, NULL },
	{ "folded_tree", PB_STAGE_ROWS, NULL },
	{ "result_add", PB_STAGE_GROUPS, NULL },
	{ "comparison_add", PB_STAGE_GROUPS, NULL },
	{ "comparison_judge", PB_STAGE_ROWS, NULL },
	{ "comparison_rows", PB_STAGE_ROWS, NULL },
	{ "comparison_result", PB_STAGE_ROWS, NULL },
	{ "report_lines", PB_STAGE_TEXT, NULL },
	{ "report_levels_add", PB_STAGE_ROWS, NULL },
	{ "report_levels_write", PB_STAGE_TEXT, NULL },
	{ "view_write", PB_STAGE_TEXT, NULL },
	{ "write_table", PB_STAGE_TEXT, NULL },
	{ "write_rows", PB_STAGE_TEXT, NULL },
	{ "write_spans", PB_STAGE_TEXT, NULL },
	{ "write_sched", PB_STAGE_TEXT, NULL },
	{ "sqlite", PB_STAGE_TEXT, NULL },
	/* of a profile: */
	{ "tree", PB_STAGE_ROWS, NULL },
	{ "write", PB_STAGE_TEXT, NULL },
	{ "fold", PB_STAGE_TEXT, NULL },
	{ NULL, 0, NULL },
};

/* A call of such a function. */
struct timed_call {
	struct pb_lap lap;
	struct pb_pass *pass;
};

static int timed_call_close(lua_State *L)
{
	struct timed_call *call = lua_touserdata(L, 1);

	pb_stage_leave(&call->lap);
	pb_pass_end(call->pass);
	*call = (struct timed_call){ .pass = NULL };
	return 0;
}

/* Begins a call with a File at `file`, if its function is a pass. */
static void begin_timed_call(lua_State *L, struct timed_call *call,
			     const struct timed_function *function, int file)
{
	struct pb_timing *timing = pl_timing(L);
	const struct pl_file *f = function->pass ? luaL_testudata(L, file, PL_FILE) : NULL;
	const struct pd_session *session = f ? f->session : NULL;

	*call = (struct timed_call){ .pass = NULL };
	if (function->pass && !(session && session->timing))
		return;
	if (session)
		call->pass = pb_pass_begin(timing, function->pass, session->number);
	call->lap = pb_stage_enter(timing, call->pass, function->stage);
}

/* (…) -> what the function returns; upvalues: the function, its struct timed_function */
static int call_timed(lua_State *L)
{
	const struct timed_function *function = lua_touserdata(L, lua_upvalueindex(2));
	int n = lua_gettop(L);
	struct timed_call *call;

	luaL_checkstack(L, n + 4, "arguments");
	call = lua_newuserdatauv(L, sizeof(*call), 0);
	*call = (struct timed_call){ .pass = NULL };
	luaL_setmetatable(L, PL_TIMING_LAP);
	lua_insert(L, 1);
	lua_toclose(L, 1); /* so that an error ends the stage, too */
	begin_timed_call(L, call, function, 2);
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 2);
	lua_call(L, n, LUA_MULTRET);
	return lua_gettop(L) - 1;
}

void pl_timing_wrap(lua_State *L)
{
	if (!pl_timing(L))
		return;
	for (const struct timed_function *f = timed_functions; f->name; f++) {
		if (lua_getfield(L, -1, f->name) != LUA_TFUNCTION) {
			lua_pop(L, 1);
			continue;
		}
		lua_pushlightuserdata(L, (void *)(uintptr_t)f);
		lua_pushcclosure(L, call_timed, 2);
		lua_setfield(L, -2, f->name);
	}
}

static struct pl_timing *get_timing(lua_State *L)
{
	struct pl_timing *t;

	lua_getfield(L, LUA_REGISTRYINDEX, PL_TIMING);
	t = lua_touserdata(L, -1);
	lua_pop(L, 1);
	return t;
}

struct pb_timing *pl_timing(lua_State *L)
{
	const struct pl_timing *t = get_timing(L);

	return t ? t->timing : NULL;
}

static int timing_gc(lua_State *L)
{
	struct pl_timing *t = lua_touserdata(L, 1);

	pb_timing_destroy(t->timing);
	t->timing = NULL;
	return 0;
}

/* Returns the state's timing, which it makes. Raises without memory. [-0, +0] */
static struct pl_timing *make_timing(lua_State *L)
{
	struct pl_timing *t = get_timing(L);

	if (t)
		return t;
	t = pl_push_finalized(L, sizeof(*t), timing_gc);
	t->timing = pb_timing_create();
	if (!t->timing)
		luaL_error(L, "no memory for the timing");
	lua_newtable(L);
	lua_setiuservalue(L, -2, 1);
	luaL_newmetatable(L, PL_TIMING_LAP);
	lua_pushcfunction(L, timed_call_close);
	lua_setfield(L, -2, "__close");
	lua_pop(L, 1);
	lua_setfield(L, LUA_REGISTRYINDEX, PL_TIMING);
	luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
	if (lua_getfield(L, -1, "perflua.core") == LUA_TTABLE)
		pl_timing_wrap(L);
	lua_pop(L, 2);
	return t;
}

/* core.measure(): measures all that is done from now on */
int pl_measure(lua_State *L)
{
	make_timing(L)->is_for_all = true;
	return 0;
}

struct pb_timing *pl_timing_of_open(lua_State *L, bool is_asked)
{
	const struct pl_timing *t = is_asked ? make_timing(L) : get_timing(L);

	return t && (is_asked || t->is_for_all) ? t->timing : NULL;
}

void pl_timing_add_session(lua_State *L, int file, struct pb_timing *timing)
{
	const struct pl_file *f = lua_touserdata(L, file);
	lua_Integer number;

	if (!timing)
		return;
	lua_getfield(L, LUA_REGISTRYINDEX, PL_TIMING);
	lua_getiuservalue(L, -1, 1);
	number = (lua_Integer)lua_rawlen(L, -1) + 1;
	lua_createtable(L, 0, 2);
	lua_getfield(L, file, "path");
	lua_setfield(L, -2, "path");
	lua_getfield(L, file, "size");
	lua_setfield(L, -2, "size");
	lua_rawseti(L, -2, number);
	lua_pop(L, 2);
	pd_session_measure(f->session, timing, (unsigned)number);
}

static void push_stages(lua_State *L, const struct pb_pass *pass)
{
	lua_Integer n = 0;

	lua_newtable(L);
	for (size_t i = 0; i < PB_STAGES; i++) {
		const struct pb_stage_time *time = &pass->stages[i];

		if (!time->wall && !time->processor && !time->records && !time->bytes)
			continue;
		lua_createtable(L, 0, 5);
		pl_set_string(L, "name", pb_stage_names[i]);
		pl_set_integer(L, "wall", time->wall);
		pl_set_integer(L, "processor", time->processor);
		if (time->records)
			pl_set_integer(L, "records", time->records);
		if (time->bytes)
			pl_set_integer(L, "bytes", time->bytes);
		lua_rawseti(L, -2, ++n);
	}
}

static void push_passes(lua_State *L, const struct pb_timing_report *report)
{
	lua_createtable(L, (int)report->n, 0);
	for (size_t i = 0; i < report->n; i++) {
		const struct pb_pass *pass = &report->passes[i];

		lua_createtable(L, 0, 5);
		pl_set_string(L, "what", pass->what);
		pl_set_integer(L, "session", pass->session);
		pl_set_integer(L, "times", pass->times);
		pl_set_integer(L, "wall", pass->wall);
		push_stages(L, pass);
		lua_setfield(L, -2, "stages");
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
}

static void push_parts(lua_State *L, const struct pb_timing_report *report)
{
	lua_createtable(L, (int)report->n_parts, 0);
	for (size_t i = 0; i < report->n_parts; i++) {
		lua_createtable(L, 0, 3);
		pl_set_string(L, "name", report->parts[i].name);
		pl_set_integer(L, "session", report->parts[i].session);
		pl_set_integer(L, "wall", report->parts[i].wall);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
}

/*
 * core.timing([file]) -> { wall, start, user, system, peak, passes, parts, sessions, number } |
 * nil: nothing is measured, or the File is not
 *
 * Times are ns, peak is bytes. passes: { what, session, times, wall, stages }, the first, which
 * has no `what`, for work outside passes; stages: { name, wall, processor, records |
 * nil, bytes | nil } of base/timing.h; parts: { name, session, wall }; sessions: { path, size }
 * by number; number: that of the File.
 */
int pl_tell_timing(lua_State *L)
{
	const struct pl_timing *t = get_timing(L);
	const struct pl_file *f = lua_isnoneornil(L, 1) ? NULL : pl_check_file(L, 1);
	struct pb_timing_report *report;

	if (!t || (f && !(f->session && f->session->timing)))
		return 0;
	report = lua_newuserdatauv(L, sizeof(*report), 0);
	pb_timing_report(t->timing, report);
	lua_createtable(L, 0, 9);
	pl_set_integer(L, "wall", report->wall);
	pl_set_integer(L, "start", report->start);
	pl_set_integer(L, "user", report->user);
	pl_set_integer(L, "system", report->system);
	pl_set_integer(L, "peak", report->peak);
	push_passes(L, report);
	lua_setfield(L, -2, "passes");
	push_parts(L, report);
	lua_setfield(L, -2, "parts");
	lua_getfield(L, LUA_REGISTRYINDEX, PL_TIMING);
	lua_getiuservalue(L, -1, 1);
	lua_setfield(L, -3, "sessions");
	lua_pop(L, 1);
	if (f)
		pl_set_integer(L, "number", f->session->number);
	return 1;
}
