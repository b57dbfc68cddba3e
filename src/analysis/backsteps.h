/*
 * Finds clocks that go back: many samples in a row of one buffer are earlier than one before
 * them. A few are earlier when something was held up between reading the clock and writing.
 */
#ifndef PERFLUA_ANALYSIS_BACKSTEPS_H
#define PERFLUA_ANALYSIS_BACKSTEPS_H

#include "recent.h"

#define PD_BACKSTEP	   UINT64_C(1000000) /* ns, at least */
#define PD_BACKSTEP_BEHIND 8		     /* samples in a row */

struct pd_backsteps {
	uint64_t n;
	uint64_t worst; /* ns */
	uint64_t first; /* where the first led to */
};

/* A sample has this time; `last` is its buffer's. */
static inline void pd_backsteps_add(struct pd_backsteps *steps, struct pd_recent_slot *last,
				    uint64_t time)
{
	if (!last->used || time >= last->time) {
		last->time = time;
		last->used = true;
	}
	if (last->time - time < PD_BACKSTEP) {
		last->n_behind = 0;
		return;
	}
	if (!last->n_behind++)
		last->behind = time;
	if (last->n_behind < PD_BACKSTEP_BEHIND)
		return;
	if (!steps->n++)
		steps->first = last->behind;
	if (last->time - last->behind > steps->worst)
		steps->worst = last->time - last->behind;
	last->time = time;
	last->n_behind = 0;
}

#endif
