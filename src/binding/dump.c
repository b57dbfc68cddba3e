/*
 * file:dump(): every record as a line, written from C.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cursor.h"

struct writer {
	struct pd_print print;
	const luaL_Stream *out;
	int error; /* errno of the first write that failed */
};

static void write_out(void *arg, const char *p, size_t n)
{
	struct writer *w = arg;

	if (!w->error && !w->out->closef) /* a finalizer did that */
		w->error = EBADF;
	if (!w->error && fwrite(p, 1, n, w->out->f) < n)
		w->error = errno ? errno : EIO;
}

/* file:dump(out, options): options are a cursor's (cursor.h) and json */
int pl_file_dump(lua_State *L)
{
	luaL_Stream *stream = luaL_checkudata(L, 2, LUA_FILEHANDLE);
	struct pl_cursor *cursor;
	struct pd_record rec;
	struct writer *w;
	bool json;

	luaL_argcheck(L, stream->closef, 2, "the file is closed");
	luaL_checktype(L, 3, LUA_TTABLE);
	lua_settop(L, 3);
	lua_getfield(L, 3, "json");
	json = lua_toboolean(L, -1);
	cursor = pl_push_cursor(L, 1, 3);
	w = lua_newuserdatauv(L, sizeof(*w), 0);
	w->out = stream;
	w->error = 0;
	pd_print_init(&w->print, write_out, w);
	while (!w->error && pl_cursor_next(L, cursor, &rec))
		pd_print_record(&w->print, &rec, json);
	pd_print_flush(&w->print);
	pl_cursor_close(cursor);
	if (w->error)
		return luaL_error(L, "cannot write: %s", strerror(w->error));
	return 0;
}
