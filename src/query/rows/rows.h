/*
 * Rows: the values of selected fields, one row for each record. Rows come in batches; if it is
 * worth it, a producer thread fills the next batch while the caller reads the current one.
 *
 *	struct pq_rows *rows = pq_rows_open(&scope, nodes, n, &err);
 *
 *	while ((got = pq_rows_next(rows, &batch, &err)) > 0)
 *	batch->values[i] …
 */
#ifndef PERFLUA_QUERY_ROWS_H
#define PERFLUA_QUERY_ROWS_H

#include "query/scope/scope.h"

struct pq_rows;

#define PQ_MAX_ROW 4096 /* values */

/*
 * Opens rows of n values, in scope->order. `scope` and `nodes` must outlive them. The scope's
 * progress function is called without figures, in the caller's thread and in the producer.
 * Returns NULL and sets *err on failure.
 */
struct pq_rows *pq_rows_open(const struct pq_scope *scope, const struct pq_node *const *nodes,
			     size_t n, struct pd_error *err);
void pq_rows_close(struct pq_rows *rows);

/*
 * Makes column `at`, a call chain, yield chain numbers in `chains` (PQ_CHAIN). `chains` must
 * outlive the rows, and nothing else may use it until they end. Call this before the first
 * batch.
 */
void pq_rows_number_chains(struct pq_rows *rows, size_t at, struct pq_chains *chains);

/* The source of a value of a row. */
enum pq_of {
	PQ_OF_OPEN,  /* the record that opened the span */
	PQ_OF_CLOSE, /* the record that closed it */
	PQ_OF_INNER, /* the record, or the span, inside the span */
	PQ_OF_RECORDS,
	PQ_OF_ITEM = PQ_OF_RECORDS, /* an item of a view of one of these records */
	PQ_OF_SPAN,		    /* the span itself, see enum pq_span_value */
};

/*
 * Places of the values of a span itself, or of a part that it was cut into. The places after
 * PQ_SPAN_KEY are those of its key, then of the times that it spent in each state.
 */
enum pq_span_value {
	PQ_SPAN_START,
	PQ_SPAN_STOP,	/* absent if the span is unfinished */
	PQ_SPAN_SO_FAR, /* ns from the start to the end of the recording, if it is unfinished */
	PQ_SPAN_CUT,	/* true for a part of a span */
	PQ_SPAN_END,	/* its stop, or the end of the recording */
	PQ_SPAN_DURATION, /* ns from its start to its stop; absent if it is unfinished */
	PQ_SPAN_STATE,	  /* name of the state in which it ends */
	PQ_SPAN_KEY,
};

#define PQ_NO_PLACE UINT32_MAX
#define PQ_SERIAL   (UINT32_MAX - 1) /* for PQ_OF_OPEN: the serial number of the span */

/*
 * One kind of record that opens spans, closes them, or changes their state. Places are indices
 * into the nodes of struct pq_paired.
 */
struct pq_pair_side {
	enum pq_side_role {
		PQ_CLOSES,
		PQ_CHANGES,
		PQ_OPENS,
		PQ_ROLES,
	} role;
	uint32_t condition; /* asks the type and the event of a record */
	uint32_t test;	    /* PQ_NO_PLACE, or another condition on it */
	/*
	 * PQ_NO_PLACE, or a condition that compares the record with the open span of its key.
	 * The values that are kept of the span, how->opened, are fields of rows in it.
	 */
	uint32_t answers;
	const uint32_t *keys; /* [how->n_keys] */
	uint32_t group;	      /* below how->n_groups: sides with the same keys have the same */
	uint32_t state;	  /* state of the span from this record on; PQ_NO_STATE: as before */
	uint32_t from;	  /* bit set of the states that it closes or changes; 0: all */
	bool leaves_open; /* does not restart a span of its key that is open already */
	/*
	 * closes a span only as the first record on the cpu on which the span began, or entered
	 * its state, for which the condition of such a side holds; others there drop the span
	 */
	bool next_on_cpu;
	const uint32_t
		*to; /* [how->n_keys]: key of a changed span from then on; NULL: as before */
};

#define PQ_MOST_SIDES 32

#define PQ_NO_STATE UINT32_MAX

/*
 * A value that is kept of a span: one of the record that opened it, or of the last one with
 * which it entered `state`.
 */
