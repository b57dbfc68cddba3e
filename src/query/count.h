/* Counts a whole session by type and event, by several workers. */
#ifndef PERFLUA_QUERY_COUNT_H
#define PERFLUA_QUERY_COUNT_H

#include "query/scope/scope.h"
#include "analysis/stat.h"

/* Does what pd_stat_collect() does, with the session, workers and progress of `scope`. */
bool pq_count(const struct pq_scope *scope, struct pd_stat *stat, struct pd_error *err);

/*
 * Returns the number of workers that pq_count() would use, or with `is_health`
 * pd_health_collect(). Sets *why to the reason for not using more, in a few words; NULL: there
 * is none.
 */
unsigned pq_count_threads(const struct pq_scope *scope, bool is_health, const char **why);

/* Returns whether they read in partitions, which session->watches need. */
bool pq_count_shares(const struct pq_scope *scope, bool is_health);

#endif
