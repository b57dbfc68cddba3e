/*
 * Reads from a table how a cursor's records are paired:
 *
 *	pairs = { sides = { { role = 1 | 2 | 3, condition = i, test = i | nil,
 *				answers = i | nil, keys = { i … },
 *				group = 1 … n_groups | nil, state = 1 … n_states | nil,
 *				from = set of states, a bit each | nil,
 *				to = { i … } | nil } … },
 *		  n_groups = n | nil, states = { name … } | nil,
 *		  slice = ns | nil, from = ns | nil, to = ns | nil,
 *		  opened = { { i, nil, state | nil } … } | nil,
 *		  inner = i | nil, beside = b, waits = b, time = i,
 *		  cpu = i | nil, pairs_lost = b, keeps_lost = b, unfinished = b,
 *		  keys = { { inner = i, lost = i | nil } … },
 *		  values = { { i | "serial", of, state | nil } … },
 *		  ended = { fn, i … } | nil, items_of = 1 | 2 | nil,
 *		  nested = pairs of spans inside | nil }
 *
 * where i are places among the values that are read of records, and `of` is 1, 2, 3, 4 or 5:
 * of the record that opens a span, closes it, is inside, of an item, or of the span itself
 * (then i is one of enum pq_span_value, from 1 on). Roles are those of enum pq_side_role, from
 * 1 on. `answers` is a condition on the record, whose fields { row = place } are `opened`
 * values of the record that opened the span, or with which it entered a state, as `values` are.
 * With `nested`, places of 3 are numbers of its values. `items_of` is the record whose items
 * are rows, if options have `unnest`. `ended` is a function that is called with the serial
 * number of a span that ends, and values of the record that ends it.
 *
 * Instead of `pairs`, options may have
 *
 *	cover = { { pairs = …, kept = condition | nil,
 *		    nodes = { start, end, part of key … } }, … }
 *
 * with one or two kinds of spans, whose rows' trees these are; rows are then the time that they
 * cover: its start, its stop, and the parts of the key.
 *
 * For these rows, options may have `kept` (a condition) and `results` (the values that a loop
 * gets), which are trees whose fields are { row = place }, and `event`, the place of a row's
 * event. If rows are items, `index` is the place of their index, and `item_filter` and `once`
 * may be trees as `kept` is.
 */
#include "pairs.h"

#include <string.h>

#include "trees.h"

#define MOST_KEYS 16

/* Returns the place on top, from 0 on, and pops it. Raises unless it is one of n values. */
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

/* [-0, +0] */
static bool flag_named(lua_State *L, int table, const char *name)
{
	bool flag;

	lua_getfield(L, table, name);
	flag = lua_toboolean(L, -1);
	lua_pop(L, 1);
	return flag;
}

/* [-0, +0] */
static lua_Integer integer_named(lua_State *L, int table, const char *name,
				 lua_Integer otherwise)
{
	lua_Integer value;

	lua_getfield(L, table, name);
	value = luaL_optinteger(L, -1, otherwise);
	lua_pop(L, 1);
	return value;
}

/*
 * Pushes the array of that name in `table`, and returns its length. Raises unless that is 1 to
 * `most`. [-0, +1]
 */
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

/* Returns a place that may be absent: PQ_NO_PLACE. [-0, +0] */
static uint32_t optional_place(lua_State *L, int table, const char *name, size_t n)
{
	if (lua_getfield(L, table, name) != LUA_TNIL)
		return to_place(L, n);
	lua_pop(L, 1);
	return PQ_NO_PLACE;
}

/* Returns a number from 0 on, below n; 0 if there is none. [-0, +0] */
static uint32_t number_named(lua_State *L, int table, const char *name, size_t n)
{
	uint32_t place = optional_place(L, table, name, n);

	return place == PQ_NO_PLACE ? 0 : place;
}

/* Reads the array of places on top, and pops it; its length is set in *length. */
static uint32_t *to_places(lua_State *L, int keep, size_t n, size_t *length)
{
	int at = lua_gettop(L);
	uint32_t *places;

	*length = (size_t)lua_rawlen(L, at);
	places = pl_keep(L, keep, *length * sizeof(*places));
	for (size_t i = 0; i < *length; i++) {
		lua_rawgeti(L, at, (lua_Integer)i + 1);
		places[i] = to_place(L, n);
	}
	lua_settop(L, at - 1);
	return places;
}

/* Reads the array on top of places of a key, and pops it. */
static uint32_t *to_key(lua_State *L, int keep, size_t n, size_t n_keys)
{
	size_t length;
	uint32_t *places = to_places(L, keep, n, &length);

	if (length != n_keys)
		luaL_error(L, "pairs: %d parts of a key expected", (int)n_keys);
	return places;
}

