/*
 * The clock of a recording: from when `elapsed` counts, and when its times were on the wall
 * clock. Each file has one, to which the shapes of its events point.
 */
#ifndef PERFLUA_PERFDATA_CLOCK_H
#define PERFLUA_PERFDATA_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct pd_clock {
	unsigned time_id;	  /* number of the field name `time` */
	uint64_t start;		  /* ns: time of the first sample */
	int64_t wall;		  /* ns to add to a time for the time since 1970 UTC */
	bool has_start, has_wall; /* true: known */
	/*
	 * Finds `start` by a pass over the samples. Called when a record is asked for its
	 * `elapsed` before `start` is known. NULL: it was called, or it cannot be.
	 */
	void (*find_start)(struct pd_clock *clock);
};

/* Sets `start`, unless it is known. */
static inline void pd_clock_begin(struct pd_clock *clock, uint64_t time)
{
	if (!clock->has_start)
		clock->start = time;
	clock->has_start = true;
}

#endif
