/* Fields of records as values of Lua, without a Record. */
#include "binding/system.h"
#include "binding/value.h"
#include "cursor.h"

uint16_t pl_field_id(lua_State *L, const struct pl_names *names, int index)
{
	const char *name = luaL_checkstring(L, index);
	unsigned id = pl_names_find(L, names, index);

	if (!id || id >= PL_METHODS)
		pl_unknown_name(L, names, name);
	return (uint16_t)id;
}

unsigned pl_field_ids(lua_State *L, const struct pl_names *names, int table, uint16_t *ids)
{
	unsigned n = 0;

	for (lua_Integer i = 1; lua_rawgeti(L, table, i) == LUA_TSTRING; i++, lua_pop(L, 1)) {
		if (n == PL_MAX_FIELDS)
			luaL_error(L, "more than %d fields", PL_MAX_FIELDS);
		ids[n++] = pl_field_id(L, names, -1);
	}
	lua_pop(L, 1);
	return n;
}

/*
 * Pushes field `index` of a record, a view, over a Record of its own, as views need one.
 * [-0, +1]
 */
static void push_viewed(lua_State *L, int cursor, const struct pd_record *rec, unsigned index,
			struct pd_value *v)
{
	struct pl_cursor *c = lua_touserdata(L, cursor);
	struct pl_record *own = pl_push_record_of(L, c->file, cursor, PL_CURSOR_META, rec);

	pd_record_get(&own->rec, index, v);
	pl_push_value(L, lua_gettop(L), v);
	lua_remove(L, -2);
}

/* Pushes a value that is not a plain load. Raises if it cannot be read. [-0, +1] */
static void push_other(lua_State *L, int cursor, const struct pd_record *rec, unsigned index,
		       struct pd_value *v)
{
	if (v->type == PD_NIL) {
		lua_pushboolean(L, 0);
	} else if (v->type == PD_EVENT) {
		lua_getiuservalue(L, cursor, PL_CURSOR_FILE);
		pl_push_event(L, -1, v->event);
		lua_remove(L, -2);
	} else if (v->type == PD_SYSTEM) {
		struct pl_cursor *c = lua_touserdata(L, cursor);
		bool busy = c->busy;

		c->busy = false; /* this raises if the file cannot be read; it calls no Lua */
		pl_system(L, c->file);
		c->busy = busy;
		if (rec->layout->bound[index].field->view)
			push_viewed(L, cursor, rec, index, v);
		else
			pl_push_system_field(L, c->file, 0, rec, v);
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
