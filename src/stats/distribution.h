/*
 * Probabilities of the distributions that tests and intervals need: normal, Student's t,
 * Fisher's F, binomial.
 */
#ifndef PERFLUA_STATS_DISTRIBUTION_H
#define PERFLUA_STATS_DISTRIBUTION_H

#include <stdint.h>

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

#endif
