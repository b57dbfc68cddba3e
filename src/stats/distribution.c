#include "stats.h"

#include <float.h>
#include <math.h>

#define MAX_TERMS 10000
#define MAX_STEPS 200

double pn_normal_tail(double z)
{
	return 0.5 * erfc(z / sqrt(2));
}

/* Replaces what a continued fraction cannot divide by. */
static double keep_from_zero(double x)
{
	return fabs(x) < DBL_MIN * 4 ? DBL_MIN * 4 : x;
}

/*
 * Returns the continued fraction of the incomplete beta function at x < (a + 1) / (a + b + 2),
 * evaluated from the front by the method of Lentz.
 */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / keep_from_zero(1 - (a + b) * x / (a + 1)), value = d;

	for (int m = 1; m < MAX_TERMS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double change;

		d = 1 / keep_from_zero(1 + even * d);
		c = keep_from_zero(1 + even / c);
		value *= c * d;
		d = 1 / keep_from_zero(1 + odd * d);
		c = keep_from_zero(1 + odd / c);
		change = c * d;
		value *= change;
		if (fabs(change - 1) < 1e-14)
			break;
	}
	return value;
}

/* Returns the regularised incomplete beta function of 0 ≤ x ≤ 1 for a, b > 0. */
static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double pn_student_tail(double t, double freedom)
{
	if (isinf(t))
		return 0;
	if (freedom > 1e7)
		return pn_normal_tail(t);
	return 0.5 * incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

static double student_density(double t, double freedom)
{
	return exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2) -
		   (freedom + 1) / 2 * log1p(t * t / freedom)) /
	       sqrt(freedom * 3.14159265358979323846);
}

double pn_student_quantile(double tail, double freedom)
{
	double t = 0;

	if (freedom > 1e7)
		freedom = 1e7;
	/* The tail is convex for t ≥ 0, so that Newton's steps from 0 never pass the value. */
	for (int i = 0; i < MAX_STEPS; i++) {
		double step = (pn_student_tail(t, freedom) - tail) /
			      student_density(t, freedom);

		t += step;
		if (fabs(step) <= 1e-10 * t)
			break;
	}
	return t;
}

double pn_fisher_tail(double f, double n, double m)
{
	return incomplete_beta(m / 2, n / 2, m / (m + n * f));
}

double pn_binomial_test(uint64_t k, uint64_t n, double p)
{
	double least, most;

	if (n == 0)
		return 1;
	/* P(X ≤ k) and P(X ≥ k) */
	least = k == n ? 1 : incomplete_beta((double)(n - k), (double)k + 1, 1 - p);
	most = k == 0 ? 1 : incomplete_beta((double)k, (double)(n - k) + 1, p);
	return fmin(1, 2 * fmin(least, most));
}
