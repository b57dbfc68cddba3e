/*
 * Call chains as a tree of functions, callers first, so that what chains have in common is
 * there once.
 */
#ifndef PERFLUA_SQLITE_STACK_TREE_H
#define PERFLUA_SQLITE_STACK_TREE_H

#include "query/query.h"

struct pt_node {
	uint32_t id;	 /* of a chain's end the number of the chain + 1 */
	uint32_t caller; /* index of the caller's node; UINT32_MAX: it has none */
	uint32_t frame;	 /* number of its function among the chains' frames */
	uint32_t depth;	 /* callers above it */
};

struct pt_tree {
	struct pt_node *nodes; /* [n]: a caller before what it calls */
	size_t n, capacity;
	uint32_t *by_id; /* [n]: index of the node with each id, from 1 on */
};

/*
 * Makes the tree of all chains, which are of PQ_CHAIN_FUNCTIONS. Returns false without memory;
 * pt_tree_deinit() is needed then, too.
 */
bool pt_tree_init(struct pt_tree *tree, const struct pq_chains *chains);
void pt_tree_deinit(struct pt_tree *tree);

#endif
