#include "cursor.h"

#include <string.h>

void pl_cursor_close(struct pl_cursor *c)
{
	if (c->open) {
		pd_walk_deinit(&c->walk);
		c->file->late = c->walk.late;
	}
	c->open = false;
}

struct pl_cursor *pl_to_cursor(lua_State *L, int index)
{
	struct pl_cursor *c = lua_touserdata(L, index);

	/* asked at every step of a loop: a mark is found faster than a metatable by name */
	return c && c->magic == PL_CURSOR_MAGIC ? c : NULL;
}

unsigned pl_field_ids(lua_State *L, const struct pl_names *names, int table, uint16_t *ids)
{
	unsigned n = 0;

	for (lua_Integer i = 1; lua_rawgeti(L, table, i) == LUA_TSTRING; i++, lua_pop(L, 1)) {
		const char *name = lua_tostring(L, -1);
		unsigned id = pl_names_find(names, name);

		if (!id || id >= PL_METHODS)
			pl_unknown_name(L, names, name);
		if (n == PL_MAX_FIELDS)
			luaL_error(L, "more than %d fields", PL_MAX_FIELDS);
		ids[n++] = (uint16_t)id;
	}
	lua_pop(L, 1);
	return n;
}

/* A view needs a record to stay. [-0, +1] */
static void push_viewed(lua_State *L, int cursor, const struct pd_record *rec, unsigned index,
			struct pd_value *v)
{
	struct pl_cursor *c = lua_touserdata(L, cursor);
	struct pl_record *own = pl_push_record_of(L, c->file, cursor, PL_CURSOR_META, rec);

	pd_record_get(&own->rec, index, v);
	pl_push_value(L, lua_gettop(L), v);
	lua_remove(L, -2);
}

/* A value that is not a plain load: perhaps it cannot be read. */
static void push_other(lua_State *L, int cursor, const struct pd_record *rec, unsigned index,
		       struct pd_value *v)
{
	if (v->type == PD_NIL) {
		lua_pushboolean(L, 0);
	} else if (v->type == PD_EVENT) {
		lua_getiuservalue(L, cursor, PL_CURSOR_FILE);
		pl_push_event(L, -1, v->event);
		lua_remove(L, -2);
	} else if (v->type == PD_LATER) {
		((struct pl_cursor *)lua_touserdata(L, cursor))->busy = false;
		pl_later(L, rec->layout->bound[index].field->name);
	} else if (v->type == PD_MACHINE) {
		struct pl_cursor *c = lua_touserdata(L, cursor);
		bool busy = c->busy;

		c->busy = false; /* this raises if the file cannot be read; it calls no Lua */
		pl_machine(L, c->file);
		c->busy = busy;
		if (rec->layout->bound[index].field->view)
			push_viewed(L, cursor, rec, index, v);
		else
			pl_push_machine(L, c->file, 0, rec, v);
		if (lua_isnil(L, -1)) {
			lua_pop(L, 1);
			lua_pushboolean(L, 0);
		}
	} else if (v->type == PD_VIEW) {
		push_viewed(L, cursor, rec, index, v);
	} else {
		pl_push_value(L, 0, v);
	}
}

void pl_push_fields(lua_State *L, int cursor, const struct pd_record *rec, const uint16_t *ids,
		    unsigned n)
{
	struct pd_value v;
	int64_t integer;

	for (unsigned i = 0; i < n; i++) {
		unsigned index = rec->layout->slot[ids[i]];

		if (pd_record_integer(rec, index, &integer)) {
			lua_pushinteger(L, integer);
			continue;
		}
		v.type = PD_NIL;
		if (index)
			pd_record_get(rec, index, &v);
		push_other(L, cursor, rec, index, &v);
	}
}

static bool in_time(const struct pl_cursor *c, const struct pd_record *rec)
{
	unsigned index = rec->layout->slot[c->time_id];
	struct pd_value v;

	v.type = PD_NIL; /* an initialiser would clear all of v, for every record */
	if (index)
		pd_record_get(rec, index, &v);
	return v.type != PD_NIL && v.u >= c->from && v.u < c->to;
}