/* Reads how->sides. */
static void to_sides(lua_State *L, int keep, struct pq_pairing *how, int table, size_t n)
{
	int top = lua_gettop(L);
	struct pq_pair_side *sides;

	how->n_sides = list_named(L, table, "sides", PQ_MOST_SIDES);
	how->sides = sides = pl_keep(L, keep, how->n_sides * sizeof(*sides));
	for (size_t i = 0; i < how->n_sides; i++, lua_settop(L, top + 1)) {
		lua_rawgeti(L, top + 1, (lua_Integer)i + 1);
		luaL_checktype(L, top + 2, LUA_TTABLE);
		lua_getfield(L, top + 2, "role");
		sides[i].role = (enum pq_side_role)to_place(L, PQ_ROLES);
		sides[i].condition = place_named(L, top + 2, "condition", n);
		sides[i].test = optional_place(L, top + 2, "test", n);
		sides[i].group = number_named(L, top + 2, "group", how->n_groups);
		sides[i].state = optional_place(L, top + 2, "state", how->n_states);
		sides[i].from = (uint32_t)integer_named(L, top + 2, "from", 0);
		if (!how->n_states)
			sides[i].from = 0;
		sides[i].answers = optional_place(L, top + 2, "answers", n);
		lua_getfield(L, top + 2, "leaves_open");
		sides[i].leaves_open = lua_toboolean(L, -1);
		sides[i].next_on_cpu = pl_get_flag(L, top + 2, "next_on_cpu");
		list_named(L, top + 2, "keys", MOST_KEYS);
		sides[i].keys = to_key(L, keep, n, how->n_keys);
		if (lua_getfield(L, top + 2, "to") == LUA_TTABLE)
			sides[i].to = to_key(L, keep, n, how->n_keys);
	}
	lua_settop(L, top);
}

/* Reads the names of the states, if there are any. [-0, +0] */
static void to_states(lua_State *L, int keep, struct pq_pairing *how, int table)
{
	struct pq_value *states;
	int top = lua_gettop(L);

	if (lua_getfield(L, table, "states") != LUA_TNIL) {
		how->n_states = (uint32_t)list_named(L, table, "states", PQ_MOST_SIDES);
		how->states = states = pl_keep(L, keep, how->n_states * sizeof(*states));
		for (uint32_t i = 0; i < how->n_states; i++) {
			if (lua_rawgeti(L, -1, (lua_Integer)i + 1) != LUA_TSTRING)
				luaL_error(L, "pairs: the name of a state is a text");
			states[i] = pl_to_constant(L, keep);
		}
	}
	lua_settop(L, top);
}

/* Returns the state of a value of a span, which is on top. [-0, +0] */
static uint32_t to_state(lua_State *L, uint32_t n_states)
{
	uint32_t state = PQ_NO_STATE;

	if (lua_rawgeti(L, -1, 3) == LUA_TNUMBER)
		return to_place(L, n_states);
	lua_pop(L, 1);
	return state;
}

/* Reads how->opened. */
static void to_opened(lua_State *L, int keep, struct pq_pairing *how, int table, size_t n)
{
	struct pq_kept_value *opened;

	if (lua_getfield(L, table, "opened") == LUA_TTABLE) {
		how->n_opened = (size_t)lua_rawlen(L, -1);
		how->opened = opened = pl_keep(L, keep, how->n_opened * sizeof(*opened));
		for (size_t i = 0; i < how->n_opened; i++, lua_pop(L, 1)) {
			lua_rawgeti(L, -1, (lua_Integer)i + 1);
			luaL_checktype(L, -1, LUA_TTABLE);
			opened[i].state = to_state(L, how->n_states);
			lua_rawgeti(L, -1, 1);
			opened[i].place = to_place(L, n);
		}
	}
	lua_pop(L, 1);
}

static void to_pair_values(lua_State *L, struct pq_pair_value *value, size_t n, size_t n_inner,
			   const struct pq_pairing *how)
{
	lua_Integer origin;

	value->state = to_state(L, how->n_states);
	lua_rawgeti(L, -1, 2);
	origin = lua_tointeger(L, -1);
	if (origin < 1 || origin > PQ_OF_SPAN + 1)
		luaL_error(L,
			   "pairs: a value is from a record of the span, an item, or the span");
	value->of = (enum pq_of)(origin - 1);
	lua_pop(L, 1);
	if (lua_rawgeti(L, -1, 1) == LUA_TSTRING && value->of == PQ_OF_OPEN) {
		value->place = PQ_SERIAL;
		lua_pop(L, 1);
	} else if (value->of == PQ_OF_SPAN) {
		value->place = to_place(L, PQ_SPAN_KEY + how->n_keys + how->n_states);
	} else {
		value->place = to_place(L, value->of == PQ_OF_INNER ? n_inner : n);
	}
}