struct pq_kept_value {
	uint32_t place;
	uint32_t state; /* PQ_NO_STATE: of the opening record */
};

/*
 * The rules by which records are paired. Places are indices into the nodes of struct pq_paired.
 *
 * For each group of sides, a record first closes a span, or else changes one, then opens the
 * next, each as the first side of the group that it matches; it opens no span with the key of
 * one that it changed. A record that could close a span, but neither answers to the open one of
 * its key nor changes it, drops that span.
 *
 * A row is a span. With `inner` it is a record inside a span, from the opening record
 * (included) to the closing record (excluded); with `beside`, too, rows are spans, and these
 * records, wherever they are: a record comes after the span that it closes. With `nested` it is
 * a span inside a span, which opens no earlier and closes no later: the same record may open
 * both, or close both. Then all sides are one group.
 */
struct pq_pairing {
	size_t n_sides;
	const struct pq_pair_side *sides; /* at most PQ_MOST_SIDES */
	uint32_t n_groups;		  /* from 1 on */
	size_t n_opened;
	const struct pq_kept_value *opened; /* [n_opened]: values for `answers` */
	uint32_t time;
	uint32_t inner; /* condition on records inside; PQ_NO_PLACE: rows are spans */
	bool beside;	/* rows are spans, and the records for which `inner` holds */
	/*
	 * NULL, or how inner spans are paired. Places of PQ_OF_INNER are then indices into its
	 * values.
	 */
	const struct pq_pairing *nested;
	/*
	 * true: rows of inner records or spans are produced when the enclosing span closes.
	 * false: they are produced immediately, without columns of PQ_OF_CLOSE.
	 */
	bool waits;
	uint32_t n_states;
	const struct pq_value *states; /* [n_states]: their names, which are texts */
	/*
	 * Spans are cut at multiples of `slice` (ns; 0: uncut), and clipped to the window from
	 * `from` to `to` (0 and UINT64_MAX: unlimited).
	 */
	uint64_t slice, from, to;
	/* PQ_NO_PLACE, or the cpu of a record; of a LOST record, that of the full buffer */
	uint32_t cpu;
	/* LOST records may open or close spans; otherwise they are not tested */
	bool pairs_lost;
	/* spans that were open when records were lost count as pairs when they are closed */
	bool keeps_lost;
	/*
	 * spans that are still open at the end produce rows, too, in the order in which they
	 * were opened, without columns of PQ_OF_CLOSE
	 */
	bool unfinished;
	size_t n_keys, n_values;
	const struct pq_pair_key {
		uint32_t inner; /* place of the key in inner records or spans */
		/*
		 * PQ_NO_PLACE, or the place of the key in LOST records. If a LOST record has a
		 * value there, only spans with that value are dropped.
		 */
		uint32_t lost;
	} * keys;
	const struct pq_pair_value {
		uint32_t place;
		enum pq_of of;
		uint32_t state; /* for PQ_OF_OPEN, as in pq_kept_value */
	} * values;		/* the source of each value of a row */
	/*
	 * NULL, or a function that is called when a span ends, with the serial number of the
	 * span and values of the closing record
	 */
	const struct pq_call *ended;
	/*
	 * If scope->unnest is set, PQ_OF_OPEN or PQ_OF_CLOSE: the record whose items become
	 * rows when the span ends. A row of the span, without values of items, precedes them.
	 */
	enum pq_of items_of;
	const uint32_t *ended_places; /* [ended->n_args - 1] */
};

/* The description of rows of pairs: the values that are read, and the rows that are kept. */
struct pq_paired {
	const struct pq_node *const *nodes; /* [n]: expressions over records */
	size_t n;
	const struct pq_pairing *how;
	/* not NULL: rows are the time that spans cover; `how` is that of the first kind */
	const struct pq_covering *covering;
	size_t n_row;		    /* values of a row */
	const struct pq_node *kept; /* condition on rows; NULL: all are kept */
	uint32_t event;		    /* 1 + place of the event in a row; 0: a row has none */
	/*
	 * 1 + place of an item's index in a row; 0: rows are not items. If they are, `kept`
	 * applies to their spans.
	 */
	uint32_t index;
	const struct pq_node *item_filter; /* condition on items; NULL: all are kept */
	const struct pq_node *once;	   /* as in pq_unnest */
};

