/*
 * Looks up groups of a large table together: the slots and groups of several searches come from
 * memory at the same time, while a search of its own waits for both. Records are added to
 * copies of their keys, with states of their own, which are merged into the table in the order
 * in which they came.
 */
#include "group.h"

#include <stdlib.h>
#include <string.h>

#include "group_internal.h"

/* groups of a table from which on it is larger than the caches that one worker has */
#define LARGE_TABLE 8192

/* Returns whether the states of all measures are sums of integers, which any order adds up. */
static bool has_plain_sums(const struct pq_groups *groups)
{
	for (const struct pq_measured *m = groups->measured; m < groups->measured_end; m++)
		if (m->way != PQ_WAY_COUNT && m->way != PQ_WAY_SUM && m->way != PQ_WAY_NATURAL)
			return false;
	return true;
}

bool pq_groups_defer(struct pq_groups *groups)
{
	if (groups->pending || !has_plain_sums(groups))
		return true;
	groups->pending = malloc(PQ_PENDING * groups->table.stride + 1);
	return groups->pending != NULL;
}

bool pq_pending_fits(const struct pq_groups *groups)
{
	return groups->pending && groups->table.n >= LARGE_TABLE;
}

static uint64_t *get_pending_group(const struct pq_groups *groups, size_t i)
{
	return (uint64_t *)(void *)(groups->pending + i * groups->table.stride);
}

char *pq_pending_add(struct pq_groups *groups)
{
	const struct pq_table *table = &groups->table;
	size_t keys = table->n_words * sizeof(uint64_t);
	uint64_t *group;
	uint32_t hash;

	if (groups->n_pending == PQ_PENDING && !pq_groups_settle(groups))
		return NULL;
	hash = pq_table_hash(table, groups->words);
	pq_table_expect_slot(table, hash);
	group = get_pending_group(groups, groups->n_pending);
	groups->pending_hashes[groups->n_pending++] = hash;
	memcpy(group, groups->words, keys);
	memset((char *)group + keys, 0, table->stride - keys);
	return (char *)group + keys;
}

bool pq_groups_settle(struct pq_groups *groups)
{
	size_t n = groups->n_pending;

	if (!n)
		return true;
	groups->n_pending = 0;
	groups->states = NULL;
	for (size_t i = 0; i < n; i++)
		pq_table_expect_group(&groups->table, groups->pending_hashes[i]);
	for (size_t i = 0; i < n; i++) {
		uint64_t *group = get_pending_group(groups, i);
		size_t g = pq_table_search(&groups->table, group, groups->pending_hashes[i]);

		if (g == PQ_NO_GROUP)
			return false;
		for (const struct pq_measured *m = groups->measured; m < groups->measured_end;
		     m++) {
			const char *states = (const char *)(group + groups->table.n_words);

			if (!m->ops->merge(m, pq_group_states(groups, g) + m->at,
					   (void *)(uintptr_t)(states + m->at)))
				return false;
		}
	}
	return true;
}
