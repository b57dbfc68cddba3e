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

/* Returns the number of bits of x. */
static unsigned count_bits(uint64_t x)
{
	return x ? 64 - (unsigned)__builtin_clzll(x) : 0;
}

bool pb_radix_number(uint64_t *keys, size_t n, uint32_t *by)
{
	uint64_t low = UINT64_MAX, high = 0, *sorted;
	unsigned bits = count_bits(n);

	for (size_t i = 0; i < n; i++) {
		low = keys[i] < low ? keys[i] : low;
		high = keys[i] > high ? keys[i] : high;
	}
	if (n && count_bits(high - low) + bits > 64)
		return false;
	for (size_t i = 0; i < n; i++)
		keys[i] = (keys[i] - low) << bits | i;
	sorted = pb_radix_sort(keys, keys + n, n, bits);
	for (size_t i = 0; i < n; i++)
		by[i] = (uint32_t)(sorted[i] & ((UINT64_C(1) << bits) - 1));
	return true;
}
