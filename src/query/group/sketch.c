#include "sketch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/vector.h"

/* The buckets of a sketch that has more than one. */
struct pq_buckets {
	struct pq_bucket_count *counts; /* [n] */
	size_t n, capacity;
	struct pb_map by_bucket; /* indices of `counts`; empty: they are searched */
};

static uint32_t hash_bucket(int32_t bucket)
{
	return (uint32_t)(pb_scatter((uint32_t)bucket) >> 32);
}

struct wanted {
	const struct pq_buckets *buckets;
	int32_t bucket;
};

static bool has_bucket(const void *arg, uint32_t item)
{
	const struct wanted *wanted = arg;

	return wanted->buckets->counts[item].bucket == wanted->bucket;
}

/* Sketches with at most this many buckets have no map, but are searched. */
#define SEARCHED_MOST 8

/*
 * Returns the index of a bucket in `counts`; for a new bucket, which it enters in the map if
 * there is one, the index that is next. UINT32_MAX without memory.
 */
static uint32_t intern_bucket(struct pq_buckets *buckets, int32_t bucket)
{
	const struct wanted wanted = { buckets, bucket };
	uint32_t n = (uint32_t)buckets->n;

	if (n <= SEARCHED_MOST)
		for (uint32_t i = 0; i < n; i++)
			if (buckets->counts[i].bucket == bucket)
				return i;
	if (n < SEARCHED_MOST)
		return n;
	for (uint32_t i = 0; n == SEARCHED_MOST && i < n; i++) {
		const struct wanted known = { buckets, buckets->counts[i].bucket };

		if (pb_map_intern(&buckets->by_bucket, hash_bucket(known.bucket), has_bucket,
				  &known, i) == UINT32_MAX)
			return UINT32_MAX;
	}
	return pb_map_intern(&buckets->by_bucket, hash_bucket(bucket), has_bucket, &wanted, n);
}

/* Returns the count of a bucket, 0 for a new one; NULL without memory. */
static uint64_t *find_count(struct pq_buckets *buckets, int32_t bucket)
{
	uint32_t found;

	if (!pb_reserve(buckets->counts, buckets->n, buckets->capacity))
		return NULL;
	found = intern_bucket(buckets, bucket);
	if (found == UINT32_MAX)
		return NULL;
	if (found == buckets->n)
		buckets->counts[buckets->n++] = (struct pq_bucket_count){ bucket, 0 };
	return &buckets->counts[found].count;
}

/* Moves the only bucket of a sketch to a list of buckets. Returns false without memory. */
static bool move_to_buckets(struct pq_sketch *sketch)
{
	struct pq_buckets *buckets = calloc(1, sizeof(*buckets));
	uint64_t *count = buckets ? find_count(buckets, sketch->only.bucket) : NULL;

	if (!count) {
		free(buckets);
		return false;
	}
	*count = sketch->only.count;
	sketch->buckets = buckets;
	return true;
}

bool pq_sketch_add(struct pq_sketch *sketch, int32_t bucket, uint64_t count)
{
	uint64_t *counted = &sketch->only.count;

	if (!count)
		return true;
	if (!sketch->buckets && !*counted)
		sketch->only.bucket = bucket;
	if (sketch->buckets || sketch->only.bucket != bucket) {
		if (!sketch->buckets && !move_to_buckets(sketch))
			return false;
		counted = find_count(sketch->buckets, bucket);
		if (!counted)
			return false;
	}
	if (__builtin_add_overflow(*counted, count, counted))
		*counted = UINT64_MAX;
	return true;
}

size_t pq_sketch_counts(const struct pq_sketch *sketch, const struct pq_bucket_count **counts)
{
	*counts = sketch->buckets ? sketch->buckets->counts : &sketch->only;
	return sketch->buckets ? sketch->buckets->n : sketch->only.count != 0;
}

bool pq_sketch_merge(struct pq_sketch *sketch, const struct pq_sketch *from)
{
	const struct pq_bucket_count *counts;
	size_t n = pq_sketch_counts(from, &counts);

	for (size_t i = 0; i < n; i++)
		if (!pq_sketch_add(sketch, counts[i].bucket, counts[i].count))
			return false;
	return true;
}

void pq_sketch_deinit(struct pq_sketch *sketch)
{
	if (sketch->buckets) {
		free(sketch->buckets->counts);
		pb_map_deinit(&sketch->buckets->by_bucket);
		free(sketch->buckets);
	}
	*sketch = (struct pq_sketch){ 0 };
}

