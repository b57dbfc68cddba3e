/* The loop of file:run{}, which gives each record to its handler. */
#include <string.h>
#include <time.h>

#include "base/vector.h"
#include "cursor.h"
#include "trees.h"
#include "binding/record.h"
#include "binding/system.h"
#include "binding/functions.h"

/*
 * Numbers from here on, after the ids of names, are parts of the cursor: values that trees
 * compute, such as "args.prev_pid".
 */
#define PART PL_METHODS

#define SECOND 1000000000u /* ns */

/*
 * A handler: function number `fn` of the table of functions, 0 for none. It is given a record
 * or, if n is not 0, the values of n fields.
 */
struct handler {
	uint32_t fn;
	unsigned n;
	bool has_parts;
	uint16_t fields[PL_MAX_FIELDS];
};

struct dispatch {
	lua_State *L;
	struct pl_cursor *cursor;
	/* functions that the parts of handlers call; NULL: none. The cursor calls none */
	struct pl_calls *calls;
	uint64_t interval, next; /* ns; interval 0: none */
	bool by_wall;		 /* `next` is a time of CLOCK_MONOTONIC, not of records */
	bool started;		 /* `next` is set */
	bool failed;		 /* interval() raised while a stream was waited for */
	struct handler fallback;
	struct handler types[PD_RECORD_TYPES];
	size_t n_events;
	struct handler *events; /* handlers by event number, in the userdata at AT_EVENTS */
};

/* Stack of the loop. */
enum {
	AT_FILE = 1,
	AT_OPTIONS,
	AT_CURSOR,
	AT_STATE,
	AT_EVENTS,
	AT_FNS,
	AT_TREES,
	AT_STOP,
	AT_INTERVAL,
	AT_CALLS, /* of pl_calls_enter, if parts call functions */
	AT_TOP = AT_CALLS + PL_CALLS_PLACES - 1
};

/* Returns the number of the part whose tree is on top. [-1, +0] */
static uint32_t take_part(lua_State *L, struct pl_cursor *c)
{
	const struct pq_node *node = pl_to_node(L, AT_TREES, c->file, -1);

	if (c->n_parts >= PART || !pb_reserve(c->parts, c->n_parts, c->parts_room) ||
	    (!c->fields.internal && !pq_fields_init(&c->fields, c->file->session, NULL)))
		luaL_error(L, "no room for a handler's fields");
	if (!c->fields.resolver && pq_asks_system(node, c->file->session)) {
		pl_system(L, c->file);
		c->fields.resolver = c->file->resolver;
		c->fields.taken = pm_system_revision_counter(c->file->system);
	}
	c->parts[c->n_parts] = pq_expr_create(node, &c->fields);
	if (!c->parts[c->n_parts])
		luaL_error(L, "no room for a handler's fields");
	lua_pop(L, 1);
	return (uint32_t)c->n_parts++;
}

/*
 * Reads the handler on top of the stack: a function or { field, …, function }, a field being
 * its name or tree. [-1, +0]
 */
static void take_handler(lua_State *L, struct handler *h, struct pl_cursor *c)
{
	int table = lua_gettop(L);

	if (!lua_istable(L, table)) {
		luaL_checktype(L, table, LUA_TFUNCTION);
		lua_rawseti(L, AT_FNS, h->fn = (uint32_t)lua_rawlen(L, AT_FNS) + 1);
		return;
	}
	for (; lua_rawgeti(L, table, (lua_Integer)h->n + 1) != LUA_TFUNCTION; h->n++) {
		if (h->n == PL_MAX_FIELDS)
			luaL_error(L, "more than %d fields", PL_MAX_FIELDS);
		if (lua_istable(L, -1)) {
			h->fields[h->n] = (uint16_t)(take_part(L, c) | PART);
			h->has_parts = true;
		} else {
			h->fields[h->n] = pl_field_id(L, c->file->names, -1);
			lua_pop(L, 1);
		}
	}
	lua_rawseti(L, AT_FNS, h->fn = (uint32_t)lua_rawlen(L, AT_FNS) + 1);
	lua_pop(L, 1);
}

/* Enters the calls of the handlers' values. */
static void enter_handler_calls(lua_State *L, struct dispatch *d)
{
	d->calls = pl_calls_of(L, AT_TREES);
	lua_settop(L, AT_CALLS - 1);
	if (d->calls)
		pl_calls_enter(L, d->calls, AT_FILE, AT_TREES);
	lua_settop(L, AT_TOP);
}

static void take_handlers(lua_State *L, const char *name, struct handler *handlers, size_t n,
			  lua_Integer base, struct pl_cursor *c)
{
	if (lua_getfield(L, AT_OPTIONS, name) == LUA_TTABLE) {
		for (lua_pushnil(L); lua_next(L, AT_TOP + 1);) {
			lua_Integer i = luaL_checkinteger(L, -2) - base;

			luaL_argcheck(L, i >= 0 && (lua_Unsigned)i < n, 2,
				      "no such type or event");
			take_handler(L, &handlers[i], c);
		}
	}
	lua_settop(L, AT_TOP);
}

