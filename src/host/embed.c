/*
 * Build tool: compiles the files of the Lua library and prints them as the C table that embed.h
 * declares. Compiled files load ten times faster than text; names and line numbers stay in. Any
 * other file becomes a module that returns the file's text.
 *
 *     embed lua/perflua/init.lua lua/perflua/flame/js/draw.js docs/guide.md …
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lua.h>
#include <lauxlib.h>

static int print_chunk_bytes(lua_State *L, const void *bytes, size_t size, void *arg)
{
	const unsigned char *p = bytes;

	(void)L;
	(void)arg;
	for (size_t i = 0; i < size; i++)
		printf("%d,%s", p[i], i % 24 == 23 ? "\n" : "");
	return 0;
}

static bool is_lua_file(const char *path)
{
	size_t length = strlen(path);

	return length > 4 && strcmp(path + length - 4, ".lua") == 0;
}

/*
 * Pushes a chunk that returns the text of a file, above its source; or a message on failure.
 * [-0, +1 or 2]
 */
static int load_text_chunk(lua_State *L, const char *path)
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

/*
 * Prints `static const unsigned char code_N[]`, the compiled file. Returns false after printing
 * an error.
 */
static bool print_code(lua_State *L, int n, const char *path)
{
	if ((is_lua_file(path) ? luaL_loadfilex(L, path, "t") : load_text_chunk(L, path)) !=
	    LUA_OK) {
		fprintf(stderr, "%s\n", lua_tostring(L, -1));
		return false;
	}
	printf("static const unsigned char code_%d[] = {\n", n);
	lua_dump(L, print_chunk_bytes, NULL, 0);
	printf("};\n");
	lua_settop(L, 0);
	return true;
}

/*
 * Prints the module of a file: "lua/perflua/tools/stat.lua" is perflua.tools.stat,
 * "lua/perflua/init.lua" is perflua, "lua/perflua/flame/style.css" is perflua/flame/style.css,
 * and "docs/guide.md" is docs/guide.md.
 */
static void print_module(lua_State *L, const char *path)
{
	const char *name = strncmp(path, "lua/", 4) == 0 ? path + 4 : path;

	if (!is_lua_file(path)) {
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
		if (!print_code(L, i, argv[i]))
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
