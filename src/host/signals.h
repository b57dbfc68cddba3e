/* Signals of the program: those that end it, and SIGINT, which first ends passes. */
#ifndef PERFLUA_SIGNALS_H
#define PERFLUA_SIGNALS_H

#include <lua.h>
#include <stdbool.h>

/*
 * Installs handlers that remove unfinished files, for signals that end the process and that the
 * parent does not ignore, and for its regular end.
 */
void perflua_arm_ending_signals(void);

/* Sets what the core needs to know of signals in the registry. */
void perflua_share_signals(lua_State *L);

/* Installs the handler of SIGINT, and forgets those that came. */
void perflua_arm_sigint(lua_State *L);

/* Returns true if SIGINT came since the handler was installed last. */
bool perflua_was_interrupted(void);

/* From now on SIGINT ends the process. */
void perflua_disarm_sigint(void);

#endif
