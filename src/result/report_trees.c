#include "report_trees.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/radix.h"
#include "base/string_builder.h"
#include "base/vector.h"

bool pr_report_trees_begin(struct pr_report_trees *trees)
{
	const struct pq_chains *chains = pq_groups_chains(trees->groups);
	size_t n = (chains ? pq_chains_n_frames(chains) : 0) + (size_t)1;

	pb_secret_make(&trees->secret);
	trees->known = calloc(n, sizeof(*trees->known));
	trees->named = calloc(n, sizeof(*trees->named));
	return trees->known && trees->named;
}

void pr_report_trees_deinit(struct pr_report_trees *trees)
{
	if (!trees->is_borrowed)
		pq_groups_destroy(trees->groups);
	free(trees->stacks.list);
	free(trees->stacks.of_row);
	free(trees->known);
	free(trees->named);
	free(trees->ranks);
	pb_map_deinit(&trees->firsts);
	pm_string_pool_deinit(&trees->names);
	*trees = (struct pr_report_trees){ 0 };
}

static struct pq_frame frame_at(const struct pr_report_trees *trees, uint32_t number)
{
	return pq_chains_frame(pq_groups_chains(trees->groups), number);
}

static const char *binary_name(const struct pq_frame *frame)
{
	return frame->dso ? frame->dso->name : "";
}

/* Returns the address of a frame as it was recorded, or else in its binary. */
static uint64_t address_of(const struct pr_report_trees *trees, uint32_t number)
{
	const struct pq_exact *exact = pq_chains_exact(pq_groups_chains(trees->groups), number);

	return exact ? exact->ip : frame_at(trees, number).address;
}

/* Returns true if a node is a function, not one of its addresses. */
static bool is_by_function(const struct pr_report_trees *trees, const struct pq_frame *frame)
{
	return frame->symbol && trees->key == PR_TREE_FUNCTION;
}

static uint32_t hash_frame(const struct pr_report_trees *trees, uint32_t number)
{
	const struct pq_frame frame = frame_at(trees, number);
	const char *binary = binary_name(&frame);
	uint64_t code = address_of(trees, number);

	if (is_by_function(trees, &frame))
		code = pb_hash_bytes(&trees->secret, frame.symbol->name, frame.symbol->length);
	return pb_hash_pair(&trees->secret, code,
			    pb_hash_bytes(&trees->secret, binary, strlen(binary)));
}

struct wanted {
	const struct pr_report_trees *trees;
	uint32_t number;
};

/* Returns true if two frames have one name: that of a function, or an address, in a binary. */
static bool has_name_of(const void *arg, uint32_t number)
{
	const struct wanted *wanted = arg;
	const struct pr_report_trees *trees = wanted->trees;
	const struct pq_frame a = frame_at(trees, number);
	const struct pq_frame b = frame_at(trees, wanted->number);

	if (!a.symbol != !b.symbol || strcmp(binary_name(&a), binary_name(&b)) != 0 ||
	    (!is_by_function(trees, &a) &&
	     address_of(trees, number) != address_of(trees, wanted->number)))
		return false;
	return !a.symbol || (a.symbol->length == b.symbol->length &&
			     memcmp(a.symbol->name, b.symbol->name, a.symbol->length) == 0);
}

#define INLINED " (inlined)" /* ends the names of inlined functions */

/* Adds the name of a function and the line of an address in it to `text`. */
static void add_place(const struct pr_report_trees *trees, uint32_t number,
		      struct pb_string *text)
{
	const struct ps_symbol *symbol = frame_at(trees, number).symbol;
	size_t n = symbol->length, end = sizeof(INLINED) - 1;
	bool is_inlined = n > end && memcmp(symbol->name + n - end, INLINED, end) == 0;

	pb_string_add(text, symbol->name, is_inlined ? n - end : n);
	if (trees->key != PR_TREE_FUNCTION) {
		pb_string_put(text, " ");
		pq_chains_add_srcline(pq_groups_chains(trees->groups), number,
				      trees->key == PR_TREE_ADDRESS, text);
	}
	if (is_inlined)
		pb_string_put(text, INLINED);
}

