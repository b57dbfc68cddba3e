/*
 * The variance of amounts that were sampled: that of counting samples, and the drift from run
 * to run that was measured of the kind of row (lua/perflua/diff/calibration.lua), times a
 * factor that the runs tell.
 */
#include "compare_internal.h"

#include <math.h>
#include <string.h>

/* Returns the part of an event's samples that are of a row; NAN: it is not known. */
static double share_of_samples(const struct pc_part *part, const struct event_total *total)
{
	if (!part->has_row || !part->has_samples || total->lacks_samples || !part->samples ||
	    !total->samples)
		return NAN;
	return (double)part->samples / (double)total->samples;
}

/*
 * Returns the variance that a part's amount has because its samples are counted among all of
 * the event; 0: it is not known.
 */
static double counting_variance(const struct pc_part *part, const struct event_total *total)
{
	double share = share_of_samples(part, total), value;

	if (isnan(share) || part->value.type == PQ_NIL)
		return 0;
	value = to_double(&part->value);
	return fmax(1 - share, 0) / (double)part->samples * value * value;
}

/* Returns the variance of a part's amount that its kind leads one to expect. */
static double expected_variance(const struct pc_comparison *c, const struct pc_part *part,
				const struct event_total *total, const struct pc_prior *prior)
{
	double share = share_of_samples(part, total), drift;

	if (isnan(share) || part->value.type == PQ_NIL || !part->n)
		return 0;
	drift = prior->drift * to_double(&part->value);
	if (c->options.per == PC_PER_SHARE) /* the whole drifts with its parts */
		drift *= 1 - share;
	return prior->dispersion * counting_variance(part, total) + drift * drift / part->n;
}

/* Returns true if a binary's name is that of a kernel or of a module: "[ext4]". */
static bool is_kernel_name(const struct pq_value *name)
{
	static const char *const others[] = { "[vdso]", "[vsyscall]", "[heap]", "[stack]",
					      "[unknown]" };

	if (name->type != PQ_TEXT || !name->size || *(const char *)name->p != '[')
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (name->size == strlen(others[i]) && !memcmp(name->p, others[i], name->size))
			return false;
	return true;
}

/* Returns the kind of row i: of a kernel if most of its samples are. */
static enum pc_kind kind_of_row(const struct pc_comparison *c, size_t i)
{
	const struct pc_row *row = &c->judged[i];
	struct pq_state kernel;
	struct pq_value name;

	pq_groups_state(c->rows->groups, i, kernel_measure(c), &kernel);
	if (kernel.value.u)
		return kernel.value.u > row->samples / 2 ? PC_KERNEL : PC_PROGRAM;
	if (c->tree || c->options.binary == PR_NONE)
		return PC_PROGRAM;
	pr_key_value(c->rows, i, c->options.binary, &name);
	return is_kernel_name(&name) ? PC_KERNEL : PC_PROGRAM;
}

/* The variances that are expected of a row, and what its runs say of them. */
struct evidence {
	double expected[PC_SIDES], sum; /* 0: nothing is expected */
	struct pn_dispersion found;
	double logarithms; /* of expected variances, for each degree of freedom */
};

static struct evidence read_evidence(const struct pc_comparison *c, const struct pc_row *row,
				     const struct pc_prior *prior)
{
	struct evidence e = { .sum = 0 };

	for (size_t side = 0; side < PC_SIDES; side++) {
		const struct pc_part *part = &row->parts[side];
		double expected = expected_variance(c, part,
						    &c->events[row->event].totals[side], prior);

		e.expected[side] = expected;
		e.sum += expected;
		if (part->n < 2 || !(expected > 0))
			continue;
		e.found.squares += part->run_error * part->run_error * (part->n - 1) / expected;
		e.found.freedom += part->n - 1;
		e.logarithms += (part->n - 1) * log(expected);
	}
	return e;
}

static bool is_sampled(const struct pc_comparison *c, const struct pc_row *row,
		       const struct pc_judging *judging)
{
	return pc_is_compared(c, row) && row->event < judging->n_events &&
	       judging->is_sampled[row->event];
}

/* Rows whose variances are corrected. */
struct correcting {
	struct pc_comparison *c;
	const struct pc_judging *judging;
	double likelihoods[PB_ITEMS_MAX][PC_LOADS]; /* by part */
};