/* Returns the number of the highest set bit of x != 0. */
static int log2_of(uint64_t x)
{
	return 63 - __builtin_clzll(x);
}

static int32_t bucket_of(uint64_t x)
{
	int shift;

	if (x < 128)
		return (int32_t)x;
	shift = log2_of(x) - 6;
	return (shift << 6) + (int32_t)(x >> shift);
}

static int32_t signed_bucket(int64_t x)
{
	return x >= 0 ? bucket_of((uint64_t)x) : -bucket_of(0 - (uint64_t)x);
}

/*
 * Returns the bucket of a double: its exponent and the first six bits of its fraction; + 1
 * keeps zero apart from the smallest numbers.
 */
static int32_t float_bucket(double x)
{
	double magnitude = fabs(x);
	uint64_t bits;
	int32_t bucket;

	if (x == 0)
		return 0;
	memcpy(&bits, &magnitude, sizeof(bits));
	bucket = (int32_t)(bits >> (52 - 6)) + 1;
	return x < 0 ? -bucket : bucket;
}

/* Returns true if a whole number fits 64 bits. */
static bool is_int64(double x)
{
	return x >= -0x1p63 && x < 0x1p63;
}

bool pq_quantile_bucket(const struct pq_value *value, enum pq_kind kind, int32_t *bucket)
{
	double x = value->f;

	if (value->type == PQ_INT) {
		*bucket = pq_is_unsigned(kind) ? bucket_of(value->u) :
			  kind == PQ_K_FLOAT   ? float_bucket((double)value->i) :
						 signed_bucket(value->i);
		return true;
	}
	if (value->type != PQ_FLOAT || isnan(x))
		return false;
	if (kind == PQ_K_FLOAT) {
		*bucket = float_bucket(x);
		return true;
	}
	x = floor(x);
	*bucket = signed_bucket(is_int64(x) ? (int64_t)x : x > 0 ? INT64_MAX : INT64_MIN);
	return true;
}

bool pq_power_bucket(const struct pq_value *value, enum pq_kind kind, int32_t *bucket)
{
	int64_t x = value->i;

	if (value->type == PQ_FLOAT) {
		double whole = trunc(value->f);

		x = is_int64(whole) ? (int64_t)whole : 0;
	} else if (value->type != PQ_INT) {
		return false;
	} else if (pq_is_unsigned(kind)) {
		*bucket = value->u ? log2_of(value->u) + 1 : 0;
		return true;
	}
	if (!x)
		*bucket = 0;
	else
		*bucket = x > 0 ? log2_of((uint64_t)x) + 1 : -(log2_of(0 - (uint64_t)x) + 1);
	return true;
}

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

static void set_bounds(struct pq_bucket *bucket, int32_t number)
{
	if (number > 0) {
		bucket->from = power_of_two(number - 1);
		bucket->to = power_of_two(number);
	} else if (number == -PQ_LAST_POWER) {
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

size_t pq_histogram(const struct pq_sketch *sketch, struct pq_bucket buckets[PQ_MAX_BUCKETS])
{
	uint64_t all[2 * PQ_LAST_POWER + 1] = { 0 };
	const struct pq_bucket_count *counts;
	size_t n = pq_sketch_counts(sketch, &counts), n_buckets = 0;
	int32_t low = PQ_LAST_POWER, high = -PQ_LAST_POWER;

	for (size_t i = 0; i < n; i++) {
		int32_t number = counts[i].bucket;

		if (number < -PQ_LAST_POWER || number > PQ_LAST_POWER)
			continue;
		all[number + PQ_LAST_POWER] = counts[i].count;
		low = number < low ? number : low;
		high = number > high ? number : high;
	}
	for (int32_t number = low; number <= high; number++) {
		buckets[n_buckets].count = all[number + PQ_LAST_POWER];
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
	if (isnan(x)) /* after the bits of infinity there are no numbers */
		x = INFINITY;
	return make_float(bucket < 0 ? -x : x);
}

struct pq_value pq_bucket_middle(int32_t bucket, enum pq_kind kind)
{
	if (kind == PQ_K_FLOAT)
		return float_middle(bucket);
	return pq_is_unsigned(kind) ? make_integer(middle_of((uint32_t)bucket)) :
				      integer_middle(bucket);
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

void pq_quantile(const struct pq_sketch *sketch, double q, enum pq_kind kind,
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
	*out = pq_bucket_middle(bucket, kind);
}
