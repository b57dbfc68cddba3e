/* Views of results: their rows as Lua values, and as text. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "result.h"
#include "result/writer.h"
#include "calls.h"
#include "trees.h"

#define PL_RESULT_VIEW "perflua.result_view"

/* User values: the result; what the view points to. */
enum {
	OF_RESULT = 1,
	OF_KEEP,
	N_VALUES = OF_KEEP
};

struct pl_view_of *pl_check_view(lua_State *L, int index)
{
	struct pl_view_of *v = luaL_checkudata(L, index, PL_RESULT_VIEW);

	luaL_argcheck(L, v->view, index, "no view");
	return v;
}

static int view_gc(lua_State *L)
{
	struct pl_view_of *v = luaL_checkudata(L, 1, PL_RESULT_VIEW);

	pr_view_destroy(v->view);
	v->view = NULL;
	return 0;
}

/* Places on the stack of pl_result_view(). */
enum {
	AT_RESULT = 1,
	AT_SHOW,
	AT_KEEP,
	AT_VIEW
};

/* Returns the place in field `name` of the table on top, from 0 on; PR_NONE: there is none. */
static size_t get_place(lua_State *L, const char *name)
{
	size_t place = PR_NONE;

	if (lua_getfield(L, -1, name) != LUA_TNIL)
		place = (size_t)luaL_checkinteger(L, -1) - 1;
	lua_pop(L, 1);
	return place;
}

/* Returns the number in field `name` of the table on top; PR_NONE: there is none. */
static size_t get_number(lua_State *L, const char *name)
{
	size_t number = PR_NONE;

	if (lua_getfield(L, -1, name) != LUA_TNIL) {
		lua_Integer n = luaL_checkinteger(L, -1);

		number = n < 0 ? 0 : (size_t)n;
	}
	lua_pop(L, 1);
	return number;
}

/* Returns the text in field `name` of the table on top, which keeps it. */
static struct pd_text get_text(lua_State *L, const char *name)
{
	struct pd_text text = { 0 };

	lua_getfield(L, -1, name);
	text.p = luaL_optlstring(L, -1, "", &text.n);
	lua_pop(L, 1);
	return text;
}

enum pr_unit pl_get_unit(lua_State *L)
{
	static const char *const names[] = { "", "duration", "bytes", "si", NULL };
	int unit;

	lua_getfield(L, -1, "unit");
	unit = luaL_checkoption(L, -1, names[0], names);
	lua_pop(L, 1);
	return (enum pr_unit)unit;
}

/* Reads the role of the column on top. */
static void read_role(lua_State *L, const struct pr_shape *shape, size_t n_before,
		      struct pr_view_column *column)
{
	size_t key = get_place(L, "key"), measure = get_place(L, "measure");
	size_t running = get_place(L, "running");

	if (key != PR_NONE) {
		luaL_argcheck(L, key < shape->n_keys, AT_SHOW, "no such key");
		column->role = PR_OF_KEY;
		column->at = key;
	} else if (measure != PR_NONE) {
		luaL_argcheck(L, measure < shape->n_measures, AT_SHOW, "no such measure");
		column->role = PR_OF_MEASURE;
		column->at = measure;
		lua_getfield(L, -1, "option");
		column->share = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : 0;
		lua_pop(L, 1);
	} else if (running != PR_NONE) {
		luaL_argcheck(L, running < n_before, AT_SHOW, "no such column");
		column->role = PR_OF_RUNNING;
		column->at = running;
	} else {
		luaL_argcheck(L, lua_getfield(L, -1, "tree") == LUA_TTABLE, AT_SHOW,
			      "a column of nothing");
		column->role = PR_OF_EXPRESSION;
		column->node = pl_to_node(L, AT_KEEP, NULL, -1);
		lua_pop(L, 1);
	}
}

