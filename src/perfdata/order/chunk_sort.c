#include "chunk_sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MOST 16

static inline bool position_is_before(const struct pd_position *a, const struct pd_position *b)
{
	return (a->time < b->time) | ((a->time == b->time) & (a->at < b->at));
}

static int compare_positions(const void *a, const void *b)
{
	return position_is_before(a, b) ? -1 : position_is_before(b, a);
}

/*
 * Deals positions out to runs, each ascending in time. Returns how many runs there are, or 0 if
 * more than RUNS_MOST are needed. run[i] becomes the run of position i, ends[k] the number of
 * positions in runs 0 … k.
 */
static size_t deal_to_runs(const struct pd_position *positions, size_t n, uint8_t *run,
			   size_t *ends)
{
	uint64_t last[RUNS_MOST]; /* last time of each run; descending */
	size_t n_runs = 0;

	memset(ends, 0, RUNS_MOST * sizeof(*ends));
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (k < n_runs && last[k] > positions[i].time)
			k++;
		if (k == RUNS_MOST)
			return 0;
		n_runs += k == n_runs;
		last[k] = positions[i].time;
		run[i] = (uint8_t)k;
		ends[k]++;
	}
	for (size_t k = 1; k < n_runs; k++)
		ends[k] += ends[k - 1];
	return n_runs;
}

static void merge_two_runs(const struct pd_position *a, const struct pd_position *a_end,
			   const struct pd_position *b, const struct pd_position *b_end,
			   struct pd_position *out)
{
	while (a < a_end && b < b_end) {
		bool second = position_is_before(b, a);

		*out++ = second ? *b : *a;
		b += second;
		a += !second;
	}
	memcpy(out, a, (size_t)(a_end - a) * sizeof(*a));
	out += a_end - a;
	memcpy(out, b, (size_t)(b_end - b) * sizeof(*b));
}

/*
 * Merges pairs of neighbouring runs until one is left, back and forth between `from` and `to`.
 * Returns the one of the two that holds the result.
 */
static struct pd_position *merge_all_runs(struct pd_position *from, struct pd_position *to,
					  size_t *ends, size_t n_runs)
{
	while (n_runs > 1) {
		struct pd_position *merged = to;
		size_t start = 0, k = 0;

		for (size_t i = 0; i < n_runs; i += 2) {
			size_t middle = ends[i], end = i + 1 < n_runs ? ends[i + 1] : middle;

			merge_two_runs(from + start, from + middle, from + middle, from + end,
				       to + start);
			ends[k++] = start = end;
		}
		n_runs = k;
		to = from;
		from = merged;
	}
	return from;
}

void pd_positions_sort(struct pd_position *positions, size_t n, struct pd_position *spare,
		       uint8_t *run)
{
	size_t ends[RUNS_MOST], next[RUNS_MOST] = { 0 };
	size_t n_runs = deal_to_runs(positions, n, run, ends);
	struct pd_position *sorted;

	if (!n_runs) {
		qsort(positions, n, sizeof(*positions), compare_positions);
		return;
	}
	memcpy(next + 1, ends, (RUNS_MOST - 1) * sizeof(*ends));
	for (size_t i = 0; i < n; i++)
		spare[next[run[i]]++] = positions[i];
	sorted = merge_all_runs(spare, positions, ends, n_runs);
	if (sorted != positions)
		memcpy(positions, sorted, n * sizeof(*positions));
}
