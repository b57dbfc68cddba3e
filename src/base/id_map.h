/*
 * A map from 64-bit numbers to 32-bit ones: from ids of events, threads or processes to
 * indices.
 */
#ifndef PERFLUA_BASE_ID_MAP_H
#define PERFLUA_BASE_ID_MAP_H

#include "hash.h"
#include "map.h"

/* Zero-initialised: empty. */
struct pb_id_map {
	struct pb_id_entry {
		uint64_t key;
		uint32_t value;
	} * entries; /* [n] */
	size_t n, capacity;
	struct pb_map map; /* the map of entries */
	struct pb_secret secret;
};

/* Adds a value, unless the key has one: the first one stays. Returns false without memory. */
bool pb_id_map_add(struct pb_id_map *map, uint64_t key, uint32_t value);
void pb_id_map_deinit(struct pb_id_map *map);

struct pb_id_wanted {
	const struct pb_id_map *map;
	uint64_t key;
};

static inline bool pb_id_map_has_key(const void *arg, uint32_t item)
{
	const struct pb_id_wanted *wanted = arg;

	return wanted->map->entries[item].key == wanted->key;
}

/* Returns the value of a key, or UINT32_MAX. */
static inline uint32_t pb_id_map_find(const struct pb_id_map *map, uint64_t key)
{
	const struct pb_id_wanted wanted = { map, key };
	const struct pb_slot *slot = pb_map_find(&map->map, pb_hash_id(&map->secret, key),
						 pb_id_map_has_key, &wanted);

	return slot && slot->item ? map->entries[slot->item - 1].value : UINT32_MAX;
}

#endif
