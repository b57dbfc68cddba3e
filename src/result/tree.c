#define _GNU_SOURCE /* qsort_r */

#include "tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/vector.h"

#define MAX_DEPTH ((1u << 24) - 1) /* has room in a node */

/* A frame of the stack that was added last. */
struct last_step {
	uint32_t frame, place;
	uint32_t node;
	uint32_t sum; /* number of the sum of its place; UINT32_MAX: it has none */
};

/* The weight of a place in a node, which may have many. */
struct place_sum {
	uint32_t node, place;
	union pr_amount weight;
};

/* The end of a stack that was too deep. */
struct deep_end {
	uint32_t node;
	uint64_t hash; /* of the frames that were left out */
};

struct pr_tree_work {
	struct pb_secret secret;
	size_t room;		/* for nodes */
	struct pb_map by_name;	/* numbers of nodes, by caller and frame */
	struct last_step *last; /* [n_last] */
	size_t n_last, last_room;
	struct place_sum *sums; /* [n_sums] */
	size_t n_sums, sums_room;
	struct pb_map by_place; /* numbers of sums */
	struct deep_end *deep;	/* [n_deep] */
	size_t n_deep, deep_room;
	struct pb_map by_end; /* numbers of deep ends */
};

static void free_work(struct pr_tree *tree)
{
	struct pr_tree_work *work = tree->work;

	if (!work)
		return;
	pb_map_deinit(&work->by_name);
	pb_map_deinit(&work->by_place);
	pb_map_deinit(&work->by_end);
	free(work->last);
	free(work->sums);
	free(work->deep);
	free(work);
	tree->work = NULL;
}

struct pr_tree *pr_tree_create(const struct pr_shape_of_tree *shape,
			       const struct pm_string_pool *names)
{
	struct pr_tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return NULL;
	tree->shape = *shape;
	if (tree->shape.max_depth > MAX_DEPTH)
		tree->shape.max_depth = MAX_DEPTH;
	if (!tree->shape.max_nodes || tree->shape.max_nodes > PR_MAX_NODES)
		tree->shape.max_nodes = PR_MAX_NODES;
	tree->names = names;
	tree->work = calloc(1, sizeof(*tree->work));
	if (!tree->work || !pb_reserve(tree->nodes, 0, tree->work->room)) {
		pr_tree_destroy(tree);
		return NULL;
	}
	pb_secret_make(&tree->work->secret);
	tree->nodes[tree->n++] = (struct pr_node){
		.frame = PR_NO_FRAME,
		.place = PR_NO_PLACE,
		.kind = 'n',
	};
	return tree;
}

void pr_tree_destroy(struct pr_tree *tree)
{
	if (!tree)
		return;
	free_work(tree);
	free(tree->nodes);
	free(tree->order);
	free(tree);
}

static void add_amount(struct pr_tree *tree, union pr_amount *sum, union pr_amount amount)
{
	if (tree->shape.is_float)
		sum->f += amount.f;
	else
		tree->is_too_heavy |= __builtin_add_overflow(sum->i, amount.i, &sum->i);
}

struct wanted_node {
	const struct pr_node *nodes;
	uint32_t caller, frame;
};

static bool is_node(const void *arg, uint32_t item)
{
	const struct wanted_node *wanted = arg;
	const struct pr_node *node = &wanted->nodes[item];

	return node->caller == wanted->caller && node->frame == wanted->frame;
}

/* Returns the number of a node, added if it is new; UINT32_MAX: no memory, or too many. */
static uint32_t find_node(struct pr_tree *tree, uint32_t caller, uint32_t frame)
{
	struct pr_tree_work *work = tree->work;
	struct wanted_node wanted = { NULL, caller, frame };
	uint32_t hash = pb_hash_pair(&work->secret, caller, frame), number;

	if (!pb_reserve(tree->nodes, tree->n, work->room))
		return UINT32_MAX;
	wanted.nodes = tree->nodes;
	number = pb_map_intern(&work->by_name, hash, is_node, &wanted, (uint32_t)tree->n);
	if (number == tree->shape.max_nodes)
		return UINT32_MAX;
	if (number == tree->n)
		tree->nodes[tree->n++] = (struct pr_node){
			.caller = caller,
			.frame = frame,
			.depth = tree->nodes[caller].depth + 1,
			.kind = UINT8_MAX,
			.place = PR_NO_PLACE,
		};
	return number;
}

