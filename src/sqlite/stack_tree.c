#include "stack_tree.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/vector.h"

/* A tree while it is made. */
struct growing {
	struct pt_tree *tree;
	struct pb_map map; /* indices of nodes */
	struct pb_secret secret;
	/* nodes on the path to the last chain's end, callers first */
	uint32_t path[PM_MAX_FRAMES + 1];
	size_t n_path;
};

struct child {
	const struct pt_tree *tree;
	uint32_t caller, frame;
};

static bool is_child(const void *arg, uint32_t item)
{
	const struct child *child = arg;
	const struct pt_node *node = &child->tree->nodes[item];

	return node->caller == child->caller && node->frame == child->frame;
}

/*
 * Returns the index of the node of a frame below its caller's, added if it is new; UINT32_MAX:
 * no memory.
 */
static uint32_t child_node(struct growing *g, uint32_t caller, uint32_t frame)
{
	struct pt_tree *tree = g->tree;
	const struct child child = { tree, caller, frame };
	uint32_t found;

	if (!pb_reserve(tree->nodes, tree->n, tree->capacity))
		return UINT32_MAX;
	found = pb_map_intern(&g->map, pb_hash_pair(&g->secret, caller, frame), is_child,
			      &child, (uint32_t)tree->n);
	if (found == tree->n)
		tree->nodes[tree->n++] = (struct pt_node){
			0, caller, frame,
			caller == UINT32_MAX ? 0 : tree->nodes[caller].depth + 1
		};
	return found;
}

/* Adds the nodes of a chain. Returns false without memory. */
static bool add_chain_nodes(struct growing *g, const struct pq_chains *chains, uint32_t chain)
{
	size_t n, depth = 0;
	const uint32_t *frames = pq_chains_frames(chains, chain, &n);
	uint32_t node = UINT32_MAX;

	/* chains that are met one after the other mostly have their first callers in common */
	while (depth < n && depth < g->n_path &&
	       g->tree->nodes[g->path[depth]].frame == frames[n - 1 - depth])
		node = g->path[depth++];
	for (; depth < n; depth++) {
		node = child_node(g, node, frames[n - 1 - depth]);
		if (node == UINT32_MAX)
			return false;
		g->path[depth] = node;
	}
	g->n_path = n;
	g->tree->nodes[node].id = chain + 1;
	return true;
}

/* Gives ids to the nodes at which no chain ends. Returns false without memory. */
static bool number_nodes(struct pt_tree *tree, uint32_t n_chains)
{
	uint32_t id = n_chains;

	tree->by_id = malloc((tree->n + 1) * sizeof(*tree->by_id));
	for (uint32_t i = 0; tree->by_id && i < tree->n; i++) {
		if (!tree->nodes[i].id)
			tree->nodes[i].id = ++id;
		tree->by_id[tree->nodes[i].id - 1] = i;
	}
	return tree->by_id;
}

bool pt_tree_init(struct pt_tree *tree, const struct pq_chains *chains)
{
	uint32_t n = pq_chains_size(chains);
	struct growing *g = calloc(1, sizeof(*g));
	bool ok = g;

	*tree = (struct pt_tree){ 0 };
	if (!g)
		return false;
	g->tree = tree;
	pb_secret_make(&g->secret);
	for (uint32_t i = 0; ok && i < n; i++)
		ok = add_chain_nodes(g, chains, i);
	pb_map_deinit(&g->map);
	free(g);
	return ok && number_nodes(tree, n);
}

void pt_tree_deinit(struct pt_tree *tree)
{
	free(tree->nodes);
	free(tree->by_id);
	*tree = (struct pt_tree){ 0 };
}
