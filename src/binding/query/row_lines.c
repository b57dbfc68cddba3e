/* core.write_rows(), which writes the values of each record as a line, from C. */
#include <errno.h>
#include <string.h>

#include "cursor.h"
#include "binding/functions.h"
#include "binding/writer.h"

/* Stack of pl_write_rows(). */
enum {
	AT_CURSOR = 1,
	AT_OUT,
	AT_COLUMNS,
	AT_JSON,
	AT_WRITER,
	AT_LINE, /* struct pq_line_column[] */
};

/* Returns how values of a kind of the library's (filter/kinds.lua) are printed. */
static enum pq_line_kind find_line_kind(const char *name)
{
	static const char *const names[] = {
		[PQ_LINE_UNSIGNED] = "unsigned",
		[PQ_LINE_ADDRESS] = "address",
		[PQ_LINE_BYTES] = "bytes",
	};

	for (unsigned kind = PQ_LINE_UNSIGNED; kind <= PQ_LINE_BYTES; kind++)
		if (strcmp(name, names[kind]) == 0)
			return (enum pq_line_kind)kind;
	return PQ_LINE_PLAIN;
}

/* Pushes the columns. Their heads belong to the table at AT_COLUMNS. [-0, +1] */
static struct pq_line_column *push_line_columns(lua_State *L, size_t n)
{
	struct pq_line_column *columns = lua_newuserdatauv(L, n * sizeof(*columns), 0);

	for (size_t i = 0; i < n; i++) {
		struct pd_text *head = &columns[i].head;

		lua_rawgeti(L, AT_COLUMNS, (lua_Integer)i + 1);
		luaL_checktype(L, -1, LUA_TTABLE);
		lua_getfield(L, -1, "head");
		head->p = luaL_checklstring(L, -1, &head->n);
		lua_getfield(L, -2, "kind");
		columns[i].kind = find_line_kind(luaL_checkstring(L, -1));
		lua_pop(L, 3);
	}
	return columns;
}

int pl_write_rows(lua_State *L)
{
	struct pl_cursor *c = luaL_checkudata(L, AT_CURSOR, PL_CURSOR);
	luaL_Stream *stream = pl_check_stream(L, AT_OUT);
	const struct pq_line_column *columns;
	lua_Integer n_rows = 0;
	struct pl_writer *w;
	bool json = lua_toboolean(L, AT_JSON);

	luaL_checktype(L, AT_COLUMNS, LUA_TTABLE);
	luaL_argcheck(L, c->n_values, AT_CURSOR, "values expected");
	lua_settop(L, AT_JSON);
	w = lua_newuserdatauv(L, sizeof(*w), 0);
	pl_writer_init(w, stream);
	columns = push_line_columns(L, c->n_values);
	while (!w->error && pl_cursor_rows(L, c, AT_CURSOR)) {
		size_t n = c->left;

		c->left = 0;
		n_rows += (lua_Integer)n;
		pq_print_rows(&w->print, columns, c->n_values, c->next, n, json);
	}
	pd_print_flush(&w->print);
	if (w->error) {
		errno = w->error;
		return luaL_fileresult(L, 0, NULL);
	}
	lua_pushinteger(L, n_rows);
	return 1;
}
