#include "measure.h"

#include <math.h>
#include <string.h>

#define BOTH(ops)               \
	{                       \
		&(ops), &(ops), \
	}

/* [kind of measure]: of integers, and of anything; a count: without and with a weight. */
static const struct pq_measure_ops *const rows[][2] = {
	[PQ_M_COUNT] = { &pq_count_ops,
			 &pq_weighted_count_ops }, /* without and with a weight */
	[PQ_M_SUM] = { &pq_sum_ops[0], &pq_sum_ops[1] },
	[PQ_M_AVG] = { &pq_avg_ops[0], &pq_avg_ops[1] },
	[PQ_M_MIN] = BOTH(pq_min_ops),
	[PQ_M_MAX] = BOTH(pq_max_ops),
	[PQ_M_QUANTILE] = BOTH(pq_quantile_ops),
	[PQ_M_HIST] = BOTH(pq_hist_ops),
	[PQ_M_DISTINCT] = BOTH(pq_distinct_ops),
	[PQ_M_FIRST] = BOTH(pq_first_ops),
	[PQ_M_LAST] = BOTH(pq_last_ops),
	[PQ_M_SHARE] = { &pq_sum_ops[0], &pq_sum_ops[1] },
	[PQ_M_RATIO] = { &pq_ratio_ops[0], &pq_ratio_ops[1] },
	[PQ_M_TIMES] = BOTH(pq_times_ops),
	[PQ_M_COMPARED] = BOTH(pq_computed_ops),
	[PQ_M_DELTA] = BOTH(pq_computed_ops),
};

const struct pq_measure_ops *pq_measure_ops(const struct pq_measure *measure, enum pq_kind kind)
{
	bool integers = pq_is_unsigned(kind) || kind == PQ_K_SIGNED || kind == PQ_K_NATURAL ||
			kind == PQ_K_BITS;

	if (measure->kind == PQ_M_COUNT)
		return rows[PQ_M_COUNT][measure->weight != NULL];
	return rows[measure->kind][!integers];
}

const char *pq_measure_serial(const struct pq_measure *measure)
{
	enum pq_kind kind = measure->value ? measure->value->kind : PQ_K_NIL;

	return pq_measure_ops(measure, kind)->serial;
}

/*
 * Returns i < f, exactly. The limits of integers are floats, and within them the next whole
 * number of a float is an integer.
 */
static bool integer_less(int64_t i, double f)
{
	if (f >= 0x1p63)
		return true;
	return f > -0x1p63 && i < (int64_t)ceil(f);
}

static bool float_less(double f, int64_t i)
{
	if (f >= -0x1p63)
		return f < 0x1p63 && (int64_t)floor(f) < i;
	return f < 0; /* not NaN */
}

static bool text_less(const struct pq_value *a, const struct pq_value *b)
{
	size_t n = a->size < b->size ? a->size : b->size;
	int order = n ? memcmp(a->p, b->p, n) : 0;

	return order < 0 || (order == 0 && a->size < b->size);
}

bool pq_less(const struct pq_value *a, const struct pq_value *b, bool is_unsigned)
{
	if (a->type == PQ_INT && b->type == PQ_INT)
		return is_unsigned ? a->u < b->u : a->i < b->i;
	if (a->type == PQ_FLOAT && b->type == PQ_FLOAT)
		return a->f < b->f;
	if (a->type == PQ_INT && b->type == PQ_FLOAT)
		return integer_less(a->i, b->f);
	if (a->type == PQ_FLOAT && b->type == PQ_INT)
		return float_less(a->f, b->i);
	return b->type == PQ_TEXT && (a->type != PQ_TEXT || text_less(a, b));
}
