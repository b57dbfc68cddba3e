/*
 * Hashes of numbers and bytes. Keys that a recording chooses are hashed with a secret, made
 * once for each table: else a recording could make all of them collide.
 */
#ifndef PERFLUA_BASE_HASH_H
#define PERFLUA_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "wide.h"

struct pb_secret {
	uint64_t a, b;
};

/* Makes a random secret; while the kernel has no random numbers yet, one from addresses. */
void pb_secret_make(struct pb_secret *secret);

/* Returns the two halves of a 128-bit product, folded: each bit depends on all bits of both. */
static inline uint64_t pb_mix(uint64_t x, uint64_t y)
{
	struct pb_wide product = pb_wide_product(x, y);

	return product.low ^ product.high;
}

/* Returns the hash of two numbers. */
static inline uint32_t pb_hash_pair(const struct pb_secret *secret, uint64_t x, uint64_t y)
{
	return (uint32_t)pb_mix(x ^ secret->a, y ^ secret->b);
}

/*
 * Returns the hash of a number that mostly follows others, as ids do: a product, whose upper
 * byte is put lowest, where maps look, spreads these better than chance would. The bench's line
 * "select of 3 fields, in the order of time" needs 3 % more instructions with pb_hash_pair().
 */
static inline uint32_t pb_hash_id(const struct pb_secret *secret, uint64_t id)
{
	return (uint32_t)__builtin_bswap64(id * (secret->a | 1));
}

/* Returns the hash of `n` bytes. */
uint32_t pb_hash_bytes(const struct pb_secret *secret, const void *bytes, size_t n);

/*
 * Returns a number whose upper bits depend on all bits of `x`, without a secret: for caches,
 * where a collision only replaces an entry, and for keys that no recording chooses.
 */
static inline uint64_t pb_scatter(uint64_t x)
{
	return x * UINT64_C(0x9e3779b97f4a7c15);
}

static inline uint64_t pb_load_word(const char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

static inline uint32_t pb_load_half(const char *p)
{
	uint32_t half;

	memcpy(&half, p, sizeof(half));
	return half;
}

/*
 * Reads up to 16 bytes as two words, which overlap if there are fewer. With the size they
 * determine the bytes.
 */
static inline void pb_load_ends(const char *p, size_t n, uint64_t *first, uint64_t *last)
{
	if (n >= 8) {
		*first = pb_load_word(p);
		*last = pb_load_word(p + n - 8);
	} else if (n >= 4) {
		*first = pb_load_half(p);
		*last = pb_load_half(p + n - 4);
	} else if (n) {
		*first = (uint64_t)(uint8_t)p[0] << 8 | (uint8_t)p[n / 2];
		*last = (uint8_t)p[n - 1];
	} else {
		*first = *last = 0;
	}
}

/* Compares like memcmp(), but short texts, which most are, without a call. */
static inline bool pb_same_bytes(const char *a, const char *b, size_t n)
{
	uint64_t first, last, other_first, other_last;

	if (n > 16)
		return memcmp(a, b, n) == 0;
	pb_load_ends(a, n, &first, &last);
	pb_load_ends(b, n, &other_first, &other_last);
	return first == other_first && last == other_last;
}

#endif
