#include <math.h>
#include <string.h>

#include "arith.h"

bool pq_same(const struct pq_value *a, const struct pq_value *b)
{
	int64_t i;

	if (a->type == PQ_TEXT && b->type == PQ_TEXT)
		return a->size == b->size && (!a->size || memcmp(a->p, b->p, a->size) == 0);
	if (a->type == PQ_FLOAT && b->type == PQ_FLOAT)
		return a->f == b->f;
	if (a->type == PQ_FLOAT && b->type == PQ_INT)
		return pq_float_to_integer(a->f, &i) && i == b->i;
	if (a->type == PQ_INT && b->type == PQ_FLOAT)
		return pq_float_to_integer(b->f, &i) && i == a->i;
	return a->type == b->type && pq_bits(a) == pq_bits(b);
}

void pq_normalise(struct pq_value *value)
{
	int64_t i;

	if (value->type != PQ_FLOAT)
		return;
	if (isnan(value->f)) {
		value->type = PQ_NIL;
	} else if (pq_float_to_integer(value->f, &i)) {
		value->type = PQ_INT;
		value->i = i;
	}
}
