#include "scope.h"
#include "binding/system.h"

#include <string.h>

/* Returns all types but those of the container. */
static struct pd_types recorded_types(void)
{
	struct pd_types types = PD_ALL_TYPES;

	for (uint32_t type = 0; type < PD_RECORD_TYPES; type++) {
		const struct pd_record_desc *desc = pd_record_desc(type);

		if (desc && desc->container)
			pd_types_remove(&types, type);
	}
	return types;
}

struct pd_types pl_to_types(lua_State *L, int index)
{
	struct pd_types types = { 0 };

	index = lua_absindex(L, index);
	for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
		int is_integer;
		lua_Integer type = lua_tointegerx(L, -2, &is_integer);

		if (!is_integer || type < 0 || type > UINT32_MAX)
			luaL_error(L, "no record type of that number");
		pd_types_add(&types, (uint32_t)type);
	}
	return types;
}

void pl_to_events(lua_State *L, int index, uint8_t *events, size_t n)
{
	index = lua_absindex(L, index);
	for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
		int is_integer;
		lua_Integer i = lua_tointegerx(L, -2, &is_integer);

		if (!is_integer || i < 1 || (lua_Unsigned)i > n)
			luaL_error(L, "no event of that number");
		events[i - 1] = (uint8_t)lua_toboolean(L, -1);
	}
}

static void set_types(lua_State *L, struct pq_scope *scope, int options)
{
	lua_getfield(L, options, "container");
	scope->types = lua_toboolean(L, -1) ? PD_ALL_TYPES : recorded_types();
	if (lua_getfield(L, options, "types") == LUA_TTABLE)
		scope->types = pl_to_types(L, -1);
	lua_pop(L, 2);
}

static void set_events(lua_State *L, int keep, struct pq_scope *scope, int options)
{
	scope->n_events = scope->session->n_events;
	if (lua_getfield(L, options, "events") == LUA_TTABLE) {
		uint8_t *events = pl_keep(L, keep, scope->n_events + 1);

		pl_to_events(L, -1, events, scope->n_events);
		lua_getfield(L, options, "event_nil");
		events[scope->n_events] = (uint8_t)lua_toboolean(L, -1);
		lua_pop(L, 1);
		scope->events = events;
	}
	lua_pop(L, 1);
}

static bool get_time(lua_State *L, int options, const char *name, uint64_t *time)
{
	bool has = lua_getfield(L, options, name) != LUA_TNIL;

	if (has)
		*time = (uint64_t)luaL_checkinteger(L, -1);
	lua_pop(L, 1);
	return has;
}

static void set_times(lua_State *L, struct pq_scope *scope, int options)
{
	bool from, to;

	scope->to = UINT64_MAX;
	from = get_time(L, options, "from", &scope->from);
	to = get_time(L, options, "to", &scope->to);
	scope->by_time = from || to;
}

static bool is_order(lua_State *L, int options, const char *name)
{
	bool is_equal = lua_getfield(L, options, "order") == LUA_TSTRING &&
			strcmp(lua_tostring(L, -1), name) == 0;

	lua_pop(L, 1);
	return is_equal;
}

static bool is_set(lua_State *L, int options, const char *name)
{
	bool set;

	lua_getfield(L, options, name);
	set = lua_toboolean(L, -1);
	lua_pop(L, 1);
	return set;
}

void pl_to_scope(lua_State *L, int keep, const struct pl_file *f, int options,
		 struct pl_progress *progress, struct pq_scope *scope)
{
	*scope = (struct pq_scope){
		.session = f->session,
		.order = is_order(L, options, "time") ? PD_ORDER_TIME : PD_ORDER_FILE,
		.split = is_set(L, options, "expand"),
		.later_names = is_set(L, options, "later_names"),
		.threads = pl_threads_option(L, options, "threads"),
		.progress = pl_progress_shown(progress),
	};
	if (!scope->threads)
		scope->threads = pl_threads(f);
	set_types(L, scope, options);
	set_events(L, keep, scope, options);
	set_times(L, scope, options);
	/* this comes first: fields of items are those of its view */
	scope->unnest = pl_to_unnest(L, keep, f, options);
	if (lua_getfield(L, options, "filter") != LUA_TNIL)
		scope->filter = pl_to_node(L, keep, f, -1);
	lua_pop(L, 1);
}

struct pm_system *pl_scope_system(lua_State *L, struct pl_file *f, const struct pq_scope *scope)
{
	return scope->order == PD_ORDER_TIME ? pl_ordered_system(L, f) : pl_system(L, f);
}

void pl_scope_machine(lua_State *L, struct pl_file *f, int options, bool asks,
		      struct pq_scope *scope)
{
	bool passes = pl_file_passes(f);

	asks = asks || (scope->filter && pq_asks_system(scope->filter, scope->session)) ||
	       pq_items_ask(scope->unnest, scope->session);
	if (asks || passes)
		scope->system = pl_scope_system(L, f, scope);
	if (asks && passes && is_order(L, options, "any"))
		scope->order = PD_ORDER_TIME;
}

/*
 * Adds the passes that find the first time of each recording, which the recorded system needs
 * where several have one clock (machine/sources.h), to the array on top of `n` passes. Returns
 * how many there are then.
 */
static lua_Integer add_time_passes(lua_State *L, const struct pd_session *session,
				   lua_Integer n)
{
	if (session->n_files == 1 || !session->one_clock)
		return n;
	for (size_t i = 0; i < session->n_files; i++) {
		if (session->files[i]->times.known)
			continue;
		lua_pushliteral(L, "first and last time");
		lua_rawseti(L, -2, ++n);
	}
	return n;
}

void pl_push_passes(lua_State *L, const struct pl_file *f, const struct pq_scope *scope,
		    bool asks, bool reads)
{
	lua_Integer n = 0;

	asks = asks && !f->system;
	reads = reads || pl_file_passes(f);
	lua_createtable(L, 2, 1);
	if (asks && !reads) {
		n = add_time_passes(L, scope->session, n);
		lua_pushliteral(L, "recorded system");
		lua_rawseti(L, -2, ++n);
	}
	if (pq_scope_needs_index(scope)) {
		lua_pushliteral(L, "index of times");
		lua_rawseti(L, -2, ++n);
	}
	lua_pushboolean(L, asks && reads);
	lua_setfield(L, -2, "with_system");
}
