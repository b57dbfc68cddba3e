/*
 * Groups as rows of values: what keys and measures show, and what expressions compute of them.
 */
#ifndef PERFLUA_RESULT_LINES_H
#define PERFLUA_RESULT_LINES_H

#include "view.h"

struct pr_lines {
	const struct pr_result *result;
	const struct pr_show *show;
	/*
	 * how many groups were added up to each: first, last and comparisons are absent if
	 * there were several; NULL: each is one
	 */
	const uint32_t *n_merged;
	/* changes lines->cells of group g of a turned view; NULL: nothing */
	void (*adjust)(void *arg, size_t g);
	void *arg;
	const struct pr_total *totals; /* [n_totals] */
	size_t n_totals;
	size_t *last_totals; /* [n_measures]: the total that was found last for each */
	struct pq_fields fields;
	struct pq_expr **exprs;	     /* [n_columns]: NULL without an expression */
	struct pq_expr **conditions; /* [n_conditions] */
	struct pq_value *cells;	     /* [n_columns] of the row that was made last */
};

/*
 * Initializes *lines; its totals are still to be set. Returns false without memory; the caller
 * calls pr_lines_deinit() also then.
 */
bool pr_lines_init(struct pr_lines *lines, const struct pr_result *result,
		   const struct pr_show *show);
void pr_lines_deinit(struct pr_lines *lines);

/*
 * Sets *totals to those of all shares over the groups, and *n to their number; the caller frees
 * them. Returns false without memory.
 */
bool pr_sum_totals(const struct pr_result *result, struct pr_total **totals, size_t *n);

/*
 * Sets lines->cells to the row of a group; running sums are PQ_NIL. Without memory for an
 * expression it sets lines->fields.failed, and the cell is PQ_NIL.
 */
void pr_lines_make(struct pr_lines *lines, size_t g);

/* Returns true if the row in lines->cells meets all conditions. */
bool pr_lines_meet(struct pr_lines *lines);

/* Sets *out to the value of one column, which is not a running sum, in the row of a group. */
void pr_lines_value(struct pr_lines *lines, size_t g, size_t column, struct pq_value *out);

#endif
