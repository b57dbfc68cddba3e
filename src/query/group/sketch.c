#include "sketch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 16

static size_t place(const struct pq_sketch *sketch, int32_t bucket)
{
	uint32_t h = (uint32_t)bucket * 0x9e3779b1;

	return h >> (__builtin_clz(sketch->capacity) + 1);
}

/* The bucket's slot, or the free one where it belongs. */
static struct pq_sketch_slot *slot_of(const struct pq_sketch *sketch, int32_t bucket)
{
	size_t i = place(sketch, bucket);

	while (sketch->slots[i].count && sketch->slots[i].bucket != bucket)
		i = (i + 1) & (sketch->capacity - 1);
	return &sketch->slots[i];
}

static bool grow(struct pq_sketch *sketch)
{
	struct pq_sketch grown = {
		.n = sketch->n,
		.capacity = sketch->capacity ? 2 * sketch->capacity : FIRST_SLOTS,
	};

	grown.slots = calloc(grown.capacity, sizeof(struct pq_sketch_slot));
	if (!grown.slots)
		return false;
	for (uint32_t i = 0; i < sketch->capacity; i++) {
		if (sketch->slots[i].count)
			*slot_of(&grown, sketch->slots[i].bucket) = sketch->slots[i];
	}
	free(sketch->slots);
	*sketch = grown;
	return true;
}

bool pq_sketch_add(struct pq_sketch *sketch, int32_t bucket, uint64_t count)
{
	struct pq_sketch_slot *slot;

	if (!count)
		return true;
	if (2 * sketch->n >= sketch->capacity && !grow(sketch))
		return false;
	slot = slot_of(sketch, bucket);
	if (!slot->count) {
		slot->bucket = bucket;
		sketch->n++;
	}
	if (__builtin_add_overflow(slot->count, count, &slot->count))
		slot->count = UINT64_MAX;
	return true;
}

bool pq_sketch_merge(struct pq_sketch *sketch, const struct pq_sketch *from)
{
	for (uint32_t i = 0; i < from->capacity; i++) {
		if (!pq_sketch_add(sketch, from->slots[i].bucket, from->slots[i].count))
			return false;
	}
	return true;
}

void pq_sketch_deinit(struct pq_sketch *sketch)
{
	free(sketch->slots);
	*sketch = (struct pq_sketch){ 0 };
}

/* The highest set bit of x != 0. */
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

/* A double's exponent and the first six bits of its fraction; +1 keeps zero apart from the smallest. */
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

/* Is a float, a whole number, one of 64 bits? */
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
