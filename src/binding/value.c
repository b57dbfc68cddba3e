#include "value.h"

#include <string.h>

static void push_hex(lua_State *L, const char *p, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	luaL_Buffer b;
	char *out = luaL_buffinitsize(L, &b, 2 * n);

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = digits[(uint8_t)p[i] >> 4];
		out[2 * i + 1] = digits[p[i] & 15];
	}
	luaL_pushresultsize(&b, 2 * n);
}

bool pl_get_flag(lua_State *L, int index, const char *name)
{
	bool is_set;

	lua_getfield(L, index, name);
	is_set = lua_toboolean(L, -1);
	lua_pop(L, 1);
	return is_set;
}

void pl_set_integer(lua_State *L, const char *name, uint64_t value)
{
	lua_pushinteger(L, (lua_Integer)value);
	lua_setfield(L, -2, name);
}

void pl_set_string(lua_State *L, const char *name, const char *text)
{
	if (!text)
		return;
	lua_pushstring(L, text);
	lua_setfield(L, -2, name);
}

void *pl_push_finalized(lua_State *L, size_t size, lua_CFunction gc)
{
	void *p = memset(lua_newuserdatauv(L, size, 1), 0, size);

	lua_createtable(L, 0, 2);
	lua_pushcfunction(L, gc);
	lua_setfield(L, -2, "__gc");
	lua_pushcfunction(L, gc);
	lua_setfield(L, -2, "__close");
	lua_setmetatable(L, -2);
	return p;
}

void pl_push_value(lua_State *L, int record, const struct pd_value *v)
{
	switch (v->type) {
	case PD_NIL:
		lua_pushnil(L);
		break;
	case PD_BOOL:
		lua_pushboolean(L, v->u != 0);
		break;
	case PD_INT:
	case PD_UINT:
	case PD_ADDR:
		lua_pushinteger(L, v->i);
		break;
	case PD_FLOAT:
		lua_pushnumber(L, v->f);
		break;
	case PD_STR:
	case PD_BLOB:
		lua_pushlstring(L, v->s.p, v->s.n);
		break;
	case PD_HEX:
		push_hex(L, v->s.p, v->s.n);
		break;
	case PD_VIEW:
	case PD_EVENT:
	case PD_SYSTEM: {
		const struct pl_record *r = lua_touserdata(L, record);

		r->file->push_object(L, record, v);
		break;
	}
	}
}

/* Puts the value on top into the table or array that is open below it. */
static void place_value(struct pl_sink *s)
{
	lua_State *L = s->L;

	if (!s->depth)
		return;
	if (s->n[s->depth - 1] >= 0)
		lua_rawseti(L, -2, ++s->n[s->depth - 1]);
	else
		lua_rawset(L, -3); /* the key was pushed before */
}

static void sink_begin(struct pd_sink *sink, bool array)
{
	struct pl_sink *s = (struct pl_sink *)sink;

	if (s->depth >= (int)(sizeof(s->n) / sizeof(s->n[0])))
		luaL_error(s->L, "a value is nested too deeply");
	luaL_checkstack(s->L, 4, "nested value");
	lua_newtable(s->L);
	s->n[s->depth++] = array ? 0 : -1;
}

static void sink_end(struct pd_sink *sink)
{
	struct pl_sink *s = (struct pl_sink *)sink;

	s->depth--;
	place_value(s);
}

static void sink_key(struct pd_sink *sink, const char *name, size_t n)
{
	lua_pushlstring(((struct pl_sink *)sink)->L, name, n);
}

static void sink_value(struct pd_sink *sink, const struct pd_value *value)
{
	struct pl_sink *s = (struct pl_sink *)sink;

	pl_push_value(s->L, 0, value);
	place_value(s);
}

void pl_sink_init(struct pl_sink *s, lua_State *L)
{
	s->sink = (struct pd_sink){ sink_begin, sink_end, sink_key, sink_value };
	s->L = L;
	s->depth = 0;
}
