/*
 * Runs a grouped query over one compressed stream, which is decompressed once.
 *
 * A producer thread decompresses (perfdata's record_batches.h), and the caller's thread adds up
 * what it finds. If the query asks the recorded system, that is read on the way (machine's
 * incremental.h): batches wait until two more rounds of perf's have come, after which nothing
 * should be as early as they are.
 */
#ifndef PERFLUA_QUERY_PIPELINE_H
#define PERFLUA_QUERY_PIPELINE_H

#include "worker.h"

/* Returns true if a query with that scope can be run in this way. */
bool pq_pipeline_fits(const struct pq_scope *scope);

/*
 * Does what pq_run() does. Returns PB_RETRY_SERIAL if something about the recording is unusual:
 * the recorded system, if there is one, was read then, and nothing else was done.
 */
enum pb_outcome pq_pipeline_run(const struct pq_scope *scope,
				const struct pq_grouping *grouping, struct pq_groups **groups,
				struct pd_error *err);

#endif
