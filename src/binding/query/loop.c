/*
 * The userdata of a Query, which keeps the library's description, and `for x in query do`,
 * which calls it for each step of the loop.
 */
#include "cursor.h"
#include "binding/functions.h"

/*
 * User values: the library's description; the loop's step, a cursor or a function; the control
 * value of a function's last step; the cursor to close, also of a function.
 */
enum {
	SPEC = 1,
	STEP,
	CONTROL,
	RUNNING,
	QUERY_VALUES = RUNNING
};

#define QUERY_MAGIC 0x71756572u

struct query {
	uint32_t magic;
	/* the step, if that is a cursor which no other loop can have taken; else NULL */
	struct pl_cursor *cursor;
};

/* core.query(metatable, spec) -> Query */
int pl_query(lua_State *L)
{
	struct query *query;

	luaL_checktype(L, 1, LUA_TTABLE);
	luaL_checktype(L, 2, LUA_TTABLE);
	query = lua_newuserdatauv(L, sizeof(*query), QUERY_VALUES);
	*query = (struct query){ .magic = QUERY_MAGIC };
	lua_pushvalue(L, 2);
	lua_setiuservalue(L, -2, SPEC);
	lua_pushvalue(L, 1);
	lua_setmetatable(L, -2);
	return 1;
}

/* core.query_spec(query) -> spec */
int pl_query_spec(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TUSERDATA);
	lua_getiuservalue(L, 1, SPEC);
	return 1;
}

static int raise_taken(lua_State *L)
{
	return luaL_error(L, "this loop was ended by another loop over the same Query "
			     "(q:each() makes loops that can be nested)");
}

/* Returns the mark of the loop that calls, whose control value is at `index`. */
static struct pl_mark mark_of(lua_State *L, int index)
{
	struct pl_mark mark = { .type = lua_type(L, index) };
	lua_Debug ar;

	if (lua_getstack(L, 1, &ar) && lua_getinfo(L, "l", &ar)) {
		mark.frame = ar.i_ci;
		mark.line = ar.currentline;
	}
	switch (mark.type) {
	case LUA_TNUMBER:
		/* the bits of an integer and of a float differ well enough */
		if (lua_isinteger(L, index))
			mark.i = lua_tointeger(L, index);
		else
			mark.n = lua_tonumber(L, index);
		break;
	case LUA_TBOOLEAN:
		mark.i = lua_toboolean(L, index);
		break;
	default:
		mark.p = lua_topointer(L, index);
	}
	return mark;
}

static bool is_same_mark(struct pl_mark a, struct pl_mark b)
{
	return a.frame == b.frame && a.line == b.line && a.type == b.type && a.i == b.i;
}

/*
 * Does a step of a loop whose next value comes from a Lua function. Returns as pl_query_call().
 */
static int call_function(lua_State *L)
{
	int n;

	lua_getiuservalue(L, 1, CONTROL);
	if (!lua_isnil(L, 3) && !lua_rawequal(L, 3, -1))
		return raise_taken(L);
	lua_pop(L, 1);
	lua_call(L, 0, LUA_MULTRET);
	n = lua_gettop(L) - 3;
	if (n && !lua_isnil(L, 4)) {
		lua_pushvalue(L, 4);
		lua_setiuservalue(L, 1, CONTROL);
		return n;
	}
	lua_pushnil(L);
	lua_setiuservalue(L, 1, STEP);
	lua_pushnil(L);
	lua_setiuservalue(L, 1, CONTROL);
	return 0;
}

/*
 * Starts a loop over the Query at 1: __start of its metatable returns the step and the cursor.
 */
static void start_loop(lua_State *L, struct query *query)
{
	bool unfinished = lua_getiuservalue(L, 1, STEP) != LUA_TNIL;
	struct pl_cursor *c;

	if (luaL_getmetafield(L, 1, "__start") == LUA_TNIL)
		luaL_typeerror(L, 1, "perflua.Query");
	lua_pushvalue(L, 1);
	lua_getiuservalue(L, 1, RUNNING);
	query->cursor = NULL;
	lua_call(L, 2, 2);
	lua_setiuservalue(L, 1, RUNNING);
	lua_pushvalue(L, -1);
	lua_setiuservalue(L, 1, STEP);
	c = pl_to_cursor(L, -1);
	if (c)
		c->contested = unfinished;
	query->cursor = unfinished ? NULL : c;
	lua_settop(L, 3);
}

/* Does a step of the cursor at 4. At the end the Query at 1 loses its step. */
static int go_on(lua_State *L, struct query *query, struct pl_cursor *c)
{
	int n = pl_cursor_step(L, c, 4);

	if (!n) {
		query->cursor = NULL;
		lua_pushnil(L);
		lua_setiuservalue(L, 1, STEP);
	}
	return n;
}

/* Tells the library, if it wants to know, that a loop over the Query at 1 had no step. */
static void tell_empty(lua_State *L)
{
	if (luaL_getmetafield(L, 1, "__empty") == LUA_TNIL)
		return;
	lua_pushvalue(L, 1);
	lua_call(L, 1, 0);
}

/* Does a step that begins or ends a loop, or that needs further checks. */
static int step_loop(lua_State *L, struct query *query)
{
	struct pl_cursor *c;
	bool is_first;
	int n;

	if (lua_gettop(L) != 3)
		lua_settop(L, 3);
	is_first = lua_isnil(L, 3);
	if (is_first)
		start_loop(L, query);
	if (lua_getiuservalue(L, 1, STEP) == LUA_TNIL)
		return raise_taken(L);
	c = pl_to_cursor(L, 4);
	if (c && c->contested && !is_first && !is_same_mark(mark_of(L, 3), c->last))
		return raise_taken(L);
	n = c ? go_on(L, query, c) : call_function(L);
	if (n && c && c->contested)
		c->last = mark_of(L, -n);
	if (!n && is_first)
		tell_empty(L);
	return n;
}

/*
 * query(nil, control) -> next: makes `for x in query do` a loop
 *
 * Another loop over the same Query may have taken its cursor. The value that was yielded last
 * shows this. It is stored only where that can have happened: when a loop began while another
 * was unfinished. For a Lua function it is user value CONTROL.
 *
 * Most steps find values that are ready, and must cost next to nothing.
 */
int pl_query_call(lua_State *L)
{
	struct query *query = lua_touserdata(L, 1);
	struct pl_cursor *c;

	if (!query || query->magic != QUERY_MAGIC)
		return luaL_typeerror(L, 1, "perflua.Query");
	c = query->cursor;
	if (!c || lua_gettop(L) != 3 || lua_isnil(L, 3))
		return step_loop(L, query);
	if (pl_has_values(c) && pl_push_integers(L, c))
		return (int)c->n_values;
	lua_getiuservalue(L, 1, STEP);
	return go_on(L, query, c);
}
