/*
 * Groups of a query as a result, and results as Lua values, in the form that
 * lua/perflua/measures expects.
 */
#include <limits.h>
#include <string.h>

#include "binding/functions.h"
#include "group.h"
#include "result.h"
#include "trees.h"

/*
 * Pushes nil and a message if a function gave a key that no result can keep. Returns false, and
 * pushes nothing, if none did. [-0, +2]
 */
static bool push_bad_key(lua_State *L, const struct pl_job *job)
{
	const struct pq_grouping *grouping = &job->grouping;
	struct pq_value key;

	for (size_t k = 0; k < grouping->n_keys; k++) {
		if (grouping->keys[k].value->kind != PQ_K_ANY)
			continue;
		for (size_t g = 0; g < pq_groups_size(job->groups); g++) {
			pq_groups_key(job->groups, g, k, &key);
			if (key.type != PQ_OBJECT)
				continue;
			lua_pushnil(L);
			pl_calls_push_object(L, job->calls, &key);
			lua_pushfstring(L,
					"group_by: a function gave a %s; keys are strings, "
					"numbers, booleans, events or nil",
					luaL_typename(L, -1));
			lua_remove(L, -2);
			return true;
		}
	}
	return false;
}

/* Returns the number of the key that is the section: the first one; SIZE_MAX: none. */
static size_t find_section(const struct pl_job *job)
{
	return job->grouping.n_keys && !job->at[0] ? 0 : SIZE_MAX;
}

/* Sets `whole` of the description: see pl_file_group(). */
static void set_whole(lua_State *L, const struct pl_job *job)
{
	const struct pq_groups *whole = pq_groups_whole(job->groups);
	size_t n = whole ? pq_groups_size(whole) : 0;

	if (!whole)
		return;
	lua_createtable(L, (int)n, 0);
	for (size_t g = 0; g < n; g++) {
		struct pq_value event;
		struct pq_state state;

		lua_createtable(L, (int)job->whole.n_measures, 2);
		if (job->whole.n_keys) {
			pq_groups_key(whole, g, 0, &event);
			if (event.type == PQ_EVENT) {
				lua_pushstring(L, event.event->name);
				lua_setfield(L, -2, "event");
				pl_set_integer(L, "index", (uint64_t)event.event->number + 1);
			}
		}
		for (size_t m = 0; m < job->whole.n_measures; m++) {
			pq_groups_state(whole, g, m, &state);
			pl_push_cell(L, 0, &state.value);
			lua_rawseti(L, -2, (lua_Integer)m + 1);
		}
		lua_rawseti(L, -2, (lua_Integer)g + 1);
	}
	lua_setfield(L, PL_OPTIONS_AT, "whole");
}

int pl_push_groups(lua_State *L, struct pl_job *job)
{
	const struct pq_chains *chains = pq_groups_chains(job->groups);
	const uint32_t *stack_of = NULL;
	int shape;

	luaL_checkstack(L, 20, "groups");
	if (push_bad_key(L, job))
		return 2;
	set_whole(L, job);
	lua_getfield(L, PL_OPTIONS_AT, "shape");
	shape = lua_gettop(L);
	if (chains && job->scope.system)
		stack_of = pl_push_chain_stacks(L, PL_FILE_AT, chains, job->scope.system);
	else
		pl_stacks(L);
	pl_push_result_of(L, shape, &job->groups, find_section(job), stack_of);
	return 1;
}

/* Places on the stack of pl_result_groups(). */
enum {
	AT_RESULT = 1,
	AT_STACKS,
	AT_TEXTS,
	AT_LIST
};

#define LONG_TEXT 40 /* Lua keeps longer ones as often as they are pushed */

/* Pushes a value, a text as one string for all groups that have it. [-0, +1] */
static void push_value(lua_State *L, const struct pq_value *v)
{
	if (v->type != PQ_TEXT || v->size <= LONG_TEXT) {
		pl_push_cell(L, AT_STACKS, v);
	} else if (lua_rawgetp(L, AT_TEXTS, v->p) != LUA_TSTRING) {
		lua_pop(L, 1);
		lua_pushlstring(L, v->p, v->size);
		lua_pushvalue(L, -1);
		lua_rawsetp(L, AT_TEXTS, v->p);
	}
}

