/*
 * The hash table of groups.
 *
 * A group has a number, from 0 on in the order of arrival, which is also its position in one
 * array. It consists of its keys as 64-bit words, words of tags (a byte for each key: enum
 * pq_type), and the states of its measures.
 */
#ifndef PERFLUA_QUERY_GROUP_TABLE_H
#define PERFLUA_QUERY_GROUP_TABLE_H

#include "base/map.h"
#include "query/chains/strings.h"

struct pq_table {
	struct pb_secret secret;
	size_t n_keys, n_words; /* n_words includes the words of tags */
	size_t stride;		/* bytes of a group */
	char *groups;		/* [capacity] groups of `stride` bytes */
	size_t n, capacity;
	struct pb_map map; /* numbers of groups, by their words */
};

#define PQ_NO_GROUP SIZE_MAX

/*
 * Initializes a table; `states` is the size of the states of a group in bytes, a multiple of 8.
 * Returns false if there are too many keys.
 */
bool pq_table_init(struct pq_table *table, size_t n_keys, size_t states);

/* Forgets all groups: the table is as after pq_table_init(). */
void pq_table_deinit(struct pq_table *table);

static inline uint64_t *pq_table_group(const struct pq_table *table, size_t group)
{
	return (uint64_t *)(table->groups + group * table->stride);
}

static inline uint8_t *pq_table_tags(const struct pq_table *table, uint64_t *words)
{
	return (uint8_t *)(words + table->n_keys);
}

static inline uint32_t pq_table_hash(const struct pq_table *table, const uint64_t *words)
{
	uint64_t h = table->secret.b;
	size_t i;

	for (i = 0; i + 1 < table->n_words; i += 2)
		h = pb_mix(words[i] ^ table->secret.a, words[i + 1] ^ h);
	if (i < table->n_words)
		h = pb_mix(words[i] ^ table->secret.a, h);
	return (uint32_t)h;
}

/* Prefetches the slot of a hash, and the group there. */
static inline void pq_table_expect_slot(const struct pq_table *table, uint32_t hash)
{
	if (table->map.n_slots)
		__builtin_prefetch(&table->map.slots[hash & (table->map.n_slots - 1)]);
}

static inline void pq_table_expect_group(const struct pq_table *table, uint32_t hash)
{
	const struct pb_slot *slot;

	if (!table->map.n_slots)
		return;
	slot = &table->map.slots[hash & (table->map.n_slots - 1)];
	if (slot->item)
		__builtin_prefetch(pq_table_group(table, slot->item - 1));
}

/* Frees all groups but the first `n`. None can be searched any more. */
void pq_table_drop(struct pq_table *table, size_t n);

/*
 * Returns the number of the group with these keys and tags, added with zero states if it is
 * new; PQ_NO_GROUP: no memory.
 */
size_t pq_table_search(struct pq_table *table, const uint64_t *words, uint32_t hash);

/*
 * Adds a group with these keys and tags, and zero states, which is not there and is not found
 * by pq_table_search(). Returns its number; PQ_NO_GROUP: no memory.
 */
size_t pq_table_append(struct pq_table *table, const uint64_t *words);

/* Returns true if there is such a group. */
bool pq_table_has(const struct pq_table *table, const uint64_t *words, uint32_t hash);

#endif
