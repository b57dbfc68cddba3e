/*
 * Counting a whole session by type and event, by several threads: what pd_stat_collect counts.
 */
#ifndef PERFLUA_QUERY_COUNT_H
#define PERFLUA_QUERY_COUNT_H

#include "query/expr/scope.h"
#include "analysis/stat.h"

/*
 * As pd_stat_collect, whose answer it is, of the scope's session, with its threads and
 * progress.
 */
bool pq_count(const struct pq_scope *scope, struct pd_stat *stat, struct pd_error *err);

#endif
