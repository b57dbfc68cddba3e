/*
 * Hash maps: of items in an array of the caller's (pb_map), and made of it, of numbers by
 * 64-bit ids (pb_id_map), and of distinct items of one size (pb_set).
 *
 * A pb_map is a map of items that lie in an array of the caller's: a slot keeps 32 bits of an
 * item's hash and the item's index. The caller hashes keys and says which item has a key, so
 * that one map serves keys of any kind. Open addressing with linear probing; a quarter of the
 * slots stays free.
 *
 *	static bool has_name(const void *arg, uint32_t item) { … }
 *
 *	struct pb_slot *slot = pb_map_find(&map, hash, has_name, &key);
 *
 *	if (slot && slot->item)
 *		return &items[slot->item - 1];
 *	…append to items[n]…
 *	if (!pb_map_add(&map, hash, n))
 *		…no memory…
 *
 * Keys that a recording chooses must be hashed with a secret, else it can make all of them
 * collide.
 */
#ifndef PERFLUA_BASE_MAP_H
#define PERFLUA_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash.h"

struct pb_slot {
	uint32_t hash;
	uint32_t item; /* index + 1; 0: free */
};

/* Zero-initialised: empty. */
struct pb_map {
	struct pb_slot *slots; /* [n_slots]: a power of two, or 0 */
	size_t n, n_slots;
};

/* Frees the slots and leaves the map empty. */
void pb_map_deinit(struct pb_map *map);

/* Doubles the slots. Returns false, with the map unchanged, without memory. */
bool pb_map_grow(struct pb_map *map);

/*
 * Makes room so that the next item fits, and pb_map_find() finds a slot. Returns false without
 * memory. Slots that were found before are valid no longer.
 */
static inline bool pb_map_reserve(struct pb_map *map)
{
	return 4 * (map->n + 1) <= 3 * map->n_slots || pb_map_grow(map);
}

/*
 * Adds an item whose key is not in the map yet. Returns false, with the map unchanged, without
 * memory.
 */
bool pb_map_add(struct pb_map *map, uint32_t hash, uint32_t item);

/* Removes the item of an occupied slot that pb_map_find() returned. Other slots may move. */
void pb_map_remove(struct pb_map *map, struct pb_slot *slot);

/* Removes all items; keeps few slots, so that clearing a small map again costs little. */
void pb_map_clear(struct pb_map *map);

/*
 * Returns the slot of the item with that hash for which `has_key(arg, index)` is true, or else
 * the free slot where it would be added, which the caller of pb_map_reserve() may fill by
 * pb_map_fill(). NULL: the map has no slots.
 */
static inline __attribute__((always_inline)) struct pb_slot *pb_map_find(
	const struct pb_map *map, uint32_t hash,
	bool (*has_key)(const void *arg, uint32_t item), const void *arg)
{
	size_t mask = map->n_slots - 1;

	if (!map->n_slots)
		return NULL;
	for (size_t at = hash & mask;; at = (at + 1) & mask) {
		struct pb_slot *slot = &map->slots[at];

		if (!slot->item || (slot->hash == hash && has_key(arg, slot->item - 1)))
			return slot;
	}
}

/* Puts an item into the free slot that pb_map_find() returned for its hash. */
static inline void pb_map_fill(struct pb_map *map, struct pb_slot *slot, uint32_t hash,
			       uint32_t item)
{
	*slot = (struct pb_slot){ hash, item + 1 };
	map->n++;
}

/*
 * Returns the index of the item with that hash for which `has_key(arg, index)` is true; if
 * there is none, adds `item` and returns it. UINT32_MAX: no memory.
 */
static inline __attribute__((always_inline)) uint32_t pb_map_intern(
	struct pb_map *map, uint32_t hash, bool (*has_key)(const void *arg, uint32_t item),
	const void *arg, uint32_t item)
{
	struct pb_slot *slot = pb_map_reserve(map) ? pb_map_find(map, hash, has_key, arg) :
						     NULL;

	if (!slot)
		return UINT32_MAX;
	if (slot->item)
		return slot->item - 1;
	pb_map_fill(map, slot, hash, item);
	return item;
}

/*
 * A map from 64-bit numbers to 32-bit ones: from ids of events, threads or processes to
 * indices. Zero-initialised: empty.
 */
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

/*
 * Distinct items of one size, numbered from 0 on in the order in which they came. Items are
 * compared byte by byte, so they must have no padding.
 */
struct pb_set {
	char *items; /* [n] */
	size_t size; /* bytes of an item, a multiple of 4 */
	size_t n, room;
	struct pb_map map; /* numbers of items */
	struct pb_secret secret;
};

void pb_set_init(struct pb_set *set, size_t size);
void pb_set_deinit(struct pb_set *set);

/* Returns the number of an item, which is added if it is new; UINT32_MAX: no memory. */
uint32_t pb_set_add(struct pb_set *set, const void *item);

/* Returns item `number`. It is valid until the next one is added. */
static inline const void *pb_set_at(const struct pb_set *set, uint32_t number)
{
	return set->items + number * set->size;
}

#endif
