/*
 * Detects clocks that go back: many samples in a row of one ring buffer are earlier than a
 * sample before them. Only a few are if something delayed a writer between reading the clock
 * and writing.
 */
#ifndef PERFLUA_ANALYSIS_CLOCK_REGRESSIONS_H
#define PERFLUA_ANALYSIS_CLOCK_REGRESSIONS_H

#include "bounded_map.h"

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