/* Pushes a state of one value; false without a value. */
static void push_or_false(lua_State *L, const struct pq_state *s)
{
	if (s->value.type == PQ_NIL)
		lua_pushboolean(L, 0);
	else
		push_value(L, &s->value);
}

static void push_number(lua_State *L, const struct pq_state *s)
{
	push_value(L, &s->value);
}

static void push_avg(lua_State *L, const struct pq_state *s)
{
	lua_createtable(L, 3, 0);
	lua_pushinteger(L, (lua_Integer)s->n);
	lua_rawseti(L, -2, 1);
	lua_pushinteger(L, s->high);
	lua_rawseti(L, -2, 2);
	push_value(L, &s->value);
	lua_rawseti(L, -2, 3);
}

static void push_counts(lua_State *L, const struct pq_state *s)
{
	const struct pq_bucket_count *counts;
	size_t n = s->sketch ? pq_sketch_counts(s->sketch, &counts) : 0;

	lua_createtable(L, 0, n < INT_MAX ? (int)n : 0);
	for (size_t i = 0; i < n; i++) {
		lua_pushinteger(L, (lua_Integer)counts[i].count);
		lua_rawseti(L, -2, counts[i].bucket);
	}
}

static void push_quantile(lua_State *L, const struct pq_state *s)
{
	lua_createtable(L, 3, 0);
	push_counts(L, s);
	lua_rawseti(L, -2, 1);
	push_value(L, &s->least);
	lua_rawseti(L, -2, 2);
	push_value(L, &s->greatest);
	lua_rawseti(L, -2, 3);
}

static void push_set(lua_State *L, const struct pq_state *s)
{
	lua_createtable(L, 0, s->n_set < INT_MAX ? (int)s->n_set : 0);
	for (size_t i = 0; i < s->n_set; i++) {
		push_value(L, &s->set[i]);
		lua_pushboolean(L, 1);
		lua_rawset(L, -3);
	}
}

/* Pushes a table of the value, which is empty without one. */
static void push_boxed(lua_State *L, const struct pq_state *s)
{
	lua_createtable(L, 1, 0);
	push_value(L, &s->value);
	lua_rawseti(L, -2, 1);
}

static void push_ratio(lua_State *L, const struct pq_state *s)
{
	lua_createtable(L, 2, 0);
	push_value(L, &s->value);
	lua_rawseti(L, -2, 1);
	push_value(L, &s->other);
	lua_rawseti(L, -2, 2);
}

/* Push states in the forms of lua/perflua/measures/init.lua. [-0, +1] */
static void (*const push_state[])(lua_State *, const struct pq_state *) = {
	[PQ_M_COUNT] = push_number,   [PQ_M_SUM] = push_number,
	[PQ_M_AVG] = push_avg,	      [PQ_M_MIN] = push_or_false,
	[PQ_M_MAX] = push_or_false,   [PQ_M_QUANTILE] = push_quantile,
	[PQ_M_HIST] = push_counts,    [PQ_M_DISTINCT] = push_set,
	[PQ_M_FIRST] = push_boxed,    [PQ_M_LAST] = push_boxed,
	[PQ_M_SHARE] = push_number,   [PQ_M_RATIO] = push_ratio,
	[PQ_M_COMPARED] = push_boxed, [PQ_M_DELTA] = push_boxed,
};

/* Pushes a group as a table. [-0, +1] */
static void push_group(lua_State *L, const struct pr_result *result, size_t g)
{
	const struct pr_shape *shape = &result->shape;
	struct pq_value key;
	struct pq_state state;

	lua_createtable(L, (int)shape->n_measures, 2);
	lua_createtable(L, (int)shape->n_keys, 0);
	for (size_t k = 0; k < shape->n_keys; k++) {
		pr_key_value(result, g, k, &key);
		push_value(L, &key);
		lua_rawseti(L, -2, (lua_Integer)k + 1);
	}
	lua_setfield(L, -2, "keys");
	pl_set_integer(L, "event", pr_section(result, g));
	for (size_t m = 0; m < shape->n_measures; m++) {
		pq_groups_state(result->groups, g, m, &state);
		push_state[shape->measures[m].measure](L, &state);
		lua_rawseti(L, -2, (lua_Integer)m + 1);
	}
}

