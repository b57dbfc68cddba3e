/* Other processes: of this program, for tools that read many recordings, and perf record. */
#ifndef PERFLUA_CHILDREN_H
#define PERFLUA_CHILDREN_H

#include <lua.h>

int perflua_start(lua_State *L);
int perflua_wait(lua_State *L);

/*
 * ({word…}) -> status | nil, message
 *
 * Runs a program, which is looked up in $PATH, with these words, and waits for its end.
 * `status` is as that of host.wait().
 */
int perflua_run(lua_State *L);

#endif
