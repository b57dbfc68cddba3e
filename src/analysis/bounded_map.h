/*
 * A map of fixed size from keys to times. Where keys crowd an older one is forgotten, so that
 * no recording makes the map grow. Zero-initialised: empty.
 */
#ifndef PERFLUA_ANALYSIS_BOUNDED_MAP_H
#define PERFLUA_ANALYSIS_BOUNDED_MAP_H

#include "base/hash.h"

#define PD_BOUNDED_MAP_BITS 12
#define PD_BOUNDED_MAP_NEAR 8 /* slots in which a key can be */

struct pd_bounded_map {
	struct pd_bounded_slot {
		uint64_t key, time;
		/* ns; the first of the later samples that were earlier than `time` */
		uint64_t regressed;
		uint32_t n_behind;
		bool used;
	} slots[(1u << PD_BOUNDED_MAP_BITS) + PD_BOUNDED_MAP_NEAR];
};

/* Returns the slot of a key. That of a new key is not `used`. */
static inline struct pd_bounded_slot *pd_bounded_map_find(struct pd_bounded_map *map,
							  uint64_t key)
{
	struct pd_bounded_slot *first =
		&map->slots[pb_scatter(key) >> (64 - PD_BOUNDED_MAP_BITS)];
	struct pd_bounded_slot *slot = first;

	for (unsigned i = 0; i < PD_BOUNDED_MAP_NEAR; i++) {
		if (first[i].used && first[i].key == key)
			return &first[i];
		if (slot->used && !first[i].used)
			slot = &first[i];
	}
	*slot = (struct pd_bounded_slot){ .key = key };
	return slot;
}

#endif
