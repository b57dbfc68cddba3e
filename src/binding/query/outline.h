/* Outlines of recordings, for copies of a time range: see write/outline.h. */
#ifndef PERFLUA_BINDING_OUTLINE_H
#define PERFLUA_BINDING_OUTLINE_H

#include "write.h"
#include "write/outline.h"

/*
 * Returns the outline that is the option `outline` of the table at `options`, which keeps it;
 * NULL if there is none. [-0, +0]
 */
const struct pw_outline *pl_get_outline(lua_State *L, int options);

/* Writes what the outline keeps of a File, and finishes. Returns false with *err. */
bool pl_write_outline(lua_State *L, const struct pl_file *f, struct pl_writing *writing,
		      const struct pw_outline *outline, struct pd_error *err);

#endif
