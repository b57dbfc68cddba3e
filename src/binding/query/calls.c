#include "calls.h"

#include <string.h>

#include "binding/value.h"
#include "trees.h"

/* Names of fields of `keep`. */
#define CALLS	"calls"
#define OBJECTS "objects"
#define NUMBERS "numbers"

/* Places on the stack, from calls->at on. */
enum {
	AT_FILE,
	AT_KEEP,
	AT_RECORD,  /* the one that functions are given; or nil */
	AT_OBJECTS, /* by number: keys and held ones from 1 on, others from -1 down */
	AT_NUMBERS, /* of those of keys, by object */
};

/* A function, numbered by its position in `keep`. Room for its text follows. */
struct call {
	struct pq_call call;
	enum pl_call_result result;
};

struct pl_calls *pl_calls_of(lua_State *L, int keep)
{
	struct pl_calls *calls;

	lua_getfield(L, keep, CALLS);
	calls = lua_touserdata(L, -1);
	lua_pop(L, 1);
	return calls;
}

static struct pl_record *push_record(lua_State *L, struct pl_calls *c,
				     const struct pd_record *rec)
{
	if (c->reuse) {
		lua_pushvalue(L, c->at + AT_RECORD);
		pl_reuse_record(L, -1, rec);
		return lua_touserdata(L, -1);
	}
	return pl_push_record_of(L, c->file, c->at + AT_FILE, PL_FILE_RECORD, rec);
}

/* Pushes the current record, which is one object for all functions. [-0, +1] */
static void push_current(lua_State *L, struct pl_calls *c, const struct pd_record *rec)
{
	if (!c->calls.is_new) {
		lua_pushvalue(L, c->at + AT_RECORD);
		return;
	}
	push_record(L, c, rec);
	lua_copy(L, -1, c->at + AT_RECORD);
	c->calls.is_new = false;
}

/* Returns a number for the object on top, valid until the next record. [-1, +0] */
static lua_Integer to_known(lua_State *L, struct pl_calls *c)
{
	lua_Integer number = -(lua_Integer)++c->calls.n_objects;

	lua_rawseti(L, c->at + AT_OBJECTS, number);
	return number;
}

/* Returns the number of the object on top, a key: it is always the same one. [-1, +0] */
static lua_Integer intern_key(lua_State *L, struct pl_calls *c)
{
	lua_Integer number;

	lua_pushvalue(L, -1);
	if (lua_rawget(L, c->at + AT_NUMBERS) == LUA_TNUMBER) {
		number = lua_tointeger(L, -1);
		lua_pop(L, 2);
		return number;
	}
	lua_pop(L, 1);
	lua_pushvalue(L, -1);
	number = luaL_ref(L, c->at + AT_OBJECTS);
	lua_pushinteger(L, number);
	lua_rawset(L, c->at + AT_NUMBERS);
	return number;
}

static void hold_object(struct pq_calls *calls, struct pq_value *object)
{
	struct pl_calls *c = (struct pl_calls *)calls;

	pl_calls_push_object(c->L, c, object);
	object->i = luaL_ref(c->L, c->at + AT_OBJECTS);
}

static void lend_object(struct pq_calls *calls, struct pq_value *object)
{
	struct pl_calls *c = (struct pl_calls *)calls;

	pl_calls_push_object(c->L, c, object);
	object->i = to_known(c->L, c);
}

static void release_object(struct pq_calls *calls, const struct pq_value *object)
{
	struct pl_calls *c = (struct pl_calls *)calls;

	luaL_unref(c->L, c->at + AT_OBJECTS, (int)object->i);
}

static struct pl_calls *make_calls(lua_State *L, int keep)
{
	struct pl_calls *calls = pl_calls_of(L, keep);

	if (calls)
		return calls;
	calls = pl_keep(L, keep, sizeof(*calls));
	calls->calls.hold = hold_object;
	calls->calls.lend = lend_object;
	calls->calls.release = release_object;
	lua_pushlightuserdata(L, calls);
	lua_setfield(L, keep, CALLS);
	lua_newtable(L);
	lua_setfield(L, keep, OBJECTS);
	lua_newtable(L);
	lua_setfield(L, keep, NUMBERS);
	return calls;
}

/* Reads the text on top, which is kept until the function is called again. */
static void to_text(lua_State *L, struct pl_calls *c, const struct call *call,
		    struct pq_value *out)
{
	size_t n;

	out->p = lua_tolstring(L, -1, &n);
	if (n > UINT32_MAX)
		luaL_error(L, "a function's text is too long");
	out->type = PQ_TEXT;
	out->size = (uint32_t)n;
	lua_pushvalue(L, -1);
	lua_rawseti(L, c->at + AT_KEEP, (lua_Integer)call->call.number + 1);
}

