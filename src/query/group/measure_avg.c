/* Averages: number of values, and their exact sum. */

#include "measure.h"

#define LOW_BITS 32
#define LOW_MASK UINT64_C(0xffffffff)

/* State for integers. */
struct average {
	struct pb_wide sum;
	uint64_t n; /* number of values; UINT64_MAX: it, or the sum, is too large */
};

/* Adds `weight` to *n, up to UINT64_MAX. */
static void add_n(uint64_t *n, uint64_t weight)
{
	if (__builtin_add_overflow(*n, weight, n))
		*n = UINT64_MAX;
}

/*
 * Multiplies an integer by a weight. Returns false if the product is beyond 2^94 in magnitude.
 */
static bool multiply_by_weight(const struct pq_value *value, enum pq_kind kind, uint64_t weight,
			       struct pb_wide *product)
{
	bool is_negative = value->i < 0 && !pq_is_unsigned(kind);

	*product = pb_wide_product(is_negative ? -value->u : value->u, weight);
	if (product->high >> (94 - 64))
		return false;
	if (is_negative)
		*product = pb_wide_negate(*product);
	return true;
}

static bool integer_average_step(const struct pq_measured *m, void *state,
				 const struct pq_value *value, uint64_t weight)
{
	struct average *avg = state;
	struct pb_wide product;

	if (value->type != PQ_INT)
		return true;
	add_n(&avg->n, weight);
	if (!multiply_by_weight(value, m->kind, weight, &product) ||
	    !pb_wide_add_checked(&avg->sum, product))
		avg->n = UINT64_MAX;
	return true;
}

static bool integer_average_merge(const struct pq_measured *m, void *state, void *from)
{
	struct average *avg = state;
	const struct average *added = from;

	(void)m;
	add_n(&avg->n, added->n);
	if (!pb_wide_add_checked(&avg->sum, added->sum))
		avg->n = UINT64_MAX;
	return true;
}

static void integer_average_get(const struct pq_measured *m, const void *state,
				struct pq_state *out)
{
	const struct average *avg = state;

	(void)m;
	out->parts[0] = (struct pq_value){ .type = PQ_INT, .u = avg->n };
	out->parts[1] = (struct pq_value){ .type = PQ_INT,
					   .u = pb_wide_shift_right(avg->sum, LOW_BITS).low };
	out->parts[2] = (struct pq_value){ .type = PQ_INT, .u = avg->sum.low & LOW_MASK };
}

/* Returns a sum in two parts as one. */
static struct pb_wide join_sum(int64_t high, uint64_t low)
{
	struct pb_wide sum = pb_wide_from(high, false);

	sum.high = sum.high << LOW_BITS | sum.low >> LOW_BITS;
	sum.low = sum.low << LOW_BITS | low;
	return sum;
}

static bool integer_average_put(const struct pq_measured *m, void *state,
				const struct pq_state *from)
{
	const struct pq_value *parts = from->parts;
	struct average added = { join_sum(parts[1].i, parts[2].u), parts[0].u };

	return integer_average_merge(m, state, &added);
}

static enum pq_wrong judge_average(uint64_t n, struct pb_wide high)
{
	if (n == UINT64_MAX || !pb_wide_fits(high))
		return PQ_WRONG_AVERAGE;
	return n > INT64_MAX ? PQ_WRONG_WEIGHTS : PQ_RIGHT;
}

static enum pq_wrong integer_average_wrong(const void *state)
{
	const struct average *avg = state;

	return judge_average(avg->n, pb_wide_shift_right(avg->sum, LOW_BITS));
}

/*
 * State for any values. From the first float on the sum is in two parts, the lower of which has
 * all floats.
 */
struct any_average {
	struct average integers; /* sum is in units of 2^32 once there was a float */
	double low;
	bool is_float;
};

static void add_float_to_average(struct any_average *avg, double x)
{
	if (!avg->is_float) {
		avg->low = (double)(avg->integers.sum.low & LOW_MASK);
		avg->integers.sum = pb_wide_shift_right(avg->integers.sum, LOW_BITS);
		avg->is_float = true;
	}
	avg->low += x;
}

