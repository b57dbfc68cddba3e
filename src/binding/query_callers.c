/*
 * Grouped queries over call chains, as a report with callers has them.
 *
 * The option callers = {dso = place | nil, symbol = place | nil, cpumode = place | nil}: the last key is the field frames,
 * the measures are a count and a sum. The rows are {samples, period, children, event, keys, unresolved}: keys have the
 * names of a frame at these places, a function that is not known as its address; then `unresolved` is true.
 */
#include "query_group.h"

#include <stdio.h>

static int read_place(lua_State *L, const char *name)
{
	lua_Integer at = 0;

	if (lua_getfield(L, -1, name) != LUA_TNIL)
		at = luaL_checkinteger(L, -1);
	if (at < 0 || at > 100)
		luaL_error(L, "no description of a query: no such place");
	lua_pop(L, 1);
	return (int)at;
}

void pl_callers_read(lua_State *L, struct pl_job *job)
{
	const struct pq_grouping *g = &job->grouping;

	job->by_callers = lua_getfield(L, PL_OPTIONS_AT, "callers") == LUA_TTABLE;
	if (job->by_callers) {
		job->dso_at = read_place(L, "dso");
		job->symbol_at = read_place(L, "symbol");
		job->cpumode_at = read_place(L, "cpumode");
		if (!g->n_keys || g->n_measures != 2 || g->measures[0].kind != PQ_M_COUNT ||
		    g->measures[1].kind != PQ_M_SUM)
			luaL_error(L, "no description of a query: callers are of frames, a "
				      "count and a sum");
	}
	lua_pop(L, 1);
}

void pl_callers_free(struct pl_job *job)
{
	pq_callers_destroy(job->callers);
	job->callers = NULL;
}

static void push_symbol(lua_State *L, const struct pq_caller_row *row)
{
	char text[24];

	if (row->symbol) {
		lua_pushstring(L, row->symbol);
	} else if (row->placed) {
		snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)row->address);
		lua_pushstring(L, text);
	} else {
		lua_pushliteral(L, PM_UNKNOWN);
	}
}

/* What of a frame is shown, into the keys on top. */
static void set_frame(lua_State *L, const struct pl_job *job, const struct pq_caller_row *row)
{
	static const char *const modes[] = {
		[PD_CPUMODE_KERNEL] = "kernel",
		[PD_CPUMODE_USER] = "user",
		[PD_CPUMODE_HYPERVISOR] = "hypervisor",
		[PD_CPUMODE_GUEST_KERNEL] = "guest_kernel",
		[PD_CPUMODE_GUEST_USER] = "guest_user",
	};

	if (job->dso_at) {
		lua_pushstring(L, row->dso);
		lua_rawseti(L, -2, job->dso_at);
	}
	if (job->symbol_at) {
		push_symbol(L, row);
		lua_rawseti(L, -2, job->symbol_at);
	}
	if (job->cpumode_at) {
		lua_pushstring(L, modes[row->mode]);
		lua_rawseti(L, -2, job->cpumode_at);
	}
}

static void push_row(lua_State *L, const struct pl_job *job, const struct pq_caller_row *row)
{
	const uint64_t measured[] = { row->samples, row->period, row->children };

	lua_createtable(L, 3, 3);
	pl_set_keys(L, job, row->group, (int)job->grouping.n_keys + 2);
	lua_pushvalue(L, PL_WORDS_AT);
	lua_rawget(L, -2);
	set_frame(L, job, row);
	lua_pop(L, 1);
	for (int m = 0; m < 3; m++) {
		lua_pushinteger(L, (lua_Integer)measured[m]);
		lua_rawseti(L, -2, m + 1);
	}
	if (!row->symbol && row->samples) {
		lua_pushboolean(L, 1);
		lua_setfield(L, -2, "unresolved");
	}
}

void pl_push_callers(lua_State *L, struct pl_job *job)
{
	unsigned by = (job->dso_at ? PQ_BY_DSO : 0) | (job->symbol_at ? PQ_BY_SYMBOL : 0);

	job->callers = pq_callers_create(job->groups, job->grouping.n_keys, by);
	if (!job->callers)
		luaL_error(L, "no memory for the callers");
	pl_push_result(L, pq_callers_size(job->callers));
	for (size_t i = 0; i < pq_callers_size(job->callers); i++) {
		push_row(L, job, pq_callers_row(job->callers, i));
		lua_rawseti(L, PL_RESULT_AT, (lua_Integer)i + 1);
	}
	lua_settop(L, PL_RESULT_AT);
}
