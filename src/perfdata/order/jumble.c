#include "jumble.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LANES 16

static inline bool before(const struct pd_place *a, const struct pd_place *b)
{
	return (a->time < b->time) | ((a->time == b->time) & (a->at < b->at));
}

static int compare(const void *a, const void *b)
{
	return before(a, b) ? -1 : before(b, a);
}

/*
 * Deals places out to lanes, each of which is in order; how many there are, or 0 if LANES do
 * not do. ends[i] becomes the number of places in lanes 0 … i.
 */
static size_t deal(const struct pd_place *places, size_t n, uint8_t *lane, size_t *ends)
{
	uint64_t last[LANES]; /* of each lane: descending */
	size_t lanes = 0;

	memset(ends, 0, LANES * sizeof(*ends));
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (k < lanes && last[k] > places[i].time)
			k++;
		if (k == LANES)
			return 0;
		lanes += k == lanes;
		last[k] = places[i].time;
		lane[i] = (uint8_t)k;
		ends[k]++;
	}
	for (size_t k = 1; k < lanes; k++)
		ends[k] += ends[k - 1];
	return lanes;
}

static void merge(const struct pd_place *a, const struct pd_place *a_end,
		  const struct pd_place *b, const struct pd_place *b_end, struct pd_place *out)
{
	while (a < a_end && b < b_end) {
		bool second = before(b, a);

		*out++ = second ? *b : *a;
		b += second;
		a += !second;
	}
	memcpy(out, a, (size_t)(a_end - a) * sizeof(*a));
	out += a_end - a;
	memcpy(out, b, (size_t)(b_end - b) * sizeof(*b));
}

/* Merges lanes two by two, and so on, between `from` and `to`; where the result is. */
static struct pd_place *merge_lanes(struct pd_place *from, struct pd_place *to, size_t *ends,
				    size_t lanes)
{
	while (lanes > 1) {
		struct pd_place *merged = to;
		size_t start = 0, k = 0;

		for (size_t i = 0; i < lanes; i += 2) {
			size_t middle = ends[i], end = i + 1 < lanes ? ends[i + 1] : middle;

			merge(from + start, from + middle, from + middle, from + end,
			      to + start);
			ends[k++] = start = end;
		}
		lanes = k;
		to = from;
		from = merged;
	}
	return from;
}

void pd_places_sort(struct pd_place *places, size_t n, struct pd_place *spare, uint8_t *lane)
{
	size_t ends[LANES], next[LANES] = { 0 };
	size_t lanes = deal(places, n, lane, ends);
	struct pd_place *sorted;

	if (!lanes) {
		qsort(places, n, sizeof(*places), compare);
		return;
	}
	memcpy(next + 1, ends, (LANES - 1) * sizeof(*ends));
	for (size_t i = 0; i < n; i++)
		spare[next[lane[i]]++] = places[i];
	sorted = merge_lanes(spare, places, ends, lanes);
	if (sorted != places)
		memcpy(places, sorted, n * sizeof(*places));
}
