/*
 * Statistics of numbers: the distributions that tests and intervals need, a bootstrap of sums,
 * and comparisons of two estimates, and of many at once.
 */
#ifndef PERFLUA_STATS_STATS_H
#define PERFLUA_STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Probabilities of the normal distribution, Student's t, Fisher's F and the binomial one. */

/* Returns the probability of a value of at least `z` of the normal distribution. */
double pn_normal_tail(double z);

/*
 * Returns the probability of a value of at least `t` ≥ 0 of Student's distribution with
 * `freedom` > 0 degrees of freedom, which need not be whole.
 */
double pn_student_tail(double t, double freedom);

/* Returns the value t ≥ 0 that is exceeded with probability `tail`, 0 < tail ≤ 0.5. */
double pn_student_quantile(double tail, double freedom);

/* Returns the probability of a value of at least `f` ≥ 0 of Fisher's F with `n` and `m` > 0. */
double pn_fisher_tail(double f, double n, double m);

/*
 * Returns the probability that a division of `n` events among two sides, of which the first
 * gets each with probability `p`, 0 < p < 1, is at least as uneven as `k` of them for the first
 * side. Two-sided, 1 at most.
 */
double pn_binomial_test(uint64_t k, uint64_t n, double p);

/*
 * A block bootstrap of many rows over the same slices of time. It estimates the error of each
 * row's sum, or of a ratio of sums.
 *
 * A resample draws each slice for all rows together, and draws neighbouring slices together if
 * the row's values in them are correlated. Rows are sparse. Equal input gives equal results:
 * the caller gives the seed.
 */

#define PN_RESAMPLES  1000
#define PN_MAX_SLICES 200

struct pn_cell {
	uint32_t slice;	     /* below n_slices, in any order, each at most once in a row */
	double value, under; /* 0 ≤ under; 1 is not the same as no denominator */
};

/* The divisor of a row's sum. */
enum pn_under {
	PN_UNDER_NONE,
	PN_UNDER_OWN,	 /* the sum of the row's `under` */
	PN_UNDER_SHARED, /* the sum of `shared` over all slices */
};

struct pn_slices {
	size_t n_slices; /* 2 to PN_MAX_SLICES */
	enum pn_under divided;
	const double *shared; /* [n_slices], with PN_UNDER_SHARED */
};

struct pn_noise {
	double error;	/* standard error of the row's sum or ratio */
	double freedom; /* degrees of freedom of the error: blocks - 1, at least 1 */
};

struct pn_bootstrap;

/* Creates a bootstrap, which borrows `slices`. Returns NULL without memory. */
struct pn_bootstrap *pn_bootstrap_create(const struct pn_slices *slices, uint64_t seed);
void pn_bootstrap_destroy(struct pn_bootstrap *bootstrap);

/*
 * Sets *noise to that of a row of `n` cells. The error is 0 for a row without cells, and for
 * one whose denominator is 0. Returns false without memory.
 */
bool pn_bootstrap_row(struct pn_bootstrap *bootstrap, const struct pn_cell *cells, size_t n,
		      struct pn_noise *noise);

struct pn_interval {
	double low, high;
	double p; /* probability of such a difference if there is none; NaN: it is not known */
};

/* Quantiles that were computed before: most comparisons have the freedom of others. */
struct pn_quantiles {
	struct pn_quantile {
		double tail, freedom; /* 0: none is kept here */
		double value;
	} kept[16];
};

/*
 * Returns the interval of the difference `after` - `before` of two independent estimates with
 * normal errors, and its two-sided p, by Student's distribution with Welch's degrees of
 * freedom. 0 < confidence < 1. Without any error p is 0, or 1 if there is no difference.
 * `quantiles` begins as { 0 }.
 */
struct pn_interval pn_compare(double before, struct pn_noise before_noise, double after,
			      struct pn_noise after_noise, double confidence,
			      struct pn_quantiles *quantiles);

/* Squares of deviations, each divided by the variance that was expected of it. */
struct pn_dispersion {
	double squares; /* their sum */
	double freedom; /* degrees of freedom of it; 0: nothing is known but what is expected */
};

/*
 * Returns the factor from the variance that was expected to the likely one, and sets *freedom
 * to its degrees of freedom. Expectations are worth `prior` > 0 degrees of freedom: the factor
 * is shrunk towards 1. It is not where the deviations are larger than one in a hundred would
 * be: then nothing is known but they.
 */
double pn_shrink(struct pn_dispersion found, double prior, double *freedom);

/*
 * Returns the logarithm of the likelihood of deviations if expectations are worth `prior` > 0
 * degrees of freedom, but for a term that depends on found.freedom only, and for half of the
 * logarithm of the variance that was expected of each degree of freedom, which is subtracted.
 */
double pn_likelihood(struct pn_dispersion found, double prior);

/* Values in ascending order, and how many there are of each. */
struct pn_ordered {
	const double *values;
	const uint64_t *counts;
	size_t n;
};

/*
 * Returns the interval of the difference of quantile `q` of two independent samples. The
 * interval of each quantile is bounded by order statistics; these are combined as by Zou and
 * Donner ("Construction of confidence limits about effect measures"). A bound for which there
 * are too few values is infinite.
 */
struct pn_interval pn_compare_quantiles(const struct pn_ordered *before,
					const struct pn_ordered *after, double q,
					double confidence);

/*
 * Replaces each p by the least rate of false discoveries at which it is one (Benjamini and
 * Hochberg). Returns false without memory.
 */
bool pn_adjust(double *p, size_t n);

#endif
