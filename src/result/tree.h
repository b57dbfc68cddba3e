/*
 * Trees of calls: stacks put together by what they have in common, from the first caller or
 * from the callee on. A node is told from others by its frame and by the node that it hangs on,
 * so a function that calls itself is a node for each depth, and is in the total of each once.
 *
 *	struct pr_tree *tree = pr_tree_create(&shape, names);
 *
 *	while (…)
 *		ok = ok && pr_tree_add(tree, steps, n, count, weight);
 *	if (!ok || !pr_tree_finish(tree, least) || !pr_tree_sort(tree, false)) …
 *
 * Frames are numbers, which stand for names: whoever makes a tree interns each frame once.
 */
#ifndef PERFLUA_RESULT_TREE_H
#define PERFLUA_RESULT_TREE_H

#include "base/string_builder.h"
#include "result.h"

#define PR_NO_PLACE  UINT32_MAX
#define PR_NO_FRAME  UINT32_MAX
#define PR_MAX_NODES (1u << 25) /* of a tree: what has more is too large to be drawn or read */

/* A weight: an integer, or a float, the same for all stacks of a tree. */
union pr_amount {
	int64_t i;
	double f;
};

struct pr_shape_of_tree {
	bool from_callee;   /* the callee is at the root, its callers below it */
	bool is_float;	    /* weights are floats */
	uint32_t max_depth; /* frames of a stack; what lies deeper is left out */
	uint32_t max_nodes; /* 0: PR_MAX_NODES */
	/* compares places that weigh the same; NULL: the lower number is first */
	int (*compare_places)(const void *arg, uint32_t a, uint32_t b);
	const void *arg;
	/* [names]: order of nodes that weigh the same; NULL: that of their names */
	const uint64_t *const *ranks;
};

/* A frame of a stack. */
struct pr_step {
	uint32_t frame; /* number of its name */
	uint32_t place; /* number of where in it; PR_NO_PLACE: it is not known */
	uint8_t kind;	/* letter; a node has the first one in the order of the alphabet */
};

struct pr_node {
	uint32_t caller; /* a node of a lower number, to which it hangs; of the root 0 */
	uint32_t frame;	 /* PR_NO_FRAME: it is the root */
	uint32_t depth : 24;
	uint32_t kind : 8;
	uint32_t place;		   /* of several the one that weighs most; PR_NO_PLACE: none */
	uint32_t first, n_callees; /* in tree->order, once the tree is sorted */
	uint64_t own_count, count; /* of stacks that end here, and of all that it is in */
	union pr_amount own, total;
};

struct pr_tree {
	struct pr_shape_of_tree shape;
	const struct pm_string_pool *names; /* borrowed; each may have bytes after a NUL */
	struct pr_node *nodes;		    /* [n], callers first; the first one is the root */
	size_t n;
	uint32_t *order;   /* [n - 1]: nodes below each node side by side; NULL: not sorted */
	bool is_too_heavy; /* integers added up to more than 64 bits: sums are wrong */
	/* what was left out: nodes and their weight; distinct stacks that were too deep */
	uint64_t n_small, n_deep;
	union pr_amount small;
	uint32_t end;		   /* the node in which the stack ends that was added last */
	struct pr_tree_work *work; /* until it is finished */
};

/*
 * Creates a tree of the root alone. `names`, and the argument of the shape, must outlive it.
 * Returns NULL without memory.
 */
struct pr_tree *pr_tree_create(const struct pr_shape_of_tree *shape,
			       const struct pm_string_pool *names);
void pr_tree_destroy(struct pr_tree *tree);

/*
 * Adds a stack of `n` frames, the first caller first. Returns false without memory, or if the
 * tree has too many nodes.
 */
bool pr_tree_add(struct pr_tree *tree, const struct pr_step *steps, size_t n, uint64_t count,
		 union pr_amount weight);

/*
 * Adds a node below one that is in the tree, without looking for an equal one; its sums are the
 * caller's to set. Returns false without memory, or if the tree has too many nodes.
 */
bool pr_tree_append(struct pr_tree *tree, const struct pr_node *node);

/*
 * Chooses the places of nodes, and frees what is only needed to add stacks. Unless `least` is
 * below 0, leaves out nodes that weigh nothing or less than it, and all below them. Returns
 * false without memory.
 */