/* Events that came late were not there to be asked for. */
static bool of_event(const struct pl_cursor *c, const struct pd_record *rec)
{
	size_t last = c->n_events - 1, i = rec->event ? rec->event->number : last;

	return (!rec->event || i < last) && c->event_ok[i];
}

int pl_cursor_next(lua_State *L, struct pl_cursor *c, struct pd_record *rec)
{
	struct pd_error err;
	int got = 0;

	if (c->busy)
		return luaL_error(L, "a loop cannot go on in a finalizer inside of it");
	while (c->open && pl_goes_on(c->interrupt)) {
		if (c->file->closed) {
			pl_cursor_close(c);
			return luaL_error(L, "%s: loop over a closed file",
					  c->file->file ? c->file->file->path : "file");
		}
		got = pd_walk_next(&c->walk, rec, &err);
		if (got <= 0)
			break;
		if (c->by_event && !of_event(c, rec))
			continue;
		if (c->by_time && !in_time(c, rec))
			continue;
		return 1;
	}
	pl_cursor_close(c);
	/* a stream that was waited for ends as if the recording had ended */
	if (got < 0 && pl_goes_on(c->interrupt))
		luaL_error(L, "%s", err.message);
	pl_file_report(L, c->file);
	return 0;
}

int pl_cursor_step(lua_State *L, struct pl_cursor *c, int index)
{
	struct pd_record rec;

	/* a C function has 20 places on the stack without asking */
	if (c->n_fields > 8)
		luaL_checkstack(L, PL_MAX_FIELDS + 8, "fields");
	if (!pl_cursor_next(L, c, &rec))
		return 0;
	c->busy = true;
	if (c->n_fields) {
		pl_push_fields(L, index, &rec, c->fields, c->n_fields);
	} else if (c->reuse) {
		lua_getiuservalue(L, index, PL_CURSOR_RECORD);
		pl_reuse_record(L, -1, &rec);
	} else {
		pl_push_record_of(L, c->file, index, PL_CURSOR_META, &rec);
	}
	c->busy = false;
	return c->n_fields ? (int)c->n_fields : 1;
}

/* cursor() -> record | values … | nothing at the end */
static int cursor_call(lua_State *L)
{
	struct pl_cursor *c = pl_to_cursor(L, 1);

	if (!c)
		return luaL_typeerror(L, 1, PL_CURSOR);
	return pl_cursor_step(L, c, 1);
}

static int cursor_close(lua_State *L)
{
	struct pl_cursor *c = luaL_checkudata(L, 1, PL_CURSOR);

	if (!c->busy)
		pl_cursor_close(c);
	return 0;
}

static int cursor_gc(lua_State *L)
{
	pl_cursor_close(luaL_checkudata(L, 1, PL_CURSOR));
	return 0;
}

static enum pd_order_kind get_order(lua_State *L, int options)
{
	bool time;

	lua_getfield(L, options, "order");
	time = lua_type(L, -1) == LUA_TSTRING && strcmp(lua_tostring(L, -1), "time") == 0;
	lua_pop(L, 1);
	return time ? PD_ORDER_TIME : PD_ORDER_FILE;
}

static bool meet(void *machine, const struct pd_record *rec)
{
	return pm_machine_add(machine, rec);
}

static void set_types(lua_State *L, struct pl_cursor *c, int options)
{
	int top = lua_gettop(L);

	if (lua_getfield(L, options, "types") == LUA_TTABLE) {
		c->walk.wanted.types = (struct pd_types){ 0 };
		for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
			lua_Integer type = luaL_checkinteger(L, -2);

			luaL_argcheck(L, type >= 0 && type <= UINT32_MAX, 2, "no record type");
			pd_types_add(&c->walk.wanted.types, (uint32_t)type);
		}
	} else if (lua_getfield(L, options, "container"), !lua_toboolean(L, -1)) {
		for (uint32_t type = 0; type < PD_RECORD_TYPES; type++) {
			const struct pd_record_desc *desc = pd_record_desc(type);

			if (desc && desc->container)
				pd_types_remove(&c->walk.wanted.types, type);
		}
	}
	lua_settop(L, top);
}

