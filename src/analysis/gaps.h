/*
 * Spans of time without samples, of times that come in any order.
 *
 * Time is cut into slices, of each of which the first and last sample's times are kept. The
 * slices grow with the span that they cover, so memory does not. What is longer than a slice is
 * found exactly.
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
		uint64_t not_first; /* ~ of the first time: so zero is none */
		uint64_t last;
		uint64_t lost; /* records that a LOST of this slice counts */
	} * slices;	       /* time >> shift is in slices[that % PD_GAPS_SLICES] */
	unsigned shift;
	uint64_t from, to; /* the first and last slice; from > to: none yet */
	uint64_t n;	   /* times of samples */
};

struct pd_gap {
	uint64_t from, to; /* the samples before and behind it, ns */
	uint64_t lost;	   /* records lost in it or at its end */
};

struct pd_gaps_found {
	/* ns between two samples on average, without gaps; 0: less than two */
	uint64_t interval;
	uint64_t least;	   /* what is shorter is none, ns */
	uint64_t n, total; /* all gaps, and the sum of their lengths */
	struct pd_gap longest[PD_GAPS_TOP];
	size_t n_longest;
};

bool pd_gaps_init(struct pd_gaps *gaps); /* false: no memory */
void pd_gaps_deinit(struct pd_gaps *gaps);

/* Makes room for a time outside of what the slices cover; false: no memory. */
bool pd_gaps_extend(struct pd_gaps *gaps, uint64_t time);

/* The slice of a time; NULL: no memory. */
static inline struct pd_gaps_slice *pd_gaps_slice(struct pd_gaps *gaps, uint64_t time)
{
	uint64_t at = time >> gaps->shift;

	if ((at < gaps->from || at > gaps->to) && !pd_gaps_extend(gaps, time))
		return NULL;
	return &gaps->slices[(time >> gaps->shift) % PD_GAPS_SLICES];
}

/* A sample has this time. False: no memory. */
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

/* Records were lost about that time. False: no memory. */
bool pd_gaps_lost(struct pd_gaps *gaps, uint64_t time, uint64_t lost);

void pd_gaps_find(const struct pd_gaps *gaps, struct pd_gaps_found *found);

#endif
