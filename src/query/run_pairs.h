/*
 * Runs a grouped query over pairs of records. A producer thread makes the rows (rows.h), and
 * the caller adds them up; if functions see records, the caller does both.
 */
#ifndef PERFLUA_QUERY_RUN_PAIRS_H
#define PERFLUA_QUERY_RUN_PAIRS_H

#include "base/progress.h"
#include "query/group/group.h"
#include "query/rows/rows.h"

/*
 * Does what pq_run() does; the fields of `grouping` and `kept` are those of rows. scope->calls,
 * which may be NULL, knows only the functions that see records, `calls` all of them. The counts
 * are set unless it fails. `progress` is asked in
 * the calling thread, that of the scope in the one that makes the rows.
 */
enum pb_outcome pq_run_pairs(const struct pq_scope *scope, struct pq_calls *calls,
			     const struct pq_paired *paired, const struct pq_grouping *grouping,
			     struct pq_groups **groups, struct pq_pair_counts *counts,
			     const struct pb_progress *progress, struct pd_error *err);

#endif