bool pr_tree_append(struct pr_tree *tree, const struct pr_node *node)
{
	if (tree->n == tree->shape.max_nodes ||
	    !pb_reserve(tree->nodes, tree->n, tree->work->room))
		return false;
	tree->nodes[tree->n++] = *node;
	return true;
}

static bool is_sum(const void *arg, uint32_t item)
{
	const struct pr_tree_work *work = arg;
	const struct place_sum *a = &work->sums[item], *b = &work->sums[work->n_sums];

	return a->node == b->node && a->place == b->place;
}

/* Returns the number of the sum of a place, added if it is new; UINT32_MAX: no memory. */
static uint32_t find_sum(struct pr_tree_work *work, uint32_t node, uint32_t place)
{
	uint32_t number;

	if (!pb_reserve(work->sums, work->n_sums, work->sums_room))
		return UINT32_MAX;
	work->sums[work->n_sums] = (struct place_sum){ .node = node, .place = place };
	number = pb_map_intern(&work->by_place, pb_hash_pair(&work->secret, node, place),
			       is_sum, work, (uint32_t)work->n_sums);
	work->n_sums += number == work->n_sums;
	return number;
}

static bool is_deep_end(const void *arg, uint32_t item)
{
	const struct pr_tree_work *work = arg;
	const struct deep_end *a = &work->deep[item], *b = &work->deep[work->n_deep];

	return a->node == b->node && a->hash == b->hash;
}

/*
 * Counts a stack of which `n` frames at `steps` are left out below a node, unless an equal one
 * was counted before. Returns false without memory.
 */
static bool count_deep(struct pr_tree *tree, uint32_t node, const struct pr_step *steps,
		       size_t n, int direction)
{
	struct pr_tree_work *work = tree->work;
	uint64_t hash = work->secret.b ^ n;
	uint32_t number;

	for (; n; n--, steps += direction)
		hash = pb_mix(steps->frame ^ work->secret.a, hash);
	if (!pb_reserve(work->deep, work->n_deep, work->deep_room))
		return false;
	work->deep[work->n_deep] = (struct deep_end){ node, hash };
	number = pb_map_intern(&work->by_end, pb_hash_pair(&work->secret, node, hash),
			       is_deep_end, work, (uint32_t)work->n_deep);
	work->n_deep += number == work->n_deep;
	tree->n_deep = work->n_deep;
	return number != UINT32_MAX;
}

/* Adds a stack to the node of a step. */
static void add_to_node(struct pr_tree *tree, uint32_t number, const struct pr_step *step,
			uint64_t count, union pr_amount weight)
{
	struct pr_node *node = &tree->nodes[number];

	if (step && step->kind < node->kind)
		node->kind = step->kind;
	node->count += count;
	add_amount(tree, &node->total, weight);
}

/*
 * Finds the node of step `i` below node `caller`; if the last stack is `alike` up to there,
 * that is its node. Returns false without memory.
 */
static bool place_step(struct pr_tree *tree, uint32_t caller, const struct pr_step *step,
		       size_t i, bool alike)
{
	struct last_step *last = &tree->work->last[i];

	if (!alike) {
		last->node = find_node(tree, caller, step->frame);
		last->frame = step->frame;
	}
	if (last->node == UINT32_MAX)
		return false;
	if (alike && last->place == step->place)
		return true;
	last->place = step->place;
	last->sum = UINT32_MAX;
	if (step->place == PR_NO_PLACE)
		return true;
	last->sum = find_sum(tree->work, last->node, step->place);
	return last->sum != UINT32_MAX;
}

bool pr_tree_add(struct pr_tree *tree, const struct pr_step *steps, size_t n, uint64_t count,
		 union pr_amount weight)
{
	struct pr_tree_work *work = tree->work;
	size_t depth = n < tree->shape.max_depth ? n : tree->shape.max_depth, n_last;
	int direction = tree->shape.from_callee ? -1 : 1;
	const struct pr_step *step = direction < 0 && n ? steps + n - 1 : steps;
	uint32_t node = 0;
	bool alike = true;

