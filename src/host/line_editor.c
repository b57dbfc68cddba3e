#include "host.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <lauxlib.h>

#ifdef PERFLUA_LIBEDIT
#include <editline/readline.h>
#endif

/* The line read last. It is kept here, so that an error of Lua's does not leak it. */
static char *typed_line;

#ifdef PERFLUA_LIBEDIT
/* Registry key: a table with the function that host.history() got. */
#define COMPLETE_KEY "perflua.complete"

#define HISTORY_LINES 1000

/* The completion of a typed word: the state that reads the line, and names for the word. */
static struct {
	lua_State *L;
	int names; /* index in L */
	lua_Integer next;
} completion;

/* Calls that function for a line and its last word. (line, word) -> names | nil, quote | nil */
static int call_complete(lua_State *L)
{
	luaL_getsubtable(L, LUA_REGISTRYINDEX, COMPLETE_KEY);
	lua_rawgeti(L, -1, 1);
	lua_rotate(L, 1, 1);
	lua_settop(L, 3);
	lua_call(L, 2, 2);
	return 2;
}

/* Returns the next name, in memory of its own; NULL at the end. */
static char *next_name(const char *text, int state)
{
	char *name = NULL;

	(void)text;
	(void)state;
	if (lua_rawgeti(completion.L, completion.names, completion.next++) == LUA_TSTRING)
		name = strdup(lua_tostring(completion.L, -1));
	lua_pop(completion.L, 1);
	return name;
}

/* Sets the character that follows the word if there is one name: a quote at most. [-1, +0] */
static void set_closing_quote(lua_State *L, int end)
{
	const char *quote = lua_tostring(L, -1);

	if (quote && rl_line_buffer[end] != *quote)
		rl_completion_append_character = *quote;
	lua_pop(L, 1);
}

/* Completes line[start..end], which is `text`. Returns NULL if nothing is known. */
static char **complete_word(const char *text, int start, int end)
{
	lua_State *L = completion.L;
	char **matches = NULL;

	(void)start;
	if (!lua_checkstack(L, 8))
		return NULL;
	rl_attempted_completion_over = 1;
	rl_completion_append_character = '\0';
	lua_pushcfunction(L, call_complete);
	lua_pushlstring(L, rl_line_buffer, (size_t)end);
	lua_pushstring(L, text);
	if (lua_pcall(L, 2, 2, 0) == LUA_OK) {
		set_closing_quote(L, end);
		rl_attempted_completion_over = lua_istable(L, -1);
		completion.names = lua_absindex(L, -1);
		completion.next = 1;
		if (lua_istable(L, -1))
			matches = rl_completion_matches(text, next_name);
	}
	lua_pop(L, 1);
	return matches;
}

const char *perflua_read_line(lua_State *L, const char *prompt)
{
	completion.L = L;
	free(typed_line);
	typed_line = readline(prompt);
	return typed_line;
}

static int start_history(lua_State *L)
{
	static char name[] = "perflua";
	const char *path = luaL_optstring(L, 1, NULL);

	luaL_checktype(L, 2, LUA_TFUNCTION);
	luaL_getsubtable(L, LUA_REGISTRYINDEX, COMPLETE_KEY);
	lua_pushvalue(L, 2);
	lua_rawseti(L, -2, 1);
	rl_attempted_completion_function = complete_word;
	rl_basic_word_break_characters = " \t\n\"'`@><=;|&{}()[],+*#^~";

	setlocale(LC_CTYPE, ""); /* without it, typed text is taken for Latin-1 */
	rl_readline_name = name;
	using_history();
	stifle_history(HISTORY_LINES);
	if (path)
		read_history(path);
	return 0;
}

static int remember_line(lua_State *L)
{
	const char *path = luaL_optstring(L, 2, NULL);
	mode_t mask;

	add_history(luaL_checkstring(L, 1));
	if (path) {
		mask = umask(077); /* lines may hold what others should not read */
		write_history(path);
		umask(mask);
	}
	return 0;
}

static const luaL_Reg editing[] = {
	{ "history", start_history },
	{ "remember", remember_line },
	{ NULL, NULL },
};

void perflua_add_editing(lua_State *L)
{
	luaL_setfuncs(L, editing, 0);
	lua_pushliteral(L, PERFLUA_LIBEDIT);
	lua_setfield(L, -2, "libedit");
}
#else
const char *perflua_read_line(lua_State *L, const char *prompt)
{
	static size_t size;
	ssize_t n;

	(void)L;
	fputs(prompt, stdout);
	fflush(stdout);
	n = getline(&typed_line, &size, stdin);
	if (n < 0)
		return NULL;
	if (n > 0 && typed_line[n - 1] == '\n')
		typed_line[n - 1] = '\0';
	return typed_line;
}

void perflua_add_editing(lua_State *L)
{
	(void)L;
}
#endif

void perflua_free_line(void)
{
	free(typed_line);
	typed_line = NULL;
}
