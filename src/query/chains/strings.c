#include "strings.h"

#include <stdlib.h>

#include "base/vector.h"

void pq_texts_init(struct pq_texts *texts)
{
	*texts = (struct pq_texts){ 0 };
	pb_secret_make(&texts->secret);
}

void pq_texts_deinit(struct pq_texts *texts)
{
	pq_texts_seal(texts);
	pb_arena_deinit(&texts->arena);
	*texts = (struct pq_texts){ 0 };
}

void pq_texts_seal(struct pq_texts *texts)
{
	pb_map_deinit(&texts->map);
	free(texts->list);
	free(texts->hints);
	texts->list = NULL;
	texts->hints = NULL;
	texts->n = texts->capacity = 0;
}

void pq_texts_unmove(struct pq_texts *texts)
{
	for (size_t i = 0; i < texts->n; i++)
		texts->list[i]->moved = NULL;
}

struct wanted {
	const struct pq_texts *texts;
	const char *p;
	uint32_t size;
};

static bool has_bytes(const void *arg, uint32_t item)
{
	const struct wanted *wanted = arg;
	const struct pq_text *text = wanted->texts->list[item];

	return text->size == wanted->size && pb_same_bytes(text->bytes, wanted->p, text->size);
}

struct pq_text *pq_texts_intern(struct pq_texts *texts, const char *p, uint32_t size)
{
	const struct wanted wanted = { texts, p, size };
	uint32_t h = pb_hash_bytes(&texts->secret, p, size);
	struct pb_slot *slot;
	struct pq_text *text;

	if (!pb_map_reserve(&texts->map) || !pb_reserve(texts->list, texts->n, texts->capacity))
		return NULL;
	slot = pb_map_find(&texts->map, h, has_bytes, &wanted);
	if (slot->item)
		return texts->list[slot->item - 1];
	text = pb_arena_get(&texts->arena, sizeof(*text) + size);
	if (!text)
		return NULL;
	*text = (struct pq_text){ NULL, size };
	if (size)
		memcpy(text->bytes, p, size);
	texts->n_bytes += sizeof(*text) + size;
	pb_map_fill(&texts->map, slot, h, (uint32_t)texts->n);
	texts->list[texts->n++] = text;
	return text;
}

/* Returns the hint for a source address; NULL: no memory. */
static struct pq_text_hint *hint_of(struct pq_texts *texts, const char *p)
{
	if (!texts->hints)
		texts->hints = calloc((size_t)1 << PQ_HINT_BITS, sizeof(*texts->hints));
	if (!texts->hints)
		return NULL;
	return &texts->hints[pb_scatter((uintptr_t)p) >> (64 - PQ_HINT_BITS)];
}

struct pq_text *pq_texts_add(struct pq_texts *texts, const char *p, uint32_t size)
{
	struct pq_text_hint *hint = hint_of(texts, p);
	struct pq_text *text;

	if (!hint)
		return NULL;
	text = hint->text;
	if (hint->p == p && text && text->size == size && pb_same_bytes(text->bytes, p, size))
		return text;
	text = pq_texts_intern(texts, p, size);
	if (text)
		*hint = (struct pq_text_hint){ p, text, false };
	return text;
}

struct pq_text *pq_texts_add_fixed(struct pq_texts *texts, const char *p, uint32_t size)
{
	struct pq_text_hint *hint = hint_of(texts, p);

	if (!hint)
		return NULL;
	if (hint->p != p || !hint->is_fixed) {
		struct pq_text *text = pq_texts_intern(texts, p, size);

		if (!text)
			return NULL;
		*hint = (struct pq_text_hint){ p, text, true };
	}
	return hint->text;
}
