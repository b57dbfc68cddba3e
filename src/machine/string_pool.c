#include "string_pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/vector.h"

#define FACTOR UINT64_C(0xff51afd7ed558ccd)

static uint64_t hash_text(struct pd_text text, uint64_t h)
{
	while (text.n) {
		size_t n = text.n < 8 ? text.n : 8;
		uint64_t word = n;

		memcpy(&word, text.p, n);
		h = (h ^ word) * FACTOR;
		h ^= h >> 32;
		text.p += n;
		text.n -= n;
	}
	return h;
}

struct lookup {
	const struct pm_string_pool *pool;
	struct pd_text text;
};

static bool has_same_text(const void *arg, uint32_t item)
{
	const struct lookup *lookup = arg;
	struct pd_text text = lookup->pool->texts[item];

	return text.n == lookup->text.n && memcmp(text.p, lookup->text.p, text.n) == 0;
}

uint32_t pm_string_pool_add(struct pm_string_pool *pool, struct pd_text text)
{
	const struct lookup lookup = { pool, text };
	struct pb_slot *slot;
	uint64_t h;
	char *copy;

	if (!pool->n && getrandom(&pool->seed, sizeof(pool->seed), GRND_NONBLOCK) < 0)
		pool->seed = FACTOR;
	if (!pb_reserve(pool->texts, pool->n, pool->capacity) ||
	    !pb_map_reserve(&pool->by_text))
		return PM_NO_STRING;
	h = hash_text(text, pool->seed);
	slot = pb_map_find(&pool->by_text, (uint32_t)h, has_same_text, &lookup);
	if (slot->item)
		return slot->item - 1;
	copy = malloc(text.n + 1);
	if (!copy)
		return PM_NO_STRING;
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	pb_map_fill(&pool->by_text, slot, (uint32_t)h, (uint32_t)pool->n);
	pool->texts[pool->n] = (struct pd_text){ copy, text.n };
	return (uint32_t)pool->n++;
}

void pm_string_pool_deinit(struct pm_string_pool *pool)
{
	for (size_t i = 0; i < pool->n; i++)
		free((char *)pool->texts[i].p);
	free(pool->texts);
	pb_map_deinit(&pool->by_text);
	*pool = (struct pm_string_pool){ 0 };
}
