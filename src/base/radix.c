#include "radix.h"

#define DIGIT_BITS 11
#define DIGITS	   (1u << DIGIT_BITS)

/* Sorts by one digit, as a round of a stable sort. */
static void sort_words_by_digit(uint64_t *to, const uint64_t *from, size_t n, unsigned shift)
{
	uint32_t at[DIGITS] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		at[from[i] >> shift & (DIGITS - 1)]++;
	for (size_t i = 0; i < DIGITS; i++) {
		uint32_t count = at[i];

		at[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[at[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

uint64_t *pb_radix_sort(uint64_t *words, uint64_t *spare, size_t n, unsigned skipped)
{
	uint64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all |= words[i];
	for (unsigned shift = skipped; shift < 64 && all >> shift; shift += DIGIT_BITS) {
		uint64_t *from = words;

		sort_words_by_digit(spare, from, n, shift);
		words = spare;
		spare = from;
	}
	return words;
}
