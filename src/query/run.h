/*
 * Running a grouped query: one pass over the records, by as many threads as do any good.
 *
 * How it is read: what can be read again is cut into partitions, which threads share
 * (perfdata's partitions.h); what cannot be cut, or must be in the order of time, is walked by
 * one thread. What is compressed is decompressed by one and added up by another (pipeline.h).
 * What passes once is walked as it comes, and tells the system of it.
 */
#ifndef PERFLUA_QUERY_RUN_H
#define PERFLUA_QUERY_RUN_H

#include "base/outcome.h"
#include "query/group/group.h"
#include "query/expr/scope.h"

/*
 * Groups all records in the scope; PB_STOPPED: those that were read until then. *groups becomes
 * the caller's, unless PB_FAILED, whose code is "ENOMEM" where no file is at fault. Never
 * PB_RETRY_SERIAL.
 */
enum pb_outcome pq_run(const struct pq_scope *scope, const struct pq_grouping *grouping,
		       struct pq_groups **groups, struct pd_error *err);

/* May it read the system itself, at less cost than before it: see scope.unread. */
bool pq_run_reads(const struct pq_scope *scope);

/*
 * How many threads pq_run would use, and why not more: a word or two for explain(); NULL:
 * nothing is in the way.
 */
unsigned pq_run_threads(const struct pq_scope *scope, const struct pq_grouping *grouping,
			const char **why);

#endif
