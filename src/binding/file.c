/*
 * File: an open recording.
 */
#include <stdio.h>
#include <string.h>

#include "binding.h"

struct pl_file *pl_check_file(lua_State *L, int index)
{
	return luaL_checkudata(L, index, PL_FILE);
}

struct pl_file *pl_check_open_file(lua_State *L, int index)
{
	struct pl_file *f = pl_check_file(L, index);

	if (!f->file || f->closed)
		luaL_error(L, "%s: the file is closed", f->file ? f->file->path : "file");
	return f;
}

void pl_file_report_damage(lua_State *L, struct pl_file *f)
{
	while (f->file && f->warned < f->file->n_damage) {
		const struct pd_damage *d = &f->file->damage[f->warned++];
		const char *message = lua_pushfstring(L, "perflua: %s: offset %I: %s",
						      f->file->path, (LUAI_UACINT)d->offset,
						      d->reason);

		if (f->strict)
			luaL_error(L, "%s", message);
		lua_warning(L, message, 0);
		lua_pop(L, 1);
	}
}

/* core.open(path [, options]) -> File | nil, message, code */
int pl_open(lua_State *L)
{
	const char *path = luaL_checkstring(L, 1);
	struct pl_file *f;
	struct pd_error err;
	bool strict = false;

	if (lua_istable(L, 2)) {
		lua_getfield(L, 2, "strict");
		strict = lua_toboolean(L, -1);
		lua_pop(L, 1);
	}
	f = lua_newuserdatauv(L, sizeof(*f), PL_FILE_VALUES);
	*f = (struct pl_file){ .strict = strict };
	luaL_setmetatable(L, PL_FILE);
	pl_push_record_metatable(L);
	lua_setiuservalue(L, -2, PL_FILE_RECORD);
	f->names = pl_names_get(L);
	if (!pd_file_open(&f->file, path, &err)) {
		lua_pushnil(L);
		lua_pushstring(L, err.message);
		lua_pushstring(L, err.code);
		return 3;
	}
	pl_file_report_damage(L, f);
	return 1;
}

static int file_close(lua_State *L)
{
	struct pl_file *f = pl_check_file(L, 1);

	if (f->file)
		pd_file_close(f->file);
	f->closed = true;
	return 0;
}

static int file_gc(lua_State *L)
{
	struct pl_file *f = pl_check_file(L, 1);

	pd_file_destroy(f->file);
	f->file = NULL;
	f->closed = true;
	return 0;
}

static void push_path(lua_State *L, struct pl_file *f)
{
	lua_pushstring(L, f->file->path);
}

static void push_size(lua_State *L, struct pl_file *f)
{
	if (f->file->input.stream)
		lua_pushnil(L); /* not known before its end */
	else
		lua_pushinteger(L, (lua_Integer)f->file->input.size);
}

static void push_mode(lua_State *L, struct pl_file *f)
{
	lua_pushstring(L, f->file->pipe ? "pipe" : "file");
}

static void push_version(lua_State *L, struct pl_file *f)
{
	lua_pushinteger(L, f->file->version);
}

static void push_byte_order(lua_State *L, struct pl_file *f)
{
	lua_pushstring(L, f->file->big ? "big" : "little");
}

static void push_complete(lua_State *L, struct pl_file *f)
{
	lua_pushboolean(L, f->file->complete);
}

