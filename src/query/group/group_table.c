#include "group_table.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_GROUPS 16
#define FIRST_SLOTS  32
#define MAX_GROUPS   (UINT32_MAX / 4) /* so that 32 bits number them and their slots */
#define MAX_KEYS     4096

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
	pq_secret_make(&table->secret);
	return true;
}

void pq_table_deinit(struct pq_table *table)
{
	free(table->groups);
	free(table->slots);
	table->groups = NULL;
	table->slots = NULL;
	table->n = table->capacity = table->n_slots = 0;
}

static bool grow_slots(struct pq_table *table)
{
	size_t n = table->n_slots ? 2 * table->n_slots : FIRST_SLOTS;
	struct pq_slot *slots = calloc(n, sizeof(struct pq_slot));

	if (!slots)
		return false;
	for (size_t i = 0; i < table->n_slots; i++) {
		size_t at = table->slots[i].hash & (n - 1);

		if (!table->slots[i].group)
			continue;
		while (slots[at].group)
			at = (at + 1) & (n - 1);
		slots[at] = table->slots[i];
	}
	free(table->slots);
	table->slots = slots;
	table->n_slots = n;
	return true;
}

static bool grow_groups(struct pq_table *table)
{
	size_t capacity = table->capacity ? 2 * table->capacity : FIRST_GROUPS;
	char *groups;

	if (table->n >= MAX_GROUPS)
		return false;
	groups = reallocarray(table->groups, capacity, table->stride + !table->stride);
	if (!groups)
		return false;
	table->groups = groups;
	table->capacity = capacity;
	return true;
}

/* Words are stored one by one, and so they are loaded: memcmp would wait for them. */
static bool has_words(const struct pq_table *table, size_t group, const uint64_t *words)
{
	const uint64_t *other = pq_table_group(table, group);

	for (size_t i = 0; i < table->n_words; i++) {
		if (other[i] != words[i])
			return false;
	}
	return true;
}

size_t pq_table_search(struct pq_table *table, const uint64_t *words, uint32_t hash)
{
	size_t keys = table->n_words * sizeof(uint64_t), at;
	uint64_t *group;

	/* a quarter of the slots stays free */
	if (4 * table->n >= 3 * table->n_slots && !grow_slots(table))
		return PQ_NO_GROUP;
	for (at = hash & (table->n_slots - 1); table->slots[at].group;
	     at = (at + 1) & (table->n_slots - 1)) {
		size_t found = table->slots[at].group - 1;

		if (table->slots[at].hash == hash && has_words(table, found, words))
			return found;
	}
	if (table->n == table->capacity && !grow_groups(table))
		return PQ_NO_GROUP;
	group = pq_table_group(table, table->n);
	memcpy(group, words, keys);
	memset((char *)group + keys, 0, table->stride - keys);
	table->slots[at] = (struct pq_slot){ hash, (uint32_t)table->n + 1 };
	return table->n++;
}
