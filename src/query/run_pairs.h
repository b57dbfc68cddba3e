/*
 * Running a grouped query over pairs of records: rows (rows.h) are made by a thread, and added
 * up by the caller, who makes them himself if functions see records.
 */
#ifndef PERFLUA_QUERY_RUN_PAIRS_H
#define PERFLUA_QUERY_RUN_PAIRS_H

#include "base/outcome.h"
#include "query/group/group.h"
#include "query/rows/rows.h"

/*
 * As pq_run; the fields of `grouping` and `kept` are those of rows. Of what is called there,
 * scope->calls, which may be NULL, knows only those that see records, `calls` all. The counts
 * are set unless it fails. *part becomes the part of the session that was read
 * (pd_session_part).
 */
enum pb_outcome pq_run_pairs(const struct pq_scope *scope, struct pq_calls *calls,
			     const struct pq_paired *paired, const struct pq_grouping *grouping,
			     struct pq_groups **groups, struct pq_pair_counts *counts,
			     double *part, struct pd_error *err);

#endif
