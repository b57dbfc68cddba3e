/*
 * Counts of values in buckets: quantiles within 1 %, histograms in powers of two. Counts of the
 * same buckets add up, so partial results merge.
 *
 * Quantiles: integers below 128 have a bucket each, larger ones 64 buckets to every doubling,
 * so a bucket's middle is at most 0.8 % from the values in it. Floats likewise, by the top bits
 * of their representation. Histograms: bucket 0 is zero, k + 1 holds 2^k to 2^(k+1) - 1.
 * Negative values are in the buckets of their magnitude, mirrored.
 */
#ifndef PERFLUA_QUERY_SKETCH_H
#define PERFLUA_QUERY_SKETCH_H

#include "query/chains/value.h"

struct pq_bucket_count {
	int32_t bucket;
	uint64_t count;
};

struct pq_buckets;

/*
 * Zero-initialised: empty. In a query with many groups most groups have one bucket, which
 * needs no allocation.
 */
struct pq_sketch {
	struct pq_bucket_count only; /* count 0, or the buckets are in `buckets`: unused */
	struct pq_buckets *buckets;
};

/* Returns the number of buckets, and their counts in *counts, in the order they came in. */
size_t pq_sketch_counts(const struct pq_sketch *sketch, const struct pq_bucket_count **counts);

/* Add to the counts of buckets. Return false without memory. */
bool pq_sketch_add(struct pq_sketch *sketch, int32_t bucket, uint64_t count);
bool pq_sketch_merge(struct pq_sketch *sketch, const struct pq_sketch *from);
void pq_sketch_deinit(struct pq_sketch *sketch);

/*
 * Sets *bucket to the bucket of a number for quantiles; `kind` is that of the expression.
 * Returns false if no bucket holds the value.
 */
bool pq_quantile_bucket(const struct pq_value *value, enum pq_kind kind, int32_t *bucket);

/* Does what pq_quantile_bucket() does, for histograms, whose buckets are powers of two. */
bool pq_power_bucket(const struct pq_value *value, enum pq_kind kind, int32_t *bucket);

/* Buckets are -LAST … LAST. Saved results may name some that no value has. */
#define PQ_LAST_QUANTILE (1 << 17) /* floats: 11 bits of exponent and 6 of fraction */
#define PQ_LAST_POWER	 64

/* Returns the middle of a bucket for quantiles, of values of that kind. */
struct pq_value pq_bucket_middle(int32_t bucket, enum pq_kind kind);

/*
 * Sets *out to the value at or below which a share q of the values of a sketch lies, as a
 * bucket's middle for values of that kind; PQ_NIL: it has no values.
 */
void pq_quantile(const struct pq_sketch *sketch, double q, enum pq_kind kind,
		 struct pq_value *out);

/*
 * A bucket of a histogram: values from `from` to below `to`, which are integers, but floats
 * from 2^63 on.
 */
struct pq_bucket {
	struct pq_value from, to;
	uint64_t count;
};

#define PQ_MAX_BUCKETS (2 * PQ_LAST_POWER + 1) /* of a histogram */

/*
 * Sets buckets[] to the buckets of a histogram's sketch from the lowest to the highest, those
 * between that are empty, too. Returns how many there are.
 */
size_t pq_histogram(const struct pq_sketch *sketch, struct pq_bucket buckets[PQ_MAX_BUCKETS]);

#endif
