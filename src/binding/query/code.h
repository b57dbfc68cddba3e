/* The code of a function as a Lua value. */
#ifndef PERFLUA_BINDING_QUERY_CODE_H
#define PERFLUA_BINDING_QUERY_CODE_H

#include "annotate/functions.h"
#include "binding/functions.h"

#define PL_CODE "perflua.code"

/*
 * Pushes the code of a function, decoded; nil, the reason and the path of the file, or nil, if
 * it cannot be. Argument 2 may be a table { bytes, machine, is_64, is_big }, which is the code
 * then; argument 3 an array { offset, bytes … }: these bytes are changed, in that order.
 * Returns the number of values. [-0, +1 or 3]
 */
int pl_push_code(lua_State *L, const struct pa_function *function, struct ps_dso *dso);

#endif