#define PQ_COVER_SIDES 2

/*
 * The time that spans cover, by key: the union of the spans of one kind, or its intersection
 * with the union of another kind. A row is a stretch of that time: start, stop, and key.
 */
struct pq_covering {
	size_t n_sides, n_keys;
	struct pq_cover_side {
		struct pq_paired paired;	    /* without nodes of its own */
		const struct pq_node *const *nodes; /* [2 + n_keys]: start, stop, key */
	} sides[PQ_COVER_SIDES];
};

struct pq_pair_counts {
	uint64_t pairs;
	uint64_t unopened;   /* closing records whose opening record is missing */
	uint64_t unclosed;   /* spans that are open at the end */
	uint64_t unfinished; /* rows of spans that are open at the end */
	uint64_t restarted;  /* spans dropped because their key was opened again */
	uint64_t repeated;   /* opening records whose key is open, which goes on */
	uint64_t lost;	     /* spans dropped because records were lost */
	uint64_t mismatched; /* spans dropped by a record that does not answer to them */
	/*
	 * ns that the dropped spans of `lost` were open: up to the last record before the loss,
	 * and up to the next record of their key or the end
	 */
	uint64_t lost_at_least, lost_at_most;
	uint64_t kept;	  /* pairs that were open when records were lost */
	uint64_t stray;	  /* records that changed no span */
	uint64_t unkeyed; /* records without a key or time */
};

/* The most records that may wait for the ends of their spans. */
#define PQ_MOST_WAITING ((size_t)1 << 22)

/*
 * Opens rows of pairs, each with paired->n_row values. *paired must outlive them. Otherwise as
 * pq_rows_open().
 */
struct pq_rows *pq_rows_open_pairs(const struct pq_scope *scope, const struct pq_paired *paired,
				   struct pd_error *err);

/* Ends the rows. Returns the counts of the records read so far, all 0 if rows are not pairs. */
struct pq_pair_counts pq_rows_counts(struct pq_rows *rows);

/* A batch of rows with n values each. */
struct pq_batch {
	const struct pq_value *values; /* [n_rows * n]; text is valid as long as the batch */
	size_t n_rows, at;	       /* at: the caller's position */
	double part;		       /* part of the session read so far: pd_session_part */
};

/*
 * Sets *batch to the next batch, which has at least one row and is valid until the next call.
 * Returns 1; 0 at the end; -1 with *err set on failure.
 */
int pq_rows_next(struct pq_rows *rows, struct pq_batch *batch, struct pd_error *err);

/*
 * Rows that are made of one record after another, by a worker of its own: the same as `rows`
 * would make, which are not pairs, and of which none was made yet.
 */
struct pq_record_rows;

/* Creates rows of single records; `rows` must outlive them. Returns NULL without memory. */
struct pq_record_rows *pq_rows_share(struct pq_rows *rows);
void pq_record_rows_destroy(struct pq_record_rows *rows);

/* Calls row(arg, values) for each row of *rec. Returns false without memory. */
bool pq_record_rows_each(struct pq_record_rows *rows, const struct pd_record *rec,
			 void (*row)(void *arg, const struct pq_value *values), void *arg);

/* Returns how many rows were made. */
uint64_t pq_record_rows_count(const struct pq_record_rows *rows);

/* Reads the next record that may make rows, in the caller's thread, as pd_walk_next(). */
int pq_rows_next_record(struct pq_rows *rows, struct pd_record *rec, struct pd_error *err);

/* Returns the part of the session that was read when *rec was delivered: pd_session_part. */
double pq_rows_part(const struct pq_rows *rows, const struct pd_record *rec);

/*
 * Returns in a few words why there is no producer thread; NULL if there is one. Records that
 * add to the description of a recording are left to the caller's thread.
 */
const char *pq_rows_why_alone(const struct pq_scope *scope);

/*
 * Returns the number of threads at work during a loop, including the caller's. Sets *why for
 * explain(), to a few words on what the threads do, or on why there is only one; to NULL if as
 * many work as were requested.
 */
unsigned pq_rows_threads(const struct pq_scope *scope, const char **why);

/* Returns the number of records that came too late to be sorted. Call it after the end. */
uint64_t pq_rows_late(const struct pq_rows *rows);

#endif
