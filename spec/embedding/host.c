/*
 * A program that embeds Lua: host SCRIPT RECORDING runs the script in two states, as a
 * coroutine each, by turns; then closes one state, and ends the other's coroutine. Prints what
 * the coroutines return, and the signals that have a handler by then.
 */
#include <signal.h>
#include <stdio.h>

#include <lauxlib.h>
#include <lualib.h>

static int fail(lua_State *L)
{
	fprintf(stderr, "%s\n", lua_tostring(L, -1));
	return 1;
}

int main(int argc, char **argv)
{
	lua_State *states[2], *threads[2];
	struct sigaction action;
	int status = LUA_YIELD, n;

	if (argc != 3)
		return 2;
	for (int i = 0; i < 2; i++) {
		states[i] = luaL_newstate();
		luaL_openlibs(states[i]);
		threads[i] = lua_newthread(states[i]);
		if (luaL_loadfile(threads[i], argv[1]))
			return fail(threads[i]);
		lua_pushstring(threads[i], argv[2]);
		lua_pushinteger(threads[i], i + 1);
	}
	for (int turn = 0; turn < 40; turn++)
		for (int i = 0; i < 2; i++) {
			status = lua_resume(threads[i], NULL, turn ? 0 : 2, &n);
			if (status != LUA_YIELD)
				return fail(threads[i]);
			lua_pop(threads[i], n);
		}
	lua_close(states[0]);
	while (status == LUA_YIELD) {
		status = lua_resume(threads[1], NULL, 0, &n);
		if (status == LUA_YIELD)
			lua_pop(threads[1], n);
	}
	if (status != LUA_OK)
		return fail(threads[1]);
	puts(lua_tostring(threads[1], -1));
	lua_close(states[1]);
	for (int sig = 1; sig < 32; sig++)
		if (sigaction(sig, NULL, &action) == 0 && action.sa_handler != SIG_DFL &&
		    action.sa_handler != SIG_IGN)
			printf("signal %d has a handler\n", sig);
	return 0;
}
