/* Tables of groups that are put together from others, or made independent of the recording. */

#include "group.h"

#include <stdlib.h>
#include <string.h>

#include "group_internal.h"

struct pq_groups *pq_groups_create_bare(const struct pq_grouping *grouping)
{
	struct pq_groups *groups = calloc(1, sizeof(*groups));

	if (!groups)
		return NULL;
	groups->grouping = grouping;
	pq_texts_init(&groups->texts);
	groups->measured = calloc(grouping->n_measures + 1, sizeof(*groups->measured));
	if (groups->measured) {
		size_t states = pq_groups_place(groups);

		if (pq_table_init(&groups->table, grouping->n_keys, states))
			groups->words = calloc(groups->table.n_words + 1,
					       sizeof(*groups->words));
	}
	if (!groups->words) {
		pq_groups_destroy(groups);
		return NULL;
	}
	return groups;
}

/* Sets key `k` of the words of the group that is put. Returns false without memory. */
static bool put_key(struct pq_groups *groups, size_t k, struct pq_value value)
{
	pq_normalise(&value);
	if (value.type == PQ_NIL) {
		value.u = 0;
	} else if (value.type == PQ_TEXT) {
		const struct pq_text *text = pq_texts_intern(&groups->texts, value.p,
							     value.size);

		if (!text)
			return false;
		value.p = text->bytes;
	}
	groups->words[k] = pq_bits(&value);
	pq_table_tags(&groups->table, groups->words)[k] = value.type;
	return true;
}

bool pq_groups_put(struct pq_groups *groups, const struct pq_value *keys,
		   const struct pq_state *states, size_t *g)
{
	struct pq_table *table = &groups->table;
	size_t at;

	for (size_t k = 0; k < table->n_keys; k++)
		if (!put_key(groups, k, keys[k]))
			return false;
	at = pq_table_search(table, groups->words, pq_table_hash(table, groups->words));
	if (at == PQ_NO_GROUP)
		return false;
	for (size_t m = 0; states && m < groups->grouping->n_measures; m++)
		if (!pq_groups_put_state(groups, at, m, &states[m]))
			return false;
	if (g)
		*g = at;
	return true;
}

bool pq_groups_put_state(struct pq_groups *groups, size_t g, size_t m,
			 const struct pq_state *state)
{
	const struct pq_measured *measured = &groups->measured[m];

	return measured->ops->put(measured, pq_group_states(groups, g) + measured->at, state);
}

/* The texts of chains, which are made when the first group that has one is met. */
struct chain_texts {
	const struct pq_text **texts; /* [n]; NULL: not made yet */
	const uint32_t *stacks;
};

static bool own_chain(struct pq_groups *groups, const struct chain_texts *known, uint64_t *word,
		      uint8_t *tag)
{
	uint32_t chain = (uint32_t)*word;
	const char *text;
	size_t n;

	if (pq_chains_kind(groups->chains, chain) == PQ_CHAIN_VALUES) {
		*word = known->stacks[chain];
		return true;
	}
	if (!known->texts[chain]) {
		text = pq_chains_text(groups->chains, chain, &n);
		if (text && n <= UINT32_MAX)
			known->texts[chain] = pq_texts_intern(&groups->texts, text,
							      (uint32_t)n);
		if (!known->texts[chain])
			return false;
	}
	*word = (uintptr_t)known->texts[chain]->bytes;
	*tag = PQ_TEXT;
	return true;
}

static bool own_event(struct pq_groups *groups, uint64_t *word, uint8_t *tag)
{
	const struct pd_event *event = (const struct pd_event *)(uintptr_t)*word;
	const struct pq_text *text = pq_texts_add_fixed(&groups->texts, event->name,
							(uint32_t)strlen(event->name));

	if (!text)
		return false;
	*word = (uintptr_t)text->bytes;
	*tag = PQ_TEXT;
	return true;
}

