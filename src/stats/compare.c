#include "stats.h"

#include <math.h>
#include <stdlib.h>

/* Returns pn_student_quantile(), which is kept for others of the same freedom. */
static double find_quantile(struct pn_quantiles *quantiles, double tail, double freedom)
{
	struct pn_quantile *kept = &quantiles->kept[(size_t)fmin(freedom, 1e6) % 16];

	if (kept->tail != tail || kept->freedom != freedom)
		*kept = (struct pn_quantile){ tail, freedom,
					      pn_student_quantile(tail, freedom) };
	return kept->value;
}

struct pn_interval pn_compare(double before, struct pn_noise before_noise, double after,
			      struct pn_noise after_noise, double confidence,
			      struct pn_quantiles *quantiles)
{
	double a = before_noise.error * before_noise.error;
	double b = after_noise.error * after_noise.error;
	double delta = after - before, error = sqrt(a + b), freedom, half;

	if (error == 0)
		return (struct pn_interval){ delta, delta, delta == 0 ? 1 : 0 };
	/* in shares of the variance, which may be small or large */
	a /= error * error;
	b /= error * error;
	freedom = 1 / (a * a / before_noise.freedom + b * b / after_noise.freedom);
	half = find_quantile(quantiles, (1 - confidence) / 2, freedom) * error;
	return (struct pn_interval){ delta - half, delta + half,
				     2 * pn_student_tail(fabs(delta) / error, freedom) };
}

#define SURPRISING 0.01 /* probability of deviations that the expectation does not hold for */

double pn_shrink(struct pn_dispersion found, double prior, double *freedom)
{
	double factor = found.freedom > 0 ? found.squares / found.freedom : 1;

	if (factor > 1 && pn_fisher_tail(factor, found.freedom, prior) < SURPRISING) {
		*freedom = found.freedom;
		return factor;
	}
	*freedom = prior + found.freedom;
	return (prior + found.squares) / *freedom;
}

double pn_likelihood(struct pn_dispersion found, double prior)
{
	double all = prior + found.freedom;

	return lgamma(all / 2) - lgamma(prior / 2) - found.freedom / 2 * log(prior) -
	       all / 2 * log1p(found.squares / prior);
}

/* Returns the value of rank `rank`, from 1 on; infinite if there is none. */
static double value_of_rank(const struct pn_ordered *o, double rank)
{
	double seen = 0;

	if (rank < 1)
		return -INFINITY;
	for (size_t i = 0; i < o->n; i++) {
		seen += (double)o->counts[i];
		if (seen >= rank)
			return o->values[i];
	}
	return INFINITY;
}

static double total_of(const struct pn_ordered *o)
{
	double total = 0;

	for (size_t i = 0; i < o->n; i++)
		total += (double)o->counts[i];
	return total;
}

static double quantile_of(const struct pn_ordered *o, double q)
{
	return value_of_rank(o, fmax(1, ceil(q * total_of(o) - 1e-9)));
}

/* Sets the bounds of a quantile, at `z` standard errors of its rank. */
static void bound_quantile(const struct pn_ordered *o, double q, double z, double *low,
			   double *high)
{
	double n = total_of(o), half = z * sqrt(n * q * (1 - q));

	*low = value_of_rank(o, floor(q * n - half));
	*high = value_of_rank(o, ceil(q * n + half) + 1);
}

static struct pn_interval quantile_interval(const struct pn_ordered *before,
					    const struct pn_ordered *after, double q, double z)
{
	double a = quantile_of(before, q), b = quantile_of(after, q);
	double a_low, a_high, b_low, b_high;

	bound_quantile(before, q, z, &a_low, &a_high);
	bound_quantile(after, q, z, &b_low, &b_high);
	return (struct pn_interval){ b - a - hypot(b - b_low, a_high - a),
				     b - a + hypot(b_high - b, a - a_low), NAN };
}

#define MOST_ERRORS 8 /* p below 1e-15 */
#define HALVINGS    40

struct pn_interval pn_compare_quantiles(const struct pn_ordered *before,
					const struct pn_ordered *after, double q,
					double confidence)
{
	double z = pn_student_quantile((1 - confidence) / 2, 1e9), least = 0,
	       most = MOST_ERRORS;
	struct pn_interval interval = quantile_interval(before, after, q, z);

	/* how wide an interval may be that does not include 0 */
	for (int i = 0; i < HALVINGS; i++) {
		double middle = (least + most) / 2;
		struct pn_interval tried = quantile_interval(before, after, q, middle);

		if (tried.low <= 0 && tried.high >= 0)
			most = middle;
		else
			least = middle;
	}
	interval.p = fmin(1, 2 * pn_normal_tail(least));
	return interval;
}

static int compare_p(const void *a, const void *b)
{
	const double *const *x = a, *const *y = b;

	return **x < **y ? -1 : **x > **y;
}

bool pn_adjust(double *p, size_t n)
{
	double **order = n ? malloc(n * sizeof(*order)) : NULL, least = 1;

	if (n && !order)
		return false;
	for (size_t i = 0; i < n; i++)
		order[i] = &p[i];
	if (n)
		qsort(order, n, sizeof(*order), compare_p);
	for (size_t i = n; i-- > 0;) {
		least = fmin(least, *order[i] * (double)n / (double)(i + 1));
		*order[i] = least;
	}
	free(order);
	return true;
}
