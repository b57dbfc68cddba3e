/* Groups of a query as a result, and groups of results as Lua values. */
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
	/* an event as the first key becomes the section */
	pl_push_result_of(L, shape, &job->groups, job->grouping.n_keys && !job->at[0],
			  stack_of);
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
		pl_push_state(L, shape->measures[m].measure, &state);
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

/* Places on the stack of pl_result_put(), and above those of one group. */
enum {
	PUT_RESULT = 1,
	PUT_GROUPS,
	PUT_KEYS,
	PUT_STATES,
	PUT_SKETCHES,
	PUT_GROUP
};

/* Adds the group at PUT_GROUP. */
static void put_group(lua_State *L, const struct pl_result *r)
{
	const struct pr_shape *shape = &r->result->shape;
	struct pq_value *keys = lua_touserdata(L, PUT_KEYS);
	struct pq_state *states = lua_touserdata(L, PUT_STATES);
	struct pq_sketch *sketches = lua_touserdata(L, PUT_SKETCHES);

	luaL_checktype(L, PUT_GROUP, LUA_TTABLE);
	lua_getfield(L, PUT_GROUP, "event");
	keys[0] = (struct pq_value){ .type = PQ_INT, .i = luaL_optinteger(L, -1, 0) };
	luaL_argcheck(L, keys[0].u < INT32_MAX, PUT_GROUPS, "no section");
	lua_getfield(L, PUT_GROUP, "keys");
	luaL_checktype(L, -1, LUA_TTABLE);
	for (size_t k = 0; k < shape->n_keys; k++) {
		lua_rawgeti(L, PUT_GROUP + 2, (lua_Integer)k + 1);
		pl_to_key(L, r->stacks, &keys[k + 1]);
	}
	for (size_t m = 0; m < shape->n_measures; m++) {
		pq_sketch_deinit(&sketches[m]);
		lua_rawgeti(L, PUT_GROUP, (lua_Integer)m + 1);
		pl_get_state(L, shape->measures[m].measure, r->stacks, &sketches[m],
			     &states[m]);
	}
	if (!pr_put(r->result, keys, states, NULL))
		luaL_error(L, "no memory for a result");
}

int pl_result_put(lua_State *L)
{
	const struct pl_result *r = pl_check_result(L, PUT_RESULT);
	const struct pr_shape *shape = &r->result->shape;
	size_t before = pq_groups_memory(r->result->groups);
	lua_Integer n;

	luaL_argcheck(L, r->result->is_open, PUT_RESULT, "a result of a query is constant");
	luaL_checktype(L, PUT_GROUPS, LUA_TTABLE);
	lua_settop(L, PUT_GROUPS);
	n = luaL_len(L, PUT_GROUPS);
	lua_newuserdatauv(L, (shape->n_keys + 1) * sizeof(struct pq_value), 0);
	lua_newuserdatauv(L, (shape->n_measures + 1) * sizeof(struct pq_state), 0);
	pl_push_sketches(L, shape->n_measures);
	luaL_checkstack(L, (int)shape->n_keys + 2 * (int)shape->n_measures + 10, "groups");
	for (lua_Integer i = 1; i <= n; i++, lua_settop(L, PUT_SKETCHES)) {
		lua_geti(L, PUT_GROUPS, i);
		put_group(L, r);
	}
	lua_settop(L, PUT_RESULT);
	pl_account_result(L, r->result, before);
	return pl_push_wrong(L, r->result) ? 2 : 1;
}
