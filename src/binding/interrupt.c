/* Ends passes at an interrupt, and tells how far the last one came. */
#include "functions.h"
#include "handle.h"

/*
 * Registry key: the part of the recording that the last pass had read when it was interrupted.
 */
#define PART "perflua.part"

/* Registry key: true if the last pass could not read names because of the interrupt. */
#define UNNAMED "perflua.unnamed"

void *pl_interrupt(lua_State *L)
{
	void *flag;

	lua_getfield(L, LUA_REGISTRYINDEX, PL_INTERRUPT);
	flag = lua_touserdata(L, -1);
	lua_pop(L, 1);
	return flag;
}

void pl_begin_pass(lua_State *L)
{
	lua_pushnil(L);
	lua_setfield(L, LUA_REGISTRYINDEX, PART);
	lua_pushnil(L);
	lua_setfield(L, LUA_REGISTRYINDEX, UNNAMED);
}

void pl_cut_pass(lua_State *L, double part)
{
	if (part < 0)
		lua_pushboolean(L, 1);
	else
		lua_pushnumber(L, part < 1 ? part : 1);
	lua_setfield(L, LUA_REGISTRYINDEX, PART);
}

void pl_cut_names(lua_State *L, struct pl_file *f)
{
	if (!ps_interrupt_was_cut(f->interrupt))
		return;
	lua_pushboolean(L, 1);
	lua_setfield(L, LUA_REGISTRYINDEX, UNNAMED);
	if (lua_getfield(L, LUA_REGISTRYINDEX, PART) == LUA_TNIL)
		pl_cut_pass(L, 1);
	lua_pop(L, 1);
}

int pl_interrupted(lua_State *L)
{
	if (pl_goes_on(pl_interrupt(L))) {
		lua_pushboolean(L, 0);
		return 1;
	}
	lua_pushboolean(L, 1);
	lua_getfield(L, LUA_REGISTRYINDEX, PART);
	lua_getfield(L, LUA_REGISTRYINDEX, UNNAMED);
	return 3;
}
