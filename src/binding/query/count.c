/* core.count(), which counts the records of a whole recording. */
#include "scope.h"
#include "binding/functions.h"
#include "binding/system.h"

/* Pushes a table {count, bytes} of a count. [-0, +1] */
static void push_count(lua_State *L, const struct pd_count *count)
{
	lua_createtable(L, 0, 2);
	lua_pushinteger(L, (lua_Integer)count->records);
	lua_setfield(L, -2, "count");
	lua_pushinteger(L, (lua_Integer)count->bytes);
	lua_setfield(L, -2, "bytes");
}

static int stat_gc(lua_State *L)
{
	pd_stat_deinit(lua_touserdata(L, 1));
	return 0;
}

static void push_stat(lua_State *L, const struct pd_stat *stat)
{
	lua_newtable(L);
	lua_newtable(L);
	for (uint32_t type = 0; type < PD_RECORD_TYPES; type++) {
		if (!stat->types[type].records)
			continue;
		push_count(L, &stat->types[type]);
		lua_rawseti(L, -2, type);
	}
	for (size_t i = 0; i < stat->n_unknown; i++) {
		push_count(L, &stat->unknown[i].count);
		lua_rawseti(L, -2, stat->unknown[i].type);
	}
	lua_setfield(L, -2, "types");
	lua_pushboolean(L, stat->split);
	lua_setfield(L, -2, "split");
	lua_newtable(L);
	for (size_t i = 0; i < stat->n_events; i++) {
		push_count(L, &stat->events[i].samples);
		pl_set_integer(L, "records", stat->events[i].samples.records);
		if (stat->split)
			pl_set_integer(L, "count", stat->events[i].delivered);
		pl_set_integer(L, "lost_samples", stat->events[i].lost_samples);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	lua_setfield(L, -2, "events");
	push_count(L, &stat->unknown_event);
	lua_setfield(L, -2, "unknown_event");
	pl_set_integer(L, "lost_records", stat->lost_records);
	pl_set_integer(L, "lost_samples", stat->lost_samples);
	pl_set_integer(L, "payload", stat->payload);
	if (stat->times.known) {
		pl_set_integer(L, "first_time", stat->times.first);
		pl_set_integer(L, "last_time", stat->times.last);
	}
}

/*
 * core.count_workers(file [, is_health]) -> the number of threads of core.count() or
 * core.health(), the reason or nil, whether they can find names
 */
int pl_file_count_threads(lua_State *L)
{
	const struct pl_file *f = pl_check_open_file(L, 1);
	const struct pq_scope scope = { .session = f->session, .threads = pl_threads(f) };
	bool is_health = lua_toboolean(L, 2);
	bool can_find = !f->system && pq_count_shares(&scope, is_health);
	const char *why;

	lua_pushinteger(L, pq_count_threads(&scope, is_health, &why));
	lua_pushstring(L, why);
	lua_pushboolean(L, can_find);
	return 3;
}

/* Returns whether an option is set in the table at index 2, which may be absent. */
static bool find_option(lua_State *L, const char *name)
{
	bool is_set;

	if (lua_isnoneornil(L, 2))
		return false;
	lua_getfield(L, 2, name);
	is_set = lua_toboolean(L, -1);
	lua_pop(L, 1);
	return is_set;
}

/*
 * core.count(file [, {names, order}]) -> {types, events, unknown_event, split, lost_records,
 * lost_samples, first_time, last_time}
 *
 * Types and events have {count, bytes}. For events `count` counts samples as they are
 * delivered, and `records` counts them as they are recorded, which differs only if `split` is
 * true. What later passes need is found in this one if possible: with `names` the recorded
 * system, with `order` the index of times.
 */
int pl_file_count(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, 1);
	bool finds_names = find_option(L, "names"), finds_order = find_option(L, "order");
	struct pd_stat *stat = pl_push_finalized(L, sizeof(*stat), stat_gc);
	struct pl_progress progress;
	struct pq_scope scope = {
		.session = f->session,
		.threads = pl_threads(f),
		.progress = pl_progress_shown(&progress),
	};
	struct pd_error err;
	struct pd_time_watch times = { .index = NULL };
	bool counted;

	pl_progress_init(L, &progress);
	pl_check_open_file(L, 1); /* an allocation may have closed it */
	if (finds_names)
		pl_system_watch(f);
	if (finds_order)
		pd_time_watch_begin(&times, f->session);
	counted = pq_count(&scope, stat, &err);
	pl_system_end_watch(f);
	pd_time_watch_end(&times);
	pl_progress_end(&progress);
	if (!counted)
		return luaL_error(L, "%s", err.message);
	if (progress.ended || (pl_file_passes(f) && !pl_goes_on(progress.interrupt)))
		pl_cut_pass(L, progress.part);
	pl_file_report(L, f);
	push_stat(L, stat);
	return 1;
}