static void add_integers(struct any_average *avg, struct pb_wide sum)
{
	if (avg->is_float) {
		avg->low += (double)(sum.low & LOW_MASK);
		sum = pb_wide_shift_right(sum, LOW_BITS);
	}
	if (!pb_wide_add_checked(&avg->integers.sum, sum))
		avg->integers.n = UINT64_MAX;
}

static bool any_average_step(const struct pq_measured *m, void *state,
			     const struct pq_value *value, uint64_t weight)
{
	struct any_average *avg = state;
	struct pb_wide product;

	if (value->type != PQ_INT && value->type != PQ_FLOAT)
		return true;
	add_n(&avg->integers.n, weight);
	if (value->type == PQ_FLOAT)
		add_float_to_average(avg, value->f * (double)weight);
	else if (multiply_by_weight(value, m->kind, weight, &product))
		add_integers(avg, product);
	else
		avg->integers.n = UINT64_MAX;
	return true;
}

static bool any_average_merge(const struct pq_measured *m, void *state, void *from)
{
	struct any_average *avg = state;
	const struct any_average *added = from;

	(void)m;
	add_n(&avg->integers.n, added->integers.n);
	if (added->is_float) {
		add_float_to_average(avg, added->low);
		pb_wide_add(&avg->integers.sum, added->integers.sum);
	} else {
		add_integers(avg, added->integers.sum);
	}
	return true;
}

static bool any_average_put(const struct pq_measured *m, void *state,
			    const struct pq_state *from)
{
	const struct pq_value *parts = from->parts;
	struct any_average added = { .integers = { .n = parts[0].u } };

	if (parts[2].type == PQ_FLOAT) {
		added.integers.sum = pb_wide_from(parts[1].i, false);
		added.low = parts[2].f;
		added.is_float = true;
	} else {
		added.integers.sum = join_sum(parts[1].i, parts[2].u);
	}
	return any_average_merge(m, state, &added);
}

static void any_average_get(const struct pq_measured *m, const void *state,
			    struct pq_state *out)
{
	const struct any_average *avg = state;

	integer_average_get(m, &avg->integers, out);
	if (avg->is_float) {
		out->parts[1].u = avg->integers.sum.low;
		out->parts[2] = pq_float_value(avg->low);
	}
}

static enum pq_wrong any_average_wrong(const void *state)
{
	const struct any_average *avg = state;

	if (!avg->is_float)
		return integer_average_wrong(&avg->integers);
	return judge_average(avg->integers.n, avg->integers.sum);
}

static const struct pq_measure_ops average_ops[2] = {
	{
		.size = sizeof(struct average),
		.step = integer_average_step,
		.merge = integer_average_merge,
		.get = integer_average_get,
		.put = integer_average_put,
		.wrong = integer_average_wrong,
	},
	{
		.size = sizeof(struct any_average),
		.step = any_average_step,
		.merge = any_average_merge,
		.get = any_average_get,
		.put = any_average_put,
		.wrong = any_average_wrong,
		.serial = PQ_SERIAL_SUM,
	},
};

static void show_average(const struct pq_shown *how, const struct pq_state *state,
			 struct pq_value *out)
{
	const struct pq_value *n = &state->parts[0], *low = &state->parts[2];
	int64_t high = state->parts[1].i;

	(void)how;
	if (!n->u)
		return;
	if (low->type == PQ_INT && high >= INT32_MIN && high <= INT32_MAX)
		*out = pq_float_value((double)(high * INT64_C(0x100000000) + low->i) /
				      (double)n->u);
	else
		*out = pq_float_value(((double)high * 4294967296.0 + pq_to_double(low)) /
				      (double)n->u);
}

const struct pq_measure_row pq_avg_row = {
	.name = "avg",
	.takes = PQ_TAKES_NUMBERS,
	.shows = "float",
	.is_weighted = true,
	.parts = { PQ_PART_NATURAL, PQ_PART_INTEGER, PQ_PART_LOW },
	.show = show_average,
	.ops = { &average_ops[0], &average_ops[1] },
};
