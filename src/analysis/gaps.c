#include "gaps.h"

#include <stdlib.h>

#define MS	    UINT64_C(1000000)
#define FIRST_SHIFT 20 /* slices of about a millisecond; no gap is that short */
#define LEAST	    (100 * MS)
#define INTERVALS   20 /* a gap is at least so many times as long as the usual interval */

bool pd_gaps_init(struct pd_gaps *gaps)
{
	*gaps = (struct pd_gaps){ .shift = FIRST_SHIFT, .from = UINT64_MAX };
	gaps->slices = calloc(PD_GAPS_SLICES, sizeof(*gaps->slices));
	return gaps->slices != NULL;
}

void pd_gaps_deinit(struct pd_gaps *gaps)
{
	free(gaps->slices);
	gaps->slices = NULL;
}

static bool is_slice_empty(const struct pd_gaps_slice *slice)
{
	return !slice->last && !slice->not_first;
}

static void merge_slice(struct pd_gaps_slice *to, const struct pd_gaps_slice *slice)
{
	if (slice->not_first > to->not_first)
		to->not_first = slice->not_first;
	if (slice->last > to->last)
		to->last = slice->last;
	to->lost += slice->lost;
}

/* Makes slices 2 to the power of `by` times as long. Returns false without memory. */
static bool coarsen_slices(struct pd_gaps *gaps, unsigned by)
{
	struct pd_gaps_slice *coarse = calloc(PD_GAPS_SLICES, sizeof(*coarse));

	if (!coarse)
		return false;
	for (uint64_t i = 0; i <= gaps->to - gaps->from; i++) {
		uint64_t at = gaps->from + i;

		merge_slice(&coarse[(at >> by) % PD_GAPS_SLICES],
			    &gaps->slices[at % PD_GAPS_SLICES]);
	}
	free(gaps->slices);
	gaps->slices = coarse;
	gaps->shift += by;
	gaps->from >>= by;
	gaps->to >>= by;
	return true;
}

bool pd_gaps_extend(struct pd_gaps *gaps, uint64_t time)
{
	uint64_t at = time >> gaps->shift, from = at, to = at;
	unsigned by = 0;

	if (gaps->from < from)
		from = gaps->from;
	if (gaps->from <= gaps->to && gaps->to > to)
		to = gaps->to;
	while ((to >> by) - (from >> by) >= PD_GAPS_SLICES)
		by++;
	if (by && !coarsen_slices(gaps, by))
		return false;
	gaps->from = from >> by;
	gaps->to = to >> by;
	return true;
}

/*
 * A range of times that needs longer slices makes those of all that include it at least as
 * long, so no slice of `from` is longer than those that take it in.
 */
bool pd_gaps_merge(struct pd_gaps *gaps, const struct pd_gaps *from)
{
	if (from->from > from->to)
		return true;
	if (!pd_gaps_slice(gaps, from->from << from->shift) ||
	    !pd_gaps_slice(gaps, from->to << from->shift))
		return false;
	for (uint64_t i = 0; i <= from->to - from->from; i++) {
		uint64_t at = from->from + i;

		merge_slice(pd_gaps_slice(gaps, at << from->shift),
			    &from->slices[at % PD_GAPS_SLICES]);
	}
	gaps->n += from->n;
	return true;
}

bool pd_gaps_lost(struct pd_gaps *gaps, uint64_t time, uint64_t lost)
{
	struct pd_gaps_slice *slice = pd_gaps_slice(gaps, time);

	if (slice)
		slice->lost += lost;
	return slice != NULL;
}

static uint64_t get_gap_length(const struct pd_gap *gap)
{
	return gap->to - gap->from;
}

/* Inserts a gap among the longest, by length; the shortest may drop out. */
static void keep_longest(struct pd_gaps_found *found, const struct pd_gap *gap)
{
	struct pd_gap *longest = found->longest;
	size_t i = found->n_longest;

	if (i < PD_GAPS_TOP)
		found->n_longest++;
	else if (get_gap_length(gap) <= get_gap_length(&longest[--i]))
		return;
	for (; i > 0 && get_gap_length(gap) > get_gap_length(&longest[i - 1]); i--)
		longest[i] = longest[i - 1];
	longest[i] = *gap;
}

static const struct pd_gaps_slice *get_slice(const struct pd_gaps *gaps, uint64_t at)
{
	return &gaps->slices[at % PD_GAPS_SLICES];
}

/*
 * Sets found->interval, and found->least from how often samples came. Returns the time (ns)
 * between the first and the last sample.
 */
static uint64_t set_least(const struct pd_gaps *gaps, struct pd_gaps_found *found)
{
	uint64_t from = gaps->from, to = gaps->to, range;

	while (is_slice_empty(get_slice(gaps, from))) /* slices may have losses but no sample */
		from++;
	while (is_slice_empty(get_slice(gaps, to)))
		to--;
	range = get_slice(gaps, to)->last - ~get_slice(gaps, from)->not_first;
	found->interval = range / (gaps->n - 1);
	found->least = LEAST;
	if (found->interval > found->least / INTERVALS)
		found->least = found->interval > UINT64_MAX / INTERVALS ?
				       UINT64_MAX :
				       found->interval * INTERVALS;
	/* shorter gaps would be found only by chance */
	if (found->least < UINT64_C(1) << gaps->shift)
		found->least = UINT64_C(1) << gaps->shift;
	return range;
}

void pd_gaps_find(const struct pd_gaps *gaps, struct pd_gaps_found *found)
{
	const struct pd_gaps_slice *before = NULL;
	uint64_t lost = 0, range;

	*found = (struct pd_gaps_found){ .least = LEAST };
	if (gaps->n < 2)
		return;
	range = set_least(gaps, found);
	for (uint64_t i = 0; i <= gaps->to - gaps->from; i++) {
		const struct pd_gaps_slice *slice = get_slice(gaps, gaps->from + i);
		struct pd_gap gap = { 0 };

		lost += slice->lost;
		if (is_slice_empty(slice))
			continue;
		if (before)
			gap = (struct pd_gap){ before->last, ~slice->not_first, lost };
		/* losses in the slice where a gap begins count for the gap, too */
		lost = slice->lost;
		before = slice;
		if (get_gap_length(&gap) < found->least)
			continue;
		found->n++;
		found->total += get_gap_length(&gap);
		keep_longest(found, &gap);
	}
	if (gaps->n - 1 > found->n)
		found->interval = (range - found->total) / (gaps->n - 1 - found->n);
}
