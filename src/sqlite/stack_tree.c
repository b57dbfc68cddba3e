#include "stack_tree.h"

#include <stdlib.h>

#include "base/vector.h"

struct child {
	const struct pt_tree *tree;
	uint32_t caller, symbol;
};

static bool is_child(const void *arg, uint32_t item)
{
	const struct child *child = arg;
	const struct pt_node *node = &child->tree->nodes[item];

	return node->caller == child->caller && node->symbol == child->symbol;
}

/*
 * Returns the index of the node of a function below its caller's, added if it is new;
 * UINT32_MAX: no memory.
 */
static uint32_t child_node(struct pt_tree *tree, struct pb_map *map,
			   const struct pb_secret *secret, uint32_t caller, uint32_t symbol)
{
	const struct child child = { tree, caller, symbol };
	uint32_t depth = caller == UINT32_MAX ? 0 : tree->nodes[caller].depth + 1, found;

	if (!pb_reserve(tree->nodes, tree->n, tree->capacity))
		return UINT32_MAX;
	found = pb_map_intern(map, pb_hash_pair(secret, caller, symbol), is_child, &child,
			      (uint32_t)tree->n);
	if (found == tree->n)
		tree->nodes[tree->n++] = (struct pt_node){ 0, caller, symbol, depth };
	return found;
}

/*
 * Returns the number of a frame's function among the names; 0: no memory. Frames of one binary
 * without a function are one, as in folded stacks: there may be thousands on broken chains.
 */
static uint32_t symbol_of_frame(struct pt_names *names, const struct pq_frame *frame)
{
	struct pt_symbol symbol = { .mode = frame->mode };
	const struct ps_dso *dso = frame->dso;

	if (dso) {
		symbol.binary = pt_names_binary(names, (struct pd_text){ dso->name,
									 strlen(dso->name) });
		if (!symbol.binary)
			return 0;
		if (dso->id.build_id.size)
			names->binaries[symbol.binary - 1].build_id = &dso->id.build_id;
	}
	if (frame->symbol)
		symbol.name = (struct pd_text){ frame->symbol->name, frame->symbol->length };
	return pt_names_symbol(names, &symbol);
}

/*
 * Adds the nodes of a chain; symbols[frame] is the number of its function, 0 if it is not known
 * yet. Returns false without memory.
 */
static bool add_chain_nodes(struct pt_tree *tree, struct pb_map *map,
			    const struct pq_chains *chains, uint32_t chain,
			    struct pt_names *names, uint32_t *symbols)
{
	size_t n;
	const uint32_t *frames = pq_chains_frames(chains, chain, &n);
	uint32_t node = UINT32_MAX;

	for (size_t i = n; i > 0; i--) {
		uint32_t *symbol = &symbols[frames[i - 1]];

		if (!*symbol)
			*symbol = symbol_of_frame(names,
						  pq_chains_frame(chains, frames[i - 1]));
		if (!*symbol)
			return false;
		node = child_node(tree, map, &names->secret, node, *symbol);
		if (node == UINT32_MAX)
			return false;
	}
	if (node == UINT32_MAX)
		return true;
	if (!tree->nodes[node].id) {
		tree->nodes[node].id = chain + 1;
		return true;
	}
	/* frames that differ, but whose functions look alike: an end of its own */
	if (!pb_reserve(tree->nodes, tree->n, tree->capacity))
		return false;
	tree->nodes[tree->n] = tree->nodes[node];
	tree->nodes[tree->n++].id = chain + 1;
	return true;
}

bool pt_tree_init(struct pt_tree *tree, const struct pq_chains *chains, struct pt_names *names)
{
	uint32_t n = pq_chains_size(chains), id = n;
	uint32_t *symbols = calloc(pq_chains_n_frames(chains) + (size_t)1, sizeof(*symbols));
	struct pb_map map = { 0 };
	bool ok = symbols;

	*tree = (struct pt_tree){ 0 };
	for (uint32_t i = 0; ok && i < n; i++)
		ok = add_chain_nodes(tree, &map, chains, i, names, symbols);
	for (size_t i = 0; ok && i < tree->n; i++)
		if (!tree->nodes[i].id)
			tree->nodes[i].id = ++id;
	free(symbols);
	pb_map_deinit(&map);
	return ok;
}

void pt_tree_deinit(struct pt_tree *tree)
{
	free(tree->nodes);
	tree->nodes = NULL;
}
