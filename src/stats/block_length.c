#include "block_length.h"

#include <math.h>

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

size_t pn_block_length(const double *series, size_t n)
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
