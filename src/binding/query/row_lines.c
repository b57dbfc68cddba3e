/* core.write_rows(), which writes the values of each record as a row of CSV or JSON, from C. */
#include <errno.h>
#include <string.h>

#include "cursor.h"
#include "binding/functions.h"
#include "binding/writer.h"
#include "perfdata/format/print_scalar.h"
#include "result.h"
#include "result/writer.h"

/* Stack of pl_write_rows(). */
enum {
	AT_CURSOR = 1,
	AT_OUT,
	AT_COLUMNS,
	AT_CSV,
	AT_WRITER,
	AT_ARRAY, /* struct pr_column[] */
};

/* Pushes the columns. Their names belong to the table at AT_COLUMNS. [-0, +1] */
static const struct pr_column *push_row_columns(lua_State *L, size_t n)
{
	struct pr_column *columns = lua_newuserdatauv(L, n * sizeof(*columns), 0);

	for (size_t i = 0; i < n; i++) {
		struct pr_column *column = &columns[i];
		const char *kind;

		*column = (struct pr_column){ .text_form = PR_AS_RECORDED };
		lua_rawgeti(L, AT_COLUMNS, (lua_Integer)i + 1);
		luaL_checktype(L, -1, LUA_TTABLE);
		lua_getfield(L, -1, "name");
		column->name.p = luaL_checklstring(L, -1, &column->name.n);
		lua_getfield(L, -2, "kind");
		kind = luaL_checkstring(L, -1);
		column->kind = pl_to_shown_kind(kind);
		if (strcmp(kind, "bytes") == 0)
			column->text_form = PR_AS_DIGITS;
		lua_pop(L, 3);
	}
	return columns;
}

/* Writes a row of CSV; of JSON where there are names. */
static void write_row(struct pd_print *out, const struct pr_column *columns,
		      const struct pd_text *names, struct pr_csv_form csv, size_t n,
		      const struct pq_value *cells)
{
	if (!names) {
		pr_write_csv_row(out, columns, n, cells, NULL, csv);
		return;
	}
	pr_write_json_row(out, columns, names, n, cells, NULL, NULL);
	pd_print_char(out, '\n');
}

int pl_write_rows(lua_State *L)
{
	struct pl_cursor *c = luaL_checkudata(L, AT_CURSOR, PL_CURSOR);
	luaL_Stream *stream = pl_check_stream(L, AT_OUT);
	const struct pr_column *columns;
	lua_Integer n_rows = 0;
	struct pl_writer *w;
	const struct pd_text *names = NULL; /* of JSON */
	struct pr_csv_form csv = { 0 };

	luaL_checktype(L, AT_COLUMNS, LUA_TTABLE);
	luaL_argcheck(L, c->n_values, AT_CURSOR, "values expected");
	lua_settop(L, AT_CSV);
	w = lua_newuserdatauv(L, sizeof(*w), 0);
	pl_writer_init(w, stream);
	columns = push_row_columns(L, c->n_values);
	if (lua_istable(L, AT_CSV)) {
		csv = pl_get_csv_form(L, AT_CSV);
		pr_write_csv_heads(&w->print, columns, c->n_values, csv);
	} else {
		names = pl_push_json_names(L, columns, c->n_values);
	}
	while (!w->error && pl_cursor_rows(L, c, AT_CURSOR)) {
		size_t n = c->left;

		c->left = 0;
		n_rows += (lua_Integer)n;
		for (size_t i = 0; i < n; i++)
			write_row(&w->print, columns, names, csv, c->n_values,
				  c->next + i * c->n_values);
	}
	pd_print_flush(&w->print);
	if (w->error) {
		errno = w->error;
		return luaL_fileresult(L, 0, NULL);
	}
	lua_pushinteger(L, n_rows);
	return 1;
}
