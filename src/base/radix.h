/* Sorts many numbers faster than a comparison does. */
#ifndef PERFLUA_BASE_RADIX_H
#define PERFLUA_BASE_RADIX_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sorts words[n], of which n is less than 2^32, by what is left of them without the lowest
 * `skipped` bits, fewer than 64; equal ones keep their order. `spare` has room for n words.
 * Returns the sorted array, one of the two.
 */
uint64_t *pb_radix_sort(uint64_t *words, uint64_t *spare, size_t n, unsigned skipped);

#endif
