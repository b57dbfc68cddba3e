/*
 * Ranks of the values in a report's columns: small numbers that sort as the values do.
 */
#ifndef PERFLUA_QUERY_REPORT_RANK_H
#define PERFLUA_QUERY_REPORT_RANK_H

#include "base/outcome.h"
#include "report_internal.h"

#define PQ_SORTED_AT_ONCE 10000 /* elements that are sorted even after an interrupt */

static inline bool pq_is_interrupted(const struct ps_interrupt *interrupt)
{
	if (interrupt && interrupt->tick)
		interrupt->tick(interrupt->arg);
	return interrupt && interrupt->flag && *interrupt->flag;
}

typedef int pq_compare_fn(const void *left, const void *right, void *arg);

/* A list of n elements of `size` bytes that is being sorted. */
struct pq_sorting {
	size_t n, size;
	pq_compare_fn *compare;
	void *arg;
};

/*
 * Sorts `list`. Returns PB_STOPPED, with the elements in any order, when an interrupt comes
 * while there are many, and PB_FAILED without memory.
 */
enum pb_outcome pq_sort_list(const struct pq_sorting *sorting, char *list,
			     const struct ps_interrupt *interrupt);

/* Ranks of the columns that have several values. */
struct pq_ranks {
	struct {
		uint32_t *ranks; /* rank of each owner, or part */
		uint32_t n;	 /* number of different ranks */
		bool of_parts;
	} * columns; /* [n] */
	size_t n;
};

/* Makes the ranks of a column. An interrupt may end it. */
enum pb_outcome pq_ranks_add(struct pq_report *report, const struct pq_report_column *column,
			     struct pq_ranks *ranks, const struct ps_interrupt *interrupt);

#endif