/* Reads the function to call when a span ends, and the places of its values. */
static void to_ended(lua_State *L, int keep, struct pq_pairing *how, int table, size_t n)
{
	int at = lua_gettop(L) + 1;
	struct pq_call *call;
	uint32_t *places;

	if (lua_getfield(L, table, "ended") == LUA_TTABLE) {
		size_t n_args = (size_t)lua_rawlen(L, at);

		if (n_args < 1 || n_args > PQ_MAX_ROW)
			luaL_error(L, "pairs: a function and its values expected");
		lua_rawgeti(L, at, 1);
		call = pl_to_call(L, keep, PL_CALL_VALUE);
		call->n_args = n_args; /* the first is the serial number */
		places = pl_keep(L, keep, n_args * sizeof(*places));
		for (size_t i = 1; i < n_args; i++) {
			lua_rawgeti(L, at, (lua_Integer)i + 1);
			places[i - 1] = to_place(L, n);
		}
		how->ended = call;
		how->ended_places = places;
	}
	lua_settop(L, at - 1);
}

/* Reads the table of that name in `options`; NULL: there is none. [-0, +0] */
static const struct pq_pairing *to_pairing(lua_State *L, int keep, int options,
					   const char *name, size_t n)
{
	size_t n_inner = n;
	int top = lua_gettop(L), table = top + 1;
	struct pq_pair_value *values;
	struct pq_pairing *how;
	struct pq_pair_key *keys;

	luaL_checkstack(L, 8, "pairs");
	if (lua_getfield(L, options, name) != LUA_TTABLE) {
		lua_settop(L, top);
		return NULL;
	}
	how = pl_keep(L, keep, sizeof(*how));
	how->time = place_named(L, table, "time", n);
	to_states(L, keep, how, table);
	how->n_groups = (uint32_t)integer_named(L, table, "n_groups", 1);
	if (how->n_groups < 1 || how->n_groups > PQ_MOST_SIDES)
		luaL_error(L, "pairs: too many groups");
	how->slice = (uint64_t)integer_named(L, table, "slice", 0);
	how->from = (uint64_t)integer_named(L, table, "from", 0);
	how->to = (uint64_t)integer_named(L, table, "to", -1);
	how->cpu = optional_place(L, table, "cpu", n);
	how->inner = optional_place(L, table, "inner", n);
	how->beside = how->inner != PQ_NO_PLACE && flag_named(L, table, "beside");
	/* spans inside have none inside themselves */
	if (strcmp(name, "pairs") == 0 && how->inner == PQ_NO_PLACE)
		how->nested = to_pairing(L, keep, table, "nested", n);
	if (how->nested)
		n_inner = how->nested->n_values;
	how->waits = (how->inner != PQ_NO_PLACE || how->nested) && !how->beside &&
		     flag_named(L, table, "waits");
	lua_getfield(L, table, "items_of");
	how->items_of = lua_tointeger(L, -1) == 1 ? PQ_OF_OPEN : PQ_OF_CLOSE;
	lua_pop(L, 1);
	to_ended(L, keep, how, table, n);
	how->pairs_lost = flag_named(L, table, "pairs_lost");
	how->keeps_lost = flag_named(L, table, "keeps_lost");
	how->unfinished = flag_named(L, table, "unfinished");
	how->n_keys = list_named(L, table, "keys", MOST_KEYS);
	how->keys = keys = pl_keep(L, keep, how->n_keys * sizeof(*keys));
	for (size_t i = 0; i < how->n_keys; i++, lua_pop(L, 1)) {
		if (lua_rawgeti(L, table + 1, (lua_Integer)i + 1) != LUA_TTABLE)
			luaL_error(L, "pairs: a key is a table");
		keys[i].inner = place_named(L, lua_gettop(L), "inner", n_inner);
		keys[i].lost = optional_place(L, lua_gettop(L), "lost", n);
	}
	to_sides(L, keep, how, table, n);
	to_opened(L, keep, how, table, n);
	how->n_values = list_named(L, table, "values", PQ_MAX_ROW);
	how->values = values = pl_keep(L, keep, how->n_values * sizeof(*values));
	for (size_t i = 0; i < how->n_values; i++, lua_pop(L, 1)) {
		if (lua_rawgeti(L, table + 2, (lua_Integer)i + 1) != LUA_TTABLE)
			luaL_error(L, "pairs: a value is a table");
		to_pair_values(L, &values[i], n, n_inner, how);
	}
	lua_settop(L, top);
	return how;
}

