/*
 * core.replace(path [, is_private]) -> temporary path, commit, replacement
 *                    |  false, reason | nil: the file is to be written in place
 *                    |  nil, message, error number
 *
 * Begins to replace a file: see base/replacement.h. commit() is called once the temporary file
 * is written and closed, and returns true, or nil, a message and an error number. `replacement`
 * is a closing value, which removes the temporary file if it was not committed.
 */
#include "base/replacement.h"

#include <errno.h>
#include <string.h>

#include "functions.h"

static int replacement_gc(lua_State *L)
{
	pb_replacement_discard(lua_touserdata(L, 1));
	return 0;
}

/* commit() -> true | nil, message, error number; upvalue: the replacement */
static int commit_replacement(lua_State *L)
{
	struct pb_replacement *r = lua_touserdata(L, lua_upvalueindex(1));
	int error = r->fd < 0 ? EBADF : pb_replacement_commit(r);

	if (error) {
		errno = error;
		return luaL_fileresult(L, 0, NULL);
	}
	lua_pushboolean(L, 1);
	return 1;
}

int pl_replace(lua_State *L)
{
	const char *path = luaL_checkstring(L, 1), *reason;
	bool is_private = lua_toboolean(L, 2);
	struct pb_replacement *r;
	struct pb_unfinished *unfinished;
	enum pb_replace how;

	lua_getfield(L, LUA_REGISTRYINDEX, PL_UNFINISHED);
	unfinished = lua_touserdata(L, -1);
	r = pl_push_finalized(L, sizeof(*r), replacement_gc);
	r->fd = -1;
	lua_pushvalue(L, -1);
	lua_pushcclosure(L, commit_replacement, 1);
	lua_insert(L, -2);
	how = pb_replacement_begin(r, path, is_private, unfinished, &reason);
	if (how == PB_REPLACE_FAILED)
		return luaL_fileresult(L, 0, NULL);
	if (how == PB_REPLACE_IN_PLACE) {
		lua_pushboolean(L, 0);
		lua_pushstring(L, reason);
		return 2;
	}
	lua_pushstring(L, r->path);
	lua_insert(L, -3);
	return 3;
}
