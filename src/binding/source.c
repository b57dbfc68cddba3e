/* Source files: core.source(). */
#include "functions.h"
#include "symbols/source.h"
#include "system.h"

static int source_gc(lua_State *L)
{
	struct ps_source **source = lua_touserdata(L, 1);

	ps_source_destroy(*source);
	*source = NULL;
	return 0;
}

/* (line) -> text | nil; upvalue: the source */
static int read_line(lua_State *L)
{
	struct ps_source **source = lua_touserdata(L, lua_upvalueindex(1));
	lua_Integer line = luaL_checkinteger(L, 1);
	const char *text;
	size_t n;

	if (line < 1 || line > UINT32_MAX)
		return 0;
	text = ps_source_line(*source, (uint32_t)line, &n);
	if (!text)
		return 0;
	lua_pushlstring(L, text, n);
	return 1;
}

/*
 * Returns the binaries of the File at index 2, which may be in the bundle of one; NULL: none.
 */
static struct ps_store *get_store(lua_State *L)
{
	struct pl_file *f = lua_isnoneornil(L, 2) ? NULL : pl_check_open_file(L, 2);
	struct ps_store *store = NULL;

	for (uint32_t i = 0; f && i < f->session->n_files; i++) {
		struct ps_store *other = pm_system_store(pl_system(L, f), i);

		if (other && (!store || ps_store_has_source(other)))
			store = other;
	}
	return store;
}

/*
 * core.source(path [, file]) -> function(line) -> text | nil, time of the last change in s |
 * nil, why it cannot be read
 */
int pl_source(lua_State *L)
{
	const char *path = luaL_checkstring(L, 1), *reason;
	struct ps_store *store = get_store(L);
	struct ps_source **source = pl_push_finalized(L, sizeof(*source), source_gc);

	*source = store ? ps_source_open_of(store, path, &reason) :
			  ps_source_open(NULL, path, &reason);
	if (!*source) {
		lua_pushnil(L);
		lua_pushstring(L, reason);
		return 2;
	}
	lua_pushinteger(L, ps_source_modified(*source));
	lua_insert(L, -2);
	lua_pushcclosure(L, read_line, 1);
	lua_insert(L, -2);
	return 2;
}
