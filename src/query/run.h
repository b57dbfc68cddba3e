/*
 * Running a grouped query: one pass over the records, by as many threads as do any good.
 *
 * How it is read: what can be read again is cut into pieces, which threads share (perfdata's pieces.h); what cannot be
 * cut, or must be in the order of time, is walked by one thread. What is compressed is decompressed by one and added up by another
 * (pipeline.h). What
 * passes once is walked as it comes, and tells the machine of it.
 */
#ifndef PERFLUA_QUERY_RUN_H
#define PERFLUA_QUERY_RUN_H

#include "query/group/group.h"
#include "query/expr/scope.h"

/*
 * The groups of all records in the scope. 1: *groups is the caller's. 0: progress said no;
 * *groups has what was read until then, and is the caller's, too. -1: err says why; without a
 * file's fault code "ENOMEM".
 */
int pq_run(const struct pq_scope *scope, const struct pq_grouping *grouping,
	   struct pq_groups **groups, struct pd_error *err);

/* May it read the machine itself, at less cost than before it: see scope.unread. */
bool pq_run_reads(const struct pq_scope *scope);

/* How many threads pq_run would use, and why not more: a word or two for explain(); NULL: nothing is in the way. */
unsigned pq_run_threads(const struct pq_scope *scope, const struct pq_grouping *grouping,
			const char **why);

#endif
