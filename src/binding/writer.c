#include "writer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

luaL_Stream *pl_check_stream(lua_State *L, int index)
{
	luaL_Stream *stream = luaL_checkudata(L, index, LUA_FILEHANDLE);

	luaL_argcheck(L, stream->closef, index, "the file is closed");
	return stream;
}

static void write_out(void *arg, const char *p, size_t n)
{
	struct pl_writer *w = arg;

	if (!w->error && !w->out->closef) /* a finalizer closed it */
		w->error = EBADF;
	if (!w->error && fwrite(p, 1, n, w->out->f) < n)
		w->error = errno ? errno : EIO;
	w->written += n;
}

void pl_writer_init(struct pl_writer *w, const luaL_Stream *out)
{
	w->out = out;
	w->error = 0;
	w->written = 0;
	pd_print_init(&w->print, write_out, w);
}

void pl_writer_finish(lua_State *L, struct pl_writer *w)
{
	pd_print_flush(&w->print);
	if (w->error)
		luaL_error(L,
			   w->out->f == stdout ? "cannot write to standard output: %s" :
						 "cannot write: %s",
			   strerror(w->error));
}

int pl_writer_failed(lua_State *L, const struct pl_writer *w)
{
	lua_pushnil(L);
	lua_pushstring(L, strerror(w->error));
	lua_pushinteger(L, w->error);
	return 3;
}
