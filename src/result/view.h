/*
 * A result as it is shown: its columns, the rows that meet conditions, in order, the first of
 * them. Rows are groups, or, of a view that was turned (turned.h), groups added up.
 *
 * A view borrows its result. It computes a row when it is asked for.
 */
#ifndef PERFLUA_RESULT_VIEW_H
#define PERFLUA_RESULT_VIEW_H

#include "result.h"

enum pr_role {
	PR_OF_KEY,
	PR_OF_MEASURE,
	PR_OF_EXPRESSION,
	PR_OF_RUNNING, /* the sum of a column over the rows up to each */
};

#define PR_NONE SIZE_MAX /* no column, no limit */

struct pr_view_column {
	struct pr_column shown;
	enum pr_role role;
	bool by_magnitude; /* sorted without the sign */
	/* number of the key or measure; of a running sum the place of the column it adds up */
	size_t at;
	double share;  /* of a quantile: 0 to 1 */
	bool is_share; /* shows the percent that a sum is of the total, 0 if that is 0 */
	const struct pq_node *node; /* of an expression; its fields are places of columns */
};

/* The sum that shares of measure `measure` in a section, or of an event's name, are of. */
struct pr_total {
	size_t measure;
	struct pq_value whole; /* PQ_INT: the section; PQ_TEXT: the name of an event */
	double sum;
};

/* Describes what is shown. All that it points to must outlive the view. */
struct pr_show {
	const struct pr_view_column *columns; /* [n_columns]: keys first */
	size_t n_columns;
	const struct pq_node *const *conditions; /* [n_conditions]: as expressions */
	size_t n_conditions;
	size_t by; /* the column that rows are sorted by; equal rows are in the order of keys */
	bool ascending;
	/* before the keys, equal rows are sorted by these, which are none if `by` is PR_NONE */
	const struct pr_tie {
		size_t column;
		bool ascending;
	} * ties; /* [n_ties] */
	size_t n_ties;
	size_t top; /* rows of each section, or of each value of column `per` */
	size_t per;
	size_t pivot, n_pivot;	       /* the key that is turned into columns, how many */
	const struct pr_total *totals; /* [n_totals]; none: sums over the groups */
	size_t n_totals;
};

enum pr_problem {
	PR_FINE,
	PR_NO_MEMORY,
	PR_SUM,	    /* a running sum, or one of a turned view, exceeds 2^63 - 1 */
	PR_WEIGHTS, /* like pq_wrong, of groups that were added up */
	PR_AVERAGE,
	PR_TOO_WIDE, /* a turned view without a limit would have too many columns */
};

struct pr_view;

/*
 * Makes a view. *view is set in any case; the caller destroys it. With PR_TOO_WIDE *n is the
 * number of values that would be columns.
 */
enum pr_problem pr_view_create(const struct pr_result *result, const struct pr_show *show,
			       struct pr_view **view, size_t *n);
void pr_view_destroy(struct pr_view *view);

/* Returns the number of rows. */
size_t pr_view_size(const struct pr_view *view);

/* Returns the group of the result that row i is; of a turned view, of the turned ones. */
size_t pr_view_group(const struct pr_view *view, size_t i);

/* Returns the section of row i, from 0 on. */
uint32_t pr_view_section(const struct pr_view *view, size_t i);

/*
 * Sets cells[n_columns] to row i. Texts are valid until the next row is asked for. In a turned
 * view the cell of the key that was turned is PQ_NIL.
 */
void pr_view_row(struct pr_view *view, size_t i, struct pq_value *cells);

/*
 * Returns true if there was no memory for a cell that was computed since it was asked last: the
 * cell is then absent where it should not be.
 */
bool pr_view_failed(struct pr_view *view);

/*
 * Describe rows from … to - 1, of one or several sections, as a writer's source, whose columns
 * and cells are valid as long as the view, until this is called again. With `events`, n_events
 * names by section, a first column has the row's event. A turned view has its cells as columns;
 * `is_text`: their names have units. Returns false without memory.
 */
bool pr_view_source(struct pr_view *view, size_t from, size_t to, const struct pd_text *events,
		    size_t n_events, bool is_text, struct pr_source *source);

/*
 * Visits the cells of row i of a turned view: calls `cell` with the value of the key, or NULL
 * for the cell of all others, and with its columns.
 */
void pr_view_cells(struct pr_view *view, size_t i,
		   void (*cell)(void *arg, const struct pq_value *key,
				const struct pq_value *cells),
		   void *arg);

#endif
