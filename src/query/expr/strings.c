#include "strings.h"

#include <stdlib.h>

#include "base/vector.h"

#define BLOCK_SIZE  ((size_t)32 * 1024)
#define FIRST_BLOCK ((size_t)1024)

struct pq_text_block {
	struct pq_text_block *next;
	size_t used, size;
	struct pq_text texts[];
};

void pq_texts_init(struct pq_texts *texts)
{
	*texts = (struct pq_texts){ 0 };
	pb_secret_make(&texts->secret);
}

void pq_texts_deinit(struct pq_texts *texts)
{
	while (texts->blocks) {
		struct pq_text_block *next = texts->blocks->next;

		free(texts->blocks);
		texts->blocks = next;
	}
	pb_map_deinit(&texts->map);
	free(texts->list);
	*texts = (struct pq_texts){ 0 };
}

/* Returns room for a text. A large one has a block of its own, behind the one being filled. */
static struct pq_text *reserve_text(struct pq_texts *texts, uint32_t size)
{
	size_t align = _Alignof(struct pq_text);
	size_t need = (sizeof(struct pq_text) + size + align - 1) & ~(align - 1);
	struct pq_text_block *block = texts->blocks;
	bool own = need > BLOCK_SIZE / 4;

	if (own || !block || block->size - block->used < need) {
		size_t n = own ? need : block ? BLOCK_SIZE : FIRST_BLOCK;

		n = n < need ? BLOCK_SIZE : n;
		block = malloc(sizeof(*block) + n);
		if (!block)
			return NULL;
		*block = (struct pq_text_block){ texts->blocks, 0, n };
		if (own && texts->blocks) {
			block->next = texts->blocks->next;
			texts->blocks->next = block;
		} else {
			texts->blocks = block;
		}
	}
	block->used += need;
	return (struct pq_text *)((char *)block->texts + block->used - need);
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

static struct pq_text *find_or_add_text(struct pq_texts *texts, const char *p, uint32_t size)
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
	text = reserve_text(texts, size);
	if (!text)
		return NULL;
	*text = (struct pq_text){ NULL, size };
	memcpy(text->bytes, p, size);
	pb_map_fill(&texts->map, slot, h, (uint32_t)texts->n);
	texts->list[texts->n++] = text;
	return text;
}

struct pq_text *pq_texts_add(struct pq_texts *texts, const char *p, uint32_t size)
{
	uint64_t place = pb_scatter((uintptr_t)p) >> 56;
	struct pq_text_hint *hint = &texts->hints[place];
	struct pq_text *text = hint->text;

	if (hint->p == p && text && text->size == size && pb_same_bytes(text->bytes, p, size))
		return text;
	text = find_or_add_text(texts, p, size);
	if (text)
		*hint = (struct pq_text_hint){ p, text };
	return text;
}
