#include "stats.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The length of the blocks of a bootstrap, chosen by the autocorrelation of a series. */

#define MAX_LAGS 64 /* for at most 1000 values */
#define QUIET	 5  /* lags without correlation that end it */
#define LONGER	 2  /* than what is best for the variance: intervals cover what they say */

static double autocovariance(const double *series, size_t n, size_t lag)
{
	double sums[4] = { 0 }; /* beside one another, so that none waits for the one before */
	size_t i = lag;

	for (; i + 4 <= n; i += 4)
		for (size_t k = 0; k < 4; k++)
			sums[k] += series[i + k] * series[i + k - lag];
	for (; i < n; i++)
		sums[0] += series[i] * series[i - lag];
	return (sums[0] + sums[1] + sums[2] + sums[3]) / (double)n;
}

/*
 * Sets covariance[0 … return value] and returns the last lag at which values are correlated, 0
 * if there is none; followed by QUIET lags at which they are not, unless the lags end first.
 */
static size_t last_correlated_lag(const double *series, size_t n, double *covariance)
{
	double limit = 2 * sqrt(log10((double)n) / (double)n);
	size_t last = 0, most = (size_t)ceil(sqrt((double)n)) + QUIET;

	if (most > n / 2)
		most = n / 2;
	if (most >= MAX_LAGS)
		most = MAX_LAGS - 1;
	covariance[0] = autocovariance(series, n, 0);
	for (size_t lag = 1; lag <= most && lag - last <= QUIET; lag++) {
		covariance[lag] = autocovariance(series, n, lag);
		if (fabs(covariance[lag]) > limit * covariance[0])
			last = lag;
	}
	return last;
}

/*
 * Returns the number of neighbouring values, 1 to n / 3 (at least 1), that depend on one
 * another so much that a bootstrap of the mean must draw them together: twice the estimate of
 * Politis and White, "Automatic Block-Length Selection for the Dependent Bootstrap", for a
 * circular bootstrap. 1 for values that are all equal. `series` has n values, whose mean is 0.
 */
static size_t choose_block_length(const double *series, size_t n)
{
	double covariance[MAX_LAGS], spectrum, slope = 0, length;
	size_t lags, longest = n / 3 ? n / 3 : 1;

	if (n < 9)
		return 1;
	lags = 2 * last_correlated_lag(series, n, covariance);
	if (lags == 0 || covariance[0] <= 0)
		return 1;
	if (lags >= MAX_LAGS)
		lags = MAX_LAGS - 1;
	if (lags >= n)
		lags = n - 1;
	spectrum = covariance[0];
	for (size_t lag = 1; lag <= lags; lag++) {
		double part = (double)lag / (double)lags;
		/* a flat top, which falls to 0 in the outer half */
		double weight = part <= 0.5 ? 1 : 2 * (1 - part);
		double c = autocovariance(series, n, lag);

		spectrum += 2 * weight * c;
		slope += 2 * weight * (double)lag * c;
	}
	/* short blocks of values that swing back make intervals too long, never too short */
	if (spectrum <= 0 || slope <= 0)
		return 1;
	length = LONGER * cbrt(1.5 * slope * slope / (spectrum * spectrum) * (double)n);
	if (length <= 1)
		return 1;
	return length >= (double)longest ? longest : (size_t)ceil(length);
}

#define N_LENGTHS 7 /* blocks of 1, 2, 4 … 64 slices */

/* The number of times that each slice was drawn, and the shared denominator, by resample. */
struct weights {
	float of_slice[PN_MAX_SLICES][PN_RESAMPLES];
	float shared[PN_RESAMPLES];
};

struct pn_bootstrap {
	const struct pn_slices *slices;
	uint64_t seed;
	double shared;			    /* sum */
	struct weights *weights[N_LENGTHS]; /* NULL until a row needs blocks of that length */
	/* of rows of one cell, by its slice, in parts of it; freedom 0: not known yet */
	struct pn_noise of_one[PN_MAX_SLICES];
	float over[PN_RESAMPLES], under[PN_RESAMPLES];
	double series[PN_MAX_SLICES];
};

/* SplitMix64 of Steele, Lea and Flood. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

struct pn_bootstrap *pn_bootstrap_create(const struct pn_slices *slices, uint64_t seed)
{
	struct pn_bootstrap *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->slices = slices;
	b->seed = seed;
	for (size_t i = 0; slices->divided == PN_UNDER_SHARED && i < slices->n_slices; i++)
		b->shared += slices->shared[i];
	return b;
}

void pn_bootstrap_destroy(struct pn_bootstrap *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < N_LENGTHS; i++)
		free(b->weights[i]);
	free(b);
}

/* Adds weight × value to each resample. */
static void add_weighted(float *restrict sums, const float *restrict weights, float value)
{
	for (size_t r = 0; r < PN_RESAMPLES; r++)
		sums[r] += weights[r] * value;
}

/* Draws blocks around the circle of slices until there are as many slices as were recorded. */
static void draw_blocks(struct weights *w, size_t resample, size_t n, size_t length,
			uint64_t *random)
{
	for (size_t drawn = 0; drawn < n;) {
		size_t slice = next_random(random) % n;

		for (size_t i = 0; i < length && drawn < n; i++, drawn++)
			w->of_slice[(slice + i) % n][resample]++;
	}
}

