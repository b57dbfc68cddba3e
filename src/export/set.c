#include "set.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

void pe_set_init(struct pe_set *set, size_t size)
{
	*set = (struct pe_set){ .size = size };
	pb_secret_make(&set->secret);
}

void pe_set_deinit(struct pe_set *set)
{
	pb_map_deinit(&set->map);
	free(set->items);
	set->items = NULL;
	set->n = set->room = 0;
}

/* Returns true if an item equals the new one, which lies behind the last. */
static bool is_new_item(const void *arg, uint32_t item)
{
	const struct pe_set *set = arg;

	return memcmp(set->items + item * set->size, set->items + set->n * set->size,
		      set->size) == 0;
}

static uint32_t hash_item(const struct pe_set *set, const char *item)
{
	uint64_t words[PE_MAX_ITEM / 8] = { 0 }, hash = set->secret.b;

	memcpy(words, item, set->size);
	for (size_t i = 0; i < (set->size + 7) / 8; i++)
		hash = pb_mix(words[i] ^ set->secret.a, hash);
	return (uint32_t)hash;
}

uint32_t pe_set_add(struct pe_set *set, const void *item)
{
	char *last;
	uint32_t number;

	if (!pb_reserve_bytes(&set->items, set->n, 1, &set->room, set->size))
		return PE_NONE;
	last = set->items + set->n * set->size;
	memcpy(last, item, set->size);
	number = pb_map_intern(&set->map, hash_item(set, last), is_new_item, set,
			       (uint32_t)set->n);
	set->n += number == set->n;
	return number;
}