bool pr_tree_finish(struct pr_tree *tree, double least);

/*
 * Returns a tree of the nodes below node `top` of a finished tree, which is its root; the place
 * of each node is its number there. Stacks are cut off below `max_depth` frames, and nodes that
 * weigh nothing or less than `least` are left out. Names are those of the tree. Returns NULL
 * without memory.
 */
struct pr_tree *pr_tree_below(const struct pr_tree *tree, uint32_t top, uint32_t max_depth,
			      double least);

/*
 * Sorts the nodes below each node, by name, or the heaviest first. Returns false without
 * memory.
 */
bool pr_tree_sort(struct pr_tree *tree, bool by_name);

/*
 * Compares the stacks that end in two nodes: the heavier is first, then the one that goes on
 * from the other, then by what they differ in first.
 */
int pr_tree_compare_ends(const struct pr_tree *tree, uint32_t a, uint32_t b);

static inline struct pd_text pr_tree_name(const struct pr_tree *tree, uint32_t node)
{
	return tree->names->texts[tree->nodes[node].frame];
}

static inline double pr_to_float(const struct pr_tree *tree, union pr_amount amount)
{
	return tree->shape.is_float ? amount.f : (double)amount.i;
}

/* Tells what frames are one in the tree of a result, and how they are named. */
enum pr_by {
	PR_BY_SYMBOL,  /* functions, by binary; what of a binary has none is one */
	PR_BY_SRCLINE, /* source lines; without one, functions */
	PR_BY_ADDRESS, /* addresses in binaries, named by the function */
	PR_BY_DSO,     /* binaries; frames of one that follow one another are one */
};

struct pr_tree_asked {
	enum pr_by by;
	bool from_callee;
	size_t key;	  /* of PR_STACK */
	size_t weight;	  /* measure: a count, a sum or a share */
	size_t count;	  /* measure: a count, or `weight` */
	uint32_t section; /* 0: all sections are added up */
	/* returns the source line of a frame; NULL: it is not known; for PR_BY_SRCLINE */
	const char *(*line_of)(void *arg, const struct pq_stack_frame *frame);
	void *arg;
};

/*
 * Makes the tree of a result's stacks, sorted, with the heaviest first; other keys are added
 * up. Names of frames are added to `names`; their places are frames of the result's stacks.
 * Returns NULL without memory.
 */
struct pr_tree *pr_tree_of_result(const struct pr_result *result,
				  const struct pr_tree_asked *asked,
				  struct pm_string_pool *names);

/* How a tree is written: the words of perf report -g. */
enum pr_tree_form {
	PR_TREE_GRAPH,	 /* calls as branches, with their shares of the total */
	PR_TREE_FRACTAL, /* as branches, with their shares of the caller's callees */
	PR_TREE_FLAT,	 /* each stack, its frames below one another */
	PR_TREE_FOLDED,	 /* each stack in a line */
};

struct pr_tree_text {
	enum pr_tree_form form;
	double total;	 /* the whole of shares; PR_TREE_FRACTAL: of those of the first nodes */
	double whole;	 /* a run of calls with all of that has no share of its own */
	double least;	 /* the smallest share, from 0 to 1, that is written */
	size_t most;	 /* nodes below one another's caller, or stacks; 0: all */
	unsigned margin; /* blanks before each line */
	bool skips_top;	 /* leaves out the first of the calls that `whole` is in */
	bool is_colored; /* numbers have the colours of their shares */
	/* adds to the name of a node in branches; NULL: nothing */
	void (*add_note)(void *arg, uint32_t node, struct pb_string *text);
	void *arg;
	enum pr_tree_value {
		PR_TREE_PERCENT,
		PR_TREE_WEIGHT,
		PR_TREE_COUNT
	} value;
};

/*
 * Adds what is below node `top` of a tree whose heaviest nodes are first to `text`, as perf
 * report -g prints it; names as pr_print_escaped() prints them. Missing memory is noted in
 * `text`.
 */
void pr_tree_write(const struct pr_tree *tree, uint32_t top, const struct pr_tree_text *how,
		   struct pb_string *text);

#endif
