/* Intervals, probabilities and verdicts of rows. */
#include <math.h>
#include <stdlib.h>

#include "base/vector.h"
#include "compare_internal.h"

#define FEW_ROWS    1024 /* fewer are not worth a thread */
#define FEW_SAMPLES 100	 /* the division of fewer samples is also tested as such */
#define CERTAIN	    1e9	 /* degrees of freedom of an error that is known */

/* The values of a row that were counted, in ascending order. */
struct ordered_values {
	struct pn_ordered ordered;
	double *values;
	uint64_t *counts;
};

static int compare_buckets(const void *a, const void *b)
{
	const struct pq_bucket_count *x = a, *y = b;

	return (x->bucket > y->bucket) - (x->bucket < y->bucket);
}

/* Adds up the sketches of the runs of a side. Returns false without memory. */
static bool order_values(const struct pc_comparison *c, enum pc_which side, size_t row,
			 struct ordered_values *out)
{
	struct pq_bucket_count *buckets = NULL;
	const struct pq_bucket_count *counts;
	struct pq_sketch all = { .buckets = NULL };
	size_t n = 0;
	bool ok = true;

	for (size_t r = 0; ok && r < c->options.n_runs[side]; r++) {
		struct pq_state state;

		pq_groups_state(c->rows->groups, row, run_number(c, side, r), &state);
		ok = pq_sketch_merge(&all, state.sketch);
	}
	if (ok)
		n = pq_sketch_counts(&all, &counts);
	buckets = malloc((n + 1) * sizeof(*buckets));
	out->values = malloc((n + 1) * sizeof(*out->values));
	out->counts = malloc((n + 1) * sizeof(*out->counts));
	ok = ok && buckets && out->values && out->counts;
	for (size_t i = 0; ok && i < n; i++)
		buckets[i] = counts[i];
	if (ok && n)
		qsort(buckets, n, sizeof(*buckets), compare_buckets);
	for (size_t i = 0; ok && i < n; i++) {
		const struct pq_node *measured = c->rows->grouping.measures[0].value;
		struct pq_value middle = pq_bucket_middle(buckets[i].bucket, measured->kind);

		out->values[i] = to_double(&middle);
		out->counts[i] = buckets[i].count;
	}
	out->ordered = (struct pn_ordered){ out->values, out->counts, ok ? n : 0 };
	free(buckets);
	pq_sketch_deinit(&all);
	return ok;
}

static void free_values(struct ordered_values *values)
{
	free(values->values);
	free(values->counts);
}

/* Returns how far a quantile may be from that of the values: its sketch keeps it within 1 %. */
static double bucket_width(const struct pq_value *value)
{
	double size = fabs(to_double(value));

	return value->type == PQ_INT && size < 128 ? 0 : 0.008 * size;
}

/* Sets *interval to that of the difference of quantiles. Returns false without memory. */
static bool compare_quantiles(const struct pc_comparison *c, size_t row, double confidence,
			      struct pn_interval *interval)
{
	const struct pc_part *parts = c->judged[row].parts;
	double width = bucket_width(&parts[PC_BEFORE].value) +
		       bucket_width(&parts[PC_AFTER].value);
	struct ordered_values values[PC_SIDES] = { 0 };
	bool ok = order_values(c, PC_BEFORE, row, &values[PC_BEFORE]) &&
		  order_values(c, PC_AFTER, row, &values[PC_AFTER]);

	*interval = (struct pn_interval){ NAN, NAN, NAN };
	if (ok && values[PC_BEFORE].ordered.n && values[PC_AFTER].ordered.n) {
		*interval = pn_compare_quantiles(&values[PC_BEFORE].ordered,
						 &values[PC_AFTER].ordered, c->options.quantile,
						 confidence);
		interval->low -= width;
		interval->high += width;
		if (interval->low <= 0 && interval->high >= 0)
			interval->p = fmax(interval->p, 0.5);
	}
	free_values(&values[PC_BEFORE]);
	free_values(&values[PC_AFTER]);
	return ok;
}

