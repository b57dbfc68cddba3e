/*
 * Ranks of the values in a report's columns: small numbers that sort as the values do.
 */
#ifndef PERFLUA_QUERY_REPORT_RANK_H
#define PERFLUA_QUERY_REPORT_RANK_H

#include "report_internal.h"

/* Ranks of the columns that have several values. */
struct pq_ranks {
	struct {
		uint32_t *ranks; /* rank of each owner, or part */
		uint32_t n;	 /* number of different ranks */
		bool of_parts;
	} * columns; /* [n] */
	size_t n;
};

/* Makes the ranks of a column. Returns false without memory. */
bool pq_ranks_add(struct pq_report *report, const struct pq_report_column *column,
		  struct pq_ranks *ranks);

#endif