/* Returns the tree of that name in `options`; NULL: there is none. [-0, +0] */
static const struct pq_node *tree_named(lua_State *L, int keep, const struct pl_file *f,
					int options, const char *name)
{
	const struct pq_node *node = NULL;

	if (lua_getfield(L, options, name) != LUA_TNIL)
		node = pl_to_node(L, keep, f, -1);
	lua_pop(L, 1);
	return node;
}

/* Reads the table at `cover` of the spans whose time rows are. [-0, +0] */
static void to_covering(lua_State *L, int keep, const struct pl_file *f, int cover,
			struct pq_paired *paired)
{
	struct pq_covering *how = pl_keep(L, keep, sizeof(*how));
	int top = lua_gettop(L);

	luaL_checkstack(L, 8, "cover");
	how->n_sides = (size_t)lua_rawlen(L, cover);
	if (how->n_sides < 1 || how->n_sides > PQ_COVER_SIDES)
		luaL_error(L, "cover: one or two kinds of spans expected");
	for (size_t i = 0; i < how->n_sides; i++, lua_settop(L, top)) {
		struct pq_cover_side *side = &how->sides[i];
		size_t n;

		lua_rawgeti(L, cover, (lua_Integer)i + 1);
		luaL_checktype(L, top + 1, LUA_TTABLE);
		side->paired.how = to_pairing(L, keep, top + 1, "pairs", paired->n);
		if (!side->paired.how)
			luaL_error(L, "cover: spans expected");
		side->paired.n_row = side->paired.how->n_values;
		side->paired.kept = tree_named(L, keep, f, top + 1, "kept");
		lua_getfield(L, top + 1, "nodes");
		side->nodes = pl_to_nodes(L, keep, f, top + 2, PQ_MAX_ROW, &n);
		if (n < 3 || (i && n != 2 + how->n_keys))
			luaL_error(L, "cover: a start, an end and a key expected");
		how->n_keys = n - 2;
	}
	paired->covering = how;
	paired->how = how->sides[0].paired.how;
	paired->n_row = 2 + how->n_keys;
}

bool pl_to_paired(lua_State *L, int keep, const struct pl_file *f, int options,
		  struct pq_paired *paired)
{
	int top = lua_gettop(L);

	if (lua_getfield(L, options, "pairs") != LUA_TTABLE &&
	    lua_getfield(L, options, "cover") != LUA_TTABLE) {
		lua_settop(L, top);
		return false;
	}
	lua_getfield(L, options, "values");
	paired->nodes = pl_to_nodes(L, keep, f, -1, PQ_MAX_ROW, &paired->n);
	paired->how = to_pairing(L, keep, options, "pairs", paired->n);
	if (paired->how)
		paired->n_row = paired->how->n_values;
	else
		to_covering(L, keep, f, top + 2, paired);
	lua_settop(L, top);
	return true;
}

/* Returns the place in a row of that name in `options`, from 1 on; 0: none. [-0, +0] */
static uint32_t row_place_named(lua_State *L, int options, const char *name, size_t n)
{
	uint32_t place = 0;

	if (lua_getfield(L, options, name) == LUA_TNIL)
		lua_pop(L, 1);
	else
		place = to_place(L, n) + 1;
	return place;
}

void pl_to_made(lua_State *L, int keep, const struct pl_file *f, int options,
		struct pq_paired *paired)
{
	size_t n = paired->n_row;

	paired->kept = tree_named(L, keep, f, options, "kept");
	paired->event = row_place_named(L, options, "event", n);
	paired->index = row_place_named(L, options, "index", n);
	paired->item_filter = tree_named(L, keep, f, options, "item_filter");
	paired->once = tree_named(L, keep, f, options, "once");
}

static void set_count(lua_State *L, const char *name, uint64_t n)
{
	lua_pushinteger(L, (lua_Integer)n);
	lua_setfield(L, -2, name);
}

void pl_set_pair_counts(lua_State *L, const struct pq_pair_counts *counts)
{
	set_count(L, "pairs", counts->pairs);
	set_count(L, "unopened", counts->unopened);
	set_count(L, "unclosed", counts->unclosed);
	set_count(L, "unfinished", counts->unfinished);
	set_count(L, "restarted", counts->restarted);
	set_count(L, "repeated", counts->repeated);
	set_count(L, "mismatched", counts->mismatched);
	set_count(L, "lost", counts->lost);
	set_count(L, "lost_at_least", counts->lost_at_least);
	set_count(L, "lost_at_most", counts->lost_at_most);
	set_count(L, "kept", counts->kept);
	set_count(L, "stray", counts->stray);
	set_count(L, "unkeyed", counts->unkeyed);
}
