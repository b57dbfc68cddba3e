#include "group_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

#define MAX_KEYS 4096

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
	pb_secret_make(&table->secret);
	return true;
}

void pq_table_deinit(struct pq_table *table)
{
	free(table->groups);
	pb_map_deinit(&table->map);
	table->groups = NULL;
	table->n = table->capacity = 0;
}

void pq_table_drop(struct pq_table *table, size_t n)
{
	char *kept = realloc(table->groups, n * table->stride + 1);

	pb_map_deinit(&table->map);
	table->groups = kept ? kept : table->groups;
	table->n = table->capacity = n;
}

struct wanted {
	const struct pq_table *table;
	const uint64_t *words;
};

/* Compares word by word, as they were stored: memcmp() would wait for the stores. */
static bool has_words(const void *arg, uint32_t group)
{
	const struct wanted *wanted = arg;
	const uint64_t *other = pq_table_group(wanted->table, group);

	for (size_t i = 0; i < wanted->table->n_words; i++) {
		if (other[i] != wanted->words[i])
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

	if (table->n == table->capacity &&
	    !pb_reserve_bytes(&table->groups, table->n, 1, &table->capacity,
			      table->stride + !table->stride))
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
