#include "numbers.h"

#include <stdlib.h>

#define FIRST_SLOTS 64

static void insert(uint32_t *slots, size_t n_slots, uint64_t hash, uint32_t item)
{
	while (slots[hash & (n_slots - 1)])
		hash++;
	slots[hash & (n_slots - 1)] = item + 1;
}

static bool widen(struct pq_numbers *set, const struct pq_numbered *how)
{
	size_t n = set->n_slots ? 2 * set->n_slots : FIRST_SLOTS;
	uint32_t *wide = calloc(n, sizeof(*wide));

	if (!wide)
		return false;
	for (size_t i = 0; i < set->n_slots; i++)
		if (set->slots[i])
			insert(wide, n, how->hash(how->arg, set->slots[i] - 1),
			       set->slots[i] - 1);
	free(set->slots);
	set->slots = wide;
	set->n_slots = n;
	return true;
}

uint32_t pq_numbers_add(struct pq_numbers *set, const struct pq_numbered *how, uint32_t item)
{
	uint64_t hash = how->hash(how->arg, item);
	uint32_t found;

	/* half of the slots stay free */
	if (2 * set->n >= set->n_slots && !widen(set, how))
		return UINT32_MAX;
	for (uint64_t h = hash; (found = set->slots[h & (set->n_slots - 1)]); h++)
		if (how->same(how->arg, found - 1, item))
			return found - 1;
	insert(set->slots, set->n_slots, hash, item);
	set->n++;
	return item;
}

void pq_numbers_deinit(struct pq_numbers *set)
{
	free(set->slots);
	*set = (struct pq_numbers){ 0 };
}