	if (!pb_reserve_more(work->last, 0, depth, work->last_room))
		return false;
	/* an array whose tail is not valid any more if this ends early */
	n_last = work->n_last;
	work->n_last = 0;
	add_to_node(tree, 0, NULL, count, weight);
	for (size_t i = 0; i < depth; i++, step += direction) {
		alike = alike && i < n_last && work->last[i].frame == step->frame;
		if (!place_step(tree, node, step, i, alike))
			return false;
		node = work->last[i].node;
		add_to_node(tree, node, step, count, weight);
		if (work->last[i].sum != UINT32_MAX)
			add_amount(tree, &work->sums[work->last[i].sum].weight, weight);
	}
	work->n_last = depth;
	tree->end = node;
	tree->nodes[node].own_count += count;
	add_amount(tree, &tree->nodes[node].own, weight);
	return depth == n || count_deep(tree, node, step, n - depth, direction);
}

static int compare_amounts(const struct pr_tree *tree, union pr_amount a, union pr_amount b)
{
	if (tree->shape.is_float)
		return (a.f > b.f) - (a.f < b.f);
	return (a.i > b.i) - (a.i < b.i);
}

/* Returns true if sum `a` of a place is to be the node's rather than sum `b`. */
static bool is_heavier(const struct pr_tree *tree, const struct place_sum *a,
		       const struct place_sum *b)
{
	int order = compare_amounts(tree, a->weight, b->weight);

	if (!order && tree->shape.compare_places)
		order = tree->shape.compare_places(tree->shape.arg, b->place, a->place);
	return order ? order > 0 : a->place < b->place;
}

/* Sets the place of each node to the one that weighs most. */
static void choose_places(struct pr_tree *tree)
{
	const struct place_sum *sums = tree->work->sums;

	for (uint32_t i = 0; i < tree->work->n_sums; i++) {
		struct pr_node *node = &tree->nodes[sums[i].node];

		if (node->place == PR_NO_PLACE ||
		    is_heavier(tree, &sums[i], &sums[node->place]))
			node->place = i; /* for now: number of its sum */
	}
	for (size_t i = 0; i < tree->n; i++)
		if (tree->nodes[i].place != PR_NO_PLACE)
			tree->nodes[i].place = sums[tree->nodes[i].place].place;
}

/* Leaves out nodes that are too small. Returns false without memory. */
static bool cut_small(struct pr_tree *tree, double least)
{
	uint32_t *moved = malloc(tree->n * sizeof(*moved)), n = 0;

	if (!moved)
		return false;
	for (size_t i = 0; i < tree->n; i++) {
		struct pr_node node = tree->nodes[i];
		double total = pr_to_float(tree, node.total);

		moved[i] = UINT32_MAX;
		if (moved[node.caller] == UINT32_MAX && i)
			continue;
		if (i && (total <= 0 || total < least)) {
			tree->n_small++;
			add_amount(tree, &tree->small, node.total);
			continue;
		}
		node.caller = i ? moved[node.caller] : 0;
		tree->nodes[n] = node;
		moved[i] = n++;
	}
	tree->n = n;
	free(moved);
	return true;
}

bool pr_tree_finish(struct pr_tree *tree, double least)
{
	choose_places(tree);
	free_work(tree);
	return least < 0 || cut_small(tree, least);
}

#define NOT_BELOW UINT32_MAX	   /* the node at the top */
#define LEFT_OUT  (UINT32_MAX - 1) /* but below it */

/*
 * Adds node `i` to a tree of the nodes below `top`, unless it is left out. `moved` has the
 * numbers of nodes there. Returns its number.
 */
static uint32_t add_below(struct pr_tree *below, const struct pr_tree *tree, uint32_t top,
			  uint32_t i, double least, const uint32_t *moved)
{
	struct pr_node node = tree->nodes[i];
	uint32_t caller = i == top ? 0 : i ? moved[node.caller] : NOT_BELOW;
	double total = pr_to_float(tree, node.total);

	if (caller == NOT_BELOW)
		return NOT_BELOW;
	node.depth -= tree->nodes[top].depth;
	if (node.depth > below->shape.max_depth) {
		below->n_deep += node.own_count != 0;
		return LEFT_OUT;
	}
	if (caller == LEFT_OUT)
		return LEFT_OUT;
	if (i != top && (total <= 0 || total < least)) {
		below->n_small++;
		add_amount(below, &below->small, node.total);
		return LEFT_OUT;
	}
	if (node.depth == below->shape.max_depth)
		node.own = node.total;
	if (i == top) {
		node.frame = PR_NO_FRAME;
		node.kind = 'n';
	}
	node.caller = caller;
	node.place = i;
	below->nodes[below->n] = node;
	return (uint32_t)below->n++;
}

