/*
 * Event: one event of a File, and the array of them.
 */
#include <string.h>

#include "value.h"
#include "functions.h"
#include "perfdata/tracepoint/message.h"

/* An Event. Its user value 1 is the File. */
struct pl_event {
	const struct pd_event *event;
	struct pl_file *file;
};

const struct pd_event *pl_check_event(lua_State *L, int index)
{
	const struct pl_event *e = luaL_checkudata(L, index, PL_EVENT);

	if (!e->file->file) /* a finalizer can see that */
		luaL_error(L, "event of a file that no longer exists");
	return e->event;
}

/*
 * Pushes the table of all Events of the File at `file`. It is made once; late events are added.
 */
void pl_push_events(lua_State *L, int file)
{
	struct pl_file *f = lua_touserdata(L, file);

	file = lua_absindex(L, file);
	if (lua_getiuservalue(L, file, PL_FILE_EVENTS) != LUA_TTABLE) {
		lua_pop(L, 1);
		lua_createtable(L, (int)f->session->n_events, 0);
		luaL_setmetatable(L, PL_EVENTS);
		lua_pushvalue(L, -1);
		lua_setiuservalue(L, file, PL_FILE_EVENTS);
	}
	for (size_t i = (size_t)lua_rawlen(L, -1); i < f->session->n_events; i++) {
		struct pl_event *e = lua_newuserdatauv(L, sizeof(*e), 1);

		e->event = f->session->events[i];
		e->file = f;
		luaL_setmetatable(L, PL_EVENT);
		lua_pushvalue(L, file);
		lua_setiuservalue(L, -2, 1);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
}

void pl_push_event(lua_State *L, int file, const struct pd_event *event)
{
	if (!event) {
		lua_pushnil(L);
		return;
	}
	pl_push_events(L, file);
	lua_rawgeti(L, -1, (lua_Integer)event->number + 1);
	lua_remove(L, -2);
}

static int push_name(lua_State *L, const struct pd_event *e)
{
	lua_pushstring(L, e->name);
	return 1;
}

static int push_index(lua_State *L, const struct pd_event *e)
{
	lua_pushinteger(L, (lua_Integer)e->number + 1);
	return 1;
}

static int push_ids(lua_State *L, const struct pd_event *e)
{
	lua_createtable(L, (int)(e->n_ids < 1u << 24 ? e->n_ids : 0), 0);
	for (size_t i = 0; i < e->n_ids; i++) {
		lua_pushinteger(L, (lua_Integer)e->ids[i]);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	return 1;
}

/*
 * Pushes the names of the sample's fields as recorded: without fields that all records have,
 * and without those computed from others.
 */
static int push_sample_fields(lua_State *L, const struct pd_event *e)
{
	lua_Integer n = 0;

	lua_newtable(L);
	for (unsigned i = 1; i < e->sample->n_bound; i++) {
		const struct pd_field *field = e->sample->bound[i].field;

		if (field->part == PD_PART_NONE || field->kind == PD_K_SYSTEM)
			continue;
		lua_pushstring(L, field->name);
		lua_rawseti(L, -2, ++n);
	}
	return 1;
}

static int push_leader(lua_State *L, const struct pd_event *e)
{
	lua_getiuservalue(L, 1, 1);
	pl_push_event(L, -1, &e->recorded_with->list[e->leader]);
	return 1;
}

/*
 * Pushes the events of the event's group, the leader first; only the event itself if it has
 * none.
 */
static int push_group_members(lua_State *L, const struct pd_event *e)
{
	const struct pd_event *leader = &e->recorded_with->list[e->leader];

	lua_getiuservalue(L, 1, 1);
	lua_createtable(L, (int)leader->n_members, 0);
	for (uint32_t i = 0; i < leader->n_members; i++) {
		pl_push_event(L, -2, &leader[i]);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	return 1;
}

static int push_group_name(lua_State *L, const struct pd_event *e)
{
	lua_pushstring(L, e->recorded_with->list[e->leader].group_name);
	return 1;
}

static bool has_event(const struct pd_file *file, uint32_t number)
{
	for (size_t i = 0; i < file->n_events; i++)
		if (file->events[i].number == number)
			return true;
	return false;
}

/* Pushes the numbers of the recordings that have the event; nil if there is only one. */
static int push_sources(lua_State *L, const struct pd_event *e)
{
	const struct pl_event *self = lua_touserdata(L, 1);
	const struct pd_session *session = self->file->session;
	lua_Integer n = 0;

	if (session->n_files == 1) {
		lua_pushnil(L);
		return 1;
	}
	lua_newtable(L);
	for (size_t i = 0; i < session->n_files; i++) {
		if (!has_event(session->files[i], e->number))
			continue;
		lua_pushinteger(L, (lua_Integer)i + 1);
		lua_rawseti(L, -2, ++n);
	}
	return 1;
}

static int push_attr_size(lua_State *L, const struct pd_event *e)
{
	lua_pushinteger(L, e->attr_size);
	return 1;
}

static int push_unit(lua_State *L, const struct pd_event *e)
{
	lua_pushstring(L, e->unit);
	return 1;
}

static int push_scale(lua_State *L, const struct pd_event *e)
{
	if (e->scale != 0)
		lua_pushnumber(L, e->scale);
	else
		lua_pushnil(L);
	return 1;
}

static int push_samples_time(lua_State *L, const struct pd_event *e)
{
	lua_pushboolean(L, pd_attr_samples_time(&e->attr));
	return 1;
}

/* Pushes the part of a tracepoint's name that precedes the colon. */
static int push_system(lua_State *L, const struct pd_event *e)
{
	const char *colon = e->attr.type == PD_TYPE_TRACEPOINT ? strchr(e->name, ':') : NULL;

	if (colon)
		lua_pushlstring(L, e->name, (size_t)(colon - e->name));
	else
		lua_pushnil(L);
	return 1;
}

/* Pushes a field of a tracepoint as a table. [-0, +1] */
static void push_arg(lua_State *L, const struct pd_tracepoint_field *f)
{
	struct pd_member what = { .name = f->name, .type = pd_arg_type(f) };

	pl_push_member(L, &what);
	lua_pushstring(L, f->type);
	lua_setfield(L, -2, "type");
	pl_set_integer(L, "offset", f->offset);
	pl_set_integer(L, "size", f->size);
	lua_pushboolean(L, f->is_signed);
	lua_setfield(L, -2, "signed");
	lua_pushboolean(L, f->storage != PD_ARG_FIXED);
	lua_setfield(L, -2, "dynamic");
	lua_pushboolean(L, f->common);
	lua_setfield(L, -2, "common");
	if (f->count)
		pl_set_integer(L, "count", f->count);
}

static int push_tracepoint_fields(lua_State *L, const struct pd_event *e)
{
	if (!e->tracepoint) {
		lua_pushnil(L);
		return 1;
	}
	lua_createtable(L, (int)e->tracepoint->n_fields, 0);
	for (uint32_t i = 0; i < e->tracepoint->n_fields; i++) {
		push_arg(L, &e->tracepoint->fields[i]);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	return 1;
}

static int push_print_fmt(lua_State *L, const struct pd_event *e)
{
	lua_pushstring(L, e->tracepoint ? e->tracepoint->print_fmt : NULL);
	return 1;
}

static int push_print_fmt_error(lua_State *L, const struct pd_event *e)
{
	char why[512];

	if (e->tracepoint && !pd_print_fmt_check(e->tracepoint, why, sizeof(why)))
		lua_pushstring(L, why);
	else
		lua_pushnil(L);
	return 1;
}

static const struct {
	const char *name;
	int (*push)(lua_State *L, const struct pd_event *e);
	enum pd_type type;
	const char *doc;
} members[] = {
	{ "name", push_name, PD_STR, "name of the event, as perf has it" },
	{ "index", push_index, PD_UINT, "number of the event in the file, from 1" },
	{ "ids", push_ids, PD_VIEW, "array of the ids by which samples name this event" },
	{ "sample_fields", push_sample_fields, PD_VIEW,
	  "array of the names of the fields that its samples have" },
	{ "leader", push_leader, PD_EVENT, "the leader of its group; itself if it has none" },
	{ "members", push_group_members, PD_VIEW,
	  "array of the events of its group, the leader first" },
	{ "group_name", push_group_name, PD_STR, "name of its group, if it was given one" },
	{ "sources", push_sources, PD_VIEW,
	  "array of the numbers of the recordings that have it, as a record's `source`, where "
	  "several are read as one" },
	{ "attr_size", push_attr_size, PD_UINT,
	  "bytes that the recording has for its attr, which may be more than its `size`" },
	{ "unit", push_unit, PD_STR,
	  "unit of its counts, such as `msec`, from an event_update that was read" },
	{ "scale", push_scale, PD_FLOAT,
	  "factor of its counts, from an event_update that was read" },
	{ "samples_time", push_samples_time, PD_BOOL,
	  "whether its samples say where time went: it is a clock, or counts cycles" },
	{ "system", push_system, PD_STR, "subsystem of a tracepoint, such as `sched`" },
	{ "fields", push_tracepoint_fields, PD_VIEW,
	  "array of the fields of a tracepoint, `{name, type, kind, offset, size, count, "
	  "signed, dynamic, common}`" },
	{ "print_fmt", push_print_fmt, PD_STR,
	  "format of the text of a tracepoint, as the kernel gives it" },
	{ "print_fmt_error", push_print_fmt_error, PD_STR,
	  "position and reason where the `print_fmt` of a tracepoint cannot be read; nil "
	  "if it can" },
};

#define MEMBERS (sizeof(members) / sizeof(members[0]))

/*
 * Returns the name of member i of an event: of the table above, then of the attr; NULL after
 * the last.
 */
static const char *member_name(size_t i)
{
	return i < MEMBERS ? members[i].name : pd_attr_members[i - MEMBERS].name;
}

/* Pushes the value of member i of the event, whose userdata is at 1. [-0, +1] */
static void push_member(lua_State *L, const struct pd_event *e, size_t i)
{
	struct pd_value v = { .type = PD_NIL };

	if (i < MEMBERS) {
		members[i].push(L, e);
	} else {
		pd_attr_member(&e->attr, (unsigned)(i - MEMBERS), &v);
		pl_push_value(L, 0, &v);
	}
}

/* Raises that an event has no member `name`, and names the closest one. */
static int raise_no_member(lua_State *L, const char *name)
{
	struct pl_closest closest;
	const char *member;

	pl_closest_init(&closest, name);
	for (size_t i = 0; (member = member_name(i)) != NULL; i++)
		pl_closest_try(&closest, member);
	return pl_closest_raise(L, &closest, "an event has no field");
}

/* Upvalue: numbers of members by name. event.name -> value | nil */
static int event_index(lua_State *L)
{
	const struct pd_event *e = pl_check_event(L, 1);
	const char *name = luaL_checkstring(L, 2);
	lua_Integer i;

	lua_pushvalue(L, 2);
	if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNUMBER)
		return raise_no_member(L, name);
	i = lua_tointeger(L, -1);
	lua_pop(L, 1);
	push_member(L, e, (size_t)i);
	return 1;
}

/* Steps to the next member that is present. Upvalues: the event, position. -> name, value */
static int event_next(lua_State *L)
{
	size_t i = (size_t)lua_tointeger(L, lua_upvalueindex(2));
	const struct pd_event *e;
	const char *member;

	lua_settop(L, 0);
	lua_pushvalue(L, lua_upvalueindex(1));
	e = pl_check_event(L, 1);
	for (; (member = member_name(i)) != NULL; i++) {
		lua_settop(L, 1);
		push_member(L, e, i);
		if (lua_isnil(L, -1))
			continue;
		lua_pushinteger(L, (lua_Integer)i + 1);
		lua_replace(L, lua_upvalueindex(2));
		lua_pushstring(L, member);
		lua_insert(L, -2);
		return 2;
	}
	return 0;
}

/* pairs(event): iterates over the members that it has */
static int event_pairs(lua_State *L)
{
	pl_check_event(L, 1);
	lua_pushvalue(L, 1);
	lua_pushinteger(L, 0);
	lua_pushcclosure(L, event_next, 2);
	return 1;
}

static int event_tostring(lua_State *L)
{
	return push_name(L, pl_check_event(L, 1));
}

/*
 * pl_event_members() -> array of {name, kind, doc}: the members above, then those of the attr
 */
int pl_event_members(lua_State *L)
{
	lua_Integer n = 0;

	lua_newtable(L);
	for (size_t i = 0; i < MEMBERS; i++) {
		struct pd_member m = { .name = members[i].name,
				       .type = members[i].type,
				       .doc = members[i].doc };

		pl_push_member(L, &m);
		lua_rawseti(L, -2, ++n);
	}
	for (unsigned m = 0; pd_attr_members[m].name; m++) {
		pl_push_member(L, &pd_attr_members[m]);
		lua_rawseti(L, -2, ++n);
	}
	return 1;
}

void pl_event_register(lua_State *L)
{
	static const luaL_Reg meta[] = {
		{ "__pairs", event_pairs },
		{ "__tostring", event_tostring },
		{ NULL, NULL },
	};

	const char *member;

	luaL_newmetatable(L, PL_EVENT);
	luaL_setfuncs(L, meta, 0);
	lua_newtable(L);
	for (size_t i = 0; (member = member_name(i)) != NULL; i++) {
		lua_pushinteger(L, (lua_Integer)i);
		lua_setfield(L, -2, member);
	}
	lua_pushcclosure(L, event_index, 1);
	lua_setfield(L, -2, "__index");
	luaL_newmetatable(L, PL_EVENTS); /* the library gives it a look-up by name */
	lua_pop(L, 2);
}