static bool add_likelihoods(const struct pc_share *share, unsigned worker)
{
	struct correcting *all = share->arg;
	const struct pc_comparison *c = all->c;
	const struct pc_judging *judging = all->judging;
	double *likelihoods = all->likelihoods[share->number];

	(void)worker;
	for (size_t i = share->first; i < share->first + share->n; i++) {
		const struct pc_row *row = &c->judged[i];
		enum pc_kind kind;

		if (!is_sampled(c, row, judging))
			continue;
		kind = kind_of_row(c, i);
		for (size_t load = 0; load < PC_LOADS; load++) {
			const struct pc_prior *prior = &judging->priors[load][kind];
			struct evidence e = read_evidence(c, row, prior);

			likelihoods[load] += pn_likelihood(e.found, prior->freedom) -
					     e.logarithms / 2;
		}
	}
	return true;
}

/*
 * Sets the load to that under which runs are most likely to vary as those of all rows do
 * together: idle, if there is no more than one run of a side.
 */
static void choose_load(struct correcting *all)
{
	double idle = 0, loaded = 0;

	for (size_t i = 0; i < PB_ITEMS_MAX; i++) {
		idle += all->likelihoods[i][PC_IDLE];
		loaded += all->likelihoods[i][PC_LOADED];
	}
	all->c->load = loaded > idle ? PC_LOADED : PC_IDLE;
}

#define SURPRISING 0.01 /* probability of slices that vary so much by chance */
#define CERTAIN	   1e6	/* degrees of freedom */

/* Returns true if slices of time vary more than a row of that variance does by chance. */
static bool is_surprising(const struct pc_row *row, double variance)
{
	const struct pc_part *before = &row->parts[PC_BEFORE], *after = &row->parts[PC_AFTER];
	double sliced = before->error * before->error + after->error * after->error;
	double blocks = before->error > after->error ? before->freedom : after->freedom;

	return sliced > variance &&
	       pn_fisher_tail(sliced / variance, blocks, CERTAIN) < SURPRISING;
}

/*
 * Returns the probability by chance of all of a row being on one side: with so few samples no
 * difference is less likely.
 */
static double find_least_p(const struct pc_row *row, const struct pc_prior *prior)
{
	const struct pc_part *before = &row->parts[PC_BEFORE], *after = &row->parts[PC_AFTER];
	double runs = fmax(before->n, after->n);
	double variance = prior->dispersion / (double)row->samples +
			  prior->drift * prior->drift / runs;

	return 2 * pn_student_tail(1 / sqrt(variance), row->freedom);
}

/*
 * Sets the errors of both sides to those of an expected variance, corrected by how much runs
 * vary, unless slices of time vary more. `within` says if errors are of slices.
 */
static void set_sampled_errors(const struct pc_comparison *c, struct pc_row *row,
			       const struct pc_prior *prior, bool within)
{
	struct evidence e = read_evidence(c, row, prior);
	double variance, freedom;

	if (!(e.sum > 0))
		return;
	variance = fmax(pn_shrink(e.found, prior->freedom, &freedom) * e.sum,
			row->counting * row->counting);
	if (within && is_surprising(row, variance))
		return;
	for (size_t side = 0; side < PC_SIDES; side++)
		row->parts[side].error = sqrt(variance * e.expected[side] / e.sum);
	row->freedom = freedom;
	row->least_p = find_least_p(row, prior);
}

/* Sets the errors of a row to those of counting its samples, unless they are larger. */
static void add_counting(const struct pc_comparison *c, struct pc_row *row)
{
	double sum = 0;

	for (size_t side = 0; side < PC_SIDES; side++) {
		struct pc_part *part = &row->parts[side];
		double variance = counting_variance(part, &c->events[row->event].totals[side]);

		part->error = fmax(part->error, sqrt(variance));
		sum += variance;
	}
	row->counting = sqrt(sum);
}

static bool correct_errors(const struct pc_share *share, unsigned worker)
{
	const struct correcting *all = share->arg;
	const struct pc_comparison *c = all->c;
	const struct pc_judging *judging = all->judging;
	bool within = judging->method == PC_BY_SLICES;

	(void)worker;
	for (size_t i = share->first; i < share->first + share->n; i++) {
		struct pc_row *row = &c->judged[i];

		if (pc_is_compared(c, row))
			add_counting(c, row);
		/* few runs of one side say what they have themselves */
		if (is_sampled(c, row, judging) && !(within && !c->options.n_runs[PC_AFTER]))
			set_sampled_errors(c, row, &judging->priors[c->load][kind_of_row(c, i)],
					   within);
	}
	return true;
}

bool pc_set_variances(struct pc_comparison *c, const struct pc_judging *judging)
{
	struct correcting all = { .c = c, .judging = judging };

	if (!c->is_amount)
		return true;
	if (!pc_share_rows(pc_size(c), judging->workers, add_likelihoods, &all))
		return false;
	choose_load(&all);
	return pc_share_rows(pc_size(c), judging->workers, correct_errors, &all);
}
