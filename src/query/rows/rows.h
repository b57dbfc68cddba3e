/*
 * Values of fields, record after record: what a loop over selected fields reads. Rows are made
 * in value batches; if it is worth it, a producer thread makes them while the caller looks at
 * the batch before.
 *
 *	struct pq_rows *rows = pq_rows_open(&scope, nodes, n, &err);
 *
 *	while ((got = pq_rows_next(rows, &batch, &err)) > 0)
 *	batch->values[i] …
 */
#ifndef PERFLUA_QUERY_ROWS_H
#define PERFLUA_QUERY_ROWS_H

#include "query/expr/scope.h"

struct pq_rows;

#define PQ_MAX_ROW 4096 /* values */

/*
 * Opens rows of n values, in scope->order; scope and nodes must outlive them. Returns NULL and
 * sets *err on failure. The scope's progress is asked in the caller's thread and in the one
 * that makes rows, without figures.
 */
struct pq_rows *pq_rows_open(const struct pq_scope *scope, const struct pq_node *const *nodes,
			     size_t n, struct pd_error *err);
void pq_rows_close(struct pq_rows *rows);

/*
 * Has value `at` of each row, a call chain, read as PQ_CHAIN: its number in `chains`, which
 * nobody else may use until the rows have ended, and which must outlive them. Call it before
 * the first batch.
 */
void pq_rows_number_chains(struct pq_rows *rows, size_t at, struct pq_chains *chains);

/* The record of a span that a value is of, or an item inside it. */
enum pq_of {
	PQ_OF_OPEN,
	PQ_OF_CLOSE,
	PQ_OF_INNER, /* the record, or the span, inside a span */
	PQ_OF_RECORDS,
	PQ_OF_ITEM = PQ_OF_RECORDS, /* an item of the view of one of them */
	PQ_OF_SPAN,		    /* none: the span itself, see enum pq_span_value */
};

/*
 * Values of a span itself, or of a part that it was cut into, as places. Those of its key
 * follow, then the times that it spent in each state.
 */
enum pq_span_value {
	PQ_SPAN_START,
	PQ_SPAN_STOP,	/* absent if it is unfinished */
	PQ_SPAN_SO_FAR, /* ns from the start to the end of the recording, if it is unfinished */
	PQ_SPAN_CUT,	/* whether it is a part */
	PQ_SPAN_END,	/* its stop, or the end of the recording */
	PQ_SPAN_KEY,
};

#define PQ_NO_PLACE UINT32_MAX
#define PQ_SERIAL   (UINT32_MAX - 1) /* for PQ_OF_OPEN: a number that only this span has */

/*
 * One kind of records that open spans, close them, or change their state. Places are numbers of
 * nodes, see struct pq_pairing.
 */
struct pq_pair_side {
	enum pq_side_role {
		PQ_CLOSES,
		PQ_CHANGES,
		PQ_OPENS,
		PQ_ROLES,
	} role;
	uint32_t condition;
	/*
	 * PQ_NO_PLACE, or a condition on the record and on the one that opened the span with
	 * its key. Fields of rows are the values how->opened of that record.
	 */
	uint32_t answers;
	const uint32_t *keys; /* [how->n_keys] */
	uint32_t state;	      /* of the span from then on; 0 if there are no states */
	bool leaves_open;     /* a span of its key that is open already goes on */
};

#define PQ_MOST_SIDES 32

/*
 * The rules by which records are paired. Places are numbers of nodes. A record of several roles
 * closes a span, changes others, and opens the next, in this order; it closes and opens as the
 * first side that it belongs to, and changes as each. A
 * record that closes spans, but answers to no span of its key, drops the one that is open. A
 * row is a span; or, with `inner`, a
 * record inside a span: from its opening record (included) to its closing record (excluded);
 * or, with `nested`, a span inside a span: it opens no earlier and closes no later, but the
 * same record may open both, or close both.
 */
