#include <stdlib.h>
#include <string.h>

#include "set.h"

struct pq_set {
	size_t n;
	struct pq_value values[]; /* normalised and sorted */
};

/* Orders values so that only equal ones compare as equal; the order has no other meaning. */
static int compare_in_set(const struct pq_value *a, const struct pq_value *b)
{
	int diff = 0;

	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	if (a->type != PQ_TEXT)
		return a->u < b->u ? -1 : a->u > b->u;
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	if (a->size)
		diff = memcmp(a->p, b->p, a->size);
	return diff;
}

static int compare_any(const void *a, const void *b)
{
	return compare_in_set(a, b);
}

struct pq_set *pq_set_create(const struct pq_value *values, size_t n)
{
	struct pq_set *set = n > SIZE_MAX / 2 / sizeof(*values) ?
				     NULL :
				     malloc(sizeof(*set) + n * sizeof(*values));

	if (!set)
		return NULL;
	set->n = n;
	for (size_t i = 0; i < n; i++) {
		set->values[i] = values[i];
		pq_normalise(&set->values[i]);
	}
	if (n)
		qsort(set->values, n, sizeof(*values), compare_any);
	return set;
}

void pq_set_destroy(struct pq_set *set)
{
	free(set);
}

bool pq_set_has(const struct pq_set *set, const struct pq_value *value)
{
	struct pq_value wanted = *value;
	size_t low = 0, high = set->n;

	pq_normalise(&wanted);
	if (wanted.type == PQ_NIL)
		return false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int diff = compare_in_set(&wanted, &set->values[middle]);

		if (!diff)
			return true;
		if (diff < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return false;
}