static void read_columns(lua_State *L, const struct pr_shape *shape, struct pr_show *show)
{
	struct pr_view_column *columns;
	size_t n;

	luaL_argcheck(L, lua_getfield(L, AT_SHOW, "columns") == LUA_TTABLE, AT_SHOW,
		      "no columns");
	n = (size_t)lua_rawlen(L, -1);
	columns = pl_keep(L, AT_KEEP, (n + 1) * sizeof(*columns));
	for (size_t i = 0; i < n; i++, lua_pop(L, 1)) {
		struct pr_view_column *column = &columns[i];

		lua_rawgeti(L, -1, (lua_Integer)i + 1);
		luaL_checktype(L, -1, LUA_TTABLE);
		column->shown.name = get_text(L, "name");
		column->shown.kind = pl_to_shown_kind(get_text(L, "kind").p);
		column->shown.unit = pl_get_unit(L);
		column->shown.is_measured = pl_get_flag(L, -1, "measured");
		column->shown.is_verdict = pl_get_flag(L, -1, "verdict");
		column->by_magnitude = pl_get_flag(L, -1, "by_magnitude");
		column->is_share = pl_get_flag(L, -1, "share");
		read_role(L, shape, i, column);
	}
	lua_pop(L, 1);
	show->columns = columns;
	show->n_columns = n;
}

/* Reads the sums that shares are of, which the table at AT_SHOW has. */
static void read_totals(lua_State *L, struct pr_show *show)
{
	struct pr_total *totals;

	if (lua_getfield(L, AT_SHOW, "totals") == LUA_TTABLE) {
		show->n_totals = (size_t)lua_rawlen(L, -1);
		show->totals = totals = pl_keep(L, AT_KEEP,
						(show->n_totals + 1) * sizeof(*totals));
		for (size_t i = 0; i < show->n_totals; i++, lua_pop(L, 1)) {
			struct pq_value *whole = &totals[i].whole;

			lua_rawgeti(L, -1, (lua_Integer)i + 1);
			luaL_checktype(L, -1, LUA_TTABLE);
			totals[i].measure = get_place(L, "measure");
			lua_getfield(L, -1, "sum");
			totals[i].sum = luaL_checknumber(L, -1);
			lua_pop(L, 1);
			if (lua_getfield(L, -1, "whole") == LUA_TSTRING) {
				size_t size;

				whole->type = PQ_TEXT;
				whole->p = lua_tolstring(L, -1, &size);
				whole->size = (uint32_t)size;
			} else {
				whole->type = PQ_INT;
				whole->i = luaL_checkinteger(L, -1);
			}
			lua_pop(L, 1);
		}
	}
	lua_pop(L, 1);
}

/* Reads the columns that equal rows are sorted by: those of `ties`, { column, ascending }. */
static void read_ties(lua_State *L, struct pr_show *show)
{
	struct pr_tie *ties;

	if (lua_getfield(L, AT_SHOW, "ties") == LUA_TTABLE) {
		show->n_ties = (size_t)lua_rawlen(L, -1);
		show->ties = ties = pl_keep(L, AT_KEEP, (show->n_ties + 1) * sizeof(*ties));
		for (size_t i = 0; i < show->n_ties; i++, lua_pop(L, 1)) {
			lua_rawgeti(L, -1, (lua_Integer)i + 1);
			luaL_checktype(L, -1, LUA_TTABLE);
			ties[i].column = get_place(L, "column");
			ties[i].ascending = pl_get_flag(L, -1, "ascending");
			luaL_argcheck(L, ties[i].column < show->n_columns, AT_SHOW,
				      "no such column");
		}
	}
	lua_pop(L, 1);
}

static void read_show(lua_State *L, const struct pr_shape *shape, struct pr_show *show)
{
	read_columns(L, shape, show);
	lua_getfield(L, AT_SHOW, "conditions");
	if (!lua_isnil(L, -1))
		show->conditions = pl_to_nodes(L, AT_KEEP, NULL, -1, 4096, &show->n_conditions);
	lua_pop(L, 1);
	read_totals(L, show);
	read_ties(L, show);
	lua_pushvalue(L, AT_SHOW);
	show->by = get_place(L, "by");
	show->per = get_place(L, "per");
	show->pivot = get_place(L, "pivot");
	show->n_pivot = get_number(L, "n_pivot");
	show->top = get_number(L, "top");
	show->ascending = pl_get_flag(L, -1, "ascending");
	lua_pop(L, 1);
	luaL_argcheck(L,
		      (show->by == PR_NONE || show->by < show->n_columns) &&
			      (show->per == PR_NONE || show->per < show->n_columns) &&
			      (show->pivot == PR_NONE || show->pivot < show->n_columns),
		      AT_SHOW, "no such column");
	luaL_argcheck(L, show->pivot == PR_NONE || show->columns[show->pivot].role == PR_OF_KEY,
		      AT_SHOW, "a key is turned");
}

