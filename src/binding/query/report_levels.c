/* Rows of a view below rows that have the same first fields: see script/levels.h. */
#include "binding/functions.h"
#include "binding/writer.h"
#include "report.h"
#include "result.h"
#include "script/levels.h"

#define MAX_LEVELS   100
#define MAX_MEASURES 1000

/* Levels, which a userdata owns. */
struct levels {
	struct px_levels *levels;
	size_t n_columns, n_measures;
	size_t n_cells; /* of a row */
};

static int levels_gc(lua_State *L)
{
	struct levels *owner = lua_touserdata(L, 1);

	px_levels_destroy(owner->levels);
	owner->levels = NULL;
	return 0;
}

static struct levels *check_levels(lua_State *L)
{
	struct levels *owner = lua_touserdata(L, 1);

	luaL_argcheck(L, owner && lua_rawlen(L, 1) == sizeof(*owner) && owner->levels, 1,
		      "levels expected");
	return owner;
}

/* Sets *rows to rows from … to of the view at `index`. */
static void get_rows(lua_State *L, int index, lua_Integer from, lua_Integer to,
		     struct pr_source *rows)
{
	struct pl_view_of *v = pl_check_view(L, index);

	luaL_argcheck(L,
		      from >= 1 && to >= from - 1 && (size_t)to <= pr_view_size(v->view) &&
			      !v->is_written,
		      index, "no such rows");
	if (!pr_view_source(v->view, (size_t)from - 1, (size_t)to, NULL, 0, true, rows))
		luaL_error(L, "no memory for columns");
}

/* Reads the measure that the table on top describes; rows have n_cells cells. */
static void read_level_measure(lua_State *L, size_t n_cells, struct px_level_measure *measure)
{
	static const char *const shown[] = { "share", "shares", "number", NULL };
	int how;

	luaL_checktype(L, -1, LUA_TTABLE);
	lua_getfield(L, -1, "shown");
	how = luaL_checkoption(L, -1, NULL, shown);
	lua_getfield(L, -2, "total");
	*measure = (struct px_level_measure){
		.is_share = how == 1,
		.is_number = how == 2,
		.total = luaL_optnumber(L, -1, 0),
	};
	lua_pop(L, 2);
	measure->at = pl_get_size(L, "at", 0) - 1;
	measure->room = pl_get_size(L, "room", 0);
	measure->is_joined = pl_get_flag(L, -1, "joined");
	if (measure->at >= n_cells)
		luaL_error(L, "no such cell");
}

int pl_report_levels(lua_State *L)
{
	struct px_report_column columns[MAX_LEVELS];
	struct px_level_measure *measures;
	struct levels *owner;
	struct pr_source rows;
	size_t n, m;

	get_rows(L, 1, 1, 0, &rows);
	luaL_checktype(L, 2, LUA_TTABLE);
	luaL_checktype(L, 3, LUA_TTABLE);
	n = (size_t)lua_rawlen(L, 2);
	m = (size_t)lua_rawlen(L, 3);
	luaL_argcheck(L, n && n <= MAX_LEVELS, 2, "no columns, or too many");
	luaL_argcheck(L, m && m <= MAX_MEASURES, 3, "no measures, or too many");
	for (size_t i = 0; i < n; i++, lua_pop(L, 1)) {
		lua_rawgeti(L, 2, (lua_Integer)i + 1);
		pl_read_report_column(L, rows.n_columns, &columns[i]);
	}
	measures = lua_newuserdatauv(L, m * sizeof(*measures), 0);
	for (size_t i = 0; i < m; i++, lua_pop(L, 1)) {
		lua_rawgeti(L, 3, (lua_Integer)i + 1);
		read_level_measure(L, rows.n_columns, &measures[i]);
	}
	owner = pl_push_finalized(L, sizeof(*owner), levels_gc);
	*owner = (struct levels){ px_levels_create(columns, n, measures, m), n, m,
				  rows.n_columns };
	if (!owner->levels)
		return luaL_error(L, "no memory for a report");
	return 1;
}

int pl_report_levels_add(lua_State *L)
{
	struct levels *owner = check_levels(L);
	lua_Integer from = luaL_checkinteger(L, 3), to = luaL_checkinteger(L, 4);
	struct pr_source rows;

	luaL_checktype(L, 5, LUA_TTABLE);
	get_rows(L, 2, from, to, &rows);
	luaL_argcheck(L, rows.n_columns == owner->n_cells, 2, "not the view of the levels");
	if (!px_levels_add(owner->levels, &rows, (size_t)from - 1) ||
	    pr_view_failed(pl_check_view(L, 2)->view))
		return luaL_error(L, "no memory for a row of a report");
	for (size_t i = 0; i < owner->n_columns; i++, lua_pop(L, 1)) {
		lua_rawgeti(L, 5, (lua_Integer)i + 1);
		luaL_checktype(L, -1, LUA_TTABLE);
		pl_set_integer(L, "room", px_levels_room(owner->levels, i));
	}
	return 0;
}

/* Places on the stack of pl_report_levels_write(). */
enum {
	OUT_AT = 2,
	HOW_AT,
	VIEW_AT,
	GRAPH_AT
};

/* Returns a number of a measure, which is on top. */
static size_t to_measure(lua_State *L, const struct levels *owner)
{
	lua_Integer number = luaL_checkinteger(L, -1);

	if (number < 1 || (size_t)number > owner->n_measures)
		luaL_error(L, "no such measure");
	return (size_t)number - 1;
}

int pl_report_levels_write(lua_State *L)
{
	struct levels *owner = check_levels(L);
	luaL_Stream *out = pl_check_stream(L, OUT_AT);
	struct pl_graph graph = { 0 };
	size_t order[MAX_MEASURES];
	struct px_levels_how how = { .order = order, .arg = &graph };
	struct pl_writer writer;
	bool ok;

	luaL_checktype(L, HOW_AT, LUA_TTABLE);
	lua_settop(L, GRAPH_AT);
	lua_pushvalue(L, HOW_AT);
	how.limit = pl_get_number(L, "limit");
	how.total = pl_get_number(L, "total");
	how.is_colored = pl_get_flag(L, HOW_AT, "color");
	how.n_order = (size_t)lua_rawlen(L, HOW_AT);
	luaL_argcheck(L, how.n_order <= MAX_MEASURES, HOW_AT, "too many measures");
	for (size_t i = 0; i < how.n_order; i++, lua_pop(L, 1)) {
		lua_rawgeti(L, HOW_AT, (lua_Integer)i + 1);
		order[i] = to_measure(L, owner);
	}
	lua_getfield(L, HOW_AT, "limited");
	how.limited = to_measure(L, owner);
	if (!lua_isnil(L, GRAPH_AT)) {
		graph.view = pl_check_view(L, VIEW_AT)->view;
		pl_read_graph(L, GRAPH_AT, &graph);
		how.after_row = pl_print_tree;
	}
	pl_writer_init(&writer, out);
	ok = px_levels_write(owner->levels, &how, &writer.print) && !graph.failed;
	pb_string_deinit(&graph.text);
	if (!ok)
		return luaL_error(L, "no memory for a row of a report");
	pl_writer_finish(L, &writer);
	return 0;
}
