/*
 * Values of fields, record after record: what a loop over selected fields reads. Rows are made
 * in batches, where it is worth it by a thread of their own while the caller looks at the batch
 * before.
 *
 *	struct pq_rows *rows = pq_rows_open(&scope, nodes, n, &err);
 *
 *	while ((got = pq_rows_next(rows, &row, &err)) > 0)
 *		row[i] …
 */
#ifndef PERFLUA_QUERY_ROWS_H
#define PERFLUA_QUERY_ROWS_H

#include "query/expr/scope.h"

struct pq_rows;

#define PQ_MAX_ROW 4096 /* values */

/*
 * Rows of n values, in scope->order. The scope and the nodes must stay. NULL: see err. Its
 * progress is asked in the caller's thread, and in the one that makes rows; how far that is, is
 * not told.
 */
struct pq_rows *pq_rows_open(const struct pq_scope *scope, const struct pq_node *const *nodes,
			     size_t n, struct pd_error *err);
void pq_rows_close(struct pq_rows *rows);

/*
 * How records are paired: places among the nodes of conditions, the time, the fields of keys.
 * Who opens and closes does first the latter.
 */
struct pq_pairing {
	uint32_t opens, closes, time;
	/* may records that tell of lost ones open or close, too? Else they are not asked */
	bool pairs_lost;
	size_t n_keys, n_values;
	const struct pq_pair_key {
		uint32_t of_open, of_close;
		/*
		 * only spans with what of_open is in the record that tells of lost ones, if it
		 * is there
		 */
		bool loses;
	} * keys;
	const struct pq_pair_value {
		uint32_t place;
		/* of the record that opened the span; else of the one that closes it */
		bool of_open;
	} * values; /* of a row */
};

struct pq_pair_counts {
	uint64_t pairs;
	uint64_t unopened, unclosed; /* the other end was not there, or has not come */
	uint64_t restarted, lost;    /* dropped: opened once more; as records were lost */
	uint64_t unkeyed;	     /* records without a key, or a time */
};

/* Rows of pairs, of how->n_values values. As pq_rows_open; `how` must stay. */
struct pq_rows *pq_rows_open_pairs(const struct pq_scope *scope,
				   const struct pq_node *const *nodes, size_t n,
				   const struct pq_pairing *how, struct pd_error *err);

/* Of the records that were read by now; ends the rows. All zero of rows that are no pairs. */
struct pq_pair_counts pq_rows_counts(struct pq_rows *rows);

/* A batch of rows, of n values each. */
struct pq_batch {
	const struct pq_value *values; /* [n_rows * n]; text is valid as long as the batch */
	size_t n_rows, at;	       /* at: for the caller, of the row that is next */
	double part; /* of the session that was read for the rows up to here: pd_session_part */
};

/*
 * 1: the next batch, which has rows, and is valid until the call after this; 0: there is none;
 * -1: see err.
 */
int pq_rows_next(struct pq_rows *rows, struct pq_batch *batch, struct pd_error *err);

/*
 * How many threads a loop would have at work while it goes on, the caller's too, and what they
 * do, or why there is but one: a few words for explain(); NULL: that is what was asked for.
 */
unsigned pq_rows_threads(const struct pq_scope *scope, const char **why);

/* Records that came too late for their place, after the end. */
uint64_t pq_rows_late(const struct pq_rows *rows);

#endif
