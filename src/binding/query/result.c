/*
 * The groups of grouped queries as Lua values, in the form that measures/init.lua and
 * group/aggregate.lua expect.
 */
#include <limits.h>
#include <string.h>

#include "group.h"
#include "binding/functions.h"
#include "binding/stack.h"

#define LONG_TEXT 40 /* Lua keeps longer ones as often as they are pushed */

/*
 * Pushes a text at an address that stays, as one string for all groups that have it. [-0, +1]
 */
static void push_key_text(lua_State *L, const char *p, size_t n)
{
	if (n <= LONG_TEXT) {
		lua_pushlstring(L, p, n);
	} else if (lua_rawgetp(L, PL_TEXTS_AT, p) != LUA_TSTRING) {
		lua_pop(L, 1);
		lua_pushlstring(L, p, n);
		lua_pushvalue(L, -1);
		lua_rawsetp(L, PL_TEXTS_AT, p);
	}
}

static void push_chain(lua_State *L, const struct pl_job *job, uint32_t chain)
{
	struct pq_chains *chains = pq_groups_chains(job->groups);
	const char *text;
	size_t n;

	if (lua_rawgeti(L, PL_CHAINS_AT, (lua_Integer)chain + 1) != LUA_TNIL)
		return;
	lua_pop(L, 1);
	if (pq_chains_kind(chains, chain) == PQ_CHAIN_VALUES) {
		pl_push_chain_stacks(L, PL_FILE_AT, chains, job->scope.system, PL_CHAINS_AT);
		lua_rawgeti(L, PL_CHAINS_AT, (lua_Integer)chain + 1);
		return;
	}
	text = pq_chains_text(chains, chain, &n);
	if (!text)
		luaL_error(L, "no memory for a call chain");
	lua_pushlstring(L, text, n);
	lua_pushvalue(L, -1);
	lua_rawseti(L, PL_CHAINS_AT, (lua_Integer)chain + 1);
}

void pl_push_shown(lua_State *L, const struct pl_job *job, const struct pq_value *v)
{
	switch (v->type) {
	case PQ_EVENT:
		push_key_text(L, v->event->name, strlen(v->event->name));
		break;
	case PQ_TEXT:
		push_key_text(L, v->p, v->size);
		break;
	case PQ_CHAIN:
		push_chain(L, job, (uint32_t)v->u);
		break;
	case PQ_OBJECT:
		pl_calls_push_object(L, job->calls, v);
		break;
	default:
		pl_push_answer(L, PL_FILE_AT, v);
	}
}

/* Pushes a state of one value; false without a value. */
static void push_or_false(lua_State *L, const struct pl_job *job, const struct pq_state *s)
{
	if (s->value.type == PQ_NIL)
		lua_pushboolean(L, 0);
	else
		pl_push_shown(L, job, &s->value);
}

static void push_number(lua_State *L, const struct pl_job *job, const struct pq_state *s)
{
	pl_push_shown(L, job, &s->value);
}

static void push_avg(lua_State *L, const struct pl_job *job, const struct pq_state *s)
{
	lua_createtable(L, 3, 0);
	lua_pushinteger(L, (lua_Integer)s->n);
	lua_rawseti(L, -2, 1);
	lua_pushinteger(L, s->high);
	lua_rawseti(L, -2, 2);
	pl_push_shown(L, job, &s->value);
	lua_rawseti(L, -2, 3);
}

static void push_counts(lua_State *L, const struct pl_job *job, const struct pq_state *s)
{
	const struct pq_bucket_count *counts;
	size_t n = s->sketch ? pq_sketch_counts(s->sketch, &counts) : 0;

	(void)job;
	lua_createtable(L, 0, n < INT_MAX ? (int)n : 0);
	for (size_t i = 0; i < n; i++) {
		lua_pushinteger(L, (lua_Integer)counts[i].count);
		lua_rawseti(L, -2, counts[i].bucket);
	}
}

static void push_quantile(lua_State *L, const struct pl_job *job, const struct pq_state *s)
{
	lua_createtable(L, 3, 0);
	push_counts(L, job, s);
	lua_rawseti(L, -2, 1);
	pl_push_shown(L, job, &s->least);
	lua_rawseti(L, -2, 2);
	pl_push_shown(L, job, &s->greatest);
	lua_rawseti(L, -2, 3);
}