/* Makes the event that a word is a section. */
static void number_section(uint64_t *word, uint8_t *tag)
{
	const struct pd_event *event = (const struct pd_event *)(uintptr_t)*word;

	*word = *tag == PQ_EVENT ? (uint64_t)event->number + 1 : 0;
	*tag = PQ_INT;
}

static bool own_keys(struct pq_groups *groups, const struct chain_texts *known)
{
	const struct pq_table *table = &groups->table;
	size_t first = !groups->is_one_section;

	for (size_t g = 0; g < table->n; g++) {
		uint64_t *words = pq_table_group(table, g);
		uint8_t *tags = pq_table_tags(table, words);

		if (first)
			number_section(&words[0], &tags[0]);
		for (size_t k = first; k < table->n_keys; k++) {
			if (tags[k] == PQ_EVENT && !own_event(groups, &words[k], &tags[k]))
				return false;
			if (tags[k] == PQ_CHAIN &&
			    !own_chain(groups, known, &words[k], &tags[k]))
				return false;
		}
	}
	return true;
}

static bool own_states(struct pq_groups *groups)
{
	for (const struct pq_measured *m = groups->measured; m < groups->measured_end; m++)
		for (size_t g = 0; m->ops->own && g < groups->table.n; g++)
			if (!m->ops->own(m, pq_group_states(groups, g) + m->at))
				return false;
	return true;
}

bool pq_groups_own(struct pq_groups *groups, const struct pq_grouping *grouping,
		   bool has_events, const uint32_t *stacks)
{
	size_t n_chains = groups->chains ? pq_chains_size(groups->chains) : 0;
	struct chain_texts known = { calloc(n_chains + 1, sizeof(*known.texts)), stacks };
	bool ok;

	pq_groups_forget_reads(groups);
	pb_map_deinit(&groups->table.map);
	if (groups->chains)
		pq_chains_seal(groups->chains);
	pq_groups_destroy(groups->whole);
	groups->whole = NULL;
	groups->fields = NULL;
	groups->limited = NULL;
	groups->grouping = grouping;
	groups->is_one_section = !has_events;
	for (size_t i = 0; i < grouping->n_measures; i++) {
		groups->measured[i].measure = &grouping->measures[i];
		groups->measured[i].fields = NULL;
		groups->measured[i].chains = stacks;
	}
	ok = known.texts && own_keys(groups, &known) && own_states(groups);
	for (struct pq_measured *m = groups->measured; m < groups->measured_end; m++)
		m->chains = NULL;
	free(known.texts);
	if (groups->chains)
		pq_chains_destroy(groups->chains);
	groups->chains = NULL;
	pq_texts_seal(&groups->texts);
	return ok;
}

/* Enters groups whose words have changed in the map, which has room for all of them. */
static void map_groups(struct pq_table *table)
{
	struct pb_map *map = &table->map;

	if (!map->n_slots)
		return;
	memset(map->slots, 0, map->n_slots * sizeof(*map->slots));
	map->n = 0;
	for (size_t g = 0; g < table->n; g++)
		pb_map_add(map, pq_table_hash(table, pq_table_group(table, g)), (uint32_t)g);
}

void pq_groups_set_sections(struct pq_groups *groups, const uint32_t *places, size_t n,
			    uint32_t rest)
{
	if (groups->is_one_section) {
		groups->section = rest;
		return;
	}
	for (size_t g = 0; g < groups->table.n; g++) {
		uint64_t *section = pq_table_group(&groups->table, g);

		*section = *section && *section <= n ? places[*section - 1] : rest;
	}
	map_groups(&groups->table);
}

size_t pq_groups_memory(const struct pq_groups *groups)
{
	const struct pq_texts *texts = &groups->texts;
	size_t slots = groups->table.map.n_slots + texts->map.n_slots;

	return sizeof(*groups) + groups->table.capacity * groups->table.stride +
	       slots * sizeof(struct pb_slot) + texts->n_bytes +
	       texts->capacity * sizeof(*texts->list) +
	       (texts->hints ? sizeof(*texts->hints) << PQ_HINT_BITS : 0);
}