struct pq_pairing {
	size_t n_sides;
	const struct pq_pair_side *sides; /* at most PQ_MOST_SIDES */
	size_t n_opened;
	const uint32_t *opened; /* [n_opened]: values of the opening record for `answers` */
	uint32_t time;
	uint32_t inner; /* condition of records inside; PQ_NO_PLACE: rows are spans */
	/*
	 * NULL, or how spans inside are paired. Places of PQ_OF_INNER are then numbers of its
	 * values.
	 */
	const struct pq_pairing *nested;
	/*
	 * rows of what is inside are made when the span around it ends; else at once, without
	 * values of PQ_OF_CLOSE
	 */
	bool waits;
	uint32_t n_states;
	/*
	 * Spans are cut at multiples of `slice` (ns; 0: they are not), and at the ends of the
	 * window, outside of which there are no rows (0, UINT64_MAX: it has none).
	 */
	uint64_t slice, from, to;
	/* PQ_NO_PLACE, or the cpu of a record: of lost ones, whose buffer was full */
	uint32_t cpu;
	/* records of lost records may open or close spans; else they are not tested */
	bool pairs_lost;
	/* spans that were open when records were lost, and are closed later, are pairs */
	bool keeps_lost;
	/*
	 * spans that are open at the end make rows, too, without values of PQ_OF_CLOSE, in the
	 * order in which they were opened
	 */
	bool unfinished;
	size_t n_keys, n_values;
	const struct pq_pair_key {
		uint32_t inner; /* of a record, or of a span, inside */
		/*
		 * PQ_NO_PLACE, or a value of a record of lost records: if it has one, drop only
		 * spans with this value
		 */
		uint32_t lost;
	} * keys;
	const struct pq_pair_value {
		uint32_t place;
		enum pq_of of;
	} * values; /* what each value of a row is read from */
	/*
	 * NULL, or is called when a span ends, with its serial number and values of the record
	 * that ends it
	 */
	const struct pq_call *ended;
	/*
	 * PQ_OF_OPEN or PQ_OF_CLOSE, if scope->unnest is set: the record whose items are rows,
	 * once the span ends. Before them comes a row of the span, without values of items.
	 */
	enum pq_of items_of;
	const uint32_t *ended_places; /* [ended->n_args - 1] */
};

/*
 * The description of rows of pairs: which values of records are read, and which rows are kept.
 */
struct pq_paired {
	const struct pq_node *const *nodes; /* [n], values of records */
	size_t n;
	const struct pq_pairing *how;
	/* NULL, or rows are the time that spans cover; `how` is then that of the first kind */
	const struct pq_covering *covering;
	size_t n_row;		    /* values of a row */
	const struct pq_node *kept; /* a condition on a row; NULL: all of them */
	uint32_t event;		    /* place of its event in a row, from 1 on; 0: none */
	/*
	 * Place of an item's index in a row, from 1 on; 0: rows are not items. If they are,
	 * `kept` applies to their spans.
	 */
	uint32_t index;
	const struct pq_node *item_filter; /* a condition on items; NULL: all of them */
	const struct pq_node *once;	   /* as in pq_unnest */
};

#define PQ_COVER_SIDES 2

/*
 * The time that spans cover, by key: that any span covers, or spans of both kinds. Rows have
 * its start, its stop, and the key.
 */
struct pq_covering {
	size_t n_sides, n_keys;
	struct pq_cover_side {
		struct pq_paired paired;	    /* without nodes of its own */
		const struct pq_node *const *nodes; /* [2 + n_keys], of a row: as those rows */
	} sides[PQ_COVER_SIDES];
};

struct pq_pair_counts {
	uint64_t pairs;
	uint64_t unopened, unclosed; /* records whose other end was missing, or has not come */
	uint64_t unfinished;	     /* rows of spans that were open at the end */
	uint64_t restarted, lost; /* dropped: opened again before the end; records were lost */
	uint64_t mismatched;	  /* dropped by a record that closes another span */
	/*
	 * ns that the lost ones were open: to the last record that came before the losses, and
	 * to the next record of their key, or to the end
	 */
	uint64_t lost_at_least, lost_at_most;
	uint64_t kept;	  /* pairs that were open when records were lost */
	uint64_t stray;	  /* records that changed no span */
	uint64_t unkeyed; /* records without a key or time */
};

/* number of records that may wait for the ends of their spans */
#define PQ_MOST_WAITING ((size_t)1 << 22)

/*
 * Opens rows of pairs, of paired->n_row values, as pq_rows_open() does. *paired must outlive
 * them.
 */
struct pq_rows *pq_rows_open_pairs(const struct pq_scope *scope, const struct pq_paired *paired,
				   struct pd_error *err);

/*
 * Ends the rows, and returns the counts for the records read so far: zeros if rows are not
 * pairs.
 */
struct pq_pair_counts pq_rows_counts(struct pq_rows *rows);

/* A batch of rows, of n values each. */
struct pq_batch {
	const struct pq_value *values; /* [n_rows * n]; text is valid as long as the batch */
	size_t n_rows, at;	       /* at: for the caller's use, the next row */
	double part;		       /* part of the session read so far: pd_session_part */
};

/*
 * Sets *batch to the next batch, which has rows, and is valid until the next call. Returns 1; 0
 * at the end; -1 with *err set on failure.
 */
int pq_rows_next(struct pq_rows *rows, struct pq_batch *batch, struct pd_error *err);

/*
 * Returns why no thread makes rows, in a few words; NULL if one does. Records that add to the
 * description of a recording are left to the caller's thread.
 */
const char *pq_rows_why_alone(const struct pq_scope *scope);

/*
 * Returns the number of threads at work during a loop, including the caller's. Sets *why to a
 * few words for explain(): what the threads do, or why there is only one; NULL: as many as were
 * asked for.
 */
unsigned pq_rows_threads(const struct pq_scope *scope, const char **why);

/* Returns the number of records that came too late for their place. Call it after the end. */
uint64_t pq_rows_late(const struct pq_rows *rows);

#endif
