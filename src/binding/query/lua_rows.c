/* Rows of Lua values that a tool has, as text, CSV and JSON. */
#include "result.h"

#include "binding/functions.h"
#include "calls.h"
#include "trees.h"

/* The places of pl_write_table(), beside those of all writing. */
enum {
	COLUMNS_AT = PL_WRITE_SOURCE,
	ROWS_AT,
	/* texts of cells that are not scalars, by the number of their column */
	TEXTS_AT = PL_WRITE_MORE,
	KEEP_AT,
};

/* Rows of Lua values: an array for each. */
struct lua_rows {
	lua_State *L;
	const struct pr_column *columns;
	size_t n_columns;
	struct pq_sketch *sketches; /* [n_columns]: of histograms */
	bool raised;		    /* a value has no text, or is not a histogram */
};

/*
 * Takes the error from the top, if there is one, and keeps the first at 0 of TEXTS_AT, to be
 * raised at the end.
 */
static bool keep_error(struct lua_rows *rows, int status)
{
	if (status == LUA_OK)
		return false;
	if (rows->raised)
		lua_pop(rows->L, 1);
	else
		lua_rawseti(rows->L, TEXTS_AT, 0);
	rows->raised = true;
	return true;
}

static int push_text(lua_State *L)
{
	luaL_tolstring(L, 1, NULL);
	return 1;
}

/* Sets the cell to the text of the value on top, which TEXTS_AT keeps. [-1, +0] */
static void set_text_cell(struct lua_rows *rows, size_t column, struct pq_value *cell)
{
	lua_State *L = rows->L;
	size_t n;

	cell->type = PQ_NIL;
	if (lua_type(L, -1) != LUA_TSTRING) {
		lua_pushcfunction(L, push_text);
		lua_insert(L, -2);
		if (keep_error(rows, lua_pcall(L, 1, 1, 0)))
			return;
		lua_pushvalue(L, -1);
		lua_rawseti(L, TEXTS_AT, (lua_Integer)column + 1);
	}
	cell->type = PQ_TEXT;
	cell->p = lua_tolstring(L, -1, &n);
	cell->size = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
	lua_pop(L, 1);
}

static int read_histogram(lua_State *L)
{
	pl_to_histogram(L, 1, lua_touserdata(L, 2));
	return 0;
}

/* Sets the cell to the histogram on top. [-1, +0] */
static void set_histogram_cell(struct lua_rows *rows, size_t column, struct pq_value *cell)
{
	lua_State *L = rows->L;
	struct pq_sketch *sketch = &rows->sketches[column];

	pq_sketch_deinit(sketch);
	lua_pushcfunction(L, read_histogram);
	lua_insert(L, -2);
	lua_pushlightuserdata(L, sketch);
	keep_error(rows, lua_pcall(L, 2, 0, 0));
	*cell = (struct pq_value){ .type = PQ_HIST, .p = (const char *)sketch };
}

/* Sets a cell to the value on top. [-1, +0] */
static void set_cell(struct lua_rows *rows, size_t column, struct pq_value *cell)
{
	lua_State *L = rows->L;

	if (pl_to_scalar(L, -1, cell))
		lua_pop(L, 1);
	else if (rows->columns[column].kind == PR_HISTOGRAM && lua_istable(L, -1))
		set_histogram_cell(rows, column, cell);
	else
		set_text_cell(rows, column, cell);
}

static void read_lua_row(void *arg, size_t i, struct pq_value *cells)
{
	struct lua_rows *rows = arg;
	lua_State *L = rows->L;

	lua_rawgeti(L, ROWS_AT, (lua_Integer)i + 1);
	for (size_t c = 0; c < rows->n_columns; c++) {
		if (lua_istable(L, -1))
			lua_rawgeti(L, -1, (lua_Integer)c + 1);
		else
			lua_pushnil(L);
		set_cell(rows, c, &cells[c]);
	}
	lua_pop(L, 1);
}

/* Reads the columns at COLUMNS_AT; the table at KEEP_AT keeps them. */
static const struct pr_column *read_columns(lua_State *L, size_t n)
{
	struct pr_column *columns = pl_keep(L, KEEP_AT, (n + 1) * sizeof(*columns));

	for (size_t i = 0; i < n; i++, lua_pop(L, 1)) {
		lua_rawgeti(L, COLUMNS_AT, (lua_Integer)i + 1);
		luaL_checktype(L, -1, LUA_TTABLE);
		lua_getfield(L, -1, "name");
		columns[i].name.p = luaL_checklstring(L, -1, &columns[i].name.n);
		lua_getfield(L, -2, "kind");
		columns[i].kind = pl_to_shown_kind(luaL_optstring(L, -1, ""));
		lua_pop(L, 2);
		columns[i].unit = pl_get_unit(L);
		columns[i].is_measured = pl_get_flag(L, -1, "measured");
		columns[i].is_verdict = pl_get_flag(L, -1, "verdict");
	}
	return columns;
}

int pl_write_table(lua_State *L)
{
	struct lua_rows rows = { .L = L };
	int results;
	struct pl_write_options options;
	struct pr_source source;

	pl_read_write_options(L, &options);
	luaL_checktype(L, COLUMNS_AT, LUA_TTABLE);
	luaL_checktype(L, ROWS_AT, LUA_TTABLE);
	lua_settop(L, PL_WRITE_CELLS);
	rows.n_columns = (size_t)lua_rawlen(L, COLUMNS_AT);
	/* TEXTS_AT has room for all, as rows are read where nothing may raise */
	lua_createtable(L, (int)rows.n_columns, 1);
	lua_newtable(L);
	rows.columns = read_columns(L, rows.n_columns);
	rows.sketches = pl_push_sketches(L, rows.n_columns);
	lua_newuserdatauv(L, (rows.n_columns + 1) * sizeof(struct pq_value), 0);
	lua_replace(L, PL_WRITE_CELLS);
	source = (struct pr_source){
		.columns = rows.columns,
		.n_columns = rows.n_columns,
		.n_rows = (size_t)lua_rawlen(L, ROWS_AT),
		.row = read_lua_row,
		.arg = &rows,
	};
	options.is_wrong = &rows.raised;
	results = pl_write_source(L, &source, &options);
	if (rows.raised) {
		lua_rawgeti(L, TEXTS_AT, 0);
		return lua_error(L);
	}
	return results;
}
