/* Statistics of core: the noise of rows, comparisons, and corrections for many of them. */

#include "binding.h"
#include "functions.h"
#include "stats/stats.h"

enum {
	SLICES_AT = 1,
	ROWS_AT,
	SEED_AT,
	BOOTSTRAP_AT,
	SHARED_AT,
	CELLS_AT,
	ERRORS_AT,
	FREEDOM_AT,
};

#define CELL_WORDS 3 /* slice, value, under */

struct bootstrap {
	struct pn_slices slices;
	struct pn_bootstrap *made;
};

static int bootstrap_gc(lua_State *L)
{
	struct bootstrap *b = lua_touserdata(L, 1);

	pn_bootstrap_destroy(b->made);
	b->made = NULL;
	return 0;
}

/* Returns number `i` of the array at `index`. */
static double get_number(lua_State *L, int index, lua_Integer i)
{
	double value;

	lua_rawgeti(L, index, i);
	value = luaL_checknumber(L, -1);
	lua_pop(L, 1);
	return value;
}

/* Reads { n =, shared = {…} | nil, own = boolean }. [-0, +2] */
static void read_slices(lua_State *L, struct bootstrap *b)
{
	lua_Integer n;
	double *shared;

	lua_getfield(L, SLICES_AT, "n");
	n = luaL_checkinteger(L, -1);
	luaL_argcheck(L, n >= 2 && n <= PN_MAX_SLICES, SLICES_AT, "2 to 200 slices expected");
	b->slices.n_slices = (size_t)n;
	lua_getfield(L, SLICES_AT, "own");
	if (lua_toboolean(L, -1))
		b->slices.divided = PN_UNDER_OWN;
	lua_pop(L, 2);
	shared = lua_newuserdatauv(L, PN_MAX_SLICES * sizeof(*shared), 0);
	if (lua_getfield(L, SLICES_AT, "shared") == LUA_TTABLE) {
		for (lua_Integer i = 0; i < n; i++)
			shared[i] = get_number(L, -1, i + 1);
		b->slices.divided = PN_UNDER_SHARED;
		b->slices.shared = shared;
	}
	lua_pop(L, 1);
}

/* Reads the cells of the row on top. Returns their number. */
static size_t read_cells(lua_State *L, const struct bootstrap *b, struct pn_cell *cells)
{
	int row = lua_gettop(L);
	size_t n = lua_rawlen(L, row) / CELL_WORDS;

	luaL_argcheck(L, n <= b->slices.n_slices, ROWS_AT, "more cells than slices");
	for (size_t c = 0; c < n; c++) {
		lua_Integer at = (lua_Integer)(c * CELL_WORDS);
		double slice = get_number(L, row, at + 1);

		luaL_argcheck(L, slice >= 1 && slice <= (double)b->slices.n_slices, ROWS_AT,
			      "no such slice");
		cells[c].slice = (uint32_t)slice - 1;
		cells[c].value = get_number(L, row, at + 2);
		cells[c].under = get_number(L, row, at + 3);
	}
	return n;
}

int pl_bootstrap(lua_State *L)
{
	struct pn_cell *cells;
	struct bootstrap *b;
	struct pn_noise noise;
	lua_Integer seed, n_rows;

	luaL_checktype(L, SLICES_AT, LUA_TTABLE);
	luaL_checktype(L, ROWS_AT, LUA_TTABLE);
	seed = luaL_checkinteger(L, SEED_AT);
	lua_settop(L, SEED_AT);
	b = pl_push_finalized(L, sizeof(*b), bootstrap_gc);
	*b = (struct bootstrap){ .made = NULL };
	read_slices(L, b);
	cells = lua_newuserdatauv(L, PN_MAX_SLICES * sizeof(*cells), 0);
	n_rows = (lua_Integer)lua_rawlen(L, ROWS_AT);
	lua_newtable(L);
	lua_newtable(L);
	b->made = pn_bootstrap_create(&b->slices, (uint64_t)seed);
	for (lua_Integer r = 1; r <= n_rows; r++) {
		size_t n;

		lua_rawgeti(L, ROWS_AT, r);
		luaL_checktype(L, -1, LUA_TTABLE);
		n = read_cells(L, b, cells);
		lua_pop(L, 1);
		if (!b->made || !pn_bootstrap_row(b->made, cells, n, &noise))
			return luaL_error(L, "not enough memory");
		lua_pushnumber(L, noise.error);
		lua_rawseti(L, ERRORS_AT, r);
		lua_pushnumber(L, noise.freedom);
		lua_rawseti(L, FREEDOM_AT, r);
	}
	return 2;
}

