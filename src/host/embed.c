/*
 * A tool of the build: compiles the files of the Lua library and prints them as the C that embed.h
 * declares. Compiled they load ten times faster than as text; names and line numbers stay in.
 *
 *     embed lua/perflua/init.lua …
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lua.h>
#include <lauxlib.h>

static int print_bytes(lua_State *L, const void *bytes, size_t size, void *arg)
{
	const unsigned char *p = bytes;

	(void)L;
	(void)arg;
	for (size_t i = 0; i < size; i++)
		printf("%d,%s", p[i], i % 24 == 23 ? "\n" : "");
	return 0;
}

/* Prints `static const unsigned char code_N[]`: the chunk of a file below lua/. */
static bool print_code(lua_State *L, int n, const char *path)
{
	if (luaL_loadfilex(L, path, "t") != LUA_OK) {
		fprintf(stderr, "%s\n", lua_tostring(L, -1));
		return false;
	}
	printf("static const unsigned char code_%d[] = {\n", n);
	lua_dump(L, print_bytes, NULL, 0);
	printf("};\n");
	lua_settop(L, 0);
	return true;
}

/* "lua/perflua/tools/stat.lua" is the module perflua.tools.stat, "lua/perflua/init.lua" perflua. */
static void print_module(lua_State *L, const char *path)
{
	const char *name = luaL_gsub(L, path + strlen("lua/"), "/init.lua", "");

	name = luaL_gsub(L, name, ".lua", "");
	printf("%s", luaL_gsub(L, name, "/", "."));
	lua_settop(L, 0);
}

int main(int argc, char **argv)
{
	lua_State *L = luaL_newstate();

	if (!L)
		return EXIT_FAILURE;
	printf("#include \"host/embed.h\"\n\n");
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "lua/", 4) != 0 || !print_code(L, i, argv[i]))
			return EXIT_FAILURE;
	printf("\nconst struct embedded embedded_library[] = {\n");
	for (int i = 1; i < argc; i++) {
		printf("\t{ \"");
		print_module(L, argv[i]);
		printf("\", code_%d, sizeof(code_%d) },\n", i, i);
	}
	printf("\t{ 0, 0, 0 },\n};\n");
	lua_close(L);
	return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
