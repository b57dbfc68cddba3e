/* The length of the blocks of a bootstrap, chosen by the autocorrelation of a series. */
#ifndef PERFLUA_STATS_BLOCK_LENGTH_H
#define PERFLUA_STATS_BLOCK_LENGTH_H

#include <stddef.h>

/*
 * Returns the number of neighbouring values, 1 to n / 3 (at least 1), that depend on one
 * another so much that a bootstrap of the mean must draw them together: twice the estimate of
 * Politis and White, "Automatic Block-Length Selection for the Dependent Bootstrap", for a
 * circular bootstrap. 1 for values that are all equal. `series` has n values, whose mean is 0.
 */
size_t pn_block_length(const double *series, size_t n);

#endif
