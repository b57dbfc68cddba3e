/* Faults in the order of records: those that come too late, and clocks that go back. */
#ifndef PERFLUA_ANALYSIS_ORDER_FAULTS_H
#define PERFLUA_ANALYSIS_ORDER_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"

/*
 * Counts the records that perf counts as "out of order events".
 *
 * perf sorts records by time in a queue. The recorder writes a FINISHED_ROUND once it has read
 * all of its buffers; at that perf delivers the records that are not later than the latest one
 * of the rounds before. A record earlier than a delivered one comes too late. A few maxima of
 * the queue decide that, so no queue is built. See ordered_events__queue and
 * __ordered_events__flush, tools/perf/util/ordered-events.c.
 */

struct pd_rounds {
	uint64_t limit;	    /* ns: the next round delivers up to here; 0: nothing */
	uint64_t delivered; /* ns: the latest time that the last round delivered */
	uint64_t due;	    /* ns: the latest time in the queue up to the limit; 0: none */
	uint64_t latest;    /* ns: the latest time in the queue; 0: it is empty */
	uint64_t late;	    /* records that came too late */
	uint64_t worst;	    /* ns: the most that one came too late */
	uint64_t first;	    /* ns: the time of the first of them */
};

/* Adds a record with a time (ns). Returns whether it comes too late. */
static inline bool pd_rounds_add(struct pd_rounds *r, uint64_t time)
{
	bool late = time < r->delivered;

	/* without a time a record does not wait in the queue */
	if (time == 0 || time == UINT64_MAX)
		return false;
	if (late) {
		r->first = r->late++ ? r->first : time;
		if (r->delivered - time > r->worst)
			r->worst = r->delivered - time;
	}
	if (time <= r->limit && time > r->due)
		r->due = time;
	if (time > r->latest)
		r->latest = time;
	return late;
}

/* Ends a round, at a FINISHED_ROUND record. */
static inline void pd_rounds_finish(struct pd_rounds *r)
{
	uint64_t latest = r->latest;

	if (!latest)
		return;
	if (r->due)
		r->delivered = r->due;
	/* later records stay in the queue and are all due in the next round */
	r->due = r->latest = latest > r->limit ? latest : 0;
	r->limit = latest;
}

/* Starts anew for another recording, which has a queue of its own. */
static inline void pd_rounds_restart(struct pd_rounds *r)
{
	r->limit = r->delivered = r->due = r->latest = 0;
}

/*
 * Detects clocks that go back: many samples in a row of one ring buffer are earlier than a
 * sample before them. Only a few are if something delayed a writer between reading the clock
 * and writing.
 */

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
