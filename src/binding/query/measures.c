/* Measures as Lua values: their rows, states, and buckets. */
#include "result.h"

#include <limits.h>
#include <string.h>

#include "binding/functions.h"
#include "group.h"
#include "trees.h"

enum pq_measure_kind pl_to_measure(lua_State *L)
{
	const char *name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
	unsigned kind = 0;

	while (kind < PQ_MEASURE_KINDS && strcmp(pq_measure_row(kind)->name, name) != 0)
		kind++;
	if (kind == PQ_MEASURE_KINDS)
		luaL_error(L, "no measure '%s'", name);
	lua_pop(L, 1);
	return (enum pq_measure_kind)kind;
}

static void set_flag(lua_State *L, const char *name, bool value)
{
	lua_pushboolean(L, value);
	lua_setfield(L, -2, name);
}

int pl_measures(lua_State *L)
{
	static const char *const takes[] = {
		[PQ_TAKES_NUMBERS] = "numbers",
		[PQ_TAKES_ORDERED] = "ordered",
		[PQ_TAKES_VALUES] = "values",
		[PQ_TAKES_STACKS] = "stacks",
	};

	lua_createtable(L, 0, PQ_MEASURE_KINDS);
	for (unsigned kind = 0; kind < PQ_MEASURE_KINDS; kind++) {
		const struct pq_measure_row *row = pq_measure_row(kind);
		size_t n = pq_count_parts(row);

		if (!n && !row->last_bucket && !row->has_set)
			continue;
		lua_createtable(L, 0, 10);
		pl_set_integer(L, "number", kind);
		pl_set_string(L, "takes", takes[row->takes]);
		pl_set_string(L, "prefix", row->prefix);
		pl_set_string(L, "shows", row->shows);
		set_flag(L, "weighted", row->is_weighted);
		set_flag(L, "ordered", row->is_ordered);
		set_flag(L, "by_magnitude", row->is_magnitude);
		set_flag(L, "has_set", row->has_set);
		pl_set_integer(L, "last_bucket", (uint64_t)row->last_bucket);
		lua_pushlstring(L, (const char *)row->parts, n);
		lua_setfield(L, -2, "parts");
		lua_setfield(L, -2, row->name);
	}
	return 1;
}

static void push_counts(lua_State *L, const struct pq_sketch *sketch)
{
	const struct pq_bucket_count *counts;
	size_t n = pq_sketch_counts(sketch, &counts);

	lua_createtable(L, 0, n < INT_MAX ? (int)n : 0);
	for (size_t i = 0; i < n; i++) {
		lua_pushinteger(L, (lua_Integer)counts[i].count);
		lua_rawseti(L, -2, counts[i].bucket);
	}
}

void pl_push_state(lua_State *L, enum pq_measure_kind measure, const struct pq_state *state)
{
	const struct pq_measure_row *row = pq_measure_row(measure);
	int n = (int)pq_count_parts(row);

	if (n == 1 && !row->last_bucket) {
		pl_push_cell(L, 0, &state->value);
		return;
	}
	lua_createtable(L, n + 1, 0);
	for (int i = 0; i < n; i++) {
		pl_push_cell(L, 0, &state->parts[i]);
		lua_rawseti(L, -2, i + 1);
	}
	if (row->last_bucket) {
		push_counts(L, state->sketch);
		lua_rawseti(L, -2, n + 1);
	}
}

void pl_to_cell(lua_State *L, struct pq_value *value)
{
	size_t n;

	*value = (struct pq_value){ .type = PQ_NIL };
	if (pl_to_scalar(L, -1, value))
		return;
	if (lua_type(L, -1) != LUA_TSTRING)
		luaL_error(L, "a %s is not a value of a result", luaL_typename(L, -1));
	*value = (struct pq_value){ .type = PQ_TEXT, .p = lua_tolstring(L, -1, &n) };
	if (n > UINT32_MAX)
		luaL_error(L, "a text is too long for a result");
	value->size = (uint32_t)n;
}

void pl_to_key(lua_State *L, struct pl_stacks *stacks, struct pq_value *value)
{
	if (!pl_to_stack(L, -1, stacks, value))
		pl_to_cell(L, value);
}

static int sketches_gc(lua_State *L)
{
	size_t n = lua_rawlen(L, 1) / sizeof(struct pq_sketch);
	struct pq_sketch *sketches = lua_touserdata(L, 1);

	for (size_t i = 0; i < n; i++)
		pq_sketch_deinit(&sketches[i]);
	return 0;
}

