/* Pairings, and values computed from pairs, read from tables of options: see pairs.c. */
#ifndef PERFLUA_BINDING_QUERY_PAIRS_H
#define PERFLUA_BINDING_QUERY_PAIRS_H

#include "cursor.h"

/*
 * Reads the pairing in `options`: all members of *paired but those that pl_to_made() sets.
 * Returns false if `options` have no `pairs`. [-0, +0]
 */
bool pl_to_paired(lua_State *L, int keep, const struct pl_file *f, int options,
		  struct pq_paired *paired);

/* Reads the values of rows of pairs, and the condition on rows, from `options`. [-0, +0] */
void pl_to_made(lua_State *L, int keep, const struct pl_file *f, int options,
		struct pq_paired *paired);

/* Sets the counts of pairs, and of unpaired records, by name in the table on top. [-0, +0] */
void pl_set_pair_counts(lua_State *L, const struct pq_pair_counts *counts);

#endif
