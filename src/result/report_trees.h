/*
 * The trees of calls of a report: one for each of its rows, made when it is written.
 *
 * A tree has only the nodes that are heavy enough to be written: broken call chains have
 * millions of others. It grows node by node: the stacks of a node, which lie side by side, are
 * put in the order of their next frames, and those with the same one become a node below it.
 */
#ifndef PERFLUA_RESULT_REPORT_TREES_H
#define PERFLUA_RESULT_REPORT_TREES_H

#include "base/string_builder.h"
#include "query/query.h"
#include "tree.h"

/* Branches that a node of a tree is an end of, as perf report --branch-history tells them. */

#define PR_BRANCH_TYPES 16

struct pr_branch_counts {
	uint64_t targets, sources, predicted, aborted, cycles, iterations, iteration_cycles;
	uint64_t forward, backward, crosses_2m, crosses_4k; /* of targets with a type */
	uint64_t types[PR_BRANCH_TYPES], new_types[PR_BRANCH_TYPES];
};

/* Adds a frame of that many samples; NULL, and others than ends of branches, count nothing. */
void pr_branch_counts_add(struct pr_branch_counts *counts, const struct pq_exact *frame,
			  uint64_t samples);

/* Adds them to `text`, in brackets after a blank; nothing if there is nothing to tell. */
void pr_branch_counts_write(const struct pr_branch_counts *counts, struct pb_string *text);

struct pr_report_trees {
	struct pq_groups *groups;	/* of the query, with the chains */
	bool is_borrowed;		/* the groups are not destroyed with the trees */
	struct pq_report_stacks stacks; /* of all rows */
	struct pb_secret secret;
	uint32_t *known;      /* [frames]: 1 + number of the first one of that name; 0: new */
	struct pb_map firsts; /* numbers of frames, the first one of each name */
	uint32_t *named;      /* [frames]: 1 + number of the name; 0: not named yet */
	struct pm_string_pool names; /* of nodes */
	/* [names]: the higher address is first, as perf has it: see append_chain_children() */
	uint64_t *ranks;
	size_t ranks_room;
	size_t max_frames; /* of a chain, counted from where trees begin; 0: all */
	enum pr_tree_key {
		PR_TREE_FUNCTION, /* functions are one node, wherever in them */
		PR_TREE_ADDRESS,  /* nodes are addresses; of frames of PQ_CHAIN_EXACT */
		PR_TREE_SRCLINE,  /* and source lines */
	} key;
	bool shows_branches; /* nodes tell of the branches that they are ends of */
};

/*
 * Makes the trees of a report, of whose stacks `trees` has those that pq_report_make() noted,
 * and of the query's groups, which must stay as they are. Returns false without memory.
 */
bool pr_report_trees_begin(struct pr_report_trees *trees);
void pr_report_trees_deinit(struct pr_report_trees *trees); /* frees the stacks, too */

/*
 * Adds the tree of a row to `text`: of its callees if it is `from_caller`, else of its callers.
 * The weight of the row's stacks replaces how->whole, and with PR_TREE_FRACTAL how->total.
 * Missing memory is noted in `text`.
 */
void pr_report_trees_write(struct pr_report_trees *trees, size_t row, bool from_caller,
			   const struct pr_tree_text *how, struct pb_string *text);

#endif
