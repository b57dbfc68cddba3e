#include "chains_tree.h"

#include <stdlib.h>

/* Nodes while they are found. */
struct finding {
	struct pq_call_nodes *of;
	/* the last chain, callers first: its frames, and the node of each */
	uint32_t frames[PM_MAX_FRAMES + 1], nodes[PM_MAX_FRAMES + 1];
	size_t n;
};

/* Returns the number of the last node of `n` frames, callee first; UINT32_MAX: no memory. */
static uint32_t find_end(struct finding *f, const uint32_t *frames, size_t n)
{
	struct pq_call_node node = { .caller = PQ_NO_CALLER };
	size_t depth = 0;

	/* chains that are met one after the other mostly have their first callers in common */
	while (depth < n && depth < f->n && f->frames[depth] == frames[n - 1 - depth])
		node.caller = f->nodes[depth++];
	for (; depth < n; depth++) {
		node.frame = frames[n - 1 - depth];
		node.caller = pb_set_add(&f->of->nodes, &node);
		if (node.caller == UINT32_MAX)
			return UINT32_MAX;
		f->frames[depth] = node.frame;
		f->nodes[depth] = node.caller;
	}
	f->n = n;
	return node.caller;
}

bool pq_call_nodes_init(struct pq_call_nodes *nodes, const struct pq_chains *chains,
			uint32_t unknown)
{
	size_t n_chains = chains ? pq_chains_size(chains) : 0;
	struct finding *f = calloc(1, sizeof(*f));
	bool ok;

	pb_set_init(&nodes->nodes, sizeof(struct pq_call_node));
	nodes->ends = malloc((n_chains + 1) * sizeof(*nodes->ends));
	ok = f && nodes->ends;
	if (ok)
		f->of = nodes;
	for (uint32_t i = 0; ok && i < n_chains; i++) {
		size_t n;
		const uint32_t *frames = pq_chains_frames(chains, i, &n);

		nodes->ends[i] = find_end(f, n ? frames : &unknown, n ? n : 1);
		ok = nodes->ends[i] != UINT32_MAX;
	}
	free(f);
	return ok;
}

void pq_call_nodes_deinit(struct pq_call_nodes *nodes)
{
	pb_set_deinit(&nodes->nodes);
	free(nodes->ends);
	nodes->ends = NULL;
}
