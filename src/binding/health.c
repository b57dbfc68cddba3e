/* core.health(): tells in one table how good a recording is, from its records. */
#include <stddef.h>
#include <string.h>

#include "handle.h"
#include "pass_progress.h"
#include "functions.h"
#include "system.h"
#include "analysis/health.h"

struct member {
	const char *name;
	size_t at; /* offset of a uint64_t */
};

#define MEMBER(type, name)                         \
	{                                          \
#name, offsetof(struct type, name) \
	}

static const struct member of_all[] = {
	MEMBER(pd_health, kernel),
	MEMBER(pd_health, lost_records),
	MEMBER(pd_health, lost_samples),
	MEMBER(pd_health, filtered),
	MEMBER(pd_health, unthrottled),
	MEMBER(pd_health, untimed),
	MEMBER(pd_health, aux_truncated),
	MEMBER(pd_health, aux_partial),
	MEMBER(pd_health, aux_collided),
	MEMBER(pd_health, maps_cut),
	MEMBER(pd_health, maps_with_ids),
	MEMBER(pd_health, restated),
	{ NULL, 0 },
};

static const struct member of_event[] = {
	{ "records", offsetof(struct pd_health_event, samples) },
	{ "samples", offsetof(struct pd_health_event, delivered) },
	MEMBER(pd_health_event, untimed),
	MEMBER(pd_health_event, odd),
	MEMBER(pd_health_event, of_pid_zero),
	MEMBER(pd_health_event, lost_samples),
	MEMBER(pd_health_event, filtered),
	MEMBER(pd_health_event, chains),
	MEMBER(pd_health_event, chain_limit),
	MEMBER(pd_health_event, chains_cut),
	MEMBER(pd_health_event, deferred),
	MEMBER(pd_health_event, stacks),
	MEMBER(pd_health_event, stacks_full),
	MEMBER(pd_health_event, branches),
	{ "chain_longest", offsetof(struct pd_health_event, chain.length) },
	{ "chains_longest", offsetof(struct pd_health_event, chain.samples) },
	{ "branch_longest", offsetof(struct pd_health_event, branch.length) },
	{ "branches_longest", offsetof(struct pd_health_event, branch.samples) },
	{ "stack_size", offsetof(struct pd_health_event, stack.length) },
	{ "throttles", offsetof(struct pd_health_event, throttled.count) },
	{ "throttled_time", offsetof(struct pd_health_event, throttled.time) },
	{ NULL, 0 },
};

static const struct member of_rounds[] = {
	MEMBER(pd_rounds, late),
	MEMBER(pd_rounds, worst),
	MEMBER(pd_rounds, first),
	{ NULL, 0 },
};

static const struct member of_clock_regressions[] = {
	{ "count", offsetof(struct pd_clock_regressions, n) },
	MEMBER(pd_clock_regressions, worst),
	MEMBER(pd_clock_regressions, first),
	{ NULL, 0 },
};

static const struct member of_gaps[] = {
	MEMBER(pd_gaps_found, interval),
	MEMBER(pd_gaps_found, least),
	{ "count", offsetof(struct pd_gaps_found, n) },
	MEMBER(pd_gaps_found, total),
	{ NULL, 0 },
};

static const struct member of_gap[] = {
	MEMBER(pd_gap, from),
	MEMBER(pd_gap, to),
	MEMBER(pd_gap, lost),
	{ NULL, 0 },
};

static void set_boolean(lua_State *L, const char *name, bool value)
{
	lua_pushboolean(L, value);
	lua_setfield(L, -2, name);
}

/* Sets the members of `counts` in the table on top. [-0, +0] */
static void set_members(lua_State *L, const struct member *m, const void *counts)
{
	uint64_t value;

	for (; m->name; m++) {
		memcpy(&value, (const char *)counts + m->at, sizeof(value));
		pl_set_integer(L, m->name, value);
	}
}

/* Pushes the members of `counts` in a new table. [-0, +1] */
static void push_count_members(lua_State *L, const struct member *m, const void *counts)
{
	int n = 0;

	while (m[n].name)
		n++;
	lua_createtable(L, 0, n);
	set_members(L, m, counts);
}