static void push_damage(lua_State *L, struct pl_file *f)
{
	lua_createtable(L, (int)f->file->n_damage, 0);
	for (size_t i = 0; i < f->file->n_damage; i++) {
		lua_createtable(L, 0, 3);
		lua_pushinteger(L, (lua_Integer)f->file->damage[i].offset);
		lua_setfield(L, -2, "offset");
		lua_pushinteger(L, (lua_Integer)f->file->damage[i].size);
		lua_setfield(L, -2, "size");
		lua_pushstring(L, f->file->damage[i].reason);
		lua_setfield(L, -2, "reason");
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
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
	struct pd_span times;
	struct pd_error err;

	if (!f->file->times.known && f->closed)
		luaL_error(L, "%s: the file is closed", f->file->path);
	if (!pd_file_times(f->file, &times, &err))
		luaL_error(L, "%s", err.message);
	if (times.known)
		lua_pushinteger(L, (lua_Integer)(last ? times.last : times.first));
	else
		lua_pushnil(L);
	pl_file_report_damage(L, f);
}

static void push_first_time(lua_State *L, struct pl_file *f)
{
	push_times(L, f, false);
}

static void push_last_time(lua_State *L, struct pl_file *f)
{
	push_times(L, f, true);
}

static const struct getter {
	const char *name;
	void (*push)(lua_State *L, struct pl_file *f);
} getters[] = {
	{ "path", push_path },
	{ "size", push_size },
	{ "mode", push_mode },
	{ "version", push_version },
	{ "byte_order", push_byte_order },
	{ "complete", push_complete },
	{ "damage", push_damage },
	{ "features", push_features },
	{ "events", push_events },
	{ "first_time", push_first_time },
	{ "last_time", push_last_time },
};

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

/* file:fields(type_id [, event_index]) -> array of {name, kind, doc} a record of these can have */
static int file_fields(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, 1);
	lua_Integer type = luaL_checkinteger(L, 2), event = luaL_optinteger(L, 3, 0);
	const struct pd_file *file = f->file;
	const struct pd_layout *layout = NULL;
	lua_Integer n = 0;

	luaL_argcheck(L, event >= 0 && (lua_Unsigned)event <= file->n_events, 3, "no event");
	if (type < 0 || type >= PD_RECORD_TYPES)
		type = 0;
	if (type == PD_RECORD_SAMPLE)
		layout = event ? file->events[event - 1].sample : file->unknown_sample;
	else if (file->n_events)
		layout = file->events[event ? event - 1 : 0].others[type];
	if (!layout)
		layout = file->bare_layouts[type] ? file->bare_layouts[type] :
						    file->bare_layouts[0];
	lua_newtable(L);
	for (unsigned i = 1; i < layout->n_bound; i++) {
		pl_push_field(L, layout->bound[i].field);
		lua_rawseti(L, -2, ++n);
	}
	return 1;
}

static bool not_interrupted(void *arg)
{
	const volatile sig_atomic_t *interrupt = arg;

	return !(interrupt && *interrupt);
}

/* A table {count, bytes} of a count. [-0, +1] */
static void push_count(lua_State *L, const struct pd_count *count)
{
	lua_createtable(L, 0, 2);
	lua_pushinteger(L, (lua_Integer)count->records);
	lua_setfield(L, -2, "count");
	lua_pushinteger(L, (lua_Integer)count->bytes);
	lua_setfield(L, -2, "bytes");
}

static void set_integer(lua_State *L, const char *name, uint64_t value)
{
	lua_pushinteger(L, (lua_Integer)value);
	lua_setfield(L, -2, name);
}

struct stat_box {
	struct pd_stat stat;
};

static int stat_gc(lua_State *L)
{
	pd_stat_deinit(&((struct stat_box *)lua_touserdata(L, 1))->stat);
	return 0;
}

static void push_stat(lua_State *L, const struct pd_stat *stat, const struct pd_file *file)
{
	lua_newtable(L);
	lua_newtable(L);
	for (uint32_t type = 0; type < PD_RECORD_TYPES; type++) {
		if (!stat->types[type].records)
			continue;
		push_count(L, &stat->types[type]);
		lua_rawseti(L, -2, type);
	}
	for (size_t i = 0; i < stat->n_unknown; i++) {
		push_count(L, &stat->unknown[i].count);
		lua_rawseti(L, -2, stat->unknown[i].type);
	}
	lua_setfield(L, -2, "types");
	lua_newtable(L);
	for (size_t i = 0; i < file->n_events; i++) {
		push_count(L, &stat->events[i].samples);
		set_integer(L, "lost_samples", stat->events[i].lost_samples);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	lua_setfield(L, -2, "events");
	push_count(L, &stat->events[file->n_events].samples);
	lua_setfield(L, -2, "unknown_event");
	set_integer(L, "lost_records", stat->lost_records);
	set_integer(L, "lost_samples", stat->lost_samples);
	set_integer(L, "payload", stat->payload);
	if (stat->times.known) {
		set_integer(L, "first_time", stat->times.first);
		set_integer(L, "last_time", stat->times.last);
	}
}

/* file:count() -> {types, events, unknown_event, lost_records, lost_samples, first_time, last_time} */
static int file_count(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, 1);
	struct stat_box *box = lua_newuserdatauv(L, sizeof(*box), 0);
	struct pd_error err;

	memset(box, 0, sizeof(*box));
	lua_createtable(L, 0, 1);
	lua_pushcfunction(L, stat_gc);
	lua_setfield(L, -2, "__gc");
	lua_setmetatable(L, -2);
	lua_getfield(L, LUA_REGISTRYINDEX, PL_INTERRUPT);
	if (!pd_stat_collect(&box->stat, f->file, not_interrupted, lua_touserdata(L, -1), &err))
		return luaL_error(L, "%s", err.message);
	pl_file_report_damage(L, f);
	push_stat(L, &box->stat, f->file);
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
		{ "close", file_close },
		{ "cursor", pl_file_cursor },
		{ "dispatch", pl_file_dispatch },
		{ "fields", file_fields },
		{ "count", file_count },
		{ "dump", pl_file_dump },
		{ NULL, NULL },
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