/* Sets *interval to that of one quantile. Returns false without memory. */
static bool bound_quantile(const struct pc_comparison *c, size_t row, double confidence,
			   struct pn_interval *interval)
{
	static const double zero = 0;
	static const uint64_t certain = UINT64_C(1) << 52;
	static const struct pn_ordered nothing = { &zero, &certain, 1 };
	double width = bucket_width(&c->judged[row].parts[PC_BEFORE].value);
	struct ordered_values values = { 0 };
	bool ok = order_values(c, PC_BEFORE, row, &values);

	*interval = (struct pn_interval){ NAN, NAN, NAN };
	if (ok)
		*interval = pn_compare_quantiles(&nothing, &values.ordered, c->options.quantile,
						 confidence);
	interval->low -= width;
	interval->high += width;
	free_values(&values);
	return ok;
}

/*
 * Returns true if intervals of a quantile are of the order of its values: also of runs that all
 * have the same one, as they mostly do where values are few different ones.
 */
static bool is_by_order(const struct pc_comparison *c, const struct pc_row *row,
			enum pc_method method)
{
	if (method != PC_BY_RUNS || c->options.measure.measure != PQ_M_QUANTILE)
		return method == PC_BY_ORDER;
	return row->parts[PC_BEFORE].error == 0 && row->parts[PC_AFTER].error == 0;
}

/* Returns true if there is too little of a row for any test. */
static bool has_too_few(const struct pc_comparison *c, const struct pc_row *row)
{
	const struct pc_part *before = &row->parts[PC_BEFORE], *after = &row->parts[PC_AFTER];

	if (!row->has_samples)
		return false;
	if (row->samples < PC_MIN_SAMPLES)
		return true;
	if (c->is_amount)
		return false;
	return !before->has_row || !after->has_row || before->samples < PC_MIN_SAMPLES / 2 ||
	       after->samples < PC_MIN_SAMPLES / 2;
}

static struct pn_noise noise_of(const struct pc_part *part)
{
	return (struct pn_noise){ part->error, fmax(part->freedom, 1) };
}

/* Returns the error of the difference of sides whose errors are known together. */
static struct pn_noise common_noise(const struct pc_row *row)
{
	return (struct pn_noise){
		hypot(row->parts[PC_BEFORE].error, row->parts[PC_AFTER].error), row->freedom
	};
}

/* Sets the interval of a difference, and its probability by chance. */
static bool test_row(const struct pc_comparison *c, size_t i, const struct pc_judging *judging,
		     struct pn_quantiles *quantiles)
{
	struct pc_row *row = &c->judged[i];
	const struct pc_part *before = &row->parts[PC_BEFORE], *after = &row->parts[PC_AFTER];
	struct pn_interval interval;

	if (row->delta.type == PQ_NIL || row->is_unknown)
		return true;
	if (c->tree && has_too_few(c, row)) /* such beginnings have no cells */
		return true;
	if (row->freedom > 0)
		interval = pn_compare(to_double(&before->value), (struct pn_noise){ 0, 1 },
				      to_double(&after->value), common_noise(row),
				      judging->confidence, quantiles);
	else if (!is_by_order(c, row, judging->method))
		interval = pn_compare(to_double(&before->value), noise_of(before),
				      to_double(&after->value), noise_of(after),
				      judging->confidence, quantiles);
	else if (!compare_quantiles(c, i, judging->confidence, &interval))
		return false;
	if (c->is_amount && c->options.per == PC_PER_SHARE) {
		interval.low = fmax(interval.low, -100);
		interval.high = fmin(interval.high, 100);
	}
	row->low = interval.low;
	row->high = interval.high;
	if (has_too_few(c, row))
		return true;
	row->p = interval.p;
	if (c->is_amount && row->has_samples && row->samples < FEW_SAMPLES)
		row->p = fmax(row->p, pc_test_few(c, row));
	return true;
}

