/*
 * The trees of calls of a report: one for each of its rows, made when it is written.
 */
#ifndef PERFLUA_RESULT_REPORT_TREES_H
#define PERFLUA_RESULT_REPORT_TREES_H

#include "query/query.h"
#include "tree.h"

struct pr_report_trees {
	struct pq_groups *groups;	/* of the query, with the chains */
	bool is_borrowed;		/* the groups are not destroyed with the trees */
	struct pq_report_stacks stacks; /* of all rows */
	uint32_t *first;		/* [n_rows + 1]: the first stack of each row */
	size_t n_rows;
	uint32_t *known; /* [frames]: 1 + number of the name; 0: not named yet */
	struct pm_string_pool names;
	/* [names]: the higher address is first, as perf has it: see append_chain_children() */
	uint64_t *ranks;
	size_t ranks_room;
	struct pr_step *steps; /* [room] */
	size_t room;
	size_t max_frames; /* of a chain, counted from where trees begin; 0: all */
	size_t max_depth;  /* frames of a tree, at most */
};

/*
 * Makes the trees of a report of `n_rows` groups, of whose stacks `trees` has those that
 * pq_report_make() noted, and of the query's groups, which must stay as they are. Returns false
 * without memory.
 */
bool pr_report_trees_begin(struct pr_report_trees *trees, size_t n_rows);
void pr_report_trees_deinit(struct pr_report_trees *trees); /* frees the stacks, too */

/*
 * Adds the tree of a row to `text`. how->whole is that of the row's stacks, and so is
 * how->total of PR_TREE_FRACTAL. Missing memory is noted in `text`.
 */
void pr_report_trees_write(struct pr_report_trees *trees, size_t row,
			   const struct pr_tree_text *how, struct pb_string *text);

#endif
