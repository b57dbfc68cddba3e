/*
 * 128-bit hashes of call chains: the sum of products of pairs of words, each plus a random
 * number for its position (NH, the hash of UMAC: RFC 4418, 5.2). Without the random numbers,
 * two chains can be made equal only with a chance of 2^-64.
 */
#ifndef PERFLUA_QUERY_CHAINS_HASH_H
#define PERFLUA_QUERY_CHAINS_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/wide.h"

#define PQ_HEAD_WORDS 4	   /* words in front of a chain: whose it is */
#define PQ_HASH_WORDS 2048 /* longer chains are not hashed */

struct pq_hash_keys {
	uint64_t head[PQ_HEAD_WORDS];
	uint64_t words[PQ_HASH_WORDS];
	uint64_t factors[2]; /* odd */
};

/* Makes random keys. Returns false if there are no random numbers. */
bool pq_hash_keys_init(struct pq_hash_keys *keys);

struct pq_hash {
	uint64_t low, high;
};

static inline uint64_t pq_word(const uint8_t *bytes, size_t i)
{
	uint64_t word;

	memcpy(&word, bytes + 8 * i, sizeof(word));
	return word;
}

/* Returns the hash of a head and `n` words, of any alignment. */
static inline struct pq_hash pq_hash_of(const struct pq_hash_keys *keys,
					const uint64_t head[PQ_HEAD_WORDS], const void *words,
					size_t n)
{
	const uint8_t *bytes = words;
	const uint64_t *k = keys->words;
	struct pb_wide sum = { n, 0 }, other = { 0, 0 };
	struct pq_hash hash;
	size_t i = 0;

	for (size_t h = 0; h < PQ_HEAD_WORDS; h += 2)
		pb_wide_add(&sum, pb_wide_product(head[h] + keys->head[h],
						  head[h + 1] + keys->head[h + 1]));
	for (; i + 4 <= n; i += 4) {
		pb_wide_add(&sum, pb_wide_product(pq_word(bytes, i) + k[i],
						  pq_word(bytes, i + 1) + k[i + 1]));
		pb_wide_add(&other, pb_wide_product(pq_word(bytes, i + 2) + k[i + 2],
						    pq_word(bytes, i + 3) + k[i + 3]));
	}
	for (; i < n; i += 2) {
		uint64_t second = i + 1 < n ? pq_word(bytes, i + 1) : 0;

		pb_wide_add(&sum, pb_wide_product(pq_word(bytes, i) + k[i], second + k[i + 1]));
	}
	pb_wide_add(&sum, other);
	/*
	 * mix each half into the other, as the lower half alone is not a good hash; nothing is
	 * lost by it
	 */
	hash.low = sum.low;
	hash.high = sum.high;
	hash.high += (hash.low ^ hash.low >> 32) * keys->factors[0];
	hash.low += (hash.high ^ hash.high >> 32) * keys->factors[1];
	hash.high += hash.low ^ hash.low >> 29;
	return hash;
}

#endif
