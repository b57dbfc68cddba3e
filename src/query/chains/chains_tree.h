/*
 * Call chains as a tree of frames, callers first: callers that chains have in common are there
 * once.
 */
#ifndef PERFLUA_QUERY_CHAINS_TREE_H
#define PERFLUA_QUERY_CHAINS_TREE_H

#include "base/set.h"
#include "chains.h"

#define PQ_NO_CALLER UINT32_MAX

struct pq_call_node {
	uint32_t caller; /* number of the caller's node; PQ_NO_CALLER */
	uint32_t frame;
};

struct pq_call_nodes {
	struct pb_set nodes; /* of pq_call_node, a caller before what it calls */
	/* [chains + 1]: the node where each chain ends; the last one is the caller's to set */
	uint32_t *ends;
};

/*
 * Finds the nodes of all chains; NULL: there are none. A chain without frames has the frame
 * `unknown`. Returns false without memory; pq_call_nodes_deinit() is needed then, too.
 */
bool pq_call_nodes_init(struct pq_call_nodes *nodes, const struct pq_chains *chains,
			uint32_t unknown);
void pq_call_nodes_deinit(struct pq_call_nodes *nodes);

/* Returns a node by its number. It is valid until the next one is added. */
static inline const struct pq_call_node *pq_call_node_at(const struct pq_call_nodes *nodes,
							 uint32_t number)
{
	return pb_set_at(&nodes->nodes, number);
}

#endif
