#include "rows_texts.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK  ((size_t)16 << 10)
#define LONG   64   /* bytes: longer texts do not come again often enough */
#define KEPT   4096 /* texts */
#define SLOTS  8192
#define PROBES 8  /* slots that are tried: no input can make it more */
#define RECENT 64 /* places where texts were met */

struct pq_row_block {
	struct pq_row_block *next;
	size_t used, size;
	char bytes[];
};

struct kept {
	const char *p;
	uint32_t hash, size;
};

struct pq_known {
	unsigned n;
	struct kept texts[KEPT + 1]; /* texts by their numbers */
	uint16_t slots[SLOTS];	     /* numbers by hash, 0: free */
	/* Texts found last, by address: equal names often lie at equal addresses. */
	struct {
		const char *p;
		uint16_t id;
	} recent[RECENT];
};

/* Copies a text into the blocks. Returns the copy; NULL without memory. */
static const char *copy_bytes(struct pq_row_texts *texts, const char *p, size_t n)
{
	struct pq_row_block *block = texts->blocks;
	char *at;

	if (!block || block->size - block->used < n) {
		size_t size = n > BLOCK ? n : BLOCK;

		block = malloc(sizeof(*block) + size);
		if (!block)
			return NULL;
		*block = (struct pq_row_block){ .next = texts->blocks, .size = size };
		texts->blocks = block;
	}
	at = block->bytes + block->used;
	block->used += n;
	texts->bytes += n;
	return n ? memcpy(at, p, n) : at;
}

/* Returns up to 8 bytes of a text as a word. */
static uint64_t word_of(const char *p, size_t n)
{
	uint64_t word = 0;
	uint32_t half;

	if (n >= 8) {
		memcpy(&word, p, 8);
		return word;
	}
	if (n >= 4) {
		memcpy(&half, p, 4);
		word = half;
		memcpy(&half, p + n - 4, 4);
		return word << 32 | half;
	}
	for (size_t i = 0; i < n; i++)
		word = word << 8 | (uint8_t)p[i];
	return word;
}

static uint32_t hash_of(const char *p, size_t n)
{
	uint64_t hash = n;

	for (; n > 8; p += 8, n -= 8) {
		hash = (hash ^ word_of(p, 8)) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	hash = (hash ^ word_of(p, n)) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(hash >> 32);
}

static bool is_kept(const struct pq_known *known, unsigned id, const struct pq_value *value)
{
	const struct kept *kept = &known->texts[id];

	return kept->size == value->size && memcmp(kept->p, value->p, value->size) == 0;
}

/*
 * Sets *id to the number of a text, added if it is new; to 0 if there is no room for it.
 * Returns false without memory.
 */
static bool find_or_add_known(struct pq_known_texts *texts, const struct pq_value *value,
			      unsigned *id)
{
	struct pq_known *known = texts->known;
	uint32_t hash = hash_of(value->p, value->size);

	*id = 0;
	for (uint32_t i = 0; i < PROBES; i++) {
		uint16_t *slot = &known->slots[(hash + i) % SLOTS];
		struct kept *kept = &known->texts[*slot];

		if (*slot && (kept->hash != hash || !is_kept(known, *slot, value)))
			continue;
		if (!*slot) {
			if (known->n == KEPT)
				return true;
			kept = &known->texts[known->n + 1];
			*kept = (struct kept){ copy_bytes(&texts->texts, value->p, value->size),
					       hash, value->size };
			if (!kept->p)
				return false;
			*slot = (uint16_t)++known->n;
		}
		*id = *slot;
		return true;
	}
	return true;
}

/*
 * Looks up a short text among those that are kept, and adds it if there is room. Sets value->id
 * to its number. Returns false without memory.
 */
static bool keep_known(struct pq_known_texts *texts, struct pq_value *value)
{
	struct pq_known *known = texts->known;
	uint32_t place = (uint32_t)((uintptr_t)value->p >> 3 ^ (uintptr_t)value->p >> 9) %
			 RECENT;
	unsigned id;

	if (!known && !(known = texts->known = calloc(1, sizeof(*known))))
		return false;
	id = known->recent[place].id;
	if (known->recent[place].p != value->p || !id || !is_kept(known, id, value)) {
		if (!find_or_add_known(texts, value, &id))
			return false;
		known->recent[place].p = value->p;
		known->recent[place].id = (uint16_t)id;
	}
	value->id = (uint16_t)id;
	if (id)
		value->p = known->texts[id].p;
	return true;
}

bool pq_row_texts_add(struct pq_row_texts *texts, struct pq_known_texts *known,
		      struct pq_value *value)
{
	value->id = 0;
	if (value->size <= LONG && !keep_known(known, value))
		return false;
	if (!value->id)
		value->p = copy_bytes(texts, value->p, value->size);
	return value->p != NULL;
}

void pq_row_texts_clear(struct pq_row_texts *texts)
{
	struct pq_row_block *block = texts->blocks;

	texts->bytes = 0;
	if (!block)
		return;
	/* the last block stays */
	texts->blocks = block->next;
	block->next = NULL;
	block->used = 0;
	pq_row_texts_deinit(texts);
	texts->blocks = block;
}

void pq_row_texts_deinit(struct pq_row_texts *texts)
{
	for (struct pq_row_block *block = texts->blocks, *next; block; block = next) {
		next = block->next;
		free(block);
	}
	texts->blocks = NULL;
}

void pq_known_texts_deinit(struct pq_known_texts *known)
{
	pq_row_texts_deinit(&known->texts);
	free(known->known);
	known->known = NULL;
}
