/* Other processes: of this program, for tools that read many recordings, and perf record. */
#ifndef PERFLUA_CHILDREN_H
#define PERFLUA_CHILDREN_H

#include <lua.h>

/*
 * host.fork() -> pid, file | nil, message; in the new process false | false, message
 *
 * Starts a process that goes on from here, its input empty and its output to `file`, which the
 * caller reads when the process has ended. It has a copy of this process: its Lua state, with
 * the library loaded, and its options. The message says why there is none, or why the new one
 * cannot write its output.
 */
int perflua_fork(lua_State *L);
int perflua_wait(lua_State *L);

/*
 * ({word…}) -> status | nil, message
 *
 * Runs a program, which is looked up in $PATH, with these words, and waits for its end.
 * `status` is as that of host.wait().
 */
int perflua_run(lua_State *L);

#endif
