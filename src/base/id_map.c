#include "id_map.h"

#include <stdlib.h>

#include "vector.h"

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