int pl_result_view(lua_State *L)
{
	static const char *const problems[] = {
		[PR_SUM] = "sum",
		[PR_WEIGHTS] = "weights",
		[PR_AVERAGE] = "average",
		[PR_TOO_WIDE] = "wide",
	};
	const struct pl_result *result = pl_check_result(L, AT_RESULT);
	enum pr_problem problem;
	struct pl_view_of *v;
	size_t n = 0;

	luaL_checktype(L, AT_SHOW, LUA_TTABLE);
	lua_settop(L, AT_SHOW);
	lua_newtable(L);
	lua_pushvalue(L, AT_SHOW); /* which has the texts */
	lua_setfield(L, AT_KEEP, "show");
	v = lua_newuserdatauv(L, sizeof(*v), N_VALUES);
	*v = (struct pl_view_of){ .result = result };
	luaL_setmetatable(L, PL_RESULT_VIEW);
	lua_pushvalue(L, AT_RESULT);
	lua_setiuservalue(L, AT_VIEW, OF_RESULT);
	lua_pushvalue(L, AT_KEEP);
	lua_setiuservalue(L, AT_VIEW, OF_KEEP);
	read_show(L, &result->result->shape, &v->show);
	problem = pr_view_create(result->result, &v->show, &v->view, &n);
	if (problem == PR_FINE)
		return 1;
	pr_view_destroy(v->view);
	v->view = NULL;
	if (problem == PR_NO_MEMORY)
		return luaL_error(L, "no memory for the rows of a result");
	lua_pushnil(L);
	lua_pushstring(L, problems[problem]);
	lua_pushinteger(L, (lua_Integer)n);
	return 3;
}

/* Pushes a bucket's bound. [-0, +1] */
static void push_bound(lua_State *L, const struct pq_value *bound)
{
	if (bound->type == PQ_FLOAT)
		lua_pushnumber(L, bound->f);
	else
		lua_pushinteger(L, bound->i);
}

