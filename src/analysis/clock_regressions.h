/*
 * Detects clocks that go back: many samples in a row of one ring buffer are earlier than a
 * sample before them. Only a few are if something delayed a writer between reading the clock
 * and writing.
 */
#ifndef PERFLUA_ANALYSIS_CLOCK_REGRESSIONS_H
#define PERFLUA_ANALYSIS_CLOCK_REGRESSIONS_H

#include "base/hash.h"

/*
 * A map of fixed size from keys to times. Where keys crowd an older one is forgotten, so that
 * no recording makes the map grow. Zero-initialised: empty.
 */
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

#define PD_CLOCK_REGRESSION	   UINT64_C(1000000) /* ns; smaller differences do not count */
#define PD_CLOCK_REGRESSION_BEHIND 8		     /* samples in a row that must be earlier */

struct pd_clock_regressions {
	uint64_t n;
	uint64_t worst; /* ns; the largest step back */
	uint64_t first; /* ns; the time that the first step led to */
};

/* Adds a sample with time `time` (ns). `last` is the slot of the sample's buffer. */
static inline void pd_clock_regressions_add(struct pd_clock_regressions *regressions,
					    struct pd_bounded_slot *last, uint64_t time)
{
	if (!last->used || time >= last->time) {
		last->time = time;
		last->used = true;
	}
	if (last->time - time < PD_CLOCK_REGRESSION) {
		last->n_behind = 0;
		return;
	}
	if (!last->n_behind++)
		last->regressed = time;
	if (last->n_behind < PD_CLOCK_REGRESSION_BEHIND)
		return;
	if (!regressions->n++)
		regressions->first = last->regressed;
	if (last->time - last->regressed > regressions->worst)
		regressions->worst = last->time - last->regressed;
	last->time = time;
	last->n_behind = 0;
}

#endif
