#include "map.h"

#include <stdlib.h>
#include <string.h>

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
	grown.slots = calloc(grown.n_slots, sizeof(*grown.slots));
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
