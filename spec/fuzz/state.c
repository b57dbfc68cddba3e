#include "state.h"

#include <stdio.h>
#include <stdlib.h>

#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>

#include "host/embed.h"
#include "common.h"

#define COUNTERS  4096	   /* a power of two */
#define MAX_STEPS 20000000 /* lines of Lua: what takes more does not end */

int luaopen_perflua_core(lua_State *L);

__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t counters[COUNTERS];

static lua_State *state;
static size_t steps;

static void on_line(lua_State *L, lua_Debug *ar)
{
	uint64_t place;

	lua_getinfo(L, "S", ar);
	place = ((uintptr_t)ar->source ^ (uint64_t)ar->currentline << 20 ^
		 (uint64_t)ar->linedefined << 40) *
		UINT64_C(0x9e3779b97f4a7c15);
	counters[place >> 52]++;
	FUZZ_CHECK(++steps < MAX_STEPS);
}

/* The loader of an embedded module. */
static int load_module(lua_State *L)
{
	const struct embedded *file = lua_touserdata(L, lua_upvalueindex(1));

	if (luaL_loadbufferx(L, (const char *)file->code, file->size, file->module, "b"))
		return lua_error(L);
	lua_call(L, 0, 1);
	return 1;
}

static void make_state(const char *script)
{
	lua_State *L = state = luaL_newstate();

	luaL_openlibs(L);
	luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
	for (const struct embedded *file = embedded_library; file->module; file++) {
		lua_pushlightuserdata(L, (void *)(uintptr_t)file);
		lua_pushcclosure(L, load_module, 1);
		lua_setfield(L, -2, file->module);
	}
	lua_pushcfunction(L, luaopen_perflua_core);
	lua_setfield(L, -2, "perflua.core");
	lua_pop(L, 1);
	if (luaL_dofile(L, script)) {
		fprintf(stderr, "%s\n", lua_tostring(L, -1));
		exit(EXIT_FAILURE);
	}
	lua_sethook(L, on_line, LUA_MASKLINE, 0);
}

void fuzz_lua(const char *script, const void *bytes, size_t n)
{
	if (!state)
		make_state(script);
	steps = 0;
	lua_pushvalue(state, 1);
	lua_pushlstring(state, bytes, n);
	if (lua_pcall(state, 1, 0, 0)) {
		fprintf(stderr, "%s: %s\n", script, lua_tostring(state, -1));
		abort();
	}
}
