/*
 * Injecting for Lua, as a userdata of core.write(). The option `inject` is struct pj_asked:
 * `ids` is "hit" or "all", `mappings` "identified" or "used", and `known` has build-ids as
 * strings of bytes, by the names of binaries.
 */
#ifndef PERFLUA_BINDING_QUERY_INJECT_H
#define PERFLUA_BINDING_QUERY_INJECT_H

#include "binding/handle.h"
#include "inject/inject.h"

struct pl_injecting {
	struct pj_injector *injector; /* NULL: not there yet, or freed */
	struct pj_known *known;
};

/*
 * Pushes what is injected into the records of a File; pushes nil, and returns NULL, if nothing
 * is. Raises without memory. [-0, +1]
 */
struct pl_injecting *pl_push_injecting(lua_State *L, struct pl_file *file, int options);

/*
 * Pushes the numbers that an injector counted, and `unidentified` binaries and `unread`
 * jitdumps: { { filename =, reason = } … }. [-0, +1]
 */
void pl_push_injected(lua_State *L, const struct pl_injecting *injecting);

#endif
