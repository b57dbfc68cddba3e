/*
 * The versions of perf whose text can be printed, as Lua values.
 */
#ifndef PERFLUA_BINDING_PERF_TEXT_H
#define PERFLUA_BINDING_PERF_TEXT_H

#include "binding.h"

/* Pushes perf's version as text, "6.12" or "recorded". [-0, +1] */
void pl_push_perf(lua_State *L, unsigned perf);

/*
 * Reads the version of a perf whose text can be printed, or "recorded", into *perf. Returns
 * false if it is not known, and pushes a message. [-0, +(0|1)]
 */
bool pl_take_perf(lua_State *L, const char *text, unsigned *perf);

#endif
