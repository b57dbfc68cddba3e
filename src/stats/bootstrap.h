/*
 * A block bootstrap of many rows over the same slices of time. It estimates the error of each
 * row's sum, or of a ratio of sums.
 *
 * A resample draws each slice for all rows together, and draws neighbouring slices together if
 * the row's values in them are correlated. Rows are sparse. Equal input gives equal results:
 * the caller gives the seed.
 */
#ifndef PERFLUA_STATS_BOOTSTRAP_H
#define PERFLUA_STATS_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
