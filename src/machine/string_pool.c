#include "string_pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

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
	uint32_t h;
	char *copy;

	if (!pool->n)
		pb_secret_make(&pool->secret);
	if (!pb_reserve(pool->texts, pool->n, pool->capacity) ||
	    !pb_map_reserve(&pool->by_text))
		return PM_NO_STRING;
	h = pb_hash_bytes(&pool->secret, text.p, text.n);
	slot = pb_map_find(&pool->by_text, h, has_same_text, &lookup);
	if (slot->item)
		return slot->item - 1;
	copy = malloc(text.n + 1);
	if (!copy)
		return PM_NO_STRING;
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	pb_map_fill(&pool->by_text, slot, h, (uint32_t)pool->n);
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
