/*
 * The fields of a tracepoint's sample, by name. They keep their record, and find a field by the
 * address of its interned name, as records do.
 */
#include <string.h>

#include "base/hash.h"
#include "value.h"
#include "functions.h"
#include "perfdata/tracepoint/tracepoint.h"

#define MAGIC 0x61726773u

/* The fields of one record. User value 1 is the Record. */
struct args {
	uint32_t magic;
	uint32_t generation; /* generation of the record when this was made */
	struct pl_record *record;
	const struct pd_tracepoint *tracepoint;
	uint32_t at, size; /* offset and size of the raw data in the record */
};

/*
 * A name that was looked up in a tracepoint. `field` is NULL if only another tracepoint has it.
 */
struct slot {
	const char *name; /* NULL: free */
	const struct pd_tracepoint *tracepoint;
	const struct pd_tracepoint_field *field;
};

/*
 * The names that were looked up. User value 1 is a table that keeps their strings.
 *
 * A hash table by hand, in memory of Lua's, which needs no finalizer. With base's map the
 * bench's line "loop: count by args.id" takes 1.6 % more instructions.
 */
struct names {
	size_t n;
#define SLOTS	    8192 /* a power of two */
#define MOST_SLOTS  (SLOTS / 2)
#define LONG_STRING 40 /* Lua interns strings up to here (LUAI_MAXSHORTLEN) */
	struct slot slots[SLOTS];
};

static struct slot *slot_of(struct names *names, const char *name,
			    const struct pd_tracepoint *tracepoint)
{
	size_t at = (size_t)(pb_scatter((uintptr_t)name ^ (uintptr_t)tracepoint * 31) >> 32);

	while (names->slots[at % SLOTS].name &&
	       (names->slots[at % SLOTS].name != name ||
		names->slots[at % SLOTS].tracepoint != tracepoint))
		at++;
	return &names->slots[at % SLOTS];
}

/* Returns the names of the File, which are made at the first use and are a user value of it. */
static struct names *names_of(lua_State *L, struct args *a)
{
	struct pl_file *f = a->record->file;

	if (f->args)
		return f->args;
	lua_getiuservalue(L, 1, 1);
	pl_push_owner(L, -1);
	f->args = memset(lua_newuserdatauv(L, sizeof(struct names), 1), 0,
			 sizeof(struct names));
	lua_newtable(L);
	lua_setiuservalue(L, -2, 1);
	lua_setiuservalue(L, -2, PL_FILE_ARGS);
	lua_pop(L, 2);
	return f->args;
}

static struct args *check_args(lua_State *L, int index)
{
	struct args *a = lua_touserdata(L, index);

	/*
	 * the metatable is hidden, as it is for records, so a mark is enough, and is found
	 * faster
	 */
	if (!a || a->magic != MAGIC)
		luaL_typeerror(L, index, PL_ARGS);
	if (!pl_readable(a->record))
		luaL_error(L, "args of a record of a closed file");
	if (a->generation != a->record->generation)
		luaL_error(L, "args of a record that was reused: copy() the record to "
			      "keep it");
	return a;
}

/* Raises, naming the closest field, unless a tracepoint of the session has a field `name`. */
static void check_other(lua_State *L, const struct pd_session *session, const char *name)
{
	struct pl_closest closest;

	pl_closest_init(&closest, name);
	for (size_t i = 0; i < session->n_files; i++) {
		for (size_t k = 0; k < session->files[i]->n_events; k++) {
			const struct pd_tracepoint *t = session->files[i]->events[k].tracepoint;

			for (uint32_t m = 0; t && m < t->n_fields; m++) {
				if (strcmp(t->fields[m].name, name) == 0)
					return;
				pl_closest_try(&closest, t->fields[m].name);
			}
		}
	}
	pl_closest_raise(L, &closest, "no tracepoint of this recording has a field");
}

/* Looks up the field of the name at 2, whose slot is free, and keeps it for the next time. */
static const struct pd_tracepoint_field *look_up(lua_State *L, struct args *a,
						 struct names *names, const char *name,
						 size_t n)
{
	const struct pd_tracepoint_field *field = NULL;
	uint32_t i = pd_tracepoint_find(a->tracepoint, name, n);
	struct slot *slot;

	if (i != PD_NO_ARG)
		field = &a->tracepoint->fields[i];
	else
		check_other(L, a->record->file->session, name);
	if (n > LONG_STRING || names->n == MOST_SLOTS)
		return field;
	lua_getiuservalue(L, 1, 1);
	pl_push_owner(L, -1);
	lua_getiuservalue(L, -1, PL_FILE_ARGS);
	lua_getiuservalue(L, -1, 1);
	lua_pushvalue(L, 2);
	lua_pushboolean(L, true);
	lua_rawset(L, -3);
	lua_pop(L, 4);
	slot = slot_of(names, name, a->tracepoint);
	*slot = (struct slot){ name, a->tracepoint, field };
	names->n++;
	return field;
}

