/* Branches that a node of a tree is an end of, as perf report --branch-history tells them. */
#ifndef PERFLUA_RESULT_BRANCH_COUNTS_H
#define PERFLUA_RESULT_BRANCH_COUNTS_H

#include "base/string_builder.h"
#include "query/query.h"

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

#endif
