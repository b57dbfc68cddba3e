#include "map.h"

#include <stdlib.h>
#include <string.h>

#include "vector.h"

#define FIRST_SLOTS    16
#define SLOTS_PER_PAGE (4096 / sizeof(struct pb_slot))

void pb_map_deinit(struct pb_map *map)
{
	free(map->slots);
	*map = (struct pb_map){ 0 };
}

static struct pb_slot *find_free(const struct pb_map *map, uint32_t hash)
{
	size_t mask = map->n_slots - 1, at = hash & mask;

	while (map->slots[at].item)
		at = (at + 1) & mask;
	return &map->slots[at];
}

bool pb_map_grow(struct pb_map *map)
{
	struct pb_map grown = {
		.n = map->n,
		.n_slots = map->n_slots ? 2 * map->n_slots : FIRST_SLOTS,
	};

	/* 32 bits of a hash find no more slots than that, and number no more items */
	if (grown.n_slots > UINT32_MAX / 2)
		return false;
	grown.slots = pb_zeros(grown.n_slots, sizeof(*grown.slots));
	if (!grown.slots)
		return false;
	/*
	 * Most slots are read before they are written. A page that is read first takes a second
	 * fault when it is written, which interrupts the processors of other threads.
	 */
	for (size_t i = 0; i < grown.n_slots; i += SLOTS_PER_PAGE)
		*(volatile uint32_t *)&grown.slots[i].item = 0;
	for (size_t i = 0; i < map->n_slots; i++)
		if (map->slots[i].item)
			*find_free(&grown, map->slots[i].hash) = map->slots[i];
	free(map->slots);
	*map = grown;
	return true;
}

bool pb_map_add(struct pb_map *map, uint32_t hash, uint32_t item)
{
	if (!pb_map_reserve(map))
		return false;
	pb_map_fill(map, find_free(map, hash), hash, item);
	return true;
}

void pb_map_remove(struct pb_map *map, struct pb_slot *slot)
{
	size_t mask = map->n_slots - 1, hole = (size_t)(slot - map->slots);

	/* items after the hole that would no longer be found from their home move up */
	for (size_t i = (hole + 1) & mask; map->slots[i].item; i = (i + 1) & mask) {
		size_t home = map->slots[i].hash & mask;

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		map->slots[hole] = map->slots[i];
		hole = i;
	}
	map->slots[hole].item = 0;
	map->n--;
}

void pb_map_clear(struct pb_map *map)
{
	if (map->n_slots > FIRST_SLOTS) {
		struct pb_slot *slots = realloc(map->slots, FIRST_SLOTS * sizeof(*slots));

		map->slots = slots ? slots : map->slots;
		map->n_slots = FIRST_SLOTS;
	}
	map->n = 0;
	if (map->n_slots)
		memset(map->slots, 0, map->n_slots * sizeof(*map->slots));
}

bool pb_id_map_add(struct pb_id_map *map, uint64_t key, uint32_t value)
{
	const struct pb_id_wanted wanted = { map, key };
	uint32_t hash, found;

	if (!map->n)
		pb_secret_make(&map->secret);
	if (!pb_reserve(map->entries, map->n, map->capacity))
		return false;
	hash = pb_hash_id(&map->secret, key);
	found = pb_map_intern(&map->map, hash, pb_id_map_has_key, &wanted, (uint32_t)map->n);
	if (found == map->n)
		map->entries[map->n++] = (struct pb_id_entry){ key, value };
	return found != UINT32_MAX;
}

void pb_id_map_deinit(struct pb_id_map *map)
{
	free(map->entries);
	pb_map_deinit(&map->map);
	*map = (struct pb_id_map){ 0 };
}

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
