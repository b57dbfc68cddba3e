/*
 * Record: one userdata that carries its own bytes. Reading a field decodes that field.
 */
#include <string.h>

#include "value.h"
#include "perfdata/format/print.h"
#include "perfdata/format/views.h"

static struct pl_record *to_record(lua_State *L, int index)
{
	struct pl_record *r = lua_touserdata(L, index);

	/*
	 * the metatable is hidden, so only records come here: a mark is enough, and saves a
	 * fifth of the time
	 */
	if (!r || r->magic != PL_RECORD_MAGIC)
		luaL_typeerror(L, index, PL_RECORD);
	return r;
}

static int raise_closed(lua_State *L)
{
	return luaL_error(L, "record of a closed file (copy() what must outlive close())");
}

struct pl_record *pl_check_record(lua_State *L, int index)
{
	struct pl_record *r = to_record(L, index);

	if (!pl_readable(r))
		raise_closed(L);
	return r;
}

/* Pushes a record with room for `capacity` bytes; user value n of `holder` is its metatable. */
static struct pl_record *new_record(lua_State *L, struct pl_file *f, int holder, int n,
				    size_t capacity, int values)
{
	struct pl_record *r = lua_newuserdatauv(L, sizeof(*r) + capacity, values);

	r->magic = PL_RECORD_MAGIC;
	r->generation = 0;
	r->kept = false;
	r->capacity = (uint32_t)capacity;
	r->file = f;
	lua_getiuservalue(L, holder, n);
	lua_setmetatable(L, -2);
	return r;
}

struct pl_record *pl_push_record_of(lua_State *L, struct pl_file *f, int holder, int n,
				    const struct pd_record *rec)
{
	struct pl_record *r = new_record(L, f, holder, n, rec->size, 0);

	r->rec = *rec;
	r->rec.bytes = memcpy(r->bytes, rec->bytes, rec->size);
	return r;
}

struct pl_record *pl_push_reusable(lua_State *L, int file)
{
	struct pl_file *f = lua_touserdata(L, file);
	struct pl_record *r = new_record(L, f, lua_absindex(L, file), PL_FILE_RECORD,
					 PL_REUSE_BYTES, 1);

	memset(r->bytes, 0, PL_REUSE_BYTES);
	r->rec = (struct pd_record){ .bytes = r->bytes, .size = 8 };
	r->rec.layout = f->file->bare_layouts[0];
	return r;
}

void pl_reuse_record(lua_State *L, int index, const struct pd_record *rec)
{
	struct pl_record *r = lua_touserdata(L, index);
	uint8_t *bytes = r->bytes;

	if (rec->size > r->capacity) {
		index = lua_absindex(L, index);
		bytes = lua_newuserdatauv(L, rec->size, 0);
		lua_setiuservalue(L, index, PL_CHUNK);
	}
	r->generation++;
	r->rec = *rec;
	r->rec.bytes = memcpy(bytes, rec->bytes, rec->size);
}

/*
 * The upvalues of record_index(): the methods in the order of their ids, then data(), and the
 * metatable of `args`.
 */
enum {
	UP_METHODS = 1,
	UP_DATA = 3,
	UP_ARGS
};

static int raise_unknown(lua_State *L, const struct pl_record *r)
{
	const char *name = lua_tostring(L, 2);

	if (!name)
		return luaL_error(L, "a record has no field %s", luaL_tolstring(L, 2, NULL));
	return pl_unknown_name(L, r->file->names, name);
}

/*
 * Pushes field `index` of the record's layout, whose name is at 2 and whose value is not a
 * plain integer, or does not exist. Called by record_index(). [-0, +1]
 */
static int push_other_field(lua_State *L, struct pl_record *r, unsigned index)
{
	struct pd_value v;

	if (!index) {
		/* `data` of an mmap is a field; records with a payload have it as a method */
		if (strcmp(lua_tostring(L, 2), "data") == 0 && pd_has_payload(r->rec.type))
			lua_pushvalue(L, lua_upvalueindex(UP_DATA));
		else
			lua_pushnil(L);
		return 1;
	}
	if (pd_is_args(&r->rec.layout->bound[index])) {
		/* loops over tracepoints read `args` of each of their records */
		pl_push_args(L, r, 1, lua_upvalueindex(UP_ARGS));
		return 1;
	}
	pd_record_get(&r->rec, index, &v);
	pl_push_value(L, 1, &v);
	return 1;
}

/* record.name -> value | nil */
static int record_index(lua_State *L)
{
	struct pl_record *r = to_record(L, 1);
	unsigned id = pl_names_find(L, r->file->names, 2), index;
	int64_t integer;

	if (!id)
		return raise_unknown(L, r);
	if (!pl_readable(r))
		return raise_closed(L);
	if (id >= PL_METHODS) {
		lua_pushvalue(L, lua_upvalueindex((int)(id - PL_METHODS) + UP_METHODS));
		return 1;
	}
	index = r->rec.layout->slot[id];
	if (!pd_record_integer(&r->rec, index, &integer))
		return push_other_field(L, r, index);
	lua_pushinteger(L, integer);
	return 1;
}