/* Returns the weights of resamples in blocks of 2^`power` slices; NULL without memory. */
static const struct weights *get_weights(struct pn_bootstrap *b, size_t power)
{
	const struct pn_slices *slices = b->slices;
	uint64_t random = b->seed + power;
	struct weights *w = b->weights[power];

	if (w)
		return w;
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	for (size_t r = 0; r < PN_RESAMPLES; r++)
		draw_blocks(w, r, slices->n_slices, (size_t)1 << power, &random);
	for (size_t i = 0; slices->divided == PN_UNDER_SHARED && i < slices->n_slices; i++)
		add_weighted(w->shared, w->of_slice[i], (float)(slices->shared[i] / b->shared));
	b->weights[power] = w;
	return w;
}

/* Returns the power of two of the block length of a row: what a slice adds to its estimate. */
static size_t choose_power(struct pn_bootstrap *b, const struct pn_cell *cells, size_t n,
			   double sum, double under)
{
	const struct pn_slices *slices = b->slices;
	double ratio = sum / under;
	size_t length, power = 0;

	for (size_t i = 0; i < slices->n_slices; i++)
		b->series[i] = slices->divided == PN_UNDER_NONE ?
				       -sum / (double)slices->n_slices :
			       slices->divided == PN_UNDER_SHARED ? -ratio * slices->shared[i] :
								    0;
	for (size_t c = 0; c < n; c++)
		b->series[cells[c].slice] += slices->divided == PN_UNDER_OWN ?
						     cells[c].value - ratio * cells[c].under :
						     cells[c].value;
	length = choose_block_length(b->series, slices->n_slices);
	while (((size_t)1 << power) < length && power + 1 < N_LENGTHS)
		power++;
	return power;
}

#define LANES 4 /* sums beside one another, so that none waits for the one before */

/* Returns the variance of resampled sums, or ratios with `under`, which may be 0 in some. */
static double variance_of(const float *over, const float *under)
{
	double values[PN_RESAMPLES + LANES], sums[LANES] = { 0 }, squares[LANES] = { 0 };
	double sum = 0, square = 0;
	size_t n = 0;

	for (size_t r = 0; r < PN_RESAMPLES; r++)
		if (!under)
			values[n++] = over[r];
		else if (under[r] > 0)
			values[n++] = over[r] / (double)under[r];
	if (n < 2)
		return 0;
	/* about one of the values, which is near their mean, and adds nothing itself */
	for (size_t k = 0; k < LANES; k++)
		values[n + k] = values[0];
	for (size_t i = 0; i < n; i += LANES) {
		for (size_t k = 0; k < LANES; k++) {
			double delta = values[i + k] - values[0];

			sums[k] += delta;
			squares[k] += delta * delta;
		}
	}
	for (size_t k = 0; k < LANES; k++) {
		sum += sums[k];
		square += squares[k];
	}
	return (square - sum * sum / (double)n) / (double)(n - 1);
}

/*
 * Estimates the noise of a row whose largest cell is `scale`, and which is divided by `under`,
 * in parts of the scale. Returns false without memory.
 */
static bool resample(struct pn_bootstrap *b, const struct pn_cell *cells, size_t n, double sum,
		     double scale, double under, struct pn_noise *noise)
{
	enum pn_under divided = b->slices->divided;
	size_t power = choose_power(b, cells, n, sum, under);
	const struct weights *w = get_weights(b, power);
	double blocks, variance;

	if (!w)
		return false;
	memset(b->over, 0, sizeof(b->over));
	memset(b->under, 0, sizeof(b->under));
	for (size_t c = 0; c < n; c++) {
		const float *weights = w->of_slice[cells[c].slice];

		add_weighted(b->over, weights, (float)(cells[c].value / scale));
		if (divided == PN_UNDER_OWN)
			add_weighted(b->under, weights, (float)(cells[c].under / under));
	}
	variance = variance_of(b->over, divided == PN_UNDER_OWN	   ? b->under :
					divided == PN_UNDER_SHARED ? w->shared :
								     NULL);
	blocks = (double)b->slices->n_slices / (double)((size_t)1 << power);
	/* k blocks vary about their own mean, so by (k - 1) / k of what one expects */
	noise->freedom = fmax(blocks - 1, 1);
	noise->error = sqrt(variance * blocks / noise->freedom);
	return true;
}

/*
 * Sets *noise to that of a row of one cell, whose value and divisor do not matter: most rows
 * are such, and of each slice a 1 is resampled, whatever row comes first. Returns false without
 * memory.
 */
static bool resample_one(struct pn_bootstrap *b, uint32_t slice, struct pn_noise *noise)
{
	const struct pn_cell cell = { slice, 1, 1 };
	struct pn_noise *known = &b->of_one[slice];
	bool ok = known->freedom > 0 || resample(b, &cell, 1, 1, 1, 1, known);

	*noise = *known;
	return ok;
}

bool pn_bootstrap_row(struct pn_bootstrap *b, const struct pn_cell *cells, size_t n,
		      struct pn_noise *noise)
{
	enum pn_under divided = b->slices->divided;
	double sum = 0, scale = 0, own = 0, under;
	bool ok;

	*noise = (struct pn_noise){ 0, 1 };
	for (size_t c = 0; c < n; c++) {
		sum += cells[c].value;
		scale = fmax(scale, fabs(cells[c].value));
		own += cells[c].under;
	}
	under = divided == PN_UNDER_OWN ? own : divided == PN_UNDER_SHARED ? b->shared : 1;
	if (!(scale > 0 && under > 0))
		return true;
	ok = n == 1 && divided == PN_UNDER_NONE ?
		     resample_one(b, cells->slice, noise) :
		     resample(b, cells, n, sum, scale, under, noise);
	noise->error = noise->error * scale / under;
	return ok;
}