static void set_events(lua_State *L, struct pl_cursor *c, int options)
{
	if (lua_getfield(L, options, "events") == LUA_TTABLE) {
		c->by_event = true;
		for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
			lua_Integer i = luaL_checkinteger(L, -2);

			luaL_argcheck(L, i >= 1 && (lua_Unsigned)i < c->n_events, 2,
				      "no event");
			c->event_ok[i - 1] = 1;
		}
		lua_getfield(L, options, "event_nil");
		c->event_ok[c->n_events - 1] = (uint8_t)lua_toboolean(L, -1);
		lua_pop(L, 1);
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

static void set_options(lua_State *L, struct pl_cursor *c, int options)
{
	bool from, to;

	set_types(L, c, options);
	set_events(L, c, options);
	c->to = UINT64_MAX;
	from = get_time(L, options, "from", &c->from);
	to = get_time(L, options, "to", &c->to);
	c->by_time = from || to;
	c->walk.wanted.from = c->from;
	c->walk.wanted.to = c->to;
	lua_getfield(L, options, "reuse");
	c->reuse = lua_toboolean(L, -1);
	if (lua_getfield(L, options, "fields") == LUA_TTABLE) {
		c->n_fields = pl_field_ids(L, c->file->names, lua_gettop(L), c->fields);
		c->reuse = false;
	}
	lua_pop(L, 2);
}

struct pl_cursor *pl_push_cursor(lua_State *L, int file, int options)
{
	struct pl_file *f = pl_check_open_file(L, file);
	size_t n_events = f->session->n_events + 1;
	struct pl_cursor *c = lua_newuserdatauv(L, sizeof(*c) + n_events, PL_CURSOR_VALUES);
	int index = lua_gettop(L);
	struct pd_error err;

	memset(c, 0, sizeof(*c) + n_events);
	c->magic = PL_CURSOR_MAGIC;
	c->file = f;
	c->n_events = n_events;
	luaL_setmetatable(L, PL_CURSOR);
	lua_pushvalue(L, file);
	lua_setiuservalue(L, index, PL_CURSOR_FILE);
	lua_getiuservalue(L, file, PL_FILE_RECORD);
	lua_setiuservalue(L, index, PL_CURSOR_META);
	c->time_id = pd_name_id(&f->names->names, "time", 4);
	c->interrupt = pl_interrupt(L);
	if (!pd_walk_init(&c->walk, f->session, get_order(L, options), &err))
		luaL_error(L, "%s", err.message);
	c->open = true;
	c->walk.wanted.go_on = pl_goes_on;
	c->walk.wanted.arg = c->interrupt;
	set_options(L, c, options);
	if (pl_file_passes(f)) {
		c->walk.wanted.meets.meet = meet;
		c->walk.wanted.meets.arg = pl_machine(L, f);
		pm_machine_types(&c->walk.wanted.meets.types);
	}
	if (c->reuse) {
		pl_push_reusable(L, file);
		lua_setiuservalue(L, index, PL_CURSOR_RECORD);
	}
	return c;
}

/* file:cursor(options) -> cursor */
int pl_file_cursor(lua_State *L)
{
	luaL_checktype(L, 2, LUA_TTABLE);
	lua_settop(L, 2);
	pl_push_cursor(L, 1, 2);
	return 1;
}

void pl_cursor_register(lua_State *L)
{
	static const luaL_Reg meta[] = {
		{ "__call", cursor_call },
		{ "__gc", cursor_gc },
		{ "__close", cursor_close },
		{ NULL, NULL },
	};
	static const luaL_Reg methods[] = {
		{ "close", cursor_close },
		{ NULL, NULL },
	};

	luaL_newmetatable(L, PL_CURSOR);
	luaL_setfuncs(L, meta, 0);
	lua_pushliteral(L, PL_CURSOR);
	lua_setfield(L, -2, "__metatable");
	luaL_newlib(L, methods);
	lua_setfield(L, -2, "__index");
	lua_pop(L, 1);
}
