#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "group_internal.h"

#define MAX_KEYS    4096
#define FIRST_BLOCK 128		      /* bytes: many tables stay small */
#define BLOCK_SIZE  ((size_t)4 << 20) /* bytes at least of blocks that are not the only one */

bool pq_table_init(struct pq_table *table, size_t n_keys, size_t states)
{
	size_t n_words = n_keys + (n_keys + 7) / 8;

	if (n_keys > MAX_KEYS || states > SIZE_MAX / 2)
		return false;
	*table = (struct pq_table){
		.n_keys = n_keys,
		.n_words = n_words,
		.stride = n_words * sizeof(uint64_t) + states,
	};
	if (!table->stride)
		table->stride = sizeof(uint64_t); /* so that blocks have a size */
	while (table->stride << table->shift < BLOCK_SIZE)
		table->shift++;
	table->mask = ((size_t)1 << table->shift) - 1;
	pb_secret_make(&table->secret);
	return true;
}

/* Frees the blocks from `first` on. */
static void free_blocks(struct pq_table *table, size_t first)
{
	while (table->n_blocks > first)
		free(table->blocks[--table->n_blocks]);
}

void pq_table_deinit(struct pq_table *table)
{
	free_blocks(table, 0);
	free(table->blocks);
	pb_map_deinit(&table->map);
	table->blocks = NULL;
	table->blocks_room = table->n = table->capacity = 0;
}

void pq_table_drop(struct pq_table *table, size_t n)
{
	size_t full = n >> table->shift, rest = n - (full << table->shift), room;

	pb_map_deinit(&table->map);
	free_blocks(table, full + (rest > 0));
	if (table->capacity > table->n_blocks << table->shift)
		table->capacity = table->n_blocks << table->shift;
	table->n = n;
	if (!rest)
		return;
	room = table->capacity - (full << table->shift);
	pb_shrink_bytes(&table->blocks[full], rest, &room, table->stride);
	table->capacity = (full << table->shift) + room;
}

/* Gives the last block room for `n` groups, not `before`. Returns false without memory. */
static bool resize_last_block(struct pq_table *table, size_t before, size_t n)
{
	char **last = &table->blocks[table->n_blocks - 1];
	char *grown = pb_resized(*last, before, n, table->stride);

	if (!grown)
		return false;
	*last = grown;
	table->capacity += n - before;
	return true;
}

/* Makes room for one more group in a table that is full. Returns false without memory. */
static bool grow_table(struct pq_table *table)
{
	size_t block = table->mask + 1, room = table->capacity & table->mask, first = block;

	if (table->n >= PB_MAX_ITEMS)
		return false;
	if (room)
		return resize_last_block(table, room, 2 * room < block ? 2 * room : block);
	if (!table->n_blocks)
		for (first = 1; first < block && first * table->stride < FIRST_BLOCK;)
			first *= 2;
	if (!pb_reserve(table->blocks, table->n_blocks, table->blocks_room))
		return false;
	table->blocks[table->n_blocks++] = NULL;
	if (resize_last_block(table, 0, first))
		return true;
	table->n_blocks--;
	return false;
}

struct wanted {
	const struct pq_table *table;
	const uint64_t *words;
};

/* Compares word by word, as they were stored: memcmp() would wait for the stores. */
static bool has_words(const void *arg, uint32_t group)
{
	const struct wanted *wanted = arg;
	const uint64_t *words = pq_table_group(wanted->table, group);

	for (size_t i = 0; i < wanted->table->n_words; i++) {
		if (words[i] != wanted->words[i])
			return false;
	}
	return true;
}

bool pq_table_has(const struct pq_table *table, const uint64_t *words, uint32_t hash)
{
	const struct wanted wanted = { table, words };

	return table->n && pb_map_find(&table->map, hash, has_words, &wanted)->item;
}

size_t pq_table_append(struct pq_table *table, const uint64_t *words)
{
	size_t keys = table->n_words * sizeof(uint64_t);
	uint64_t *group;

	if (table->n == table->capacity && !grow_table(table))
		return PQ_NO_GROUP;
	group = pq_table_group(table, table->n);
	memcpy(group, words, keys);
	memset((char *)group + keys, 0, table->stride - keys);
	return table->n++;
}

size_t pq_table_search(struct pq_table *table, const uint64_t *words, uint32_t hash)
{
	const struct wanted wanted = { table, words };
	struct pb_slot *slot;
	size_t group;

	if (!pb_map_reserve(&table->map))
		return PQ_NO_GROUP;
	slot = pb_map_find(&table->map, hash, has_words, &wanted);
	if (slot->item)
		return slot->item - 1;
	group = pq_table_append(table, words);
	if (group != PQ_NO_GROUP)
		pb_map_fill(&table->map, slot, hash, (uint32_t)group);
	return group;
}

/*
 * Looks up groups of a large table together: the slots and groups of several searches come from
 * memory at the same time, while a search of its own waits for both. Records are added to
 * copies of their keys, with states of their own, which are merged into the table in the order
 * in which they came.
 */

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
