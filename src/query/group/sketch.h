/*
 * Counts of values in buckets: the same buckets as lua/perflua/measures/sketch.lua, where the
 * values of the buckets are.
 */
#ifndef PERFLUA_QUERY_SKETCH_H
#define PERFLUA_QUERY_SKETCH_H

#include "base/map.h"
#include "query/expr/value.h"

struct pq_bucket_count {
	int32_t bucket;
	uint64_t count;
};

/* Zero-initialised: empty. */
struct pq_sketch {
	struct pq_bucket_count *counts; /* [n]: in the order in which they came */
	size_t n, capacity;
	struct pb_map by_bucket; /* of counts */
};

/* Adds to the count of a bucket. False: no memory. */
bool pq_sketch_add(struct pq_sketch *sketch, int32_t bucket, uint64_t count);
bool pq_sketch_merge(struct pq_sketch *sketch, const struct pq_sketch *from);
void pq_sketch_deinit(struct pq_sketch *sketch);

/*
 * The bucket of a number for quantiles, by the kind of what it is a value of; false: it is in
 * none.
 */
bool pq_quantile_bucket(const struct pq_value *value, enum pq_kind kind, int32_t *bucket);

/* And for histograms, in powers of two. */
bool pq_power_bucket(const struct pq_value *value, enum pq_kind kind, int32_t *bucket);

#endif
