/*
 * Values of fields, record after record: what a loop over selected fields reads. Rows are made in batches, where it is
 * worth it by a thread of their own while the caller looks at the batch before.
 *
 *	struct pq_rows *rows = pq_rows_open(&scope, nodes, n, &err);
 *
 *	while ((got = pq_rows_next(rows, &row, &err)) > 0)
 *		row[i] …
 */
#ifndef PERFLUA_QUERY_ROWS_H
#define PERFLUA_QUERY_ROWS_H

#include "scope.h"

struct pq_rows;

/*
 * Rows of n values. The scope and the nodes must stay. NULL: see err. In scope->order; its go_on is asked in the
 * caller's thread, and in the one that makes rows.
 */
struct pq_rows *pq_rows_open(const struct pq_scope *scope, const struct pq_node *const *nodes,
			     size_t n, struct pd_error *err);
void pq_rows_close(struct pq_rows *rows);

/* A batch of rows, of n values each. */
struct pq_batch {
	const struct pq_value *values; /* [n_rows * n]; text is valid as long as the batch */
	size_t n_rows, at;	       /* at: for the caller, of the row that is next */
};

/* 1: the next batch, which has rows, and is valid until the call after this; 0: there is none; -1: see err. */
int pq_rows_next(struct pq_rows *rows, struct pq_batch *batch, struct pd_error *err);

/*
 * How many threads a loop would have at work while it goes on, the caller's too, and what they do, or why there is but
 * one: a few words for explain(); NULL: that is what was asked for.
 */
unsigned pq_rows_threads(const struct pq_scope *scope, const char **why);

/* Records that came too late for their place, after the end. */
uint64_t pq_rows_late(const struct pq_rows *rows);

#endif