static void push_set(lua_State *L, const struct pl_job *job, const struct pq_state *s)
{
	lua_createtable(L, 0, s->n_set < INT_MAX ? (int)s->n_set : 0);
	for (size_t i = 0; i < s->n_set; i++) {
		pl_push_shown(L, job, &s->set[i]);
		lua_pushboolean(L, 1);
		lua_rawset(L, -3);
	}
}

/* Pushes a table of the value, which is empty without one. */
static void push_boxed(lua_State *L, const struct pl_job *job, const struct pq_state *s)
{
	lua_createtable(L, 1, 0);
	pl_push_shown(L, job, &s->value);
	lua_rawseti(L, -2, 1);
}

static void push_ratio(lua_State *L, const struct pl_job *job, const struct pq_state *s)
{
	lua_createtable(L, 2, 0);
	pl_push_shown(L, job, &s->value);
	lua_rawseti(L, -2, 1);
	pl_push_shown(L, job, &s->other);
	lua_rawseti(L, -2, 2);
}

/* Push states in the forms of lua/perflua/measures/init.lua. [-0, +1] */
static void (*const push_state[])(lua_State *, const struct pl_job *,
				  const struct pq_state *) = {
	[PQ_M_COUNT] = push_number, [PQ_M_SUM] = push_number,	[PQ_M_AVG] = push_avg,
	[PQ_M_MIN] = push_or_false, [PQ_M_MAX] = push_or_false, [PQ_M_QUANTILE] = push_quantile,
	[PQ_M_HIST] = push_counts,  [PQ_M_DISTINCT] = push_set, [PQ_M_FIRST] = push_boxed,
	[PQ_M_LAST] = push_boxed,   [PQ_M_SHARE] = push_number, [PQ_M_RATIO] = push_ratio,
};

void pl_set_keys(lua_State *L, const struct pl_job *job, size_t g, int n_shown)
{
	struct pq_value v;

	lua_pushvalue(L, PL_WORDS_AT);
	lua_createtable(L, n_shown, 0);
	for (size_t k = 0; k < job->grouping.n_keys; k++) {
		pq_groups_key(job->groups, g, k, &v);
		if (job->at[k]) {
			pl_push_shown(L, job, &v);
			lua_rawseti(L, -2, job->at[k]);
		} else if (v.type == PQ_EVENT) {
			lua_pushvalue(L, PL_WORDS_AT + 1);
			lua_pushinteger(L, (lua_Integer)v.event->number + 1);
			lua_rawset(L, -5);
		}
	}
	lua_rawset(L, -3);
}

void pl_push_result(lua_State *L, size_t n)
{
	luaL_checkstack(L, 20, "groups");
	lua_settop(L, PL_RESULT_AT - 1);
	lua_createtable(L, n < INT_MAX ? (int)n : INT_MAX, 0);
	lua_newtable(L);
	lua_newtable(L);
	lua_pushliteral(L, "keys");
	lua_pushliteral(L, "event");
}

/*
 * Returns how many positions a group's keys take, and sets *has_event to whether one is its
 * event.
 */
static int count_places(const struct pl_job *job, bool *has_event)
{
	int highest = 0;

	*has_event = false;
	for (size_t k = 0; k < job->grouping.n_keys; k++) {
		if (job->at[k] > highest)
			highest = job->at[k];
		*has_event = *has_event || !job->at[k];
	}
	return highest;
}

#define AT_ONCE	 4096  /* groups between two looks at the interrupt */
#define FEW	 30000 /* groups that become tables also after an interrupt */
#define N_CHOSEN 10000 /* groups that do, of more than those */