int pl_result_groups(lua_State *L)
{
	const struct pr_result *result = pl_check_result(L, AT_RESULT)->result;
	size_t n = pr_size(result);

	lua_settop(L, AT_RESULT);
	lua_getiuservalue(L, AT_RESULT, 1);
	lua_newtable(L);
	lua_createtable(L, n < INT_MAX ? (int)n : INT_MAX, 0);
	for (size_t g = 0; g < n; g++) {
		push_group(L, result, g);
		lua_rawseti(L, AT_LIST, (lua_Integer)g + 1);
	}
	return 1;
}

/* Sets *value to the value on top, which stays there. Raises if it is none that a cell has. */
static void to_cell(lua_State *L, struct pq_value *value)
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

/* Sets *value to a key, which may be a Stack, of the value on top. */
static void to_key(lua_State *L, const struct pl_result *r, struct pq_value *value)
{
	if (!pl_to_stack(L, -1, r->stacks, value))
		to_cell(L, value);
}

/* Places on the stack of pl_result_put(), and above those of one group. */
enum {
	PUT_RESULT = 1,
	PUT_GROUPS,
	PUT_KEYS,
	PUT_STATES,
	PUT_SKETCHES,
	PUT_GROUP
};

/* The sketches of one group's states, freed with their userdata. */
struct sketches {
	size_t n;
	struct pq_sketch list[]; /* [n] */
};

static int sketches_gc(lua_State *L)
{
	struct sketches *sketches = lua_touserdata(L, 1);

	for (size_t i = 0; i < sketches->n; i++)
		pq_sketch_deinit(&sketches->list[i]);
	return 0;
}

/* Sets *value to item `i` of the table on top, which keeps a text. */
static void get_item(lua_State *L, lua_Integer i, struct pq_value *value)
{
	lua_rawgeti(L, -1, i);
	to_cell(L, value);
	lua_pop(L, 1);
}

/* Reads the counts of the table on top: bucket → count. */
static void get_counts(lua_State *L, struct pq_sketch *sketch)
{
	for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
		lua_Integer bucket = luaL_checkinteger(L, -2), n = luaL_checkinteger(L, -1);

		luaL_argcheck(L, bucket >= INT32_MIN && bucket <= INT32_MAX && n >= 0,
			      PUT_GROUPS, "no count of a bucket");
		if (n && !pq_sketch_add(sketch, (int32_t)bucket, (uint64_t)n))
			luaL_error(L, "no memory for a result");
	}
}

/* Reads the set on top: value → true. Its array stays on the stack below it. [-0, +1] */
static void get_set(lua_State *L, const struct pl_result *r, struct pq_state *state)
{
	struct pq_value *values;
	size_t n = 0;

	for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
		n++;
	values = lua_newuserdatauv(L, (n + 1) * sizeof(*values), 0);
	lua_insert(L, -2);
	for (lua_pushnil(L); state->n_set < n && lua_next(L, -2); lua_pop(L, 1)) {
		lua_pushvalue(L, -2);
		to_key(L, r, &values[state->n_set++]);
		lua_pop(L, 1);
	}
	state->set = values;
}

/* Reads the state on top, in the form of lua/perflua/measures/init.lua. */
static void get_state(lua_State *L, const struct pl_result *r, enum pq_measure_kind measure,
		      struct pq_sketch *sketch, struct pq_state *state)
{
	struct pq_value value;

