#include <math.h>
#include <string.h>

#include "arith.h"

static bool adapts_sign(enum pq_kind kind) /* is as signed as what it is compared with */
{
	return kind == PQ_K_NATURAL || kind == PQ_K_BITS || kind == PQ_K_ANY;
}

unsigned pq_order_signs(enum pq_kind a, enum pq_kind b)
{
	const unsigned both = PQ_LEFT_UNSIGNED | PQ_RIGHT_UNSIGNED;

	if (pq_is_unsigned(a))
		return pq_is_unsigned(b) || adapts_sign(b) ? both : PQ_LEFT_UNSIGNED;
	if (pq_is_unsigned(b))
		return adapts_sign(a) ? both : PQ_RIGHT_UNSIGNED;
	if ((a == PQ_K_BITS && b == PQ_K_ANY) || (a == PQ_K_ANY && b == PQ_K_BITS))
		return both;
	return 0;
}

static enum pq_order reverse_order(enum pq_order order)
{
	return order > PQ_IS_GREATER ? order : (enum pq_order)(PQ_IS_GREATER - order);
}

static enum pq_order signed_order(int64_t a, int64_t b)
{
	return a < b ? PQ_IS_LESS : a > b ? PQ_IS_GREATER : PQ_IS_EQUAL;
}

static enum pq_order unsigned_order(uint64_t a, uint64_t b)
{
	return a < b ? PQ_IS_LESS : a > b ? PQ_IS_GREATER : PQ_IS_EQUAL;
}

static enum pq_order float_order(double a, double b)
{
	if (a < b)
		return PQ_IS_LESS;
	if (a > b)
		return PQ_IS_GREATER;
	return a == b ? PQ_IS_EQUAL : PQ_UNORDERED;
}

/* Compares an integer with a float: with its whole part, an integer, then with its fraction. */
static enum pq_order mixed_order(const struct pq_value *a, bool is_unsigned, double f)
{
	double whole = floor(f);
	enum pq_order order;

	if (isnan(f))
		return PQ_UNORDERED;
	if (f >= (is_unsigned ? 0x1p64 : 0x1p63))
		return PQ_IS_LESS;
	if (f < (is_unsigned ? 0 : -0x1p63))
		return PQ_IS_GREATER;
	order = is_unsigned ? unsigned_order(a->u, (uint64_t)whole) :
			      signed_order(a->i, (int64_t)whole);
	return order == PQ_IS_EQUAL && f > whole ? PQ_IS_LESS : order;
}

static enum pq_order integer_order(const struct pq_value *a, const struct pq_value *b,
				   unsigned signs)
{
	switch (signs) {
	case 0:
		return signed_order(a->i, b->i);
	case PQ_LEFT_UNSIGNED:
		return b->i < 0 ? PQ_IS_GREATER : unsigned_order(a->u, b->u);
	case PQ_RIGHT_UNSIGNED:
		return a->i < 0 ? PQ_IS_LESS : unsigned_order(a->u, b->u);
	default:
		return unsigned_order(a->u, b->u);
	}
}

static enum pq_order text_order(const struct pq_value *a, const struct pq_value *b)
{
	size_t n = a->size < b->size ? a->size : b->size;
	int diff = n ? memcmp(a->p, b->p, n) : 0;

	if (diff)
		return diff < 0 ? PQ_IS_LESS : PQ_IS_GREATER;
	return unsigned_order(a->size, b->size);
}

enum pq_order pq_order(const struct pq_value *a, const struct pq_value *b, unsigned signs)
{
	if (a->type == PQ_INT && b->type == PQ_INT)
		return integer_order(a, b, signs);
	if (a->type == PQ_INT && b->type == PQ_FLOAT)
		return mixed_order(a, signs & PQ_LEFT_UNSIGNED, b->f);
	if (a->type == PQ_FLOAT && b->type == PQ_INT)
		return reverse_order(mixed_order(b, signs & PQ_RIGHT_UNSIGNED, a->f));
	if (a->type != b->type)
		return PQ_UNORDERED;
	switch (a->type) {
	case PQ_FLOAT:
		return float_order(a->f, b->f);
	case PQ_TEXT:
		return text_order(a, b);
	case PQ_BOOL:
	case PQ_CHAIN:
	case PQ_OBJECT:
		return a->u == b->u ? PQ_IS_SAME : PQ_UNORDERED;
	case PQ_EVENT:
		return a->event == b->event ? PQ_IS_SAME : PQ_UNORDERED;
	default:
		return PQ_UNORDERED;
	}
}
