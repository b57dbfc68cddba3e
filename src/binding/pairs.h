/*
 * How records are paired, from Lua.
 */
#ifndef PERFLUA_BINDING_PAIRS_H
#define PERFLUA_BINDING_PAIRS_H

#include "cursor.h"

/*
 * Of a table `pairs` in options, of places among n values of records; NULL: there is none. [-0,
 * +0]
 */
const struct pq_pairing *pl_to_pairing(lua_State *L, int keep, int options, size_t n);

/* What of the records was paired, and what not, by name. [-0, +1] */
void pl_push_pair_counts(lua_State *L, const struct pq_pair_counts *counts);

#endif
