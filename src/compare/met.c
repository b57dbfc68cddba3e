#include "compare_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

bool pc_met_init(struct pc_met *met, const struct pr_result *result, size_t n_keys,
		 size_t extra_key)
{
	size_t n_types = (n_keys + 1 + 7) / 8;

	*met = (struct pc_met){ .result = result, .n_keys = n_keys, .extra_key = extra_key };
	met->n_words = 1 + n_keys + 1 + n_types;
	met->ahead = calloc(PC_AHEAD * met->n_words, sizeof(*met->ahead));
	pb_secret_make(&met->secret);
	return met->ahead != NULL;
}

void pc_met_deinit(struct pc_met *met)
{
	free(met->groups);
	free(met->ahead);
	pb_map_deinit(&met->map);
}

/* Returns the words of a group that was met, and its row after them. */
static uint64_t *words_of(const struct pc_met *met, size_t number)
{
	return &met->groups[number * (met->n_words + 1)];
}

struct wanted {
	const struct pc_met *met;
	const uint64_t *words;
};

static bool has_words(const void *arg, uint32_t item)
{
	const struct wanted *wanted = arg;
	const uint64_t *words = words_of(wanted->met, item);

	for (size_t i = 0; i < wanted->met->n_words; i++)
		if (words[i] != wanted->words[i])
			return false;
	return true;
}

/* Sets words to those of a group: section, keys, types of keys. */
static void read_words(const struct pc_met *met, size_t g, uint64_t *words)
{
	uint8_t *types = (uint8_t *)(words + met->n_keys + 2);

	words[0] = pr_section(met->result, g);
	for (size_t k = 0; k < met->n_keys + (met->extra_key != PR_NONE); k++)
		words[k + 1] = pr_key_bits(met->result, g, k < met->n_keys ? k : met->extra_key,
					   &types[k]);
}

static uint32_t hash_words(const struct pc_met *met, const uint64_t *words)
{
	uint64_t hash = met->secret.b;

	for (size_t i = 0; i < met->n_words; i++)
		hash = pb_mix(words[i] ^ met->secret.a, hash);
	return (uint32_t)hash;
}

/* Returns the group that a hash most likely is of; UINT32_MAX: none. */
static uint32_t guess(const struct pc_met *met, uint32_t hash)
{
	const struct pb_slot *slot = &met->map.slots[hash & (met->map.n_slots - 1)];

	return slot->item && slot->hash == hash ? slot->item - 1 : UINT32_MAX;
}

size_t pc_met_look_ahead(struct pc_met *met, size_t first, const struct pr_result *rows)
{
	size_t left = pr_size(met->result) - first, n = left < PC_AHEAD ? left : PC_AHEAD;
	uint32_t guessed[PC_AHEAD];

	met->first = first;
	for (size_t i = 0; i < n; i++) {
		uint64_t *words = &met->ahead[i * met->n_words];

		read_words(met, first + i, words);
		met->hashes[i] = hash_words(met, words);
		if (met->map.n_slots)
			__builtin_prefetch(
				&met->map.slots[met->hashes[i] & (met->map.n_slots - 1)]);
	}
	for (size_t i = 0; met->map.n_slots && i < n; i++) {
		guessed[i] = guess(met, met->hashes[i]);
		if (guessed[i] != UINT32_MAX)
			__builtin_prefetch(words_of(met, guessed[i]) + met->n_words);
	}
	for (size_t i = 0; met->map.n_slots && i < n; i++)
		if (guessed[i] != UINT32_MAX)
			pq_groups_expect(rows->groups, words_of(met, guessed[i])[met->n_words]);
	return n;
}

bool pc_met_find(struct pc_met *met, size_t g, uint64_t **row, bool *is_new)
{
	const struct wanted wanted = { met, &met->ahead[(g - met->first) * met->n_words] };
	uint32_t hash = met->hashes[g - met->first];
	struct pb_slot *slot;

	if (!pb_map_reserve(&met->map) ||
	    !pb_reserve_more(met->groups, met->n * (met->n_words + 1), met->n_words + 1,
			     met->room))
		return false;
	slot = pb_map_find(&met->map, hash, has_words, &wanted);
	*is_new = !slot->item;
	if (*is_new) {
		memcpy(words_of(met, met->n), wanted.words,
		       met->n_words * sizeof(*met->groups));
		pb_map_fill(&met->map, slot, hash, (uint32_t)met->n++);
	}
	*row = words_of(met, slot->item - 1) + met->n_words;
	return true;
}
