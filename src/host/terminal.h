/* The terminal of the program, if it has one: what all that writes to it needs to know. */
#ifndef PERFLUA_TERMINAL_H
#define PERFLUA_TERMINAL_H

#include <lua.h>

struct perflua_size {
	int columns, rows;
};

/*
 * Returns the size of the terminal that `fd` is. $COLUMNS and $LINES win over what the terminal
 * says of itself; 80 x 24 stands for what neither tells.
 */
struct perflua_size perflua_terminal_size(int fd);

/* host.is_terminal("stdin" | "stdout" | "stderr") -> boolean */
int perflua_is_terminal(lua_State *L);

/* host.terminal_size() -> columns, rows of the terminal that standard output is */
int perflua_tell_terminal_size(lua_State *L);

#endif
