#include <math.h>
#include <string.h>

#include "value.h"

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

void pq_unify(struct pq_value *value, enum pq_kind kind)
{
	if (kind != PQ_K_FLOAT)
		pq_normalise(value);
	else if (value->type == PQ_INT)
		*value = (struct pq_value){ .type = PQ_FLOAT, .f = (double)value->i };
	else if (value->type == PQ_FLOAT)
		value->f += 0.0; /* -0.0 becomes 0.0 */
}

uint32_t pq_hash(const struct pb_secret *secret, const struct pq_value *value)
{
	if (value->type == PQ_TEXT)
		return pb_hash_bytes(secret, value->p, value->size);
	return pb_hash_pair(secret, value->type == PQ_NIL ? 0 : pq_bits(value), value->type);
}

/* Ranks of types; values of one rank are compared with one another. */
enum rank {
	RANK_BOOLEAN,
	RANK_NUMBER,
	RANK_TEXT,
	RANK_CHAIN,
	RANK_UNORDERED
};

static enum rank rank_of(const struct pq_value *value)
{
	if (pq_is_unordered(value))
		return RANK_UNORDERED;
	switch (value->type) {
	case PQ_BOOL:
		return RANK_BOOLEAN;
	case PQ_TEXT:
		return RANK_TEXT;
	case PQ_CHAIN:
		return RANK_CHAIN;
	default:
		return RANK_NUMBER;
	}
}

static int compare_texts(const struct pq_value *a, const struct pq_value *b)
{
	size_t n = a->size < b->size ? a->size : b->size;
	int order = n ? memcmp(a->p, b->p, n) : 0;

	return order ? order : (a->size > b->size) - (a->size < b->size);
}

/* Compares an integer with a float that is a number, exactly. */
static int compare_with_float(int64_t i, bool is_unsigned, double f)
{
	int64_t whole;

	if (is_unsigned && i < 0) { /* from 2^63 on all floats are whole */
		if (f < 0x1p63 || f >= 0x1p64)
			return f < 0x1p63 ? 1 : -1;
		return ((uint64_t)i > (uint64_t)f) - ((uint64_t)i < (uint64_t)f);
	}
	if (f >= 0x1p63)
		return -1;
	if (f < -0x1p63)
		return 1;
	whole = (int64_t)f;
	if (i != whole)
		return i < whole ? -1 : 1;
	f -= (double)whole;
	return (f < 0) - (f > 0);
}

/* Compares numbers, not both integers. */
static int compare_numbers(const struct pq_value *a, const struct pq_value *b, bool is_unsigned)
{
	if (a->type == PQ_FLOAT && b->type == PQ_FLOAT)
		return (a->f > b->f) - (a->f < b->f);
	if (a->type == PQ_FLOAT)
		return -compare_with_float(b->i, is_unsigned, a->f);
	return compare_with_float(a->i, is_unsigned, b->f);
}

int pq_compare_others(const struct pq_value *a, const struct pq_value *b, bool is_unsigned)
{
	enum rank x = rank_of(a), y = rank_of(b);

	if (x != y)
		return x < y ? -1 : 1;
	switch (x) {
	case RANK_NUMBER:
		return compare_numbers(a, b, is_unsigned);
	case RANK_TEXT:
		return compare_texts(a, b);
	case RANK_UNORDERED:
		return 0;
	default:
		return (a->u > b->u) - (a->u < b->u);
	}
}