/*
 * Names a frame, by its function or its address, and after a NUL tells what else makes it
 * different. Returns its number; PM_NO_STRING: no memory.
 */
static uint32_t name_frame(struct pr_report_trees *trees, uint32_t number)
{
	const struct pq_frame frame = frame_at(trees, number);
	uint64_t address = address_of(trees, number);
	struct pb_string text = { 0 };
	uint32_t name = PM_NO_STRING;

	if (frame.symbol)
		add_place(trees, number, &text);
	else if (address)
		pb_string_format(&text, "0x%" PRIx64, address);
	else
		pb_string_put(&text, "0");
	pb_string_add(&text, "", 1);
	pb_string_put(&text, binary_name(&frame));
	if (trees->key == PR_TREE_ADDRESS)
		pb_string_format(&text, " %" PRIx64, address);
	if (pb_string_end(&text) && pb_reserve(trees->ranks, trees->names.n, trees->ranks_room))
		name = pm_string_pool_add(&trees->names, (struct pd_text){ text.p, text.n });
	if (name != PM_NO_STRING)
		trees->ranks[name] = ~(is_by_function(trees, &frame) ? frame.symbol->start :
								       address);
	pb_string_deinit(&text);
	return name;
}

/* Returns the number of the name of a frame; PM_NO_STRING: no memory. */
static uint32_t name_of_frame(struct pr_report_trees *trees, uint32_t number)
{
	uint32_t *named = &trees->named[number];

	if (!*named)
		*named = 1 + name_frame(trees, number);
	return *named - 1;
}

/*
 * Returns 1 + the number of the first frame that has the name of a frame, or by source lines of
 * the name; 0: no memory.
 */
static uint32_t find_first(struct pr_report_trees *trees, uint32_t number)
{
	const struct wanted wanted = { trees, number };
	uint32_t *known = &trees->known[number];

	if (!*known)
		*known = 1 + (trees->key == PR_TREE_SRCLINE ?
				      name_of_frame(trees, number) :
				      pb_map_intern(&trees->firsts, hash_frame(trees, number),
						    has_name_of, &wanted, number));
	return *known;
}

/* A stack of the row: frames of a group's chain, from `first` on in the tree's direction. */
struct grown_stack {
	uint32_t group;
	uint16_t first, n;
};

/* A node's stacks, which are those from..to. */
struct range {
	uint32_t from, to;
};

/* A tree in the making. */
struct growth {
	struct pr_report_trees *trees;
	bool from_caller;
	const struct pr_tree_text *how;
	struct pr_tree *tree;
	struct grown_stack *stacks, *sorted; /* [n] */
	uint64_t *words, *spare;	     /* [n] */
	uint32_t n;
	struct range *ranges; /* [tree->n] */
	size_t ranges_room;
};

static void free_growth(struct growth *g)
{
	pr_tree_destroy(g->tree);
	free(g->stacks);
	free(g->sorted);
	free(g->words);
	free(g->spare);
	free(g->ranges);
}

/* Returns the frame of a stack at a depth, of fewer than it has. */
static uint32_t frame_at_depth(const struct growth *g, const struct grown_stack *stack,
			       uint32_t depth)
{
	struct pq_value chain;
	const uint32_t *frames;
	size_t n;

	pq_groups_key(g->trees->groups, stack->group, pq_groups_n_keys(g->trees->groups) - 1,
		      &chain);
	frames = pq_chains_frames(pq_groups_chains(g->trees->groups), (uint32_t)chain.u, &n);
	return g->from_caller ? frames[stack->first - 1 - depth] : frames[stack->first + depth];
}