/* Pushes a field's value. [-0, +1] */
static void push_field(lua_State *L, struct args *a, const struct pd_tracepoint_field *field)
{
	const struct pd_record *rec = &a->record->rec;
	struct pd_value value;
	int64_t integer;

	if (pd_args_integer(a->tracepoint, field, rec->bytes + a->at, a->size, &integer)) {
		lua_pushinteger(L, integer);
		return;
	}
	pd_args_get(rec, field, rec->bytes + a->at, a->size, &value);
	if (value.type == PD_VIEW) {
		lua_getiuservalue(L, 1, 1);
		pl_push_list(L, -1, &value.view);
		lua_remove(L, -2);
	} else {
		pl_push_value(L, 0, &value);
	}
}

/* args.name -> value | nil */
static int args_index(lua_State *L)
{
	struct args *a = check_args(L, 1);
	struct names *names = a->record->file->args;
	const struct pd_tracepoint_field *field;
	const struct slot *slot;
	const char *name;
	size_t n;

	if (lua_type(L, 2) != LUA_TSTRING)
		return luaL_error(L, "the fields of a tracepoint have names");
	name = lua_tolstring(L, 2, &n);
	slot = names ? slot_of(names, name, a->tracepoint) : NULL;
	if (slot && slot->name) {
		field = slot->field;
	} else {
		field = look_up(L, a, names_of(L, a), name, n);
		check_args(L, 1);
	}
	if (field)
		push_field(L, a, field);
	else
		lua_pushnil(L);
	return 1;
}

/* Steps to the next field that is present. Upvalues: args, position. -> name, value */
static int args_next(lua_State *L)
{
	lua_Integer at = lua_tointeger(L, lua_upvalueindex(2));
	struct args *a;

	lua_settop(L, 0);
	lua_pushvalue(L, lua_upvalueindex(1));
	a = check_args(L, 1);
	for (; at < a->tracepoint->n_fields; at++) {
		const struct pd_tracepoint_field *field = &a->tracepoint->fields[at];

		lua_settop(L, 1);
		lua_pushstring(L, field->name);
		push_field(L, check_args(L, 1), field);
		if (lua_isnil(L, -1))
			continue;
		lua_pushinteger(L, at + 1);
		lua_replace(L, lua_upvalueindex(2));
		return 2;
	}
	return 0;
}

/* pairs(args): iterates over its fields, in the order of the format */
static int args_pairs(lua_State *L)
{
	check_args(L, 1);
	lua_pushvalue(L, 1);
	lua_pushinteger(L, 0);
	lua_pushcclosure(L, args_next, 2);
	return 1;
}

/* #args: the number of fields of the tracepoint */
static int args_len(lua_State *L)
{
	lua_pushinteger(L, check_args(L, 1)->tracepoint->n_fields);
	return 1;
}

static int args_tostring(lua_State *L)
{
	const struct args *a = check_args(L, 1);

	lua_pushfstring(L, "args of %s:%s", a->tracepoint->system, a->tracepoint->name);
	return 1;
}

void pl_push_args(lua_State *L, struct pl_record *r, int record, int meta)
{
	const struct pd_tracepoint *tracepoint = pd_tracepoint_of_record(&r->rec);
	uint32_t generation = r->generation, at, n;
	const uint8_t *raw;
	struct args *a;

	if (!tracepoint || !pd_args_raw(&r->rec, &raw, &n)) {
		lua_pushnil(L);
		return;
	}
	/* computed only now, because a step of the collector may reuse the record */
	at = (uint32_t)(raw - r->rec.bytes);
	a = lua_newuserdatauv(L, sizeof(*a), 1);
	*a = (struct args){ MAGIC, generation, r, tracepoint, at, n };
	lua_pushvalue(L, record);
	lua_setiuservalue(L, -2, 1);
	lua_pushvalue(L, meta);
	lua_setmetatable(L, -2);
}

void pl_args_register(lua_State *L)
{
	static const luaL_Reg meta[] = {
		{ "__index", args_index },
		{ "__len", args_len },
		{ "__pairs", args_pairs },
		{ "__tostring", args_tostring },
		{ NULL, NULL },
	};

	luaL_newmetatable(L, PL_ARGS);
	luaL_setfuncs(L, meta, 0);
	lua_pushliteral(L, PL_ARGS);
	lua_setfield(L, -2, "__metatable");
	lua_pop(L, 1);
}
