#include "rows_texts.h"

#include <stdlib.h>

#include "base/vector.h"

#define LONG 64	  /* bytes: longer texts do not come again often enough */
#define KEPT 4096 /* texts */

struct wanted {
	const struct pq_known_texts *known;
	const struct pq_value *value;
};

static bool has_text(const void *arg, uint32_t item)
{
	const struct wanted *wanted = arg;
	const struct pd_text *text = &wanted->known->list[item];

	return text->n == wanted->value->size &&
	       pb_same_bytes(text->p, wanted->value->p, text->n);
}

/*
 * Sets *id to the number of a text, added if it is new; to 0 if there is no room for it.
 * Returns false without memory.
 */
static bool find_or_add_known(struct pq_known_texts *known, const struct pq_value *value,
			      uint32_t *id)
{
	const struct wanted wanted = { known, value };
	struct pb_slot *slot;
	uint32_t hash;
	const char *p;

	if (!known->n)
		pb_secret_make(&known->secret);
	if (!pb_map_reserve(&known->map) || !pb_reserve(known->list, known->n, known->capacity))
		return false;
	hash = pb_hash_bytes(&known->secret, value->p, value->size);
	slot = pb_map_find(&known->map, hash, has_text, &wanted);
	if (!slot->item && known->n < KEPT) {
		p = pb_arena_text(&known->arena, value->p, value->size);
		if (!p)
			return false;
		pb_map_fill(&known->map, slot, hash, (uint32_t)known->n);
		known->list[known->n++] = (struct pd_text){ p, value->size };
	}
	*id = slot->item;
	return true;
}

/*
 * Looks up a short text among those that are kept, and adds it if there is room. Sets value->id
 * to its number. Returns false without memory.
 */
static bool keep_known(struct pq_known_texts *known, struct pq_value *value)
{
	uint32_t place = (uint32_t)((uintptr_t)value->p >> 3 ^ (uintptr_t)value->p >> 9) %
			 PQ_RECENT_TEXTS;
	const struct wanted wanted = { known, value };
	uint32_t id = known->recent[place].id;

	if (known->recent[place].p != value->p || !id || !has_text(&wanted, id - 1)) {
		if (!find_or_add_known(known, value, &id))
			return false;
		known->recent[place].p = value->p;
		known->recent[place].id = (uint16_t)id;
	}
	value->id = (uint16_t)id;
	if (id)
		value->p = known->list[id - 1].p;
	return true;
}

bool pq_row_texts_add(struct pq_row_texts *texts, struct pq_known_texts *known,
		      struct pq_value *value)
{
	value->id = 0;
	if (value->size <= LONG && !keep_known(known, value))
		return false;
	if (!value->id) {
		value->p = pb_arena_text(&texts->arena, value->p, value->size);
		texts->bytes += value->size;
	}
	return value->p != NULL;
}

void pq_row_texts_clear(struct pq_row_texts *texts)
{
	pb_arena_clear(&texts->arena);
	texts->bytes = 0;
}

void pq_row_texts_deinit(struct pq_row_texts *texts)
{
	pb_arena_deinit(&texts->arena);
}

void pq_known_texts_deinit(struct pq_known_texts *known)
{
	free(known->list);
	pb_map_deinit(&known->map);
	pb_arena_deinit(&known->arena);
	*known = (struct pq_known_texts){ 0 };
}
