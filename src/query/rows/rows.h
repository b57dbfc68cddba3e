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

/* Which record of a span a value is of. */
enum pq_of {
	PQ_OF_OPEN,
	PQ_OF_CLOSE,
	PQ_OF_INNER, /* the record inside */
	PQ_OF_RECORDS,
};

#define PQ_NO_PLACE UINT32_MAX
#define PQ_SERIAL   (UINT32_MAX - 1) /* of PQ_OF_OPEN: a number that only this span has */

/*
 * How records are paired: places among the nodes of conditions, the time, the fields of keys. A
 * record that opens and closes does first the latter. A row is a span; or, with `inner`, a
 * record inside of one, which it is from its opening record on (that included) and before the
 * closing one.
 */
struct pq_pairing {
	uint32_t opens, closes, time;
	uint32_t inner; /* the condition of records inside; PQ_NO_PLACE: rows are spans */
	/*
	 * rows of records inside are made when their span ends; else as they are met, without
	 * values of PQ_OF_CLOSE
	 */
	bool waits;
	/* may records that tell of lost ones open or close, too? Else they are not asked */
	bool pairs_lost;
	size_t n_keys, n_values;
	const struct pq_pair_key {
		uint32_t of[PQ_OF_RECORDS];
		/*
		 * only spans with what is PQ_OF_OPEN in the record that tells of lost ones, if
		 * it is there
		 */
		bool loses;
	} * keys;
	const struct pq_pair_value {
		uint32_t place;
		enum pq_of of;
	} * values; /* of a row */
	/*
	 * NULL, or what is called when a span ends: with its serial number, and values of the
	 * record that ends it
	 */
	const struct pq_call *ended;
	const uint32_t *ended_places; /* [ended->n_args - 1] */
};

/* The description of rows of pairs: what is read of records, and which rows are kept. */
struct pq_paired {
	const struct pq_node *const *nodes; /* [n], values of records */
	size_t n;
	const struct pq_pairing *how;
	const struct pq_node *kept; /* a condition on a row; NULL: all of them */
	uint32_t event;		    /* the place in a row of its event, from 1 on; 0: none */
};

struct pq_pair_counts {
	uint64_t pairs;
	uint64_t unopened, unclosed; /* the other end was not there, or has not come */
	uint64_t restarted, lost;    /* dropped: opened once more; as records were lost */
	uint64_t unkeyed;	     /* records without a key, or a time */
};

/* Records that may wait for the ends of their spans. */
#define PQ_MOST_WAITING ((size_t)1 << 22)

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
