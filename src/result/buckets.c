/*
 * Values of the buckets that query/group/sketch.c counts in. Saved tables may name buckets that
 * no value has, so shifts are checked.
 */
#include <math.h>
#include <string.h>

#include "writer.h"

/* Buckets of a histogram: 0 is zero, ±(k + 1) holds magnitudes of 2^k to 2^(k+1) - 1. */
#define LAST_POWER 64

static struct pq_value make_integer(uint64_t u)
{
	return (struct pq_value){ .type = PQ_INT, .u = u };
}

static struct pq_value make_float(double f)
{
	return (struct pq_value){ .type = PQ_FLOAT, .f = f };
}

static struct pq_value power_of_two(int32_t k)
{
	return k < 63 ? make_integer((uint64_t)1 << k) : make_float(ldexp(1, k));
}

static void set_bounds(struct pr_bucket *bucket, int32_t number)
{
	if (number > 0) {
		bucket->from = power_of_two(number - 1);
		bucket->to = power_of_two(number);
	} else if (number == -LAST_POWER) {
		bucket->from = make_integer((uint64_t)INT64_MIN);
		bucket->to = make_integer((uint64_t)INT64_MIN + 1);
	} else if (number < 0) {
		bucket->from = make_integer(1 - ((uint64_t)1 << -number));
		bucket->to = make_integer(1 - ((uint64_t)1 << (-number - 1)));
	} else {
		bucket->from = make_integer(0);
		bucket->to = make_integer(1);
	}
}

size_t pr_histogram(const struct pq_sketch *sketch, struct pr_bucket buckets[PR_MAX_BUCKETS])
{
	uint64_t all[2 * LAST_POWER + 1] = { 0 };
	const struct pq_bucket_count *counts;
	size_t n = pq_sketch_counts(sketch, &counts), n_buckets = 0;
	int32_t low = LAST_POWER, high = -LAST_POWER;

	for (size_t i = 0; i < n; i++) {
		int32_t number = counts[i].bucket;

		if (number < -LAST_POWER || number > LAST_POWER)
			continue;
		all[number + LAST_POWER] = counts[i].count;
		low = number < low ? number : low;
		high = number > high ? number : high;
	}
	for (int32_t number = low; number <= high; number++) {
		buckets[n_buckets].count = all[number + LAST_POWER];
		set_bounds(&buckets[n_buckets++], number);
	}
	return n_buckets;
}

static uint64_t middle_of(uint32_t bucket)
{
	uint32_t shift = (bucket >> 6) - 1;

	if (bucket < 128)
		return bucket;
	if (shift > 63)
		return 0;
	return ((uint64_t)((bucket & 63) + 64) << shift) + (((uint64_t)1 << shift) >> 1);
}

static struct pq_value integer_middle(int32_t bucket)
{
	uint64_t middle = middle_of(bucket < 0 ? 0 - (uint32_t)bucket : (uint32_t)bucket);

	if (bucket >= 0)
		return make_integer(middle);
	/* a magnitude of 2^63 is that of one value */
	return make_integer(middle >> 63 ? (uint64_t)INT64_MIN : 0 - middle);
}

static struct pq_value float_middle(int32_t bucket)
{
	uint64_t number = bucket < 0 ? 0 - (uint64_t)bucket : (uint64_t)bucket;
	uint64_t bits = ((number - 1) << (52 - 6)) + ((uint64_t)1 << (52 - 6 - 1));
	double x;

	if (!bucket)
		return make_float(0);
	memcpy(&x, &bits, sizeof(x));
	return make_float(bucket < 0 ? -x : x);
}

/* Returns how many values are in buckets up to `last`. */
static uint64_t count_up_to(const struct pq_bucket_count *counts, size_t n, int64_t last)
{
	uint64_t total = 0;

	for (size_t i = 0; i < n; i++)
		if (counts[i].bucket <= last)
			total += counts[i].count;
	return total;
}

/* Returns the first bucket up to which there are `rank` values, at most `high`. */
static int32_t find_bucket(const struct pq_bucket_count *counts, size_t n, double rank,
			   int64_t low, int64_t high)
{
	while (low < high) {
		int64_t middle = low + (high - low) / 2;

		if (rank >= 0x1p63 || count_up_to(counts, n, middle) < (uint64_t)rank)
			low = middle + 1;
		else
			high = middle;
	}
	return (int32_t)low;
}

void pr_quantile(const struct pq_sketch *sketch, double q, enum pq_kind kind,
		 struct pq_value *out)
{
	const struct pq_bucket_count *counts;
	size_t n = pq_sketch_counts(sketch, &counts);
	int32_t low = INT32_MAX, high = INT32_MIN, bucket;
	uint64_t total = count_up_to(counts, n, INT32_MAX);

	*out = (struct pq_value){ .type = PQ_NIL };
	if (!total)
		return;
	for (size_t i = 0; i < n; i++) {
		low = counts[i].bucket < low ? counts[i].bucket : low;
		high = counts[i].bucket > high ? counts[i].bucket : high;
	}
	bucket = find_bucket(counts, n, fmax(1, ceil(q * (double)total - 1e-9)), low, high);
	*out = kind == PQ_K_FLOAT   ? float_middle(bucket) :
	       pq_is_unsigned(kind) ? make_integer(middle_of((uint32_t)bucket)) :
				      integer_middle(bucket);
}
