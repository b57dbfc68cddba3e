/*
 * Counts of values in buckets. The buckets are those of lua/perflua/measures/sketch.lua, which
 * knows their values.
 */
#ifndef PERFLUA_QUERY_SKETCH_H
#define PERFLUA_QUERY_SKETCH_H

#include "query/expr/value.h"

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

#endif
