/*
 * Running a grouped query over pairs of records: rows (rows.h) are made by a thread, and added
 * up by the caller.
 */
#ifndef PERFLUA_QUERY_RUN_PAIRS_H
#define PERFLUA_QUERY_RUN_PAIRS_H

#include "base/outcome.h"
#include "query/group/group.h"
#include "query/rows/rows.h"

struct pq_paired {
	const struct pq_node *const *nodes; /* [n], values of records */
	size_t n;
	const struct pq_pairing *how;
	const struct pq_node *kept; /* a condition on a row; NULL: all of them */
};

/*
 * As pq_run; the fields of `grouping` and `kept` are those of rows. The counts are set unless
 * it fails. *part becomes the part of the session that was read (pd_session_part).
 */
enum pb_outcome pq_run_pairs(const struct pq_scope *scope, const struct pq_paired *paired,
			     const struct pq_grouping *grouping, struct pq_groups **groups,
			     struct pq_pair_counts *counts, double *part, struct pd_error *err);

#endif
