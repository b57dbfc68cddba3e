/*
 * Times kept for each of some keys, in a table of fixed size. When keys crowd, one that was
 * there is forgotten, so that no recording makes it grow.
 */
#ifndef PERFLUA_ANALYSIS_RECENT_H
#define PERFLUA_ANALYSIS_RECENT_H

#include <stdbool.h>
#include <stdint.h>

#define PD_RECENT_BITS 12
#define PD_RECENT_NEAR 8 /* places where a key can be */

struct pd_recent {
	struct pd_recent_slot {
		uint64_t key, time;
		uint64_t behind; /* of those since that were earlier: the first */
		uint32_t n_behind;
		bool used;
	} slots[(1u << PD_RECENT_BITS) + PD_RECENT_NEAR];
};

/* The place of a key; a new one's is not `used`. */
static inline struct pd_recent_slot *pd_recent_find(struct pd_recent *recent, uint64_t key)
{
	struct pd_recent_slot *first =
		&recent->slots[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PD_RECENT_BITS)];
	struct pd_recent_slot *place = first;

	for (unsigned i = 0; i < PD_RECENT_NEAR; i++) {
		if (first[i].used && first[i].key == key)
			return &first[i];
		if (place->used && !first[i].used)
			place = &first[i];
	}
	*place = (struct pd_recent_slot){ .key = key };
	return place;
}

#endif
