/* Source files: core.source(). */
#include "functions.h"
#include "symbols/source.h"
#include "system.h"

/* The source, and the store that it needs. */
struct source {
	struct ps_source *source;
	struct ps_store *store;
};

static int source_gc(lua_State *L)
{
	struct source *source = lua_touserdata(L, 1);

	ps_source_destroy(source->source);
	if (source->store)
		ps_store_release(source->store);
	*source = (struct source){ 0 };
	return 0;
}

/* (line) -> text | nil; upvalue: the source */
static int read_line(lua_State *L)
{
	struct source *source = lua_touserdata(L, lua_upvalueindex(1));
	lua_Integer line = luaL_checkinteger(L, 1);
	const char *text;
	size_t n;

	if (line < 1 || line > UINT32_MAX)
		return 0;
	text = ps_source_line(source->source, (uint32_t)line, &n);
	if (!text)
		return 0;
	lua_pushlstring(L, text, n);
	return 1;
}

/*
 * core.source(path, file, machine) -> function(line) -> text | nil, time of the last change in
 * s | nil, why it cannot be read
 *
 * The path is one that a binary of the machine names; for `machine`, see query/functions.c.
 */
int pl_source(lua_State *L)
{
	const char *path = luaL_checkstring(L, 1), *reason;
	struct pl_file *f = pl_check_open_file(L, 2);
	lua_Integer machine = luaL_checkinteger(L, 3);
	struct source *source = pl_push_finalized(L, sizeof(*source), source_gc);
	struct ps_store *store;

	luaL_argcheck(L, machine >= 1 && machine <= (lua_Integer)f->session->n_files, 3,
		      "no such machine");
	store = pm_system_store(pl_system(L, f), (uint32_t)machine - 1);
	luaL_argcheck(L, store, 3, "nothing was mapped there");
	source->source = ps_source_open(store, path, &reason);
	if (!source->source) {
		lua_pushnil(L);
		lua_pushstring(L, reason);
		return 2;
	}
	ps_store_keep(store);
	source->store = store;
	lua_pushinteger(L, ps_source_modified(source->source));
	lua_insert(L, -2);
	lua_pushcclosure(L, read_line, 1);
	lua_insert(L, -2);
	return 2;
}