/* next(record, name | nil) -> name, value: the next field that the record has */
static int record_next(lua_State *L)
{
	struct pl_record *r = pl_check_record(L, 1);
	const struct pd_layout *layout = r->rec.layout;
	unsigned i = 1;
	struct pd_value v;

	if (!lua_isnoneornil(L, 2)) {
		unsigned id;

		luaL_checkstring(L, 2);
		id = pl_names_find(L, r->file->names, 2);
		/* a name that it does not have is followed by nothing */
		i = id && id < PL_METHODS && layout->slot[id] ? layout->slot[id] + 1u :
								layout->n_bound;
	}
	for (; i < layout->n_bound; i++) {
		pd_record_get(&r->rec, i, &v);
		if (v.type == PD_NIL)
			continue;
		pl_push_value(L, 1, &v);
		if (v.type == PD_SYSTEM && lua_isnil(L, -1)) {
			lua_pop(L, 1);
			continue;
		}
		lua_pushstring(L, layout->bound[i].field->name);
		lua_insert(L, -2);
		return 2;
	}
	lua_pushnil(L);
	return 1;
}

/* pairs(record): iterates over its fields, in the order of the format */
static int record_pairs(lua_State *L)
{
	pl_check_record(L, 1);
	lua_pushcfunction(L, record_next);
	lua_pushvalue(L, 1);
	lua_pushnil(L);
	return 3;
}

/* record:bytes() -> string: the raw record, its header first */
static int record_bytes(lua_State *L)
{
	struct pl_record *r = pl_check_record(L, 1);

	lua_pushlstring(L, (const char *)r->rec.bytes, r->rec.size);
	return 1;
}

/* Pushes a Record of its own with the present content of the one at 1. [-0, +1] */
static struct pl_record *push_copy(lua_State *L)
{
	struct pl_record *r = pl_check_record(L, 1), *copy;
	uint32_t generation = r->generation;

	pl_push_owner(L, 1);
	copy = new_record(L, r->file, lua_gettop(L), PL_FILE_RECORD, r->rec.size, 0);
	lua_remove(L, -2);
	if (r->generation != generation)
		luaL_error(L, "a finalizer reused a record while it was read");
	copy->rec = r->rec;
	copy->rec.bytes = memcpy(copy->bytes, r->rec.bytes, r->rec.size);
	return copy;
}

/* record:copy() -> Record that stays valid after file:close() */
static int record_copy(lua_State *L)
{
	struct pl_record *copy = push_copy(L);

	copy->kept = true;
	copy->file->copied = true;
	return 1;
}

/* record:data() -> string: what lies after a record whose type has a payload */
static int record_data(lua_State *L)
{
	struct pl_record *r = pl_check_record(L, 1);
	struct pd_section at = pd_record_payload(&r->rec);
	struct pd_stream *stream;
	struct pd_error err;
	luaL_Buffer b;
	char *bytes;

	if (!at.size) {
		lua_pushliteral(L, "");
		return 1;
	}
	if (r->file->closed)
		return raise_closed(L);
	stream = pd_session_stream(r->file->session, &r->rec);
	/* in a pipe or a truncated file the size is only a claim, and reading fails */
	bytes = stream->input->stream || !pd_stream_holds(stream, at) ?
			NULL :
			luaL_buffinitsize(L, &b, (size_t)at.size);
	if (!pd_stream_read(stream, at, bytes, &err))
		return luaL_error(L, "%s", err.message);
	luaL_pushresultsize(&b, (size_t)at.size);
	return 1;
}

static void add_to_buffer(void *arg, const char *p, size_t n)
{
	luaL_addlstring(arg, p, n);
}

/* tostring(record): the line that dump prints for it */
static int record_tostring(lua_State *L)
{
	struct pl_record *r = push_copy(L);
	struct pd_print *print = lua_newuserdatauv(L, sizeof(*print), 0);
	luaL_Buffer b;
	size_t n;

	luaL_buffinit(L, &b);
	pd_print_init(print, add_to_buffer, &b);
	pd_print_record(print, &r->rec, false);
	pd_print_flush(print);
	n = luaL_bufflen(&b);
	luaL_buffsub(&b, n && luaL_buffaddr(&b)[n - 1] == '\n'); /* its newline */
	luaL_pushresult(&b);
	return 1;
}

static int record_newindex(lua_State *L)
{
	return luaL_error(L, "records are read-only: field '%s' cannot be set",
			  luaL_tolstring(L, 2, NULL));
}

void pl_push_record_metatable(lua_State *L)
{
	static const luaL_Reg meta[] = {
		{ "__newindex", record_newindex },
		{ "__pairs", record_pairs },
		{ "__tostring", record_tostring },
		{ NULL, NULL },
	};

	/* the key that is set first is found by one step: that which loops look up */
	lua_createtable(L, 1, 7);
	/* bytes and copy as pl_names_get numbers them */
	lua_pushcfunction(L, record_bytes);
	lua_pushcfunction(L, record_copy);
	lua_pushcfunction(L, record_data);
	luaL_getmetatable(L, PL_ARGS);
	lua_pushcclosure(L, record_index, UP_ARGS);
	lua_setfield(L, -2, "__index");
	luaL_setfuncs(L, meta, 0);
	lua_pushliteral(L, PL_RECORD);
	lua_setfield(L, -2, "__name");
	lua_pushliteral(L, PL_RECORD);
	lua_setfield(L, -2, "__metatable");
	lua_pushvalue(L, -2);
	lua_rawseti(L, -2, PL_OWNER);
}
