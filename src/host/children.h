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

/*
 * host.record({word…}, is_screen) -> pid, file | pid | nil, message
 *
 * Starts perf record with these words, its recording in a pipe that becomes the standard input
 * of this process, and with --control, by which host.wake() wakes it. is_screen: what perf and
 * its command print goes to `file`, and they read an empty input if this one is a terminal.
 */
int perflua_record(lua_State *L);

/* host.wake(): makes perf record write what it has. */
int perflua_wake(lua_State *L);

/*
 * host.stop(pid [, ms]): ends perf record, and its command, unless it ends by itself in that
 * time.
 */
int perflua_stop(lua_State *L);

#endif
