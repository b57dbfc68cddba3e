/* Distributions of values: quantiles and histograms. */

#include "measure.h"

struct spread {
	struct pq_sketch sketch;
	struct pq_value least, greatest; /* PQ_NIL: none */
};

/* Makes the limits of the values include others, of which there is at least one. */
static void widen(struct spread *spread, const struct pq_value *least,
		  const struct pq_value *greatest, bool is_unsigned)
{
	if (spread->least.type == PQ_NIL || pq_compare(least, &spread->least, is_unsigned) < 0)
		spread->least = *least;
	if (spread->greatest.type == PQ_NIL ||
	    pq_compare(greatest, &spread->greatest, is_unsigned) > 0)
		spread->greatest = *greatest;
}

static bool quantile_step(const struct pq_measured *m, void *state,
			  const struct pq_value *value, uint64_t weight)
{
	struct spread *spread = state;
	int32_t bucket;

	if (!pq_quantile_bucket(value, m->kind, &bucket))
		return true;
	if (!pq_sketch_add(&spread->sketch, bucket, weight))
		return false;
	widen(spread, value, value, m->is_unsigned);
	return true;
}

/* Adds the counts of a sketch, which is emptied. */
static bool take_counts(struct pq_sketch *sketch, struct pq_sketch *from)
{
	bool ok = true;

	if (!sketch->buckets && !sketch->only.count) {
		*sketch = *from;
		*from = (struct pq_sketch){ 0 };
	} else {
		ok = pq_sketch_merge(sketch, from);
	}
	return ok;
}

static bool quantile_merge(const struct pq_measured *m, void *state, void *from)
{
	struct spread *spread = state, *added = from;

	if (added->least.type == PQ_NIL)
		return true;
	widen(spread, &added->least, &added->greatest, m->is_unsigned);
	return take_counts(&spread->sketch, &added->sketch);
}

static bool quantile_put(const struct pq_measured *m, void *state, const struct pq_state *from)
{
	struct spread *spread = state;

	if (from->parts[0].type == PQ_NIL)
		return true;
	widen(spread, &from->parts[0], &from->parts[1], m->is_unsigned);
	return pq_sketch_merge(&spread->sketch, from->sketch);
}

static void quantile_get(const struct pq_measured *m, const void *state, struct pq_state *out)
{
	const struct spread *spread = state;

	(void)m;
	out->sketch = &spread->sketch;
	out->parts[0] = spread->least;
	out->parts[1] = spread->greatest;
}

/* Keeps the middle of a bucket between the least and the greatest value. */
static void show_quantile(const struct pq_shown *how, const struct pq_state *state,
			  struct pq_value *out)
{
	bool is_unsigned = pq_is_unsigned(how->kind);

	pq_quantile(state->sketch, how->share, how->kind, out);
	if (out->type == PQ_NIL)
		return;
	if (pq_compare(out, &state->parts[0], is_unsigned) < 0)
		*out = state->parts[0];
	else if (pq_compare(out, &state->parts[1], is_unsigned) > 0)
		*out = state->parts[1];
	pq_unify(out, how->kind);
}

static bool hist_step(const struct pq_measured *m, void *state, const struct pq_value *value,
		      uint64_t weight)
{
	int32_t bucket;

	return !pq_power_bucket(value, m->kind, &bucket) ||
	       pq_sketch_add(state, bucket, weight);
}

static bool hist_merge(const struct pq_measured *m, void *state, void *from)
{
	(void)m;
	return take_counts(state, from);
}

static bool hist_put(const struct pq_measured *m, void *state, const struct pq_state *from)
{
	(void)m;
	return pq_sketch_merge(state, from->sketch);
}

static void hist_get(const struct pq_measured *m, const void *state, struct pq_state *out)
{
	(void)m;
	out->sketch = state;
}

static void show_histogram(const struct pq_shown *how, const struct pq_state *state,
			   struct pq_value *out)
{
	(void)how;
	*out = (struct pq_value){ .type = PQ_HIST, .p = (const char *)state->sketch };
}

/* With a weight, the counts of a quantile's sketch may add up to more than an integer. */
static enum pq_wrong find_wrong_spread(const void *state)
{
	const struct spread *spread = state;
	const struct pq_bucket_count *counts;
	size_t n = pq_sketch_counts(&spread->sketch, &counts);
	uint64_t total = 0;

	for (size_t i = 0; i < n; i++) {
		if (__builtin_add_overflow(total, counts[i].count, &total) || total > INT64_MAX)
			return PQ_WRONG_WEIGHTS;
	}
	return PQ_RIGHT;
}

/* With a weight, a bucket's count may exceed an integer. */
static enum pq_wrong find_wrong_counts(const void *state)
{
	const struct pq_bucket_count *counts;
	size_t n = pq_sketch_counts(state, &counts);

	for (size_t i = 0; i < n; i++) {
		if (counts[i].count > INT64_MAX)
			return PQ_WRONG_WEIGHTS;
	}
	return PQ_RIGHT;
}

static void deinit_sketch(void *state)
{
	pq_sketch_deinit(state);
}

static const struct pq_measure_ops quantile_ops = {
	.size = sizeof(struct spread),
	.step = quantile_step,
	.merge = quantile_merge,
	.get = quantile_get,
	.put = quantile_put,
	.wrong = find_wrong_spread,
	.deinit = deinit_sketch,
};

static const struct pq_measure_ops hist_ops = {
	.size = sizeof(struct pq_sketch),
	.step = hist_step,
	.merge = hist_merge,
	.get = hist_get,
	.put = hist_put,
	.wrong = find_wrong_counts,
	.deinit = deinit_sketch,
};

const struct pq_measure_row pq_quantile_row = {
	.name = "quantile",
	.takes = PQ_TAKES_NUMBERS,
	.shows = "same",
	.is_weighted = true,
	.parts = { PQ_PART_NUMBER, PQ_PART_NUMBER },
	.last_bucket = PQ_LAST_QUANTILE,
	.show = show_quantile,
	.ops = { &quantile_ops, &quantile_ops },
};

const struct pq_measure_row pq_hist_row = {
	.name = "hist",
	.takes = PQ_TAKES_NUMBERS,
	.shows = "histogram",
	.is_weighted = true,
	.last_bucket = PQ_LAST_POWER,
	.show = show_histogram,
	.ops = { &hist_ops, &hist_ops },
};
