/* Sorts many numbers faster than a comparison does. */
#ifndef PERFLUA_BASE_RADIX_H
#define PERFLUA_BASE_RADIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Sorts words[n], of which n is less than 2^32, by what is left of them without the lowest
 * `skipped` bits, fewer than 64; equal ones keep their order. `spare` has room for n words.
 * Returns the sorted array, one of the two.
 */
uint64_t *pb_radix_sort(uint64_t *words, uint64_t *spare, size_t n, unsigned skipped);

/*
 * Sets by[n] to the numbers of keys[n] in ascending order; equal keys keep theirs. `keys` is
 * written over, and has room for 2 * n. Returns false, with `by` unchanged, if a word has no
 * room for the difference of two keys and a number.
 */
bool pb_radix_number(uint64_t *keys, size_t n, uint32_t *by);

#endif