/* Takes a stack of the row. */
static void take_stack(struct growth *g, const struct pq_report_stack *stack)
{
	struct pq_report_frames frames = pq_report_frames_of(g->trees->groups, stack,
							     g->from_caller,
							     g->trees->max_frames);

	if (frames.all)
		g->stacks[g->n++] = (struct grown_stack){
			stack->group,
			(uint16_t)frames.first,
			(uint16_t)frames.n,
		};
}

/* Takes all stacks of a row. Returns false without memory. */
static bool take_stacks(struct growth *g, size_t row)
{
	const struct pq_report_stacks *stacks = &g->trees->stacks;
	size_t n = 1;

	for (uint32_t i = stacks->of_row[row]; i; i = stacks->list[i - 1].next)
		n++;
	g->stacks = pb_array(n, sizeof(*g->stacks));
	g->sorted = pb_array(n, sizeof(*g->sorted));
	g->words = pb_array(n, sizeof(*g->words));
	g->spare = pb_array(n, sizeof(*g->spare));
	if (!g->stacks || !g->sorted || !g->words || !g->spare)
		return false;
	for (uint32_t i = stacks->of_row[row]; i; i = stacks->list[i - 1].next)
		take_stack(g, &stacks->list[i - 1]);
	return true;
}

static int compare_words(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

#define FEW 256 /* words that a comparison sorts as fast */

/*
 * Puts the stacks of a node in the order of their frames at its depth; g->words[i] of each has
 * that frame in the upper half, 0 where the stack ends. Returns false without memory.
 */
static bool sort_stacks(struct growth *g, const struct range *range, uint32_t depth)
{
	uint32_t n = range->to - range->from;
	struct grown_stack *stacks = g->stacks + range->from;
	uint64_t *words = g->words;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t frame = 0;

		if (depth < stacks[i].n) {
			frame = find_first(g->trees, frame_at_depth(g, &stacks[i], depth));
			if (!frame)
				return false;
		}
		words[i] = (uint64_t)frame << 32 | i;
	}
	if (n == 1)
		return true;
	if (n <= FEW)
		qsort(words, n, sizeof(*words), compare_words);
	else
		words = pb_radix_sort(words, g->spare, n, 32);
	memcpy(g->sorted, stacks, n * sizeof(*stacks));
	for (uint32_t i = 0; i < n; i++)
		stacks[i] = g->sorted[(uint32_t)words[i]];
	if (words != g->words) {
		g->spare = g->words;
		g->words = words;
	}
	return true;
}

/* Adds up stacks. */
static void add_up(const struct growth *g, const struct range *range, uint64_t *count,
		   union pr_amount *weight)
{
	struct pq_state state;

	*count = 0;
	weight->i = 0;
	for (uint32_t i = range->from; i < range->to; i++) {
		pq_groups_state(g->trees->groups, g->stacks[i].group, 0, &state);
		*count += state.value.u;
		pq_groups_state(g->trees->groups, g->stacks[i].group, 1, &state);
		weight->i += state.value.i;
	}
}

/* Adds a node of some stacks. Returns false without memory, or if the tree is too large. */
static bool add_node(struct growth *g, const struct pr_node *node, const struct range *range)
{
	if (!pb_reserve(g->ranges, g->tree->n, g->ranges_room))
		return false;
	g->ranges[g->tree->n] = *range;
	return pr_tree_append(g->tree, node);
}

