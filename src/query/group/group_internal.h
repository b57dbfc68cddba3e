/* Shared by the files of groups: a table of keys, and how keys and measures are read. */
#ifndef PERFLUA_QUERY_GROUP_INTERNAL_H
#define PERFLUA_QUERY_GROUP_INTERNAL_H

#include "base/map.h"
#include "query/chains/strings.h"
#include "measure.h"

/*
 * The hash table of groups.
 *
 * A group has a number, from 0 on in the order of arrival. It consists of its keys as 64-bit
 * words, words of tags (a byte for each key: enum pq_type), and the states of its measures.
 *
 * Groups lie in blocks of 1 << shift groups, in which they stay while the table grows: only the
 * last block may have room for fewer, and move. So the pages of a large table are huge.
 */

struct pq_table {
	struct pb_secret secret;
	size_t n_keys, n_words; /* n_words includes the words of tags */
	size_t stride;		/* bytes of a group */
	char **blocks;		/* [n_blocks]; all but the last have 1 << shift groups */
	size_t n_blocks, blocks_room;
	unsigned shift;
	size_t mask;	    /* (1 << shift) - 1 */
	size_t n, capacity; /* groups; capacity includes the room of the last block */
	struct pb_map map;  /* numbers of groups, by their words */
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
	char *block = table->blocks[group >> table->shift];

	return (uint64_t *)(void *)(block + (group & table->mask) * table->stride);
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

struct pq_group_key {
	struct pq_read value, fallback;
	struct pq_value last; /* value that was read last: it most often comes again */
	bool stays;	      /* `last` is text at an address that always has the same text */
};

#define PQ_PENDING 32

struct pq_groups {
	const struct pq_grouping *grouping;
	struct pq_fields *fields;
	struct pq_chains *chains; /* NULL: no key may be a chain */
	struct pq_texts texts;	  /* texts of keys, and of sets of values */
	struct pq_table table;
	bool bad_weight;
	struct pq_group_key *keys, *keys_end;	     /* [n_keys] */
	struct pq_measured *measured, *measured_end; /* [n_measures] */
	const struct pq_measured *limited; /* has values of at most `most`; NULL: none */
	uint64_t most;
	uint64_t n_aside;
	struct pq_time *times; /* [n_times] of PQ_M_TIMES */
	size_t n_times, times_room;
	struct pq_groups *whole; /* groups of grouping.whole; NULL: none */
	uint64_t *words;	 /* words of the record that was added last, as in a group */
	size_t last;		 /* its group; PQ_NO_GROUP: it has to be searched */
	/*
	 * states of a pending group that the record added last belongs to; NULL: it is not
	 * pending
	 */
	char *states;
	char *pending; /* [n_pending] groups, as in the table; NULL: see pq_groups_defer() */
	uint32_t pending_hashes[PQ_PENDING];
	size_t n_pending;
	uint64_t *others; /* words of the group of others; NULL: there is no limit */
	/* of a table of its own: key 0 of all groups, where their words have none */
	bool is_one_section;
	uint32_t section;
};

/* Returns the states of a group, those of its measures one after another. */
static inline char *pq_group_states(const struct pq_groups *groups, size_t g)
{
	return (char *)(pq_table_group(&groups->table, g) + groups->table.n_words);
}

/*
 * Says where the states of each measure are, and what works on them: without fields, on groups
 * that are put together. Returns the size of all states of a group.
 */
size_t pq_groups_place(struct pq_groups *groups);

/* Returns whether the table is so large that its groups should be looked up together. */
bool pq_pending_fits(const struct pq_groups *groups);

/*
 * Adds a pending group with the words of the record that was entered. Returns its states, which
 * are zero; NULL: no memory.
 */
char *pq_pending_add(struct pq_groups *groups);

/* Frees what the states of the groups from `first` on own. */
void pq_groups_deinit_states(struct pq_groups *groups, size_t first);

/* Frees how keys and measures are read, and what served to add the last record. */
void pq_groups_forget_reads(struct pq_groups *groups);

#endif
