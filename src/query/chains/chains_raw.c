/* Finds the chain of a raw chain that was met before. */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "chains_internal.h"

bool pq_hash_keys_init(struct pq_hash_keys *keys)
{
	uint8_t *at = (uint8_t *)keys, *end = at + sizeof(*keys);

	while (at < end) {
		ssize_t got = getrandom(at, (size_t)(end - at), 0);

		if (got <= 0)
			return false;
		at += got;
	}
	keys->factors[0] |= 1;
	keys->factors[1] |= 1;
	return true;
}

static struct pq_raw_line *line_of(const struct pq_raw *raw, const struct pq_hash *hash)
{
	return &raw->lines[hash->low >> (64 - raw->bits)];
}

uint32_t pq_raw_find(const struct pq_raw *raw, const struct pq_hash *hash)
{
	const struct pq_raw_line *line;

	if (!raw->lines)
		return 0;
	line = line_of(raw, hash);
	for (int i = 0; i < 3; i++)
		if (line->hash[i].low == hash->low && line->hash[i].high == hash->high)
			return line->chain[i];
	return 0;
}

static void store_raw(struct pq_raw *raw, const struct pq_hash *hash, uint32_t chain)
{
	struct pq_raw_line *line = line_of(raw, hash);
	uint32_t i = line->next % 3;

	raw->n += !line->chain[i];
	line->hash[i] = *hash;
	line->chain[i] = chain;
	line->next = i + 1;
}

#define HUGE ((size_t)2 << 20) /* size of a huge page */

/* Doubles the number of lines. Without memory the number stays as it is. */
static void widen_raw(struct pq_raw *raw)
{
	struct pq_raw wide = { .bits = raw->lines ? raw->bits + 1 : PQ_RAW_BITS_MIN };
	size_t n = (size_t)1 << wide.bits;

	wide.lines = aligned_alloc(n * sizeof(*wide.lines) >= HUGE ? HUGE : 64,
				   n * sizeof(*wide.lines));
	if (!wide.lines) {
		raw->full = true;
		return;
	}
	if (n * sizeof(*wide.lines) >= HUGE)
		madvise(wide.lines, n * sizeof(*wide.lines), MADV_HUGEPAGE);
	memset(wide.lines, 0, n * sizeof(*wide.lines));
	for (size_t l = 0; raw->lines && l < n / 2; l++)
		for (int i = 0; i < 3; i++)
			if (raw->lines[l].chain[i])
				store_raw(&wide, &raw->lines[l].hash[i],
					  raw->lines[l].chain[i]);
	free(raw->lines);
	wide.full = wide.bits == PQ_RAW_BITS_MAX;
	*raw = wide;
}

void pq_raw_keep(struct pq_raw *raw, const struct pq_hash *hash, uint32_t chain)
{
	if (!raw->full && (raw->n >> raw->bits || !raw->lines))
		widen_raw(raw);
	if (raw->lines)
		store_raw(raw, hash, chain);
}