/* Converts the function's result, on top of the stack, to a value. [-0, +0] */
static void to_call_value(lua_State *L, struct pl_calls *c, const struct call *call,
			  struct pq_value *out)
{
	if (pl_to_scalar(L, -1, out)) {
		return;
	} else if (lua_type(L, -1) == LUA_TSTRING) {
		to_text(L, c, call, out);
	} else if (call->result == PL_CALL_KEY && luaL_testudata(L, -1, PL_EVENT)) {
		lua_pushstring(L, pl_check_event(L, -1)->name);
		to_text(L, c, call, out);
		lua_pop(L, 1);
	} else {
		lua_pushvalue(L, -1);
		out->i = call->result == PL_CALL_KEY ? intern_key(L, c) : to_known(L, c);
		out->type = PQ_OBJECT;
	}
}

static void run_call(const struct pq_call *pq_call, struct pq_fields *fields,
		     const struct pq_value *args, struct pq_value *out)
{
	const struct call *call = (const struct call *)pq_call;
	struct pl_calls *c = pq_call->arg;
	lua_State *L = c->L;

	lua_rawgeti(L, c->at + AT_KEEP, pq_call->number);
	if (pq_call->n_args) {
		for (size_t i = 0; i < pq_call->n_args; i++) {
			if (args[i].type == PQ_OBJECT)
				pl_calls_push_object(L, c, &args[i]);
			else
				pl_push_answer(L, c->at + AT_FILE, &args[i]);
		}
	} else {
		push_current(L, c, fields->rec);
	}
	lua_call(L, pq_call->n_args ? (int)pq_call->n_args : 1, 1);
	if (c->file->closed)
		luaL_error(L, "%s: a query continues over a closed file", c->file->file->path);
	if (call->result == PL_CALL_CONDITION) {
		out->type = PQ_BOOL;
		out->u = (uint64_t)lua_toboolean(L, -1);
	} else {
		to_call_value(L, c, call, out);
	}
	lua_pop(L, 1);
}

struct pq_call *pl_to_call(lua_State *L, int keep, enum pl_call_result result)
{
	struct pl_calls *calls = make_calls(L, keep);
	struct call *call = pl_keep(L, keep, sizeof(*call));

	call->result = result;
	call->call.run = run_call;
	call->call.arg = calls;
	call->call.number = (uint32_t)lua_rawlen(L, keep) + 1;
	if (!lua_isfunction(L, -1))
		luaL_error(L, "invalid query: a call needs a function");
	lua_rawseti(L, keep, call->call.number);
	lua_pushboolean(L, 0);
	lua_rawseti(L, keep, (lua_Integer)call->call.number + 1);
	return &call->call;
}

void pl_calls_enter(lua_State *L, struct pl_calls *c, int file, int keep)
{
	file = lua_absindex(L, file);
	keep = lua_absindex(L, keep);
	luaL_checkstack(L, LUA_MINSTACK + PL_CALLS_PLACES + c->most_args, "query");
	c->L = L;
	c->file = lua_touserdata(L, file);
	c->at = lua_gettop(L) + 1;
	c->calls.is_new = true;
	c->reuse = false;
	lua_pushvalue(L, file);
	lua_pushvalue(L, keep);
	lua_pushnil(L);
	lua_getfield(L, keep, OBJECTS);
	lua_getfield(L, keep, NUMBERS);
}

void pl_calls_reuse(lua_State *L, struct pl_calls *c)
{
	lua_replace(L, c->at + AT_RECORD);
	c->reuse = true;
}

bool pl_calls_push_record(lua_State *L, const struct pl_calls *c)
{
	if (c->calls.is_new)
		return false;
	lua_pushvalue(L, c->at + AT_RECORD);
	return true;
}

void pl_calls_push_object(lua_State *L, const struct pl_calls *c, const struct pq_value *value)
{
	lua_rawgeti(L, c->at + AT_OBJECTS, value->i);
}

void pl_push_answer(lua_State *L, int file, const struct pq_value *v)
{
	switch (v->type) {
	case PQ_BOOL:
		lua_pushboolean(L, v->u != 0);
		break;
	case PQ_INT:
		lua_pushinteger(L, v->i);
		break;
	case PQ_FLOAT:
		lua_pushnumber(L, v->f);
		break;
	case PQ_TEXT:
		lua_pushlstring(L, v->p, v->size);
		break;
	case PQ_EVENT:
		pl_push_event(L, file, v->event);
		break;
	default:
		lua_pushnil(L);
	}
}

bool pl_to_scalar(lua_State *L, int index, struct pq_value *value)
{
	switch (lua_type(L, index)) {
	case LUA_TNIL:
		value->type = PQ_NIL;
		return true;
	case LUA_TBOOLEAN:
		value->type = PQ_BOOL;
		value->u = (uint64_t)lua_toboolean(L, index);
		return true;
	case LUA_TNUMBER:
		value->type = lua_isinteger(L, index) ? PQ_INT : PQ_FLOAT;
		if (value->type == PQ_INT)
			value->i = lua_tointeger(L, index);
		else
			value->f = lua_tonumber(L, index);
		return true;
	default:
		return false;
	}
}
