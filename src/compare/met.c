#include "met.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

void pc_met_init(struct pc_met *met, const struct pr_result *result, size_t n_keys,
		 size_t other)
{
	size_t n_types = (n_keys + 1 + 7) / 8;

	*met = (struct pc_met){ .result = result, .n_keys = n_keys, .other = other };
	met->n_words = 1 + n_keys + 1 + n_types;
	pb_secret_make(&met->secret);
}

void pc_met_deinit(struct pc_met *met)
{
	free(met->groups);
	pb_map_deinit(&met->map);
}

/* Returns the words of a group that was met; of number `n` those of the one that is found. */
static uint64_t *words_of(const struct pc_met *met, size_t number)
{
	return &met->groups[number * (met->n_words + 1)];
}

static bool has_words(const void *arg, uint32_t item)
{
	const struct pc_met *met = arg;

	return !memcmp(words_of(met, item), words_of(met, met->n),
		       met->n_words * sizeof(*met->groups));
}

/* Sets the words after all others to those of a group: section, keys, types of keys. */
static void read_words(const struct pc_met *met, size_t g)
{
	uint64_t *words = words_of(met, met->n);
	uint8_t *types = (uint8_t *)(words + met->n_keys + 2);

	memset(words, 0, met->n_words * sizeof(*words));
	words[0] = pr_section(met->result, g);
	for (size_t k = 0; k < met->n_keys + (met->other != PR_NONE); k++) {
		struct pq_value value;

		pr_key_value(met->result, g, k < met->n_keys ? k : met->other, &value);
		types[k] = value.type;
		if (value.type != PQ_NIL)
			words[k + 1] = pq_bits(&value);
	}
}

static uint32_t hash_words(const struct pc_met *met)
{
	const uint64_t *words = words_of(met, met->n);
	uint64_t hash = met->secret.b;

	for (size_t i = 0; i < met->n_words; i++)
		hash = pb_mix(words[i] ^ met->secret.a, hash);
	return (uint32_t)hash;
}

bool pc_met_find(struct pc_met *met, size_t g, uint64_t **row, bool *is_new)
{
	struct pb_slot *slot;
	uint32_t hash;

	if (!pb_map_reserve(&met->map) ||
	    !pb_reserve_more(met->groups, met->n * (met->n_words + 1), met->n_words + 1,
			     met->room))
		return false;
	read_words(met, g);
	hash = hash_words(met);
	slot = pb_map_find(&met->map, hash, has_words, met);
	*is_new = !slot->item;
	if (*is_new)
		pb_map_fill(&met->map, slot, hash, (uint32_t)met->n++);
	*row = words_of(met, slot->item - 1) + met->n_words;
	return true;
}
