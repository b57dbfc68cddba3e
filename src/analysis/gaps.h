/*
 * Finds gaps in time without samples; the times may come in any order.
 *
 * Time is cut into slices, each of which keeps the times of its first and last sample. Slices
 * grow with the range of times, so memory does not. A gap that is longer than a slice is found
 * exactly.
 */
#ifndef PERFLUA_ANALYSIS_GAPS_H
#define PERFLUA_ANALYSIS_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PD_GAPS_SLICES 65536
#define PD_GAPS_TOP    5

struct pd_gaps {
	struct pd_gaps_slice {
		uint64_t not_first; /* ~ of the first sample's time, so that zero means none */
		uint64_t last;
		uint64_t lost; /* sum of LOST records in this slice */
	} * slices;	       /* slice number s (time >> shift) is at s % PD_GAPS_SLICES */
	unsigned shift;
	uint64_t from, to; /* numbers of the first and last slice; from > to: none yet */
	uint64_t n;	   /* samples */
};

struct pd_gap {
	uint64_t from, to; /* ns: the last sample before the gap and the first one after it */
	uint64_t lost;	   /* records lost in the gap or at its ends */
};

struct pd_gaps_found {
	/* ns: average time between two samples, gaps excluded; 0: fewer than two samples */
	uint64_t interval;
	uint64_t least;	   /* ns: the shortest time that counts as a gap */
	uint64_t n, total; /* the number of all gaps and the sum of their lengths (ns) */
	struct pd_gap longest[PD_GAPS_TOP];
	size_t n_longest;
};

bool pd_gaps_init(struct pd_gaps *gaps); /* returns false without memory */
void pd_gaps_deinit(struct pd_gaps *gaps);

/* Makes room for a time (ns) that no slice covers. Returns false without memory. */
bool pd_gaps_extend(struct pd_gaps *gaps, uint64_t time);

/* Returns the slice of a time (ns), or NULL without memory. */
static inline struct pd_gaps_slice *pd_gaps_slice(struct pd_gaps *gaps, uint64_t time)
{
	uint64_t at = time >> gaps->shift;

	if ((at < gaps->from || at > gaps->to) && !pd_gaps_extend(gaps, time))
		return NULL;
	return &gaps->slices[(time >> gaps->shift) % PD_GAPS_SLICES];
}

/* Adds a sample with a time (ns). Returns false without memory. */
static inline bool pd_gaps_add(struct pd_gaps *gaps, uint64_t time)
{
	struct pd_gaps_slice *slice = pd_gaps_slice(gaps, time);

	if (!slice)
		return false;
	if (~time > slice->not_first)
		slice->not_first = ~time;
	if (time > slice->last)
		slice->last = time;
	gaps->n++;
	return true;
}

/* Adds `lost` records that were lost at about a time (ns). Returns false without memory. */
bool pd_gaps_lost(struct pd_gaps *gaps, uint64_t time, uint64_t lost);

/*
 * Adds the samples and losses of `from`, which stays as it is. Returns false without memory.
 */
bool pd_gaps_merge(struct pd_gaps *gaps, const struct pd_gaps *from);

/* Finds the gaps among the samples that were added. */
void pd_gaps_find(const struct pd_gaps *gaps, struct pd_gaps_found *found);

#endif
