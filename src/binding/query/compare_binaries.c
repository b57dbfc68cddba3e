/* The binaries of both sides of a comparison as Lua values. */
#include <stdlib.h>

#include "binding/functions.h"
#include "binding/system.h"
#include "compare.h"
#include "compare/binaries.h"

const struct pc_binaries *pl_test_binaries(lua_State *L, int index)
{
	struct pl_binaries *binaries = luaL_testudata(L, index, PL_BINARIES);

	return binaries ? binaries->made : NULL;
}

int pl_binaries_gc(lua_State *L)
{
	struct pl_binaries *binaries = luaL_checkudata(L, 1, PL_BINARIES);

	pc_binaries_destroy(binaries->made);
	binaries->made = NULL;
	while (binaries->n_files)
		pl_system_let_go(binaries->files[--binaries->n_files]);
	return 0;
}

/* Reads the run at index `i`, whose result and stores are on the stack. [-0, +2] */
static void read_sampled(lua_State *L, int i, struct pl_file *f, struct pc_sampled *run)
{
	const struct pm_system *system = pl_system(L, f);
	const struct pr_shape *shape;
	struct ps_store **stores;

	lua_getfield(L, i, "result");
	*run = (struct pc_sampled){
		.result = pl_check_result(L, -1)->result,
		.build_id = pl_get_place(L, i, "build_id"),
		.symbol = pl_get_place(L, i, "symbol"),
		.count = pl_get_place(L, i, "count"),
		.n_stores = f->session->n_files,
	};
	shape = &run->result->shape;
	luaL_argcheck(L,
		      run->build_id < shape->n_keys && run->symbol < shape->n_keys &&
			      run->count < shape->n_measures,
		      i, "no keys of functions");
	stores = lua_newuserdatauv(L, (run->n_stores + 1) * sizeof(*stores), 0);
	for (uint32_t machine = 0; machine < run->n_stores; machine++)
		stores[machine] = pm_system_store(system, machine);
	run->stores = stores;
}

int pl_binaries(lua_State *L)
{
	int n = lua_gettop(L);
	struct pl_binaries *binaries =
		lua_newuserdatauv(L, sizeof(*binaries) + (size_t)n * sizeof(binaries->files[0]),
				  n);

	*binaries = (struct pl_binaries){ .made = NULL };
	luaL_setmetatable(L, PL_BINARIES);
	binaries->made = pc_binaries_create();
	if (!binaries->made)
		return luaL_error(L, "no memory for binaries");
	for (int i = 1; i <= n; i++) {
		struct pc_sampled run;
		struct pl_file *f;

		luaL_checktype(L, i, LUA_TTABLE);
		lua_getfield(L, i, "file");
		f = pl_check_open_file(L, -1);
		lua_setiuservalue(L, n + 1, i);
		pl_system_hold(f);
		binaries->files[binaries->n_files++] = f;
		read_sampled(L, i, f, &run);
		if (!pc_binaries_add(binaries->made, &run))
			return luaL_error(L, "no memory for binaries");
		lua_settop(L, n + 1);
	}
	return 1;
}

int pl_binaries_unnamed(lua_State *L)
{
	const struct pc_binaries *a = pl_test_binaries(L, 1);
	const struct pc_binaries *b = pl_test_binaries(L, 2);

	luaL_argcheck(L, a, 1, "no binaries");
	luaL_argcheck(L, b, 2, "no binaries");
	lua_pushinteger(L, (lua_Integer)pc_binaries_unnamed(a, b));
	return 1;
}
