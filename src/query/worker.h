/*
 * A worker of a query: the state of one thread that adds up records, with fields, filter and
 * groups of its own; and the pipeline, whose worker adds up what another thread decompresses.
 */
#ifndef PERFLUA_QUERY_WORKER_H
#define PERFLUA_QUERY_WORKER_H

#include "base/progress.h"
#include "query/group/group.h"
#include "query/scope/scope.h"
#include "perfdata/stream/record_batches.h"

/*
 * Slots for the ids met last, by their lowest bits: successive samples mostly have the same
 * few.
 */
#define PQ_MET 16

struct pq_met {
	uint64_t id;
	const struct pq_bound *bound; /* NULL: the slot is empty */
};

struct pq_worker {
	const struct pq_scope *scope;
	struct pm_resolver *resolver; /* NULL: nothing asks the recorded system */
	struct pq_fields fields;
	struct pq_expr *filter; /* NULL: all records pass */
	struct pq_items *items; /* NULL: rows are records */
	struct pq_groups *groups;
	unsigned time_id;
	const struct pd_file *file; /* file that those ids are of; NULL: none */
	struct pq_met met[PQ_MET];
	uint64_t n_records; /* records of the scope's types that it was given */
	bool picks;	    /* some records of the scope's types are not in the scope */
};

/*
 * Initializes a worker; `scope` and `grouping` must outlive it. Returns false without memory;
 * the caller calls pq_worker_deinit() also then.
 */
bool pq_worker_init(struct pq_worker *worker, const struct pq_scope *scope,
		    const struct pq_grouping *grouping);
void pq_worker_deinit(struct pq_worker *worker);

/* Adds the rows of the record that was entered. Returns false without memory. */
bool pq_worker_take_items(struct pq_worker *worker);

/* Adds the record that was entered in its fields. Returns what pq_worker_take() returns. */
static inline bool pq_worker_take_entered(struct pq_worker *w, const struct pd_record *rec)
{
	if (w->picks && !pq_in_scope(w->scope, rec, w->time_id))
		return true;
	if (w->filter && !pq_expr_test(w->filter, &w->fields))
		return true;
	return w->items ? pq_worker_take_items(w) : pq_groups_add(w->groups);
}

/*
 * Adds a record of one of the scope's types, if it is in the scope. Returns false without
 * memory.
 */
static inline bool pq_worker_take(struct pq_worker *w, const struct pd_record *rec)
{
	w->n_records++;
	return pq_fields_enter(&w->fields, rec) && pq_worker_take_entered(w, rec);
}

/*
 * Adds a range of a stream's records. Sets *unknown to true if the event of one is not known,
 * and leaves it otherwise. Returns false without memory.
 */
bool pq_worker_take_range(struct pq_worker *worker, const struct pd_stream *stream,
			  const struct pd_binder *binder, const struct pd_record_range *range,
			  bool *unknown);

/* Counts the records from number `before` on as a stage of the thread's pass. */
void pq_worker_count(const struct pq_worker *worker, uint64_t before);

/* Adds all records of a reader; `progress` reports the bytes read. */
enum pb_outcome pq_worker_read(struct pq_worker *worker, struct pd_reader *reader,
			       const struct pb_progress *progress, struct pd_error *err);

/*
 * The pipeline of a grouped query over one compressed stream, which is decompressed once.
 *
 * A producer thread decompresses (perfdata's record_batches.h), and the caller's thread adds up
 * the records. If the query asks the recorded system, that is read on the way
 * (pm_incremental_add): batches wait until two more rounds of perf's have come, after which no
 * record should be as early as theirs.
 */

/* Returns true if a pipeline can run a query with that scope. */
bool pq_pipeline_fits(const struct pq_scope *scope);

/*
 * Does what pq_run() does. Returns PB_RETRY_SERIAL if something about the recording is unusual:
 * the recorded system, if there is one, was read then, and nothing else was done.
 */
enum pb_outcome pq_pipeline_run(const struct pq_scope *scope,
				const struct pq_grouping *grouping, struct pq_groups **groups,
				struct pd_error *err);

#endif
