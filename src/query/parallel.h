/* Runs a grouped query by several workers, which share the partitions of its session. */
#ifndef PERFLUA_QUERY_PARALLEL_H
#define PERFLUA_QUERY_PARALLEL_H

#include "worker.h"

/*
 * Returns the number of workers. Sets *why to the reason for not using more, in a few words;
 * NULL: there is none.
 */
unsigned pq_parallel_threads(const struct pq_scope *scope, const struct pq_grouping *grouping,
			     const char **why);

/*
 * Does what pq_run() does, with `threads` workers. Returns PB_RETRY_SERIAL if that turns out to
 * be impossible; then nothing was done.
 */
enum pb_outcome pq_parallel_run(const struct pq_scope *scope,
				const struct pq_grouping *grouping, unsigned threads,
				struct pq_groups **groups, struct pd_error *err);

#endif
