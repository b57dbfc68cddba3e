#include "group.h"

#include <stdlib.h>

#include "base/vector.h"
#include "group_internal.h"

#define AHEAD 32 /* groups that are prefetched */

/*
 * Converts the key words of another table's group to those of this one. Returns false without
 * memory.
 */
static bool move_keys(struct pq_groups *groups, const struct pq_table *from, uint64_t *words,
		      const uint32_t *chains)
{
	const uint8_t *tags = pq_table_tags(from, words);

	for (size_t i = 0; i < from->n_keys; i++) {
		if (tags[i] == PQ_TEXT) {
			const char *bytes = (const char *)(uintptr_t)words[i];
			const struct pq_text *text = pq_texts_move(&groups->texts,
								   pq_text_of(bytes));

			if (!text)
				return false;
			words[i] = (uintptr_t)text->bytes;
		} else if (tags[i] == PQ_CHAIN) {
			words[i] = chains[words[i]];
		}
	}
	return true;
}

/*
 * Sets numbers[g] to the number that group `g` has here, plus 1; unless `numbers` is NULL.
 * Returns false without memory.
 */
static bool merge_group(struct pq_groups *groups, struct pq_groups *from, size_t g,
			uint32_t hash, uint32_t *numbers)
{
	const uint64_t *words = pq_table_group(&from->table, g);
	size_t at = groups->grouping->repeats ? pq_table_append(&groups->table, words) :
						pq_table_search(&groups->table, words, hash);

	if (at == PQ_NO_GROUP)
		return false;
	if (numbers)
		numbers[g] = (uint32_t)at + 1;
	for (const struct pq_measured *m = groups->measured; m < groups->measured_end; m++) {
		if (!m->ops->merge(m, pq_group_states(groups, at) + m->at,
				   pq_group_states(from, g) + m->at))
			return false;
	}
	return true;
}

/*
 * Merges the last groups first, and frees them, so that they go while others come. Prefetches,
 * as a table of many groups does not fit the caches.
 */
static bool merge_groups(struct pq_groups *groups, struct pq_groups *from,
			 const uint32_t *chains, uint32_t *numbers,
			 const struct pb_progress *progress)
{
	uint32_t hashes[AHEAD];
	size_t all = from->table.n;

	for (size_t end = all, g, n; end; end = g) {
		n = end < AHEAD ? end : AHEAD;
		g = end - n;
		if ((all - end) % PQ_MERGED_AT_ONCE == 0) {
			pq_groups_drop(from, end);
			if (!pb_goes_on(progress, 0, 0))
				break;
		}
		for (size_t i = 0; i < n; i++) {
			uint64_t *words = pq_table_group(&from->table, g + i);

			if (!move_keys(groups, &from->table, words, chains))
				return false;
			hashes[i] = pq_table_hash(&groups->table, words);
			pq_table_expect_slot(&groups->table, hashes[i]);
		}
		for (size_t i = 0; i < n; i++)
			pq_table_expect_group(&groups->table, hashes[i]);
		for (size_t i = 0; i < n; i++) {
			if (!merge_group(groups, from, g + i, hashes[i], numbers))
				return false;
		}
	}
	return true;
}

/* Adds the records of groups that were merged: see merge_group(). */
static bool merge_times(struct pq_groups *groups, const struct pq_groups *from,
			const uint32_t *numbers)
{
	if (!pb_reserve_more(groups->times, groups->n_times, from->n_times, groups->times_room))
		return false;
	for (size_t i = 0; i < from->n_times; i++) {
		struct pq_time time = from->times[i];

		if (!numbers[time.group])
			continue;
		time.group = numbers[time.group] - 1;
		groups->times[groups->n_times++] = time;
	}
	return true;
}

static bool merge_all_groups(struct pq_groups *groups, struct pq_groups *from,
			     const uint32_t *chains, const struct pb_progress *progress)
{
	uint32_t *numbers;
	bool ok;

	if (!from->n_times)
		return merge_groups(groups, from, chains, NULL, progress);
	numbers = calloc(from->table.n, sizeof(*numbers));
	ok = numbers && merge_groups(groups, from, chains, numbers, progress) &&
	     merge_times(groups, from, numbers);
	free(numbers);
	return ok;
}

bool pq_groups_merge(struct pq_groups *groups, struct pq_groups *from,
		     const struct pb_progress *progress)
{
	uint32_t n_chains = from->chains ? pq_chains_size(from->chains) : 0, *chains = NULL;
	bool ok = true, ended = false;

	if (n_chains) {
		chains = calloc(n_chains, sizeof(*chains));
		ok = chains &&
		     pq_chains_merge(groups->chains, from->chains, chains, progress, &ended);
	}
	pq_chains_destroy(from->chains);
	from->chains = NULL;
	for (struct pq_measured *m = groups->measured; m < groups->measured_end; m++)
		m->chains = chains;
	if (groups->grouping->repeats)
		pb_map_deinit(&groups->table.map);
	ok = ok && (ended || merge_all_groups(groups, from, chains, progress));
	for (struct pq_measured *m = groups->measured; m < groups->measured_end; m++)
		m->chains = NULL;
	free(chains);
	groups->bad_weight = groups->bad_weight || from->bad_weight;
	groups->n_aside += from->n_aside;
	if (ok && groups->whole)
		ok = pq_groups_merge(groups->whole, from->whole, progress);
	return ok;
}
