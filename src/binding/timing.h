/* Measures where the time goes: see base/timing.h. */
#ifndef PERFLUA_BINDING_TIMING_H
#define PERFLUA_BINDING_TIMING_H

#include "base/timing.h"
#include "handle.h"

/* Returns the timing of the state; NULL: nothing is measured. [-0, +0] */
struct pb_timing *pl_timing(lua_State *L);

/*
 * Returns the timing of a recording that is being opened; NULL: it is not measured. It is made
 * if it `is_asked` for. Raises without memory. [-0, +0]
 */
struct pb_timing *pl_timing_of_open(lua_State *L, bool is_asked);

/* Measures the session of the File at `file`; a timing of NULL: does nothing. [-0, +0] */
void pl_timing_add_session(lua_State *L, int file, struct pb_timing *timing);

/*
 * Makes the functions in the table on top stages, of those that are known here, if time is
 * measured. [-0, +0]
 */
void pl_timing_wrap(lua_State *L);

#endif
