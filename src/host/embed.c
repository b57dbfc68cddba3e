/*
 * A tool of the build: compiles the files of the Lua library and prints them as the C that
 * embed.h declares. Compiled they load ten times faster than as text; names and line numbers
 * stay in. Of any other file it makes a module that returns the file's text.
 *
 *     embed lua/perflua/init.lua lua/perflua/flame/js/draw.js …
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

static bool is_lua(const char *path)
{
	size_t length = strlen(path);

	return length > 4 && strcmp(path + length - 4, ".lua") == 0;
}

/*
 * Loads a chunk that returns the text of a file, on top of its source; or a message. [-0, +1 or
 * 2]
 */
static int load_text(lua_State *L, const char *path)
{
	FILE *file = fopen(path, "rb");
	luaL_Buffer chunk;
	size_t size;

	if (!file) {
		lua_pushfstring(L, "cannot open %s", path);
		return LUA_ERRFILE;
	}
	luaL_buffinit(L, &chunk);
	luaL_addstring(&chunk, "return [====[\n");
	do {
		size = fread(luaL_prepbuffer(&chunk), 1, LUAL_BUFFERSIZE, file);
		luaL_addsize(&chunk, size);
	} while (size > 0);
	fclose(file);
	luaL_addstring(&chunk, "]====]");
	luaL_pushresult(&chunk);
	return luaL_loadbufferx(L, lua_tostring(L, -1), lua_rawlen(L, -1), path, "t");
}

/* Prints `static const unsigned char code_N[]`: the chunk of a file below lua/. */
static bool print_code(lua_State *L, int n, const char *path)
{
	if ((is_lua(path) ? luaL_loadfilex(L, path, "t") : load_text(L, path)) != LUA_OK) {
		fprintf(stderr, "%s\n", lua_tostring(L, -1));
		return false;
	}
	printf("static const unsigned char code_%d[] = {\n", n);
	lua_dump(L, print_bytes, NULL, 0);
	printf("};\n");
	lua_settop(L, 0);
	return true;
}

/*
 * "lua/perflua/tools/stat.lua" is the module perflua.tools.stat, "lua/perflua/init.lua"
 * perflua, and "lua/perflua/flame/style.css" perflua/flame/style.css.
 */
static void print_module(lua_State *L, const char *path)
{
	const char *name = path + strlen("lua/");

	if (!is_lua(path)) {
		printf("%s", name);
		return;
	}
	name = luaL_gsub(L, name, "/init.lua", "");
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
