/*
 * Counts the records that perf counts as "out of order events".
 *
 * perf sorts records by time in a queue. The recorder writes a FINISHED_ROUND once it has read
 * all of its buffers; at that perf delivers the records that are not later than the latest one
 * of the rounds before. A record earlier than a delivered one comes too late. A few maxima of
 * the queue decide that, so no queue is built. See ordered_events__queue and
 * __ordered_events__flush, tools/perf/util/ordered-events.c.
 */
#ifndef PERFLUA_ANALYSIS_ROUNDS_H
#define PERFLUA_ANALYSIS_ROUNDS_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
