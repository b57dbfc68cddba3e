#include "gaps.h"

#include <stdlib.h>

#define MS	    UINT64_C(1000000)
#define FIRST_SHIFT 20 /* slices of a millisecond: shorter ones find nothing that is a gap */
#define LEAST	    (100 * MS)
#define INTERVALS   20 /* a gap is at least that many times the usual interval */

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

static bool is_empty(const struct pd_gaps_slice *slice)
{
	return !slice->last && !slice->not_first;
}

static void put_into(struct pd_gaps_slice *to, const struct pd_gaps_slice *slice)
{
	if (slice->not_first > to->not_first)
		to->not_first = slice->not_first;
	if (slice->last > to->last)
		to->last = slice->last;
	to->lost += slice->lost;
}

/* Slices twice, four times … as long. */
static bool coarsen(struct pd_gaps *gaps, unsigned by)
{
	struct pd_gaps_slice *coarse = calloc(PD_GAPS_SLICES, sizeof(*coarse));

	if (!coarse)
		return false;
	for (uint64_t i = 0; i <= gaps->to - gaps->from; i++) {
		uint64_t at = gaps->from + i;

		put_into(&coarse[(at >> by) % PD_GAPS_SLICES],
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
	if (by && !coarsen(gaps, by))
		return false;
	gaps->from = from >> by;
	gaps->to = to >> by;
	return true;
}

bool pd_gaps_lost(struct pd_gaps *gaps, uint64_t time, uint64_t lost)
{
	struct pd_gaps_slice *slice = pd_gaps_slice(gaps, time);

	if (slice)
		slice->lost += lost;
	return slice != NULL;
}

static uint64_t length(const struct pd_gap *gap)
{
	return gap->to - gap->from;
}

/* Puts a gap into its place among the longest; the shortest may fall out. */
static void keep(struct pd_gaps_found *found, const struct pd_gap *gap)
{
	struct pd_gap *longest = found->longest;
	size_t i = found->n_longest;

	if (i < PD_GAPS_TOP)
		found->n_longest++;
	else if (length(gap) <= length(&longest[--i]))
		return;
	for (; i > 0 && length(gap) > length(&longest[i - 1]); i--)
		longest[i] = longest[i - 1];
	longest[i] = *gap;
}

static const struct pd_gaps_slice *slice_number(const struct pd_gaps *gaps, uint64_t at)
{
	return &gaps->slices[at % PD_GAPS_SLICES];
}

/*
 * What is a gap where samples came as often as here? Returns the time between the first and the
 * last.
 */
static uint64_t set_least(const struct pd_gaps *gaps, struct pd_gaps_found *found)
{
	uint64_t from = gaps->from, to = gaps->to, span;

	while (is_empty(
		slice_number(gaps, from))) /* where records were lost, but no sample is */
		from++;
	while (is_empty(slice_number(gaps, to)))
		to--;
	span = slice_number(gaps, to)->last - ~slice_number(gaps, from)->not_first;
	found->interval = span / (gaps->n - 1);
	found->least = LEAST;
	if (found->interval > found->least / INTERVALS)
		found->least = found->interval > UINT64_MAX / INTERVALS ?
				       UINT64_MAX :
				       found->interval * INTERVALS;
	/* shorter ones are found only here and there */
	if (found->least < UINT64_C(1) << gaps->shift)
		found->least = UINT64_C(1) << gaps->shift;
	return span;
}

void pd_gaps_find(const struct pd_gaps *gaps, struct pd_gaps_found *found)
{
	const struct pd_gaps_slice *before = NULL;
	uint64_t lost = 0, span;

	*found = (struct pd_gaps_found){ .least = LEAST };
	if (gaps->n < 2)
		return;
	span = set_least(gaps, found);
	for (uint64_t i = 0; i <= gaps->to - gaps->from; i++) {
		const struct pd_gaps_slice *slice = slice_number(gaps, gaps->from + i);
		struct pd_gap gap = { 0 };

		lost += slice->lost;
		if (is_empty(slice))
			continue;
		if (before)
			gap = (struct pd_gap){ before->last, ~slice->not_first, lost };
		/* what is lost in the slice where a gap begins counts, too */
		lost = slice->lost;
		before = slice;
		if (length(&gap) < found->least)
			continue;
		found->n++;
		found->total += length(&gap);
		keep(found, &gap);
	}
	if (gaps->n - 1 > found->n)
		found->interval = (span - found->total) / (gaps->n - 1 - found->n);
}