struct pq_sketch *pl_push_sketches(lua_State *L, size_t n)
{
	return pl_push_finalized(L, (n + 1) * sizeof(struct pq_sketch), sketches_gc);
}

/* Reads the counts of the table on top: bucket → count. */
static void get_counts(lua_State *L, struct pq_sketch *sketch)
{
	for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
		lua_Integer bucket = luaL_checkinteger(L, -2), n = luaL_checkinteger(L, -1);

		if (bucket < INT32_MIN || bucket > INT32_MAX || n < 0)
			luaL_error(L, "no count of a bucket");
		if (!pq_sketch_add(sketch, (int32_t)bucket, (uint64_t)n))
			luaL_error(L, "no memory for a result");
	}
}

/* Reads the set on top: value → true. Its array stays on the stack below it. [-0, +1] */
static void get_set(lua_State *L, struct pl_stacks *stacks, struct pq_state *state)
{
	struct pq_value *values;
	size_t n = 0;

	for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
		n++;
	values = lua_newuserdatauv(L, (n + 1) * sizeof(*values), 0);
	lua_insert(L, -2);
	for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
		if (state->n_set == n)
			luaL_error(L, "a set changed while it was read");
		lua_pushvalue(L, -2);
		pl_to_key(L, stacks, &values[state->n_set++]);
		lua_pop(L, 1);
	}
	state->set = values;
}

void pl_get_state(lua_State *L, enum pq_measure_kind measure, struct pl_stacks *stacks,
		  struct pq_sketch *sketch, struct pq_state *state)
{
	const struct pq_measure_row *row = pq_measure_row(measure);
	int n = (int)pq_count_parts(row);

	*state = (struct pq_state){ .sketch = sketch };
	if (!lua_istable(L, -1)) {
		pl_to_cell(L, &state->value);
		return;
	}
	for (int i = 0; i < n; i++, lua_pop(L, 1)) {
		lua_rawgeti(L, -1, i + 1);
		pl_to_cell(L, &state->parts[i]);
	}
	if (row->has_set) {
		get_set(L, stacks, state);
	} else if (row->last_bucket && lua_rawgeti(L, -1, n + 1) == LUA_TTABLE) {
		get_counts(L, sketch);
		lua_pop(L, 1);
	}
}

int pl_bucket_middle(lua_State *L)
{
	enum pr_kind kind = pl_to_shown_kind(luaL_checkstring(L, 1));
	struct pq_value middle = pq_bucket_middle((int32_t)luaL_checkinteger(L, 2),
						  pr_kind_node(kind)->kind);

	pl_push_cell(L, 0, &middle);
	return 1;
}

int pl_power_bucket(lua_State *L)
{
	const struct pq_value x = { .type = PQ_INT, .i = luaL_checkinteger(L, 1) };
	int32_t bucket;

	pq_power_bucket(&x, PQ_K_SIGNED, &bucket);
	lua_pushinteger(L, bucket);
	return 1;
}

int pl_histogram(lua_State *L)
{
	struct pq_sketch *sketch = pl_push_sketches(L, 1);

	luaL_checktype(L, 1, LUA_TTABLE);
	lua_pushvalue(L, 1);
	get_counts(L, sketch);
	pl_push_histogram(L, sketch);
	return 1;
}

/* Returns the bucket of powers of two that begins at `from`. */
static int32_t find_bucket(const struct pq_value *from)
{
	int32_t bucket = PQ_LAST_POWER; /* 2^63 and more, a float */

	if (from->type == PQ_INT)
		pq_power_bucket(from, PQ_K_SIGNED, &bucket);
	return bucket;
}

void pl_to_histogram(lua_State *L, int index, struct pq_sketch *sketch)
{
	lua_Integer n = luaL_len(L, index);

	for (lua_Integer i = 1; i <= n; i++, lua_pop(L, 1)) {
		struct pq_value from;
		lua_Integer count;

		lua_geti(L, index, i);
		luaL_checktype(L, -1, LUA_TTABLE);
		lua_getfield(L, -1, "from");
		pl_to_cell(L, &from);
		lua_getfield(L, -2, "count");
		count = luaL_checkinteger(L, -1);
		lua_pop(L, 2);
		if (count > 0 && !pq_sketch_add(sketch, find_bucket(&from), (uint64_t)count))
			luaL_error(L, "no memory for a histogram");
	}
}
