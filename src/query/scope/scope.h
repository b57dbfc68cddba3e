/*
 * The scope of a query: the records that it looks at, and what it works with. All ways to run a
 * query share it.
 */
#ifndef PERFLUA_QUERY_SCOPE_H
#define PERFLUA_QUERY_SCOPE_H

#include "base/progress.h"
#include "query/program/expr.h"
#include "items.h"
#include "perfdata/order/walk.h"

/*
 * The functions of the caller's that a query calls (struct pq_call). One of them may leave the
 * query by a longjmp; `pass` then holds the state of the pass, and pq_calls_end() destroys it.
 *
 * Objects that the functions return (PQ_OBJECT) are known until the next record is looked at.
 * `hold` makes one known until it is released, and `lend` makes such a one known until the next
 * record.
 */
struct pq_calls {
	bool is_new; /* set for each record before it is looked at; the caller clears it */
	uint32_t n_objects; /* known until the next record */
	void *pass;	    /* NULL: none */
	void (*destroy)(void *pass);
	void (*hold)(struct pq_calls *calls, struct pq_value *object);
	void (*lend)(struct pq_calls *calls, struct pq_value *object);
	void (*release)(struct pq_calls *calls, const struct pq_value *object);
};

/* Begins the next record. */
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
	 * NULL, or points to true while nothing was added to the system: pq_run() then reads
	 * the system, and clears this
	 */
	bool *unread;
	struct pd_types types;
	/*
	 * [n_events + 1], by number, the last for records without an event; NULL: all. Late
	 * events are not in it.
	 */
	const uint8_t *events;
	size_t n_events;
	bool by_time; /* only records with from <= time < to */
	uint64_t from, to;
	enum pd_order_kind order;
	bool later_names; /* pm_resolver_use_later_names() */
	/* samples with counter values are split value by value: perfdata's counters.h */
	bool split;
	const struct pq_node *filter;	/* NULL: all records */
	const struct pq_unnest *unnest; /* NULL: rows are records; else their items */
	/* NULL: no functions are called. Else only the caller's thread looks at records. */
	struct pq_calls *calls;
	unsigned threads;	     /* at most; 1: only the caller's */
	struct pb_progress progress; /* asked in the caller's thread, except by rows.h */
	/* NULL, or the counter of records that came too late for their place in time */
	uint64_t *late;
	/*
	 * Both are NULL unless a grouped pass is watched. Then one worker adds to *growing from
	 * the first record on, asks progress after each, and goes on with `walk`, which it
	 * leaves open.
	 */
	struct pd_walk *walk;
	struct pq_groups **growing;
};

/*
 * Returns true if a record is in the scope, apart from the filter. `time_id` is the number of
 * the name "time".
 */
bool pq_in_scope(const struct pq_scope *scope, const struct pd_record *rec, unsigned time_id);

/*
 * Opens a walk over the records that may be in the scope; pq_in_scope() and the filter say
 * which are. The walk over a stream also adds records to scope->system as they are read.
 *
 * If `ahead` is true, and the records come in the order of files, one of several threads reads
 * ahead: this is for callers who spend little time on most records, and would wait for them.
 * The caller may change walk->options before the first record. On failure nothing has to be
 * closed.
 */
bool pq_scope_open_walk(const struct pq_scope *scope, bool ahead, struct pd_walk *walk,
			struct pd_error *err);

/*
 * Returns true if counter values are known to occur: then one worker reads all samples, in the
 * scope's order.
 */
bool pq_scope_splits(const struct pq_scope *scope);

/* Returns true if something in the scope is a stream, which can be read only once. */
bool pq_scope_passes(const struct pq_scope *scope);

/* Returns true if an index of times is made before the records of the scope are read. */
bool pq_scope_needs_index(const struct pq_scope *scope);

/* Returns the bytes of all records that are read; 0: not known. */
uint64_t pq_scope_size(const struct pq_scope *scope);

/*
 * Returns true if a tree, which may be NULL, needs the recorded system: for names, mappings, or
 * call chains that it makes.
 */
bool pq_asks_system(const struct pq_node *node, const struct pd_session *session);

#endif
