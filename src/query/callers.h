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
	uint32_t owner;	 /* the number that all rows have whose other keys are these */
	uint32_t part;	 /* the number of what is shown of the frame */
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

/* Stands for all periods that are as large or larger: no integer of Lua's is. */
#define PQ_TOO_LARGE (UINT64_C(1) << 63)

/*
 * Of groups of n_keys keys, which must outlive it. `interrupt` (NULL: nobody) may end the adding up of
 * the groups: pq_callers_taken says how many were. NULL: no memory.
 */
struct pq_callers *pq_callers_create(const struct pq_groups *groups, size_t n_keys, unsigned by,
				     struct ps_interrupt *interrupt);
size_t pq_callers_taken(const struct pq_callers *callers);
void pq_callers_destroy(struct pq_callers *callers);

size_t pq_callers_size(const struct pq_callers *callers);

/* The row at that place: as it was met, or in order once they were sorted. */
const struct pq_caller_row *pq_callers_row(const struct pq_callers *callers, size_t i);

/* A column that rows are sorted by. */
struct pq_caller_column {
	enum pq_caller_from {
		PQ_FROM_KEY,
		PQ_FROM_DSO,
		PQ_FROM_SYMBOL,
		PQ_FROM_MODE
	} from;
	size_t key;	/* of PQ_FROM_KEY */
	bool is_signed; /* of integers */
};

/*
 * Sorts the rows: by event, if that is a key (SIZE_MAX: it is none), those without one last; the greatest `children`
 * first; then by column after column, as lua/perflua/report/order.lua says, unless there is no time for that once
 * `interrupt` (NULL: nobody) came. False: no memory.
 */
bool pq_callers_sort(struct pq_callers *callers, size_t event_key,
		     const struct pq_caller_column *columns, size_t n,
		     const struct ps_interrupt *interrupt);

#endif
