/*
 * Which records a query looks at, and what it works with: the part of its description that all
 * ways to run it share.
 */
#ifndef PERFLUA_QUERY_SCOPE_H
#define PERFLUA_QUERY_SCOPE_H

#include "base/progress.h"
#include "expr.h"
#include "perfdata/order/walk.h"

/*
 * The functions of the caller's that a query calls (struct pq_call). One of them may leave the
 * query by a longjmp; what a pass has then lies here, and pq_calls_end gives it back.
 *
 * Objects that they answer (PQ_OBJECT) are known until the next record is looked at. `hold`
 * makes one known until it is released, and `lend` such a one known until the next record.
 */
struct pq_calls {
	bool is_new; /* set for each record before it is looked at; the caller's to clear */
	uint32_t n_objects; /* that are known until the next one */
	void *pass;	    /* NULL: none */
	void (*destroy)(void *pass);
	void (*hold)(struct pq_calls *calls, struct pq_value *object);
	void (*lend)(struct pq_calls *calls, struct pq_value *object);
	void (*release)(struct pq_calls *calls, const struct pq_value *object);
};

/* Another record is looked at. */
static inline void pq_calls_next(struct pq_calls *calls)
{
	calls->is_new = true;
	calls->n_objects = 0;
}

static inline void pq_calls_end(struct pq_calls *calls)
{
	void *pass = calls->pass;

	calls->pass = NULL;
	if (pass)
		calls->destroy(pass);
}

struct pq_scope {
	struct pd_session *session;
	struct pm_system *system; /* NULL: nothing in the query asks it (pq_asks_system) */
	/*
	 * NULL, or whether nothing was added to the system yet: pq_run reads it, and clears
	 * this
	 */
	bool *unread;
	struct pd_types types;
	const uint8_t *
		events; /* [n_events + 1] by number, the last for records without an event; NULL: all.
				* Events that came late are none of them */
	size_t n_events;
	bool by_time; /* only records with a time from `from` on, and before `to` */
	uint64_t from, to;
	enum pd_order_kind order;
	/* samples with counter values are looked at value by value: perfdata's counters.h */
	bool split;
	const struct pq_node *filter; /* NULL: all records */
	/* NULL: no function is called. Else the caller's thread alone looks at records */
	struct pq_calls *calls;
	unsigned threads;	     /* at most; 1: only the caller's */
	struct pb_progress progress; /* asked in the caller's thread, but for rows.h */
	/* NULL, or where to add up the records that came too late for their place in time */
	uint64_t *late;
};

/*
 * Is a record in the scope? All but the filter is looked at. `time_id` is the number of the
 * name "time".
 */
bool pq_in_scope(const struct pq_scope *scope, const struct pd_record *rec, unsigned time_id);

/*
 * Opens a walk over the records that may be in the scope; pq_in_scope and the filter say which
 * are. A stream that passes once tells the scope's system what it says of the system as it is
 * read.
 *
 * Of several threads one reads ahead if `ahead` is true and the records come in the order of
 * files: for callers who spend little time on most records, so that they would wait for them.
 * The caller may change walk->options before the first record. On failure there is nothing to
 * close.
 */
bool pq_scope_open_walk(const struct pq_scope *scope, bool ahead, struct pd_walk *walk,
			struct pd_error *err);

/*
 * Returns true if counter values are known to be met: then one worker reads all samples, in the
 * scope's order.
 */
bool pq_scope_splits(const struct pq_scope *scope);

/* Does something of it pass once: can it be read but once, from front to end? */
bool pq_scope_passes(const struct pq_scope *scope);

/* Bytes of records in all that is read; 0: it is not known. */
uint64_t pq_scope_size(const struct pq_scope *scope);

#endif
