#include "set.h"

#include <stdlib.h>
#include <string.h>

#include "vector.h"

void pb_set_init(struct pb_set *set, size_t size)
{
	*set = (struct pb_set){ .size = size };
	pb_secret_make(&set->secret);
}

void pb_set_deinit(struct pb_set *set)
{
	pb_map_deinit(&set->map);
	free(set->items);
	set->items = NULL;
	set->n = set->room = 0;
}

/* Returns true if an item equals the new one, which lies after the last. */
static bool is_new_item(const void *arg, uint32_t item)
{
	const struct pb_set *set = arg;
	const char *a = set->items + item * set->size, *b = set->items + set->n * set->size;

	/* items are short: a call would take longer */
	for (size_t at = 0; at < set->size; at += 4)
		if (pb_load_half(a + at) != pb_load_half(b + at))
			return false;
	return true;
}

static uint32_t hash_item(const struct pb_set *set, const char *item)
{
	uint64_t hash = set->secret.b;
	size_t at = 0;

	for (; at + 8 <= set->size; at += 8)
		hash = pb_mix(pb_load_word(item + at) ^ set->secret.a, hash);
	if (at < set->size)
		hash = pb_mix(pb_load_half(item + at) ^ set->secret.a, hash);
	return (uint32_t)hash;
}

uint32_t pb_set_add(struct pb_set *set, const void *item)
{
	char *last;
	uint32_t number;

	if (!pb_reserve_bytes(&set->items, set->n, 1, &set->room, set->size))
		return UINT32_MAX;
	last = set->items + set->n * set->size;
	memcpy(last, item, set->size);
	number = pb_map_intern(&set->map, hash_item(set, last), is_new_item, set,
			       (uint32_t)set->n);
	set->n += number == set->n;
	return number;
}
