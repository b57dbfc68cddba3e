/*
 * Which records perf counts as "out of order events".
 *
 * perf sorts records by their times in a queue. Where the recorder went round all of its
 * buffers it left a FINISHED_ROUND; that delivers what is not later than the latest record of
 * the rounds before. A record earlier than one that was delivered comes too late. Only a few
 * maxima of the queue decide that, so none is built. See ordered_events__queue and
 * __ordered_events__flush, tools/perf/util/ ordered-events.c.
 */
#ifndef PERFLUA_ANALYSIS_ROUNDS_H
#define PERFLUA_ANALYSIS_ROUNDS_H

#include <stdbool.h>
#include <stdint.h>

struct pd_rounds {
	uint64_t limit;	    /* the next round delivers up to here; 0: nothing */
	uint64_t delivered; /* the latest of what the last round delivered */
	uint64_t due;	    /* the latest in the queue up to the limit; 0: none */
	uint64_t latest;    /* the latest in the queue; 0: it is empty */
	uint64_t late;	    /* records that came too late */
	uint64_t worst;	    /* by how much at most */
	uint64_t first;	    /* the time of the first of them */
};

/* A record with this time was read. True if it comes too late. */
static inline bool pd_rounds_add(struct pd_rounds *r, uint64_t time)
{
	bool late = time < r->delivered;

	if (time == 0 || time == UINT64_MAX) /* has none: it does not wait in the queue */
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

/* A FINISHED_ROUND was read. */
static inline void pd_rounds_finish(struct pd_rounds *r)
{
	uint64_t latest = r->latest;

	if (!latest)
		return;
	if (r->due)
		r->delivered = r->due;
	/* what is above the limit stays, and all of it is due the next time */
	r->due = r->latest = latest > r->limit ? latest : 0;
	r->limit = latest;
}

/* Another recording follows, with a queue of its own. */
static inline void pd_rounds_restart(struct pd_rounds *r)
{
	r->limit = r->delivered = r->due = r->latest = 0;
}

#endif