/* Pushes a group as a table. [-0, +1] */
static void push_group(lua_State *L, const struct pl_job *job, size_t g, int n_shown,
		       bool has_event)
{
	const struct pq_grouping *grouping = &job->grouping;
	struct pq_state state;

	lua_createtable(L, (int)grouping->n_measures, has_event ? 2 : 1);
	pl_set_keys(L, job, g, n_shown);
	for (size_t m = 0; m < grouping->n_measures; m++) {
		pq_groups_state(job->groups, g, m, &state);
		push_state[grouping->measures[m].kind](L, job, &state);
		lua_rawseti(L, -2, (lua_Integer)m + 1);
	}
}

/* Returns true if a share needs the sums of the groups that are left out. */
static bool wants_rest(const struct pl_job *job)
{
	bool wants = false;

	for (size_t m = 0; m < job->grouping.n_measures; m++)
		wants = wants || job->grouping.measures[m].kind == PQ_M_SHARE;
	return wants;
}

/*
 * Pushes an array of the first groups by job->first, with the fields `total` and `rest`: see
 * pl_file_group(). The stack must have the values of pl_push_result(). [-0, +1]
 */
static void push_chosen(lua_State *L, const struct pl_job *job, int n_shown, bool has_event)
{
	const size_t *chosen = pl_choose_groups(L, job, N_CHOSEN);

	lua_createtable(L, N_CHOSEN, 2);
	for (size_t i = 0; i < N_CHOSEN; i++) {
		push_group(L, job, chosen[i], n_shown, has_event);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	if (wants_rest(job)) {
		pl_push_left_out(L, job, chosen, n_shown);
		lua_setfield(L, -2, "rest");
	}
	lua_pushinteger(L, (lua_Integer)pq_groups_size(job->groups));
	lua_setfield(L, -2, "total");
	lua_remove(L, -2);
}

/*
 * Sets `whole` of the groups at PL_RESULT_AT: for each event {event = its name | nil, index =
 * its index | nil, sums of the records, of each share}.
 */
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

		lua_createtable(L, (int)job->whole.n_measures, 1);
		if (job->whole.n_keys) {
			pq_groups_key(whole, g, 0, &event);
			pl_push_shown(L, job, &event);
			lua_setfield(L, -2, "event");
			if (event.type == PQ_EVENT)
				pl_set_integer(L, "index", (uint64_t)event.event->number + 1);
		}
		for (size_t m = 0; m < job->whole.n_measures; m++) {
			pq_groups_state(whole, g, m, &state);
			pl_push_shown(L, job, &state.value);
			lua_rawseti(L, -2, (lua_Integer)m + 1);
		}
		lua_rawseti(L, -2, (lua_Integer)g + 1);
	}
	lua_setfield(L, PL_RESULT_AT, "whole");
}

/*
 * Chooses, if there are many groups, those that are the result if an interrupt leaves no time
 * for all, and sets them as field `chosen` at PL_RESULT_AT. The interpreter's collector then
 * works in small steps: one pass through millions of groups takes longer than an interrupt may
 * wait.
 */
static void prepare_interrupt(lua_State *L, const struct pl_job *job, int n_shown,
			      bool has_event)
{
	if (job->progress.interrupt)
		lua_gc(L, LUA_GCINC, 0, 0, 0);
	push_chosen(L, job, n_shown, has_event);
	lua_setfield(L, PL_RESULT_AT, "chosen");
}

void pl_push_groups(lua_State *L, const struct pl_job *job)
{
	size_t n = pq_groups_size(job->groups);
	bool has_event, are_many = n > FEW;
	int n_shown = count_places(job, &has_event);

	pl_push_result(L, are_many && !pl_goes_on(job->progress.interrupt) ? 0 : n);
	if (are_many)
		prepare_interrupt(L, job, n_shown, has_event);
	for (size_t g = 0; g < n; g++) {
		if (are_many && g % AT_ONCE == 0 && !pl_goes_on(job->progress.interrupt)) {
			/* the prompt starts the collector again */
			lua_gc(L, LUA_GCSTOP);
			lua_getfield(L, PL_RESULT_AT, "chosen");
			lua_replace(L, PL_RESULT_AT);
			break;
		}
		push_group(L, job, g, n_shown, has_event);
		lua_rawseti(L, PL_RESULT_AT, (lua_Integer)g + 1);
	}
	set_whole(L, job);
	lua_settop(L, PL_RESULT_AT);
}
