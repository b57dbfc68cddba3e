/*
 * A set of numbers: those of the items of an array, of which no two are the same. What an item
 * is, and when two are the same, the caller knows; here are four bytes for each, and as many
 * free.
 */
#ifndef PERFLUA_QUERY_NUMBERS_H
#define PERFLUA_QUERY_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pq_numbers {
	uint32_t *slots;   /* [n_slots]: numbers from 1 on; 0: free */
	size_t n, n_slots; /* n_slots: a power of two, or 0 */
};

/* How items are told apart: by their numbers, in what `arg` is. */
struct pq_numbered {
	uint64_t (*hash)(const void *arg, uint32_t item);
	bool (*same)(const void *arg, uint32_t a, uint32_t b);
	const void *arg;
};

/*
 * Returns the number in the set that is the same as `item`, which is added if there is none;
 * UINT32_MAX: no memory.
 */
uint32_t pq_numbers_add(struct pq_numbers *set, const struct pq_numbered *how, uint32_t item);
void pq_numbers_deinit(struct pq_numbers *set);

#endif
