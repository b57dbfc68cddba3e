/*
 * A report with callers: each sample counts once for every different row that a frame of its call chain belongs to.
 *
 * It is made of the groups of a query whose last key is a chain of PQ_CHAIN_FRAMES, and whose measures are a count and
 * a sum. A row is the other keys, and of a frame the names that are asked for: of its binary, as perf report shortens
 * it, and of its function, with the cpumode.
 */
#ifndef PERFLUA_QUERY_CALLERS_H
#define PERFLUA_QUERY_CALLERS_H

#include "group.h"

#define PQ_BY_DSO    1u
#define PQ_BY_SYMBOL 2u

struct pq_callers;

struct pq_caller_row {
	size_t group;	 /* whose other keys the row has */
	const char *dso; /* NULL: not asked for */
	const char *
		symbol; /* NULL: not asked for, or not known: then it is `address` in the binary */
	uint64_t address;
	bool placed;	   /* false: the samples have no address */
	uint8_t mode;	   /* enum pd_cpumode */
	uint64_t samples;  /* whose own function it is */
	uint64_t period;   /* of these */
	uint64_t children; /* period of those that have it anywhere in their chain */
};

/* Of groups of n_keys keys, which must outlive it. NULL: no memory. */
struct pq_callers *pq_callers_create(const struct pq_groups *groups, size_t n_keys,
				     unsigned by);
void pq_callers_destroy(struct pq_callers *callers);

size_t pq_callers_size(const struct pq_callers *callers);
const struct pq_caller_row *pq_callers_row(const struct pq_callers *callers, size_t i);

#endif
