/*
 * file:dump(): every record as a line, written from C.
 */
#include "cursor.h"
#include "writer.h"

/* file:dump(out, options): options are a cursor's (cursor.h) and json */
int pl_file_dump(lua_State *L)
{
	luaL_Stream *stream = pl_check_stream(L, 2);
	struct pl_cursor *cursor;
	struct pl_writer *w;
	struct pd_record rec;
	bool json;

	luaL_checktype(L, 3, LUA_TTABLE);
	lua_settop(L, 3);
	lua_getfield(L, 3, "json");
	json = lua_toboolean(L, -1);
	cursor = pl_push_cursor(L, 1, 3);
	w = lua_newuserdatauv(L, sizeof(*w), 0);
	pl_writer_init(w, stream);
	while (!w->error && pl_cursor_next(L, cursor, &rec))
		pd_print_record(&w->print, &rec, json);
	pl_cursor_close(cursor);
	pl_writer_finish(L, w);
	return 0;
}
