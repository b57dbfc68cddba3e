/*
 * Call chains as a tree of functions, callers first, so that what chains have in common is
 * there once.
 */
#ifndef PERFLUA_SQLITE_STACK_TREE_H
#define PERFLUA_SQLITE_STACK_TREE_H

#include "names.h"

struct pt_node {
	uint32_t id;	 /* of a chain's end the number of the chain + 1 */
	uint32_t caller; /* index of the caller's node; UINT32_MAX: it has none */
	uint32_t symbol; /* number of its function among the names */
	uint32_t depth;	 /* callers above it */
};

struct pt_tree {
	struct pt_node *nodes; /* [n]: a caller before what it calls */
	size_t n, capacity;
};

/*
 * Makes the tree of all chains, whose functions it adds to `names`. Returns false without
 * memory; pt_tree_deinit() is needed then, too.
 */
bool pt_tree_init(struct pt_tree *tree, const struct pq_chains *chains, struct pt_names *names);
void pt_tree_deinit(struct pt_tree *tree);

#endif