/* Sets the bounds of a value that is compared with nothing. */
static bool bound_row(const struct pc_comparison *c, size_t i, const struct pc_judging *judging,
		      struct pn_quantiles *quantiles)
{
	struct pc_row *row = &c->judged[i];
	const struct pc_part *part = &row->parts[PC_BEFORE];
	struct pn_interval interval;

	if (part->value.type == PQ_NIL)
		return true;
	if (!is_by_order(c, row, judging->method))
		interval = pn_compare(0, (struct pn_noise){ 0, CERTAIN },
				      to_double(&part->value),
				      row->freedom > 0 ? common_noise(row) : noise_of(part),
				      judging->confidence, quantiles);
	else if (!bound_quantile(c, i, judging->confidence, &interval))
		return false;
	row->low = interval.low;
	row->high = interval.high;
	return true;
}

/* Returns true if a side lacks a row. */
static bool lacks_row(const struct pc_part *part)
{
	return !part->has_row || (part->value.type != PQ_NIL && to_double(&part->value) == 0);
}

static double magnitude_of(const struct pc_part *part)
{
	return part->value.type == PQ_NIL ? 0 : fabs(to_double(&part->value));
}

/*
 * Returns true if a change by `half` would not be hidden if samples did not vary by chance, or
 * if that is not known and they are few.
 */
static bool would_samples_help(const struct pc_row *row, double half)
{
	double error = hypot(row->parts[PC_BEFORE].error, row->parts[PC_AFTER].error);
	double counted = error > 0 ? row->counting / error : 0;

	if (!isfinite(row->high - row->low))
		return true;
	if (counted > 0)
		return row->samples < PC_MIN_SAMPLES ||
		       (row->high - row->low) / 2 * sqrt(fmax(1 - counted * counted, 0)) <=
			       half;
	return row->has_samples && row->samples < FEW_SAMPLES;
}

/* Returns whether and how a row differs. */
static enum pc_verdict verdict_of(const struct pc_comparison *c, const struct pc_row *row,
				  double rate)
{
	const struct pc_part *before = &row->parts[PC_BEFORE], *after = &row->parts[PC_AFTER];
	double half = fmax(magnitude_of(before), magnitude_of(after)) / 2;

	if (row->q <= rate) {
		if (c->is_amount && lacks_row(before))
			return PC_NEW;
		if (c->is_amount && lacks_row(after))
			return PC_GONE;
		return to_double(&row->delta) < 0 ? PC_LESS : PC_MORE;
	}
	/* a change by half of the row would not stand out either */
	if (!isnan(row->p) && (row->high - row->low) / 2 <= half)
		return PC_NOISE;
	return would_samples_help(row, half) ? PC_TOO_FEW : PC_VARIES;
}

/* Returns true if a row gets a verdict. */
static bool is_judged(const struct pc_comparison *c, size_t i, const struct pq_value *only)
{
	const struct pc_row *row = &c->judged[i];
	struct pq_value key;

	if (!pc_is_compared(c, row) || row->verdict != PC_NO_VERDICT)
		return false;
	if (!only)
		return true;
	pr_key_value(c->rows, i, 0, &key);
	return key.type == only->type && key.u == only->u;
}

