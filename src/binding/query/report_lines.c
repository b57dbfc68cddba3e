/* Rows of views as perf report has them: see script/report.h. */
#include "binding/functions.h"
#include "binding/writer.h"
#include "result.h"
#include "script/report.h"

#define MAX_LINE_COLUMNS 110

/* Places on the stack of pl_report_lines(). */
enum {
	VIEW_AT = 1,
	FROM_AT,
	TO_AT,
	COLUMNS_AT,
	OUT_AT
};

/* Returns the integer in a field of the table on top; `absent` if there is none. */
static size_t get_size(lua_State *L, const char *name, size_t absent)
{
	size_t size = absent;

	if (lua_getfield(L, -1, name) != LUA_TNIL)
		size = (size_t)luaL_checkinteger(L, -1);
	lua_pop(L, 1);
	return size;
}

/* Reads the column that the table on top describes; rows have n_cells cells. */
static void read_line_column(lua_State *L, size_t n_cells, struct px_report_column *column)
{
	static const char *const shown[] = {
		[PX_SHOWN_PLAIN] = "plain",	      [PX_SHOWN_TIME] = "time",
		[PX_SHOWN_SYMBOL] = "symbol",	      [PX_SHOWN_DSO] = "dso",
		[PX_SHOWN_MISPREDICT] = "mispredict", [PX_SHOWN_IN_TX] = "in_tx",
		[PX_SHOWN_ABORT] = "abort",	      [PX_SHOWN_CYCLES] = "cycles",
		[PX_SHOWN_CYCLES + 1] = NULL,
	};

	luaL_checktype(L, -1, LUA_TTABLE);
	lua_getfield(L, -1, "shown");
	*column = (struct px_report_column){
		.shown = (enum px_shown)luaL_checkoption(L, -1, "plain", shown),
	};
	lua_pop(L, 1);
	column->at = get_size(L, "at", 0) - 1;
	column->beside = get_size(L, "beside", column->at + 1) - 1;
	column->room = get_size(L, "room", 0);
	column->is_right_aligned = pl_get_flag(L, -1, "right");
	column->is_last = pl_get_flag(L, -1, "last");
	if (column->at >= n_cells || column->beside >= n_cells)
		luaL_error(L, "no such cell");
}

int pl_report_lines(lua_State *L)
{
	struct pl_view_of *v = pl_check_view(L, VIEW_AT);
	lua_Integer from = luaL_checkinteger(L, FROM_AT), to = luaL_checkinteger(L, TO_AT);
	struct px_report_column columns[MAX_LINE_COLUMNS];
	struct px_report report = { .columns = columns };
	luaL_Stream *out = NULL;
	struct pl_writer writer;
	struct pr_source rows;
	bool ok;

	luaL_argcheck(L, from >= 1 && to >= from - 1 && (size_t)to <= pr_view_size(v->view),
		      FROM_AT, "no such rows");
	if (v->is_written)
		return luaL_error(L, "the rows of this view are being written");
	luaL_checktype(L, COLUMNS_AT, LUA_TTABLE);
	lua_settop(L, OUT_AT);
	if (!lua_isnil(L, OUT_AT))
		out = pl_check_stream(L, OUT_AT);
	report.n_columns = (size_t)lua_rawlen(L, COLUMNS_AT);
	luaL_argcheck(L, report.n_columns <= MAX_LINE_COLUMNS, COLUMNS_AT, "too many columns");
	if (!pr_view_source(v->view, (size_t)from - 1, (size_t)to, NULL, 0, true, &rows))
		luaL_error(L, "no memory for columns");
	for (size_t i = 0; i < report.n_columns; i++, lua_pop(L, 1)) {
		lua_rawgeti(L, COLUMNS_AT, (lua_Integer)i + 1);
		read_line_column(L, rows.n_columns, &columns[i]);
	}
	report.rows = &rows;
	if (out) {
		pl_writer_init(&writer, out);
		ok = px_report_write(&report, &writer.print);
	} else {
		ok = px_report_measure(&report);
	}
	if (!ok || pr_view_failed(v->view))
		luaL_error(L, "no memory for a row of a report");
	if (out)
		pl_writer_finish(L, &writer);
	for (size_t i = 0; i < report.n_columns; i++, lua_pop(L, 1)) {
		lua_rawgeti(L, COLUMNS_AT, (lua_Integer)i + 1);
		pl_set_integer(L, "room", columns[i].room);
	}
	return 0;
}
