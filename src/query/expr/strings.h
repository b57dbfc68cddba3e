/*
 * A table of texts that keeps each distinct one once, so that equal texts are one pointer.
 *
 * The hash has a random key for each table, as the recording chooses the texts.
 */
#ifndef PERFLUA_QUERY_STRINGS_H
#define PERFLUA_QUERY_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/map.h"
#include "wide.h"

struct pq_text {
	struct pq_text *
		/* while this table is merged: the same text in the other one, once known */
		moved;
	uint32_t size;
	char bytes[]; /* [size] */
};

struct pq_secret {
	uint64_t a, b;
};

void pq_secret_make(struct pq_secret *secret);

/* Returns the two halves of a 128-bit product, folded: each bit depends on all bits of both. */
static inline uint64_t pq_mix(uint64_t x, uint64_t y)
{
	struct pq_wide product = pq_wide_product(x, y);

	return product.low ^ product.high;
}

static inline uint64_t pq_load8(const char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

static inline uint32_t pq_load4(const char *p)
{
	uint32_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/*
 * Reads up to 16 bytes as two words, which overlap if there are fewer. With the size they
 * determine the text.
 */
static inline void pq_ends(const char *p, size_t n, uint64_t *first, uint64_t *last)
{
	if (n >= 8) {
		*first = pq_load8(p);
		*last = pq_load8(p + n - 8);
	} else if (n >= 4) {
		*first = pq_load4(p);
		*last = pq_load4(p + n - 4);
	} else if (n) {
		*first = (uint64_t)(uint8_t)p[0] << 8 | (uint8_t)p[n / 2];
		*last = (uint8_t)p[n - 1];
	} else {
		*first = *last = 0;
	}
}

/* Compares like memcmp(), but short texts, which most are, without a call. */
static inline bool pq_same_bytes(const char *a, const char *b, size_t n)
{
	uint64_t first, last, other_first, other_last;

	if (n > 16)
		return memcmp(a, b, n) == 0;
	pq_ends(a, n, &first, &last);
	pq_ends(b, n, &other_first, &other_last);
	return first == other_first && last == other_last;
}

uint32_t pq_text_hash(const struct pq_secret *secret, const char *p, size_t n);

#define PQ_HINTS 2048

struct pq_texts {
	struct pq_secret secret;
	struct pq_text **list; /* [n] */
	size_t n, capacity;
	struct pb_map map;	      /* numbers of `list`, by bytes */
	struct pq_text_block *blocks; /* own the texts */
	/*
	 * Hint: the text found last for a source address. It counts only if the bytes there
	 * still match.
	 */
	struct pq_text_hint {
		const char *p;
		struct pq_text *text;
	} hints[PQ_HINTS];
};

void pq_texts_init(struct pq_texts *texts);
void pq_texts_deinit(struct pq_texts *texts);

/* Returns the text with these bytes, which are copied if they are new; NULL: no memory. */
struct pq_text *pq_texts_add(struct pq_texts *texts, const char *p, uint32_t size);

/* Returns the text of this table that equals one of another table; NULL: no memory. */
static inline struct pq_text *pq_texts_move(struct pq_texts *texts, struct pq_text *text)
{
	if (!text->moved)
		text->moved = pq_texts_add(texts, text->bytes, text->size);
	return text->moved;
}

/* Returns the text whose bytes begin at `bytes`. */
static inline struct pq_text *pq_text_of(const char *bytes)
{
	return (struct pq_text *)((uintptr_t)bytes - offsetof(struct pq_text, bytes));
}

#endif
