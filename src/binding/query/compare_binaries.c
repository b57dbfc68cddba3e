/* Names of binaries on both sides of a comparison as Lua values. */
#include "binding/functions.h"
#include "compare.h"
#include "compare/binaries.h"

bool pl_has_places(const struct pr_result *result, size_t first)
{
	size_t n = result->shape.n_keys;

	return first < n && n - first >= PC_PLACE_KEYS;
}

int pl_binaries_gc(lua_State *L)
{
	struct pc_binaries **binaries = luaL_checkudata(L, 1, PL_BINARIES);

	pc_binaries_destroy(*binaries);
	*binaries = NULL;
	return 0;
}

int pl_binaries(lua_State *L)
{
	int n = lua_gettop(L);
	struct pc_binaries **binaries = lua_newuserdatauv(L, sizeof(*binaries), 0);

	*binaries = NULL;
	luaL_setmetatable(L, PL_BINARIES);
	*binaries = pc_binaries_create();
	if (!*binaries)
		return luaL_error(L, "no memory for binaries");
	for (int i = 1; i <= n; i++) {
		const struct pr_result *result;
		size_t first, symbol, count;

		luaL_checktype(L, i, LUA_TTABLE);
		lua_getfield(L, i, "result");
		result = pl_check_result(L, -1)->result;
		first = pl_get_place(L, i, "first");
		symbol = pl_get_place(L, i, "symbol");
		count = pl_get_place(L, i, "count");
		luaL_argcheck(L,
			      pl_has_places(result, first) && symbol < result->shape.n_keys &&
				      count < result->shape.n_measures,
			      i, "no keys of functions");
		if (!pc_binaries_add(*binaries, result, first, symbol, count))
			return luaL_error(L, "no memory for binaries");
		lua_pop(L, 1);
	}
	return 1;
}

int pl_binaries_unnamed(lua_State *L)
{
	struct pc_binaries **a = luaL_checkudata(L, 1, PL_BINARIES);
	struct pc_binaries **b = luaL_checkudata(L, 2, PL_BINARIES);

	luaL_argcheck(L, *a, 1, "no binaries");
	luaL_argcheck(L, *b, 2, "no binaries");
	lua_pushinteger(L, (lua_Integer)pc_binaries_unnamed(*a, *b));
	return 1;
}
