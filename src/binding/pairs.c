/*
 * How a cursor's records are paired, from a table
 *
 *	pairs = { opens = i, closes = i, time = i, pairs_lost = b, keys = { { open = i, close = i, loses = b } … },
 *		  values = { { i, of_open } … } }
 *
 * where i are places among the values that are read of records.
 */
#include "pairs.h"

#define MOST_KEYS 16

/* The place on top, which is popped. */
static uint32_t to_place(lua_State *L, size_t n)
{
	lua_Integer place = lua_tointeger(L, -1);

	if (place < 1 || (lua_Unsigned)place > n)
		luaL_error(L, "pairs: a place among %d values expected", (int)n);
	lua_pop(L, 1);
	return (uint32_t)place - 1;
}

static uint32_t place_named(lua_State *L, int table, const char *name, size_t n)
{
	lua_getfield(L, table, name);
	return to_place(L, n);
}

/* Pushes the table of that name, and says how many there are in it. [-0, +1] */
static size_t list_named(lua_State *L, int table, const char *name, size_t most)
{
	size_t n;

	if (lua_getfield(L, table, name) != LUA_TTABLE)
		luaL_error(L, "pairs: a table of %s expected", name);
	n = (size_t)lua_rawlen(L, -1);
	if (n < 1 || n > most)
		luaL_error(L, "pairs: 1 to %d %s expected", (int)most, name);
	return n;
}

static void to_key(lua_State *L, struct pq_pair_key *key, size_t n)
{
	int at = lua_gettop(L);

	key->of_open = place_named(L, at, "open", n);
	key->of_close = place_named(L, at, "close", n);
	lua_getfield(L, at, "loses");
	key->loses = lua_toboolean(L, -1);
	lua_pop(L, 1);
}

static void to_value(lua_State *L, struct pq_pair_value *value, size_t n)
{
	lua_rawgeti(L, -1, 1);
	value->place = to_place(L, n);
	lua_rawgeti(L, -1, 2);
	value->of_open = lua_toboolean(L, -1);
	lua_pop(L, 1);
}

const struct pq_pairing *pl_to_pairing(lua_State *L, int keep, int options, size_t n)
{
	int top = lua_gettop(L), table = top + 1;
	struct pq_pair_value *values;
	struct pq_pairing *how;
	struct pq_pair_key *keys;

	luaL_checkstack(L, 8, "pairs");
	if (lua_getfield(L, options, "pairs") != LUA_TTABLE) {
		lua_settop(L, top);
		return NULL;
	}
	how = pl_keep(L, keep, sizeof(*how));
	how->opens = place_named(L, table, "opens", n);
	how->closes = place_named(L, table, "closes", n);
	how->time = place_named(L, table, "time", n);
	lua_getfield(L, table, "pairs_lost");
	how->pairs_lost = lua_toboolean(L, -1);
	lua_pop(L, 1);
	how->n_keys = list_named(L, table, "keys", MOST_KEYS);
	how->keys = keys = pl_keep(L, keep, how->n_keys * sizeof(*keys));
	for (size_t i = 0; i < how->n_keys; i++, lua_pop(L, 1)) {
		if (lua_rawgeti(L, table + 1, (lua_Integer)i + 1) != LUA_TTABLE)
			luaL_error(L, "pairs: a key is a table");
		to_key(L, &keys[i], n);
	}
	how->n_values = list_named(L, table, "values", PQ_MAX_ROW);
	how->values = values = pl_keep(L, keep, how->n_values * sizeof(*values));
	for (size_t i = 0; i < how->n_values; i++, lua_pop(L, 1)) {
		if (lua_rawgeti(L, table + 2, (lua_Integer)i + 1) != LUA_TTABLE)
			luaL_error(L, "pairs: a value is a table");
		to_value(L, &values[i], n);
	}
	lua_settop(L, top);
	return how;
}

static void set_count(lua_State *L, const char *name, uint64_t n)
{
	lua_pushinteger(L, (lua_Integer)n);
	lua_setfield(L, -2, name);
}

void pl_push_pair_counts(lua_State *L, const struct pq_pair_counts *counts)
{
	lua_newtable(L);
	set_count(L, "pairs", counts->pairs);
	set_count(L, "unopened", counts->unopened);
	set_count(L, "unclosed", counts->unclosed);
	set_count(L, "restarted", counts->restarted);
	set_count(L, "lost", counts->lost);
	set_count(L, "unkeyed", counts->unkeyed);
}

int pl_cursor_counts(lua_State *L)
{
	struct pl_cursor *c = luaL_checkudata(L, 1, PL_CURSOR);

	if (!c->busy)
		pl_cursor_close(c);
	pl_push_pair_counts(L, &c->counts);
	return 1;
}
