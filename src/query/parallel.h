/*
 * A grouped query by several threads, which share what it reads in partitions.
 */
#ifndef PERFLUA_QUERY_PARALLEL_H
#define PERFLUA_QUERY_PARALLEL_H

#include "worker.h"

/*
 * For how many threads it is; *why says why not for more, in a word or two, or is NULL: nothing
 * is in the way.
 */
unsigned pq_parallel_threads(const struct pq_scope *scope, const struct pq_grouping *grouping,
			     const char **why);

/* As pq_run, by so many threads. PB_RETRY_SERIAL: it cannot be shared after all. */
enum pb_outcome pq_parallel_run(const struct pq_scope *scope,
				const struct pq_grouping *grouping, unsigned threads,
				struct pq_groups **groups, struct pd_error *err);

#endif
