/*
 * File: an open recording.
 */
#include <stdio.h>
#include <string.h>

#include "system.h"
#include "value.h"
#include "functions.h"
#include "analysis/stat.h"

static int file_close(lua_State *L)
{
	struct pl_file *f = pl_check_file(L, 1);
	const struct pb_progress progress = pb_until_set(pl_interrupt(L));

	/* copies keep the names of their threads; without the system they have none */
	if (f->copied && f->session && !f->closed)
		pl_system_make(f, false, &progress, NULL);
	if (f->session)
		pd_session_close(f->session);
	pl_system_end_lines(f);
	f->closed = true;
	pl_system_hold(f);
	pl_system_let_go(f);
	return 0;
}

static int file_gc(lua_State *L)
{
	struct pl_file *f = pl_check_file(L, 1);

	pl_system_free(f);
	ps_interrupt_release(f->interrupt);
	f->interrupt = NULL;
	pd_session_destroy(f->session);
	f->session = NULL;
	f->file = NULL;
	f->closed = true;
	return 0;
}

static void push_path(lua_State *L, struct pl_file *f)
{
	if (!f->array) {
		lua_pushstring(L, f->session->paths[0]);
		return;
	}
	lua_createtable(L, (int)f->session->n_files, 0);
	for (size_t i = 0; i < f->session->n_files; i++) {
		lua_pushstring(L, f->session->paths[i]);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
}

/* Pushes the bytes of all files. Those of a stream are not known before its end. */
static void push_size(lua_State *L, struct pl_file *f)
{
	uint64_t size = 0;

	for (size_t i = 0; i < f->session->n_files; i++) {
		const struct pd_file *file = f->session->files[i];

		for (size_t k = 0; k < file->n_streams; k++) {
			if (file->streams[k].input->stream) {
				lua_pushnil(L);
				return;
			}
			size += file->streams[k].input->size;
		}
	}
	lua_pushinteger(L, (lua_Integer)size);
}

static void push_captured_on(lua_State *L, struct pl_file *f)
{
	if (f->file->input.written)
		lua_pushinteger(L, f->file->input.written);
	else
		lua_pushnil(L);
}

static void push_mode(lua_State *L, struct pl_file *f)
{
	lua_pushstring(L, f->file->directory ? "directory" : f->file->pipe ? "pipe" : "file");
}

static void push_version(lua_State *L, struct pl_file *f)
{
	lua_pushinteger(L, f->file->version);
}

static void push_as(lua_State *L, struct pl_file *f)
{
	pl_push_perf(L, f->session->perf);
}

static void push_byte_order(lua_State *L, struct pl_file *f)
{
	lua_pushstring(L, f->file->big ? "big" : "little");
}

static void push_complete(lua_State *L, struct pl_file *f)
{
	bool complete = true;

	for (size_t i = 0; i < f->session->n_files; i++)
		complete = complete && f->session->files[i]->complete;
	lua_pushboolean(L, complete);
}

static void push_damage(lua_State *L, struct pl_file *f)
{
	lua_Integer n = 0;

	lua_newtable(L);
	for (size_t i = 0; i < f->session->n_files; i++) {
		const struct pd_file *file = f->session->files[i];

		for (size_t k = 0; k < file->n_damage; k++) {
			lua_createtable(L, 0, 4);
			lua_pushstring(L, file->damage[k].path);
			lua_setfield(L, -2, "path");
			lua_pushinteger(L, (lua_Integer)file->damage[k].offset);
			lua_setfield(L, -2, "offset");
			lua_pushinteger(L, (lua_Integer)file->damage[k].size);
			lua_setfield(L, -2, "size");
			lua_pushstring(L, file->damage[k].reason);
			lua_setfield(L, -2, "reason");
			lua_rawseti(L, -2, ++n);
		}
	}
}

static void push_out_of_order(lua_State *L, struct pl_file *f)
{
	lua_pushinteger(L, (lua_Integer)f->late);
}

static void push_features(lua_State *L, struct pl_file *f)
{
	(void)f;
	pl_push_features(L, 1);
}

static void push_events(lua_State *L, struct pl_file *f)
{
	(void)f;
	pl_push_events(L, 1);
}

static void push_times(lua_State *L, struct pl_file *f, bool last)
{
	struct pd_time_range times;
	struct pd_error err;

	if (!f->file->times.known && f->closed)
		luaL_error(L, "%s: the file is closed", f->file->path);
	if (!pd_session_times(f->session, &times, &err))
		luaL_error(L, "%s", err.message);
	if (times.known)
		lua_pushinteger(L, (lua_Integer)(last ? times.last : times.first));
	else
		lua_pushnil(L);
	pl_file_report(L, f);
}

static void push_first_time(lua_State *L, struct pl_file *f)
{
	push_times(L, f, false);
}

static void push_last_time(lua_State *L, struct pl_file *f)
{
	push_times(L, f, true);
}

/*
 * core.clocks(file) -> array of { path, first, last, wall }, boolean
 *
 * Each row describes a recording: the times of its first and last sample, and the ns to add to
 * a time for the wall clock (nil: not known). The boolean says whether the recordings are
 * merged by wall clock time.
 */
int pl_file_clocks(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, 1);
	const struct pd_session *session = f->session;
	struct pd_time_range times;
	struct pd_error err;

	if (!pd_session_times(f->session, &times, &err))
		return luaL_error(L, "%s", err.message);
	lua_createtable(L, (int)session->n_files, 0);
	for (size_t i = 0; i < session->n_files; i++) {
		const struct pd_file *file = session->files[i];

		lua_createtable(L, 0, 4);
		pl_set_string(L, "path", file->path);
		if (file->times.known) {
			pl_set_integer(L, "first", file->times.first);
			pl_set_integer(L, "last", file->times.last);
		}
		if (file->clock.has_wall)
			pl_set_integer(L, "wall", (uint64_t)file->clock.wall);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	lua_pushboolean(L, session->merged && !session->one_clock);
	return 2;
}

/*
 * core.knows_times(file) -> boolean: first_time and last_time need no pass over the recording
 */
int pl_file_knows_times(lua_State *L)
{
	const struct pl_file *f = pl_check_open_file(L, 1);
	bool known = true;

	for (size_t i = 0; i < f->session->n_files; i++) {
		const struct pd_file *file = f->session->files[i];

		known = known && (file->times.known || file->input.stream);
	}
	lua_pushboolean(L, known);
	return 1;
}

/* core.data_section(file) -> offset, bytes: of the records; of a pipe nothing */
int pl_file_data_section(lua_State *L)
{
	const struct pl_file *f = pl_check_open_file(L, 1);

	if (f->file->pipe)
		return 0;
	lua_pushinteger(L, (lua_Integer)f->file->data.offset);
	lua_pushinteger(L, (lua_Integer)f->file->data.size);
	return 2;
}

static const struct getter {
	const char *name;
	void (*push)(lua_State *L, struct pl_file *f);
} getters[] = {
	{ "path", push_path },
	{ "size", push_size },
	{ "captured_on", push_captured_on },
	{ "mode", push_mode },
	{ "version", push_version },
	{ "as", push_as },
	{ "byte_order", push_byte_order },
	{ "complete", push_complete },
	{ "damage", push_damage },
	{ "out_of_order", push_out_of_order },
	{ "features", push_features },
	{ "events", push_events },
	{ "first_time", push_first_time },
	{ "last_time", push_last_time },
};

/* core.members("file") -> array of the names of a File's fields */
int pl_file_members(lua_State *L)
{
	luaL_argcheck(L, strcmp(luaL_checkstring(L, 1), "file") == 0, 1, "no such type");
	lua_newtable(L);
	for (size_t i = 0; i < sizeof(getters) / sizeof(getters[0]); i++) {
		lua_pushstring(L, getters[i].name);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	return 1;
}

/* file.name -> value; upvalue: the methods */
static int file_index(lua_State *L)
{
	struct pl_file *f = pl_check_file(L, 1);
	const char *name = luaL_checkstring(L, 2);
	struct pl_closest closest;

	lua_pushvalue(L, 2);
	if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
		return 1;
	for (size_t i = 0; i < sizeof(getters) / sizeof(getters[0]); i++) {
		if (strcmp(getters[i].name, name) != 0)
			continue;
		if (!f->file)
			return luaL_error(L, "the file is closed");
		getters[i].push(L, f);
		return 1;
	}
	pl_closest_init(&closest, name);
	for (size_t i = 0; i < sizeof(getters) / sizeof(getters[0]); i++)
		pl_closest_try(&closest, getters[i].name);
	for (lua_pushnil(L); lua_next(L, lua_upvalueindex(1)); lua_pop(L, 1))
		pl_closest_try(&closest, lua_tostring(L, -2));
	return pl_closest_raise(L, &closest, "a file has no field");
}

static int file_tostring(lua_State *L)
{
	struct pl_file *f = pl_check_file(L, 1);

	lua_pushfstring(L, "perflua.File (%s)", f->file ? f->file->path : "closed");
	return 1;
}

/*
 * core.fields_of(file, type_id [, event_index]) -> array of {name, kind, doc}: the fields that
 * a record of the type can have
 */
int pl_file_fields(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, 1);
	lua_Integer type = luaL_checkinteger(L, 2), event = luaL_optinteger(L, 3, 0);
	const struct pd_session *session = f->session;
	const struct pd_layout *layout = NULL;
	lua_Integer n = 0;

	luaL_argcheck(L, event >= 0 && (lua_Unsigned)event <= session->n_events, 3, "no event");
	if (type < 0 || type >= PD_RECORD_TYPES)
		type = 0;
	if (type == PD_RECORD_SAMPLE)
		layout = event ? session->events[event - 1]->sample : f->file->unknown_sample;
	else if (session->n_events)
		layout = session->events[event ? event - 1 : 0]->others[type];
	if (!layout)
		layout = f->file->bare_layouts[type] ? f->file->bare_layouts[type] :
						       f->file->bare_layouts[0];
	lua_newtable(L);
	for (unsigned i = 1; i < layout->n_bound; i++) {
		pl_push_field(L, layout->bound[i].field);
		lua_rawseti(L, -2, ++n);
	}
	return 1;
}

void pl_file_register(lua_State *L)
{
	static const luaL_Reg meta[] = {
		{ "__gc", file_gc },
		{ "__close", file_close },
		{ "__tostring", file_tostring },
		{ NULL, NULL },
	};
	static const luaL_Reg methods[] = {
		/* clang-format off */
		{ "close", file_close },
		{ "thread", pl_file_thread },
		{ "threads", pl_file_threads },
		{ "resolve", pl_file_resolve },
		{ "missing", pl_file_missing },
		{ "history", pl_file_history },
		{ NULL, NULL },
		/* clang-format on */
	};

	luaL_newmetatable(L, PL_FILE);
	luaL_setfuncs(L, meta, 0);
	lua_pushliteral(L, PL_FILE);
	lua_setfield(L, -2, "__metatable"); /* what __gc frees is in use */
	luaL_newlib(L, methods);
	lua_pushvalue(L, -1);
	lua_setfield(L, LUA_REGISTRYINDEX, PL_FILE_METHODS);
	lua_pushcclosure(L, file_index, 1);
	lua_setfield(L, -2, "__index");
	lua_pop(L, 1);
}
