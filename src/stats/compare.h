/* Comparisons of two estimates, and of many at once. */
#ifndef PERFLUA_STATS_COMPARE_H
#define PERFLUA_STATS_COMPARE_H

#include <stddef.h>
#include <stdint.h>

#include "bootstrap.h"

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