static int compare_doubles(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * Leaves out rows in which no difference could stand out among those that are tested, so that
 * the others are not corrected for them (Tarone, "A modified Bonferroni method for discrete
 * data"). Returns false without memory.
 */
static bool leave_out_rows(struct pc_comparison *c, const struct pc_judging *judging)
{
	double *least = pb_array(pc_size(c) + 1, sizeof(*least)), limit;
	size_t n = 0, k = 0;

	if (!least)
		return false;
	for (size_t i = 0; i < pc_size(c); i++)
		if (is_judged(c, i, judging->only) && !isnan(c->judged[i].p))
			least[n++] = c->judged[i].least_p;
	qsort(least, n, sizeof(*least), compare_doubles);
	/* the least number k of which at most k rows can be tested at 1 / k of the rate */
	do
		limit = (1 - judging->confidence) / (double)++k;
	while (k < n && least[k] <= limit);
	free(least);
	for (size_t i = 0; i < pc_size(c); i++)
		if (c->judged[i].least_p > limit)
			c->judged[i].p = NAN;
	return true;
}

/* Sets verdicts, corrected for the number of rows that were tested. */
static bool set_verdicts(struct pc_comparison *c, const struct pc_judging *judging,
			 size_t *tested)
{
	double *p = pb_array(pc_size(c) + 1, sizeof(*p));
	size_t n = 0;
	bool ok = p != NULL && leave_out_rows(c, judging);

	for (size_t i = 0; ok && i < pc_size(c); i++)
		if (is_judged(c, i, judging->only) && !isnan(c->judged[i].p))
			p[n++] = c->judged[i].p;
	*tested = c->n_tested = n;
	ok = ok && pn_adjust(p, n);
	n = 0;
	for (size_t i = 0; ok && i < pc_size(c); i++) {
		struct pc_row *row = &c->judged[i];

		if (!is_judged(c, i, judging->only))
			continue;
		if (!isnan(row->p))
			row->q = p[n++];
		row->verdict = verdict_of(c, row, 1 - judging->confidence);
	}
	free(p);
	return ok;
}

/* A part of the rows, and the work on it. */
struct part {
	struct pc_share share;
	bool (*work)(const struct pc_share *share, unsigned worker);
	bool failed;
};

static void work_on_part(void *item, unsigned worker)
{
	struct part *part = item;

	part->failed = !part->work(&part->share, worker);
}

bool pc_share_rows(size_t n, unsigned workers,
		   bool (*work)(const struct pc_share *share, unsigned worker), void *arg)
{
	size_t each = n < FEW_ROWS ? n : n / PB_ITEMS_MAX + 1, at = 0;
	struct pb_helpers *helpers = pb_helpers_start(n < FEW_ROWS ? 0 : workers - 1,
						      work_on_part);
	struct part parts[PB_ITEMS_MAX], *done;
	bool ok = helpers != NULL;

	for (size_t i = 0; ok && at < n; i++, at += each) {
		parts[i] = (struct part){ .share = { arg, i, at, each }, .work = work };
		if (n - at < each)
			parts[i].share.n = n - at;
		pb_helpers_give(helpers, &parts[i]);
	}
	while (helpers && (done = pb_helpers_take(helpers)))
		ok = ok && !done->failed;
	pb_helpers_stop(helpers);
	return ok;
}

/* The rows that are tested, and the quantiles that each thread remembers. */
struct testing {
	struct pc_comparison *c;
	const struct pc_judging *judging;
	struct pn_quantiles quantiles[PB_HELPERS_MAX + 1];
};

static bool test_rows(const struct pc_share *share, unsigned worker)
{
	struct testing *all = share->arg;
	struct pc_comparison *c = all->c;
	bool is_single = !c->options.n_runs[PC_AFTER];

	for (size_t i = share->first; i < share->first + share->n; i++)
		if (pc_is_compared(c, &c->judged[i]) &&
		    !(is_single ? bound_row : test_row)(c, i, all->judging,
							&all->quantiles[worker]))
			return false;
	return true;
}

bool pc_judge(struct pc_comparison *c, const struct pc_judging *judging, size_t *tested)
{
	bool is_single = !c->options.n_runs[PC_AFTER];
	struct testing all = { .c = c, .judging = judging };

	*tested = c->n_tested = 0;
	c->load = PC_IDLE;
	free(c->judged);
	c->n_judged = pc_size(c);
	c->judged = pb_zeros(pc_size(c) + 1, sizeof(*c->judged));
	if (!c->judged)
		return false;
	pc_set_values(c);
	if (!is_single && judging->family != PR_NONE && !pc_mark_unnamed(c, judging->family))
		return false;
	if (judging->method == PC_BY_NOTHING)
		return true;
	if (!pc_set_errors(c, judging->method, judging->workers) ||
	    !pc_set_variances(c, judging) ||
	    !pc_share_rows(pc_size(c), judging->workers, test_rows, &all))
		return false;
	return is_single || set_verdicts(c, judging, tested);
}
