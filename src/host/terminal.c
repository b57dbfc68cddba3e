#include "terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <lauxlib.h>

#define MOST 100000 /* columns or rows: what is more is a mistake */

/* Returns the number in a variable of the environment, `other` if there is none. */
static int read_number(const char *name, int other)
{
	const char *text = getenv(name);
	char *end;
	long n = text ? strtol(text, &end, 10) : 0;

	return n > 0 && n <= MOST && !*end ? (int)n : other;
}

struct perflua_size perflua_terminal_size(int fd)
{
	struct winsize told = { 0 };

	ioctl(fd, TIOCGWINSZ, &told);
	return (struct perflua_size){
		.columns = read_number("COLUMNS", told.ws_col ? told.ws_col : 80),
		.rows = read_number("LINES", told.ws_row ? told.ws_row : 24),
	};
}

int perflua_is_terminal(lua_State *L)
{
	static const char *const names[] = { "stdin", "stdout", "stderr", NULL };

	lua_pushboolean(L, isatty(luaL_checkoption(L, 1, NULL, names))); /* 0, 1, 2 */
	return 1;
}

int perflua_tell_terminal_size(lua_State *L)
{
	struct perflua_size size = perflua_terminal_size(STDOUT_FILENO);

	lua_pushinteger(L, size.columns);
	lua_pushinteger(L, size.rows);
	return 2;
}