void pl_push_histogram(lua_State *L, const struct pq_sketch *sketch)
{
	struct pq_bucket buckets[PQ_MAX_BUCKETS];
	size_t n = pq_histogram(sketch, buckets);

	lua_createtable(L, (int)n, 0);
	for (size_t i = 0; i < n; i++) {
		lua_createtable(L, 0, 3);
		push_bound(L, &buckets[i].from);
		lua_setfield(L, -2, "from");
		push_bound(L, &buckets[i].to);
		lua_setfield(L, -2, "to");
		pl_set_integer(L, "count", buckets[i].count);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
}

void pl_push_cell(lua_State *L, int stacks, const struct pq_value *cell)
{
	if (cell->type == PQ_CHAIN)
		pl_push_stack(L, stacks, (uint32_t)cell->u);
	else if (cell->type == PQ_HIST)
		pl_push_histogram(L, (const struct pq_sketch *)cell->p);
	else
		pl_push_answer(L, 0, cell); /* no cell is an event */
}

void pl_push_view_stacks(lua_State *L, int view)
{
	lua_getiuservalue(L, view, OF_RESULT);
	lua_getiuservalue(L, -1, 1);
	lua_remove(L, -2);
}

/* Places on the stack of functions that push rows. */
enum {
	ROW_VIEW = 1,
	ROW_NUMBER,
	ROW_STACKS,
	ROW_CELLS,
	ROW_TABLE
};

/* Sets the field of a column in the table on top. [-0, +0] */
static void set_cell(lua_State *L, const struct pr_column *column, const struct pq_value *cell)
{
	char address[24];

	lua_pushlstring(L, column->name.p, column->name.n);
	if (column->kind == PR_SYMBOL && cell->type == PQ_INT) {
		snprintf(address, sizeof(address), "0x%016" PRIx64, cell->u);
		lua_pushstring(L, address);
	} else {
		pl_push_cell(L, ROW_STACKS, cell);
	}
	lua_rawset(L, -3);
}

/* A row that is pushed cell by cell. */
struct pushed_row {
	lua_State *L;
	const struct pr_show *show;
	size_t n_measured;
};

/* Pushes the measures of a cell of a turned row: one value, or a table of several. [-0, +1] */
static void push_measures(const struct pushed_row *row, const struct pq_value *cells)
{
	lua_State *L = row->L;

	if (row->n_measured != 1)
		lua_createtable(L, 0, (int)row->n_measured);
	for (size_t i = 0; i < row->show->n_columns; i++) {
		const struct pr_column *column = &row->show->columns[i].shown;

		if (!column->is_measured)
			continue;
		if (row->n_measured == 1)
			pl_push_cell(L, ROW_STACKS, &cells[i]);
		else
			set_cell(L, column, &cells[i]);
	}
}

/* Pushes a turned key as row.pivot has it: an absent one is false, or "nil". [-0, +1] */
static void push_turned_key(lua_State *L, enum pr_kind kind, const struct pq_value *key)
{
	if (key->type != PQ_NIL && !(key->type == PQ_FLOAT && isnan(key->f)))
		pl_push_cell(L, ROW_STACKS, key);
	else if (kind == PR_BOOLEAN || kind == PR_ANY)
		lua_pushliteral(L, "nil");
	else
		lua_pushboolean(L, 0);
}

/* Sets a cell in row.pivot, which is on top, or row.other. */
static void set_turned_cell(void *arg, const struct pq_value *key, const struct pq_value *cells)
{
	const struct pushed_row *row = arg;
	const struct pr_show *show = row->show;

	if (key) {
		push_turned_key(row->L, show->columns[show->pivot].shown.kind, key);
		push_measures(row, cells);
		lua_rawset(row->L, -3);
	} else {
		push_measures(row, cells);
		lua_setfield(row->L, ROW_TABLE, "other");
	}
}

/* Returns row number `i` of the arguments, from 0 on. */
static size_t check_row(lua_State *L, int index, const struct pl_view_of *v)
{
	lua_Integer i = luaL_checkinteger(L, index);

	luaL_argcheck(L, i >= 1 && (size_t)i <= pr_view_size(v->view), index, "no such row");
	return (size_t)i - 1;
}

int pl_view_row(lua_State *L)
{
	struct pl_view_of *v = pl_check_view(L, ROW_VIEW);
	const struct pr_show *show = &v->show;
	struct pushed_row row = { .L = L, .show = show };
	size_t i = check_row(L, ROW_NUMBER, v);
	struct pq_value *cells;
	bool is_event;

	lua_settop(L, ROW_NUMBER);
	luaL_checkstack(L, 12, "row");
	pl_push_view_stacks(L, ROW_VIEW);
	cells = lua_newuserdatauv(L, (show->n_columns + 1) * sizeof(*cells), 0);
	pr_view_row(v->view, i, cells);
	lua_createtable(L, 0, (int)show->n_columns + 1);
	is_event = show->pivot != PR_NONE &&
		   v->result->result->shape.keys[show->columns[show->pivot].at].is_event;
	for (size_t c = 0; c < show->n_columns; c++) {
		const struct pr_column *column = &show->columns[c].shown;

		row.n_measured += column->is_measured;
		if (c != show->pivot && !(column->is_measured && is_event))
			set_cell(L, column, &cells[c]);
	}
	if (show->pivot != PR_NONE) {
		lua_newtable(L);
		pr_view_cells(v->view, i, set_turned_cell, &row);
		lua_setfield(L, ROW_TABLE, "pivot");
	}
	if (pr_view_failed(v->view))
		return luaL_error(L, "no memory for a row of a result");
	lua_pushinteger(L, pr_view_section(v->view, i));
	return 2;
}

int pl_view_section(lua_State *L)
{
	const struct pl_view_of *v = pl_check_view(L, 1);

	lua_pushinteger(L, pr_view_section(v->view, check_row(L, 2, v)));
	return 1;
}

static int view_len(lua_State *L)
{
	lua_pushinteger(L, (lua_Integer)pr_view_size(pl_check_view(L, 1)->view));
	return 1;
}

void pl_result_view_register(lua_State *L)
{
	static const luaL_Reg view[] = {
		{ "__len", view_len },
		{ "__gc", view_gc },
		{ NULL, NULL },
	};

	luaL_newmetatable(L, PL_RESULT_VIEW);
	luaL_setfuncs(L, view, 0);
	lua_pop(L, 1);
}