/* Adds the nodes below a node, those that weigh enough. Returns false as add_node(). */
static bool grow_node(struct growth *g, uint32_t number)
{
	struct pr_node *node = &g->tree->nodes[number];
	struct range all = g->ranges[number], run = { all.from, all.from };
	double whole = g->how->total;

	if (!sort_stacks(g, &all, node->depth))
		return false;
	while (run.to < all.to && !(g->words[run.to - all.from] >> 32))
		run.to++;
	add_up(g, &run, &node->own_count, &node->own);
	if (g->how->form == PR_TREE_FRACTAL)
		whole = (double)node->total.i - (double)node->own.i;
	while (run.to < all.to) {
		uint32_t frame = (uint32_t)(g->words[run.to - all.from] >> 32);
		struct pr_node below = { .caller = number, .place = PR_NO_PLACE };

		below.depth = g->tree->nodes[number].depth + 1;
		run.from = run.to;
		while (run.to < all.to && g->words[run.to - all.from] >> 32 == frame)
			run.to++;
		add_up(g, &run, &below.count, &below.total);
		if ((double)below.total.i < g->how->least * whole)
			continue;
		below.frame = g->trees->key == PR_TREE_SRCLINE ?
				      frame - 1 :
				      name_of_frame(g->trees, frame - 1);
		if (below.frame == PM_NO_STRING || !add_node(g, &below, &run))
			return false;
	}
	return true;
}

/* Returns true if no node of a row's tree weighs enough to be written. */
static bool is_too_light(const struct pr_report_trees *trees, size_t row,
			 const struct pr_tree_text *how)
{
	double least = how->least * how->total, weight = 0;

	for (uint32_t i = trees->stacks.of_row[row]; i && weight < least;
	     i = trees->stacks.list[i - 1].next) {
		struct pq_state state;

		pq_groups_state(trees->groups, trees->stacks.list[i - 1].group, 1, &state);
		weight += (double)state.value.i;
	}
	return how->form != PR_TREE_FRACTAL && weight < least;
}

/* Makes the tree of a row. Returns false as add_node(). */
static bool grow_tree(struct growth *g, size_t row)
{
	const struct pr_shape_of_tree shape = {
		.from_callee = !g->from_caller,
		.max_depth = UINT32_MAX,
		.ranks = (const uint64_t *const *)&g->trees->ranks,
	};
	struct range all = { 0 };

	g->tree = pr_tree_create(&shape, &g->trees->names);
	if (!g->tree || !take_stacks(g, row) || !pb_reserve(g->ranges, 0, g->ranges_room))
		return false;
	all.to = g->n;
	g->ranges[0] = all;
	add_up(g, &all, &g->tree->nodes[0].count, &g->tree->nodes[0].total);
	for (uint32_t i = 0; i < g->tree->n; i++)
		if (!grow_node(g, i))
			return false;
	return pr_tree_finish(g->tree, -1) && pr_tree_sort(g->tree, false);
}

/* Adds what a node tells of the branches that it is an end of. */
static void add_branch_note(void *arg, uint32_t number, struct pb_string *text)
{
	const struct growth *g = arg;
	const struct pq_chains *chains = pq_groups_chains(g->trees->groups);
	const struct range *range = &g->ranges[number];
	struct pr_branch_counts counts = { 0 };
	struct pq_state samples;

	for (uint32_t i = range->from; i < range->to; i++) {
		uint32_t frame = frame_at_depth(g, &g->stacks[i],
						g->tree->nodes[number].depth - 1);

		pq_groups_state(g->trees->groups, g->stacks[i].group, 0, &samples);
		pr_branch_counts_add(&counts, pq_chains_exact(chains, frame), samples.value.u);
	}
	pr_branch_counts_write(&counts, text);
}

void pr_report_trees_write(struct pr_report_trees *trees, size_t row, bool from_caller,
			   const struct pr_tree_text *how, struct pb_string *text)
{
	struct growth g = { .trees = trees, .from_caller = from_caller, .how = how };
	struct pr_tree_text of_row = *how;

	if (row >= trees->stacks.n_rows || !trees->stacks.of_row[row] ||
	    is_too_light(trees, row, how))
		return;
	if (grow_tree(&g, row)) {
		of_row.whole = (double)g.tree->nodes[0].total.i;
		if (how->form == PR_TREE_FRACTAL)
			of_row.total = of_row.whole;
		of_row.add_note = trees->shows_branches ? add_branch_note : NULL;
		of_row.arg = &g;
		pr_tree_write(g.tree, 0, &of_row, text);
	} else {
		text->failed = true;
	}
	free_growth(&g);
}