static const struct handler *find_handler(const struct dispatch *d, const struct pd_record *rec)
{
	const struct handler *h = NULL;

	if (rec->type == PD_RECORD_SAMPLE && rec->event && rec->event->number < d->n_events)
		h = &d->events[rec->event->number];
	if ((!h || !h->fn) && rec->type < PD_RECORD_TYPES)
		h = &d->types[rec->type];
	return h && h->fn ? h : &d->fallback;
}

/* Allocates handlers for n events, at AT_EVENTS, and keeps those that there are. */
static void reserve_event_handlers(lua_State *L, struct dispatch *d, size_t n)
{
	struct handler *events = lua_newuserdatauv(L, (n + 1) * sizeof(*events), 0);

	memset(events, 0, (n + 1) * sizeof(*events));
	if (d->n_events)
		memcpy(events, d->events, d->n_events * sizeof(*events));
	d->events = events;
	lua_replace(L, AT_EVENTS);
}

/* Calls `late` for the handlers of events that came late, and reads these. */
static void take_late(lua_State *L, struct dispatch *d, const struct pl_file *f)
{
	size_t n = f->session->n_events;

	reserve_event_handlers(L, d, n);
	for (size_t i = d->n_events; i < n; i++) {
		if (lua_getfield(L, AT_OPTIONS, "late") == LUA_TFUNCTION) {
			lua_pushinteger(L, (lua_Integer)i + 1);
			lua_call(L, 1, 1);
			if (!lua_isnil(L, -1))
				take_handler(L, &d->events[i], d->cursor);
		}
		lua_settop(L, AT_TOP);
	}
	d->n_events = n;
	enter_handler_calls(L, d);
}

