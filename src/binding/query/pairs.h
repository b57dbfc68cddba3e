/*
 * Reads from Lua how records are paired, and which values are made of the pairs: see pairs.c.
 */
#ifndef PERFLUA_BINDING_QUERY_PAIRS_H
#define PERFLUA_BINDING_QUERY_PAIRS_H

#include "cursor.h"

/*
 * Reads from `options` how records are paired: all of *paired but the members that pl_to_made()
 * adds. Returns false if they have no `pairs`. [-0, +0]
 */
bool pl_to_paired(lua_State *L, int keep, const struct pl_file *f, int options,
		  struct pq_paired *paired);

/* Adds the values and the condition on rows of pairs to *paired, from `options`. [-0, +0] */
void pl_to_made(lua_State *L, int keep, const struct pl_file *f, int options,
		struct pq_paired *paired);

/*
 * Sets the counts of pairs, and of records without one, by name in the table on top. [-0, +0]
 */
void pl_set_pair_counts(lua_State *L, const struct pq_pair_counts *counts);

#endif