static int push_interval(lua_State *L, const struct pn_interval *interval)
{
	lua_pushnumber(L, interval->low);
	lua_pushnumber(L, interval->high);
	lua_pushnumber(L, interval->p);
	return 3;
}

int pl_compare(lua_State *L)
{
	struct pn_noise before = { luaL_checknumber(L, 2), luaL_checknumber(L, 3) };
	struct pn_noise after = { luaL_checknumber(L, 5), luaL_checknumber(L, 6) };
	struct pn_quantiles quantiles = { 0 };
	struct pn_interval interval = pn_compare(luaL_checknumber(L, 1), before,
						 luaL_checknumber(L, 4), after,
						 luaL_checknumber(L, 7), &quantiles);

	return push_interval(L, &interval);
}

/* Reads { value, count, value, count … }, in ascending order, into a new userdata. [-0, +1] */
static struct pn_ordered read_ordered(lua_State *L, int index)
{
	struct pn_ordered ordered = { NULL, NULL, 0 };
	uint64_t *counts;
	double *values;

	luaL_checktype(L, index, LUA_TTABLE);
	ordered.n = lua_rawlen(L, index) / 2;
	values = lua_newuserdatauv(L, ordered.n * (sizeof(*values) + sizeof(*counts)), 0);
	counts = (uint64_t *)(values + ordered.n);
	for (size_t i = 0; i < ordered.n; i++) {
		values[i] = get_number(L, index, (lua_Integer)(2 * i + 1));
		counts[i] = (uint64_t)get_number(L, index, (lua_Integer)(2 * i + 2));
	}
	ordered.values = values;
	ordered.counts = counts;
	return ordered;
}

int pl_compare_quantiles(lua_State *L)
{
	double q = luaL_checknumber(L, 3), confidence = luaL_checknumber(L, 4);
	struct pn_ordered before = read_ordered(L, 1), after = read_ordered(L, 2);
	struct pn_interval interval;

	luaL_argcheck(L, before.n > 0, 1, "values expected");
	luaL_argcheck(L, after.n > 0, 2, "values expected");
	interval = pn_compare_quantiles(&before, &after, q, confidence);
	return push_interval(L, &interval);
}

int pl_shrink(lua_State *L)
{
	struct pn_dispersion found = { luaL_checknumber(L, 1), luaL_checknumber(L, 2) };
	double prior = luaL_checknumber(L, 3), freedom;

	luaL_argcheck(L, found.squares >= 0, 1, "squares expected");
	luaL_argcheck(L, found.freedom >= 0, 2, "degrees of freedom expected");
	luaL_argcheck(L, prior > 0, 3, "degrees of freedom expected");
	lua_pushnumber(L, pn_shrink(found, prior, &freedom));
	lua_pushnumber(L, freedom);
	return 2;
}

int pl_adjust(lua_State *L)
{
	lua_Integer n;
	double *p;

	luaL_checktype(L, 1, LUA_TTABLE);
	n = (lua_Integer)lua_rawlen(L, 1);
	p = lua_newuserdatauv(L, (size_t)n * sizeof(*p), 0);
	for (lua_Integer i = 0; i < n; i++)
		p[i] = get_number(L, 1, i + 1);
	if (!pn_adjust(p, (size_t)n))
		return luaL_error(L, "not enough memory");
	lua_createtable(L, (int)n, 0);
	for (lua_Integer i = 0; i < n; i++) {
		lua_pushnumber(L, p[i]);
		lua_rawseti(L, -2, i + 1);
	}
	return 1;
}

int pl_binomial_test(lua_State *L)
{
	lua_Integer k = luaL_checkinteger(L, 1), n = luaL_checkinteger(L, 2);
	double p = luaL_checknumber(L, 3);

	luaL_argcheck(L, k >= 0 && k <= n, 1, "0 to n expected");
	luaL_argcheck(L, p > 0 && p < 1, 3, "a probability between 0 and 1 expected");
	lua_pushnumber(L, pn_binomial_test((uint64_t)k, (uint64_t)n, p));
	return 1;
}

int pl_student_quantile(lua_State *L)
{
	double tail = luaL_checknumber(L, 1), freedom = luaL_checknumber(L, 2);

	luaL_argcheck(L, tail > 0 && tail <= 0.5, 1, "0 < tail <= 0.5 expected");
	luaL_argcheck(L, freedom > 0, 2, "degrees of freedom above 0 expected");
	lua_pushnumber(L, pn_student_quantile(tail, freedom));
	return 1;
}