/* Pops the result of a handler. Returns true if it is `stop`. [-1, +0] */
static bool is_stop(lua_State *L)
{
	bool stop = !lua_isnil(L, -1) && lua_rawequal(L, -1, AT_STOP);

	lua_settop(L, AT_TOP);
	return stop;
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/*
 * Returns the ns until interval() is due by the wall clock. If it is due now, returns 0 and
 * sets d->next to the next boundary.
 */
static uint64_t until_wall_tick(struct dispatch *d)
{
	uint64_t now = read_clock(CLOCK_MONOTONIC);

	if (now < d->next)
		return d->next - now;
	d->next = now - (now - d->next) % d->interval + d->interval;
	return 0;
}

/* Pushes interval() and the time of day in ns since 1970. [-0, +2] */
static void push_wall_tick(lua_State *L)
{
	lua_pushvalue(L, AT_INTERVAL);
	lua_pushinteger(L, (lua_Integer)read_clock(CLOCK_REALTIME));
}

/* Calls interval() if it is due by the wall clock. Returns true if it returned `stop`. */
static bool call_wall_tick(lua_State *L, struct dispatch *d)
{
	if (until_wall_tick(d))
		return false;
	push_wall_tick(L);
	lua_call(L, 1, 1);
	return is_stop(L);
}

/*
 * Calls interval(time) for each boundary that the record's time has passed. Returns true if one
 * call returned `stop`. A time that jumps further than any recording lasts is damage: its
 * boundaries are skipped.
 */
#define MAX_TICKS 1000000

static bool call_ticks(lua_State *L, struct dispatch *d, const struct pd_record *rec)
{
	unsigned index = rec->layout->slot[d->cursor->time_id];
	struct pd_value v;

	if (d->by_wall)
		return call_wall_tick(L, d);
	v.type = PD_NIL;
	if (index)
		pd_record_get(rec, index, &v);
	if (v.type == PD_NIL)
		return false;
	if (!d->started)
		d->next = v.u + d->interval;
	d->started = true;
	if (v.u > d->next && (v.u - d->next) / d->interval > MAX_TICKS)
		d->next = v.u;
	for (; v.u >= d->next && d->next + d->interval > d->next; d->next += d->interval) {
		lua_pushvalue(L, AT_INTERVAL);
		lua_pushinteger(L, (lua_Integer)d->next);
		lua_call(L, 1, 1);
		if (is_stop(L))
			return true;
	}
	return false;
}

/*
 * Calls interval() while a stream is waited for: see pd_idle. An error of it takes its place on
 * the stack, for the loop to raise, as none may pass through the reader.
 */
static int64_t tick_while_idle(void *arg)
{
	struct dispatch *d = arg;
	lua_State *L = d->L;
	uint64_t left = until_wall_tick(d);

	if (left)
		return (int64_t)left;
	if (!lua_checkstack(L, 4))
		return (int64_t)d->interval;
	push_wall_tick(L);
	d->failed = lua_pcall(L, 1, 1, 0) != LUA_OK;
	d->cursor->ended = d->failed || lua_rawequal(L, -1, AT_STOP) || d->cursor->file->closed;
	if (d->failed)
		lua_replace(L, AT_INTERVAL);
	else
		lua_pop(L, 1);
	return d->cursor->ended ? -1 : 0;
}

/* Reads the options of interval(). */
static void take_interval(lua_State *L, struct dispatch *d)
{
	if (!lua_isfunction(L, AT_INTERVAL))
		return;
	lua_getfield(L, AT_OPTIONS, "interval_ns");
	d->interval = (uint64_t)luaL_checkinteger(L, -1);
	luaL_argcheck(L, (lua_Integer)d->interval > 0, 2, "interval_ns must be positive");
	lua_getfield(L, AT_OPTIONS, "by_wall");
	d->by_wall = lua_toboolean(L, -1);
	lua_pop(L, 2);
	if (!d->by_wall)
		return;
	d->L = L;
	d->next = read_clock(CLOCK_MONOTONIC) + d->interval;
	pl_cursor_set_idle(d->cursor, (struct pd_idle){ tick_while_idle, d });
}

/* Pushes the values that a handler is given, of which some are parts. [-0, +n] */
static void push_parts(lua_State *L, const struct dispatch *d, const struct handler *h,
		       const struct pd_record *rec)
{
	struct pl_cursor *c = d->cursor;
	struct pq_value value;

	if (!pq_fields_enter(&c->fields, rec))
		luaL_error(L, "no memory for a handler's fields");
	if (d->calls)
		pq_calls_next(&d->calls->calls);
	for (unsigned i = 0; i < h->n; i++) {
		if (h->fields[i] < PART) {
			pl_push_fields(L, AT_CURSOR, rec, &h->fields[i], 1);
			continue;
		}
		pq_expr_value(c->parts[h->fields[i] - PART], &c->fields, &value);
		if (value.type == PQ_OBJECT) {
			pl_calls_push_object(L, d->calls, &value);
			continue;
		}
		if (value.type == PQ_NIL)
			value = (struct pq_value){ .type = PQ_BOOL };
		pl_push_answer(L, AT_FILE, &value);
	}
	if (c->fields.failed)
		luaL_error(L, "no memory for a handler's fields");
}

/* Calls a handler with a record. Returns true if it returned `stop`. */
static bool call_handler(lua_State *L, const struct dispatch *d, const struct handler *h,
			 const struct pd_record *rec)
{
	lua_rawgeti(L, AT_FNS, h->fn);
	if (h->has_parts)
		push_parts(L, d, h, rec);
	else if (h->n)
		pl_push_fields(L, AT_CURSOR, rec, h->fields, h->n);
	else
		pl_push_record_of(L, d->cursor->file, AT_CURSOR, PL_CURSOR_META, rec);
	lua_call(L, h->n ? (int)h->n : 1, 1);
	return is_stop(L);
}

/*
 * core.dispatch(file, {types=…, handlers={[type_id]=h}, event_handlers={[index]=h}, other=h,
 * interval=fn, interval_ns=n, by_wall=bool, stop=value, late=fn})
 *
 * A handler h is a function or {field, …, function}, where a field is a name, or a tree
 * (trees.h). late(index) returns the handler of an event that comes after the loop has begun,
 * or nil.
 */
int pl_file_dispatch(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, 1);
	struct dispatch *d;
	struct pd_record rec;

	luaL_checktype(L, 2, LUA_TTABLE);
	lua_settop(L, 2);
	luaL_checkstack(L, PL_MAX_FIELDS + 16, "handlers");
	pl_push_cursor(L, 1, 2, "handlers");
	d = lua_newuserdatauv(L, sizeof(*d), 0);
	memset(d, 0, sizeof(*d));
	d->cursor = lua_touserdata(L, AT_CURSOR);
	lua_pushnil(L);
	reserve_event_handlers(L, d, f->session->n_events);
	d->n_events = f->session->n_events;
	lua_newtable(L);
	lua_newtable(L);
	lua_getfield(L, 2, "stop");
	lua_getfield(L, 2, "interval");
	lua_settop(L, AT_TOP);
	take_handlers(L, "handlers", d->types, PD_RECORD_TYPES, 0, d->cursor);
	take_handlers(L, "event_handlers", d->events, d->n_events, 1, d->cursor);
	if (lua_getfield(L, 2, "other") != LUA_TNIL)
		take_handler(L, &d->fallback, d->cursor);
	lua_settop(L, AT_TOP);
	take_interval(L, d);
	enter_handler_calls(L, d);
	while (pl_cursor_next(L, d->cursor, AT_CURSOR, &rec)) {
		const struct handler *h;

		if (rec.event && rec.event->number >= d->n_events)
			take_late(L, d, f);
		h = find_handler(d, &rec);
		if (d->interval && call_ticks(L, d, &rec))
			break;
		if (h->fn && call_handler(L, d, h, &rec))
			break;
	}
	if (d->failed) {
		lua_pushvalue(L, AT_INTERVAL);
		return lua_error(L);
	}
	pl_cursor_close(d->cursor);
	return 0;
}