	*state = (struct pq_state){ 0 };
	if (!lua_istable(L, -1)) {
		to_cell(L, &state->value);
		if (state->value.type == PQ_BOOL) /* of min and max, without a value */
			state->value.type = PQ_NIL;
		return;
	}
	switch (measure) {
	case PQ_M_AVG:
		get_item(L, 1, &value);
		state->n = value.u;
		get_item(L, 2, &value);
		state->high = value.i;
		get_item(L, 3, &state->value);
		break;
	case PQ_M_QUANTILE:
		lua_rawgeti(L, -1, 1);
		luaL_checktype(L, -1, LUA_TTABLE);
		get_counts(L, sketch);
		lua_pop(L, 1);
		state->sketch = sketch;
		get_item(L, 2, &state->least);
		get_item(L, 3, &state->greatest);
		break;
	case PQ_M_HIST:
		get_counts(L, sketch);
		state->sketch = sketch;
		break;
	case PQ_M_DISTINCT:
		get_set(L, r, state);
		break;
	case PQ_M_RATIO:
		get_item(L, 1, &state->value);
		get_item(L, 2, &state->other);
		break;
	default:
		get_item(L, 1, &state->value);
	}
}

/* Adds the group at PUT_GROUP. */
static void put_group(lua_State *L, const struct pl_result *r)
{
	const struct pr_shape *shape = &r->result->shape;
	struct pq_value *keys = lua_touserdata(L, PUT_KEYS);
	struct pq_state *states = lua_touserdata(L, PUT_STATES);
	struct sketches *sketches = lua_touserdata(L, PUT_SKETCHES);

	luaL_checktype(L, PUT_GROUP, LUA_TTABLE);
	lua_getfield(L, PUT_GROUP, "event");
	keys[0] = (struct pq_value){ .type = PQ_INT, .i = luaL_optinteger(L, -1, 0) };
	luaL_argcheck(L, keys[0].u < INT32_MAX, PUT_GROUPS, "no section");
	lua_getfield(L, PUT_GROUP, "keys");
	luaL_checktype(L, -1, LUA_TTABLE);
	for (size_t k = 0; k < shape->n_keys; k++) {
		lua_rawgeti(L, PUT_GROUP + 2, (lua_Integer)k + 1);
		to_key(L, r, &keys[k + 1]);
	}
	for (size_t m = 0; m < shape->n_measures; m++) {
		pq_sketch_deinit(&sketches->list[m]);
		lua_rawgeti(L, PUT_GROUP, (lua_Integer)m + 1);
		get_state(L, r, shape->measures[m].measure, &sketches->list[m], &states[m]);
	}
	if (!pr_put(r->result, keys, states, NULL))
		luaL_error(L, "no memory for a result");
}

int pl_result_put(lua_State *L)
{
	const struct pl_result *r = pl_check_result(L, PUT_RESULT);
	const struct pr_shape *shape = &r->result->shape;
	size_t before = pq_groups_memory(r->result->groups);
	struct sketches *sketches;
	lua_Integer n;

	luaL_argcheck(L, r->result->is_open, PUT_RESULT, "a result of a query is constant");
	luaL_checktype(L, PUT_GROUPS, LUA_TTABLE);
	lua_settop(L, PUT_GROUPS);
	n = luaL_len(L, PUT_GROUPS);
	lua_newuserdatauv(L, (shape->n_keys + 1) * sizeof(struct pq_value), 0);
	lua_newuserdatauv(L, (shape->n_measures + 1) * sizeof(struct pq_state), 0);
	sketches = pl_push_finalized(L,
				     sizeof(*sketches) +
					     shape->n_measures * sizeof(struct pq_sketch),
				     sketches_gc);
	sketches->n = shape->n_measures;
	luaL_checkstack(L, (int)shape->n_keys + 2 * (int)shape->n_measures + 10, "groups");
	for (lua_Integer i = 1; i <= n; i++, lua_settop(L, PUT_SKETCHES)) {
		lua_geti(L, PUT_GROUPS, i);
		put_group(L, r);
	}
	lua_settop(L, PUT_RESULT);
	pl_account_result(L, r->result, before);
	return pl_push_wrong(L, r->result) ? 2 : 1;
}

/* Returns the bucket of powers of two that begins at `from`. */
static int32_t find_bucket(const struct pq_value *from)
{
	int32_t bucket = 64; /* 2^63 and more, a float */

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
		to_cell(L, &from);
		lua_getfield(L, -2, "count");
		count = luaL_checkinteger(L, -1);
		lua_pop(L, 2);
		if (count > 0 && !pq_sketch_add(sketch, find_bucket(&from), (uint64_t)count))
			luaL_error(L, "no memory for a histogram");
	}
}