/* Pushes the counts of records by type: {type_id → count}. [-0, +1] */
static void push_types(lua_State *L, const struct pd_health *h)
{
	lua_newtable(L);
	for (uint32_t type = 0; type < PD_RECORD_TYPES; type++) {
		if (!h->types[type])
			continue;
		lua_pushinteger(L, (lua_Integer)h->types[type]);
		lua_rawseti(L, -2, type);
	}
}

static void push_unknown(lua_State *L, const struct pd_health *h)
{
	lua_createtable(L, (int)h->n_unknown, 0);
	for (size_t i = 0; i < h->n_unknown; i++) {
		lua_createtable(L, 0, 2);
		pl_set_integer(L, "type_id", h->unknown[i].type);
		pl_set_integer(L, "records", h->unknown[i].records);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
}

static void push_event_counts(lua_State *L, const struct pd_health *h)
{
	lua_createtable(L, (int)h->n_events, 0);
	for (size_t i = 0; i < h->n_events; i++) {
		push_count_members(L, of_event, &h->events[i]);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
}

/* Pushes the cpus that were throttled: array of {cpu, count, time}. [-0, +1] */
static void push_cpus(lua_State *L, const struct pd_health *h)
{
	lua_Integer n = 0;

	lua_newtable(L);
	for (size_t i = 0; i < h->n_cpus; i++) {
		if (!h->cpus[i].count)
			continue;
		lua_createtable(L, 0, 3);
		pl_set_integer(L, "cpu", i);
		pl_set_integer(L, "throttles", h->cpus[i].count);
		pl_set_integer(L, "throttled_time", h->cpus[i].time);
		lua_rawseti(L, -2, ++n);
	}
}

static void push_gaps(lua_State *L, const struct pd_gaps_found *gaps)
{
	push_count_members(L, of_gaps, gaps);
	lua_createtable(L, (int)gaps->n_longest, 0);
	for (size_t i = 0; i < gaps->n_longest; i++) {
		push_count_members(L, of_gap, &gaps->longest[i]);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	lua_setfield(L, -2, "longest");
}

static void push_health(lua_State *L, const struct pd_health *h)
{
	push_count_members(L, of_all, h);
	push_types(L, h);
	lua_setfield(L, -2, "types");
	push_unknown(L, h);
	lua_setfield(L, -2, "unknown_types");
	push_event_counts(L, h);
	lua_setfield(L, -2, "events");
	push_count_members(L, of_event, &h->events[h->n_events]);
	lua_setfield(L, -2, "unknown_event");
	push_cpus(L, h);
	lua_setfield(L, -2, "cpus");
	push_count_members(L, of_rounds, &h->rounds);
	lua_setfield(L, -2, "order");
	push_count_members(L, of_clock_regressions, &h->clock_regressions);
	lua_setfield(L, -2, "backsteps");
	push_gaps(L, &h->gaps);
	lua_setfield(L, -2, "gaps");
	set_boolean(L, "ordered", h->ordered);
	set_boolean(L, "backward", h->backward);
	set_boolean(L, "unfinished", h->unfinished);
	if (h->times.known) {
		pl_set_integer(L, "first_time", h->times.first);
		pl_set_integer(L, "last_time", h->times.last);
	}
}

static int health_gc(lua_State *L)
{
	pd_health_deinit(lua_touserdata(L, 1));
	return 0;
}

/*
 * core.health(file [, finds_names]) -> table of the counts of src/analysis/health.h
 *
 * `finds_names` is that of core.count().
 */
int pl_file_health(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, 1);
	struct pd_health *health = pl_push_finalized(L, sizeof(*health), health_gc);
	struct pl_progress progress;
	const struct pb_progress shown = pl_progress_shown(&progress);
	struct pd_error err;
	bool finds_names = lua_toboolean(L, 2), collected;

	pl_progress_init(L, &progress);
	pl_check_open_file(L, 1); /* an allocation may have closed it */
	if (finds_names)
		pl_system_watch(f);
	collected = pd_health_collect(health, f->session, pl_threads(f), &shown, &err);
	pl_system_end_watch(f);
	pl_progress_end(&progress);
	if (!collected)
		return luaL_error(L, "%s", err.message);
	if (health->part < 1)
		pl_cut_pass(L, health->part);
	pl_file_report(L, f);
	push_health(L, health);
	return 1;
}