struct pr_tree *pr_tree_below(const struct pr_tree *tree, uint32_t top, uint32_t max_depth,
			      double least)
{
	struct pr_tree *below = calloc(1, sizeof(*below));
	uint32_t *moved = malloc(tree->n * sizeof(*moved));

	if (below) {
		below->shape = tree->shape;
		below->shape.max_depth = max_depth;
		below->names = tree->names;
		below->nodes = malloc(tree->n * sizeof(*below->nodes));
	}
	if (!below || !below->nodes || !moved) {
		pr_tree_destroy(below);
		free(moved);
		return NULL;
	}
	for (uint32_t i = 0; i < tree->n; i++)
		moved[i] = add_below(below, tree, top, i, least, moved);
	free(moved);
	return below;
}

static int compare_names(const struct pr_tree *tree, uint32_t a, uint32_t b)
{
	struct pd_text x = pr_tree_name(tree, a), y = pr_tree_name(tree, b);
	int order = memcmp(x.p, y.p, x.n < y.n ? x.n : y.n);

	return order ? order : (x.n > y.n) - (x.n < y.n);
}

static int compare_nodes_by_name(const void *left, const void *right, void *arg)
{
	return compare_names(arg, *(const uint32_t *)left, *(const uint32_t *)right);
}

/* Compares nodes that weigh the same. */
static int compare_ranks(const struct pr_tree *tree, uint32_t a, uint32_t b)
{
	const uint64_t *ranks = tree->shape.ranks ? *tree->shape.ranks : NULL;
	uint64_t x = ranks ? ranks[tree->nodes[a].frame] : 0;
	uint64_t y = ranks ? ranks[tree->nodes[b].frame] : 0;

	return x != y ? (x > y) - (x < y) : compare_names(tree, a, b);
}

static int compare_nodes_by_weight(const void *left, const void *right, void *arg)
{
	const struct pr_tree *tree = arg;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = compare_amounts(tree, tree->nodes[b].total, tree->nodes[a].total);

	return order ? order : compare_ranks(tree, a, b);
}

/* Returns the node that a node is below, or is, at that depth. */
static uint32_t node_at_depth(const struct pr_tree *tree, uint32_t node, uint32_t depth)
{
	while (tree->nodes[node].depth > depth)
		node = tree->nodes[node].caller;
	return node;
}

int pr_tree_compare_ends(const struct pr_tree *tree, uint32_t a, uint32_t b)
{
	const struct pr_node *nodes = tree->nodes;
	int order = compare_amounts(tree, nodes[b].own, nodes[a].own);
	uint32_t depth = nodes[a].depth < nodes[b].depth ? nodes[a].depth : nodes[b].depth;
	uint32_t x = node_at_depth(tree, a, depth), y = node_at_depth(tree, b, depth);

	if (order)
		return order;
	if (x == y) /* one is below the other */
		return (nodes[a].depth < nodes[b].depth) - (nodes[a].depth > nodes[b].depth);
	while (nodes[x].caller != nodes[y].caller) {
		x = nodes[x].caller;
		y = nodes[y].caller;
	}
	return compare_ranks(tree, x, y);
}

bool pr_tree_sort(struct pr_tree *tree, bool by_name)
{
	struct pr_node *nodes = tree->nodes;
	uint32_t at = 0;

	free(tree->order);
	tree->order = malloc(tree->n * sizeof(*tree->order));
	if (!tree->order)
		return false;
	for (size_t i = 0; i < tree->n; i++)
		nodes[i].n_callees = 0;
	for (size_t i = 1; i < tree->n; i++)
		nodes[nodes[i].caller].n_callees++;
	for (size_t i = 0; i < tree->n; i++) {
		nodes[i].first = at;
		at += nodes[i].n_callees;
		nodes[i].n_callees = 0;
	}
	for (uint32_t i = 1; i < tree->n; i++) {
		struct pr_node *caller = &nodes[nodes[i].caller];

		tree->order[caller->first + caller->n_callees++] = i;
	}
	for (size_t i = 0; i < tree->n; i++)
		if (nodes[i].n_callees > 1)
			qsort_r(tree->order + nodes[i].first, nodes[i].n_callees,
				sizeof(*tree->order),
				by_name ? compare_nodes_by_name : compare_nodes_by_weight,
				tree);
	return true;
}
