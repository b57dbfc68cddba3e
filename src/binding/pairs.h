/*
 * How records are paired, and what is made of the pairs, from Lua: see pairs.c.
 */
#ifndef PERFLUA_BINDING_PAIRS_H
#define PERFLUA_BINDING_PAIRS_H

#include "cursor.h"

/*
 * Reads what `options` say of pairs, and of the records that they are of: all of *paired but
 * what pl_to_made adds. False: they say nothing of pairs. [-0, +0]
 */
bool pl_to_paired(lua_State *L, int keep, const struct pl_file *f, int options,
		  struct pq_paired *paired);

/* Reads what they say of the rows of pairs. [-0, +0] */
void pl_to_made(lua_State *L, int keep, const struct pl_file *f, int options,
		struct pq_paired *paired);

/* Sets what was paired, and what not, by name in the table on top. [-0, +0] */
void pl_set_pair_counts(lua_State *L, const struct pq_pair_counts *counts);

#endif
