/*
 * A table of texts that keeps each distinct one once, so that equal texts are one pointer.
 *
 * The hash has a random key for each table, as the recording chooses the texts.
 */
#ifndef PERFLUA_QUERY_STRINGS_H
#define PERFLUA_QUERY_STRINGS_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"

struct pq_text {
	/*
	 * while this table is merged or turned into a report: the same text in the other table,
	 * once known; while rows are sorted: see rank_texts() (result/order.c)
	 */
	struct pq_text *moved;
	uint32_t size;
	char bytes[]; /* [size] */
};

#define PQ_HINT_BITS 12

struct pq_texts {
	struct pb_secret secret;
	struct pq_text **list; /* [n] */
	size_t n, capacity;
	struct pb_map map; /* numbers of `list`, by bytes */
	struct pb_arena arena;
	size_t n_bytes; /* of the arena */
	/*
	 * Hint: the text found last for a source address. It counts only if the bytes there
	 * still match, or never change. Allocated by the first text that has one.
	 */
	struct pq_text_hint {
		const char *p;
		struct pq_text *text;
		bool is_fixed; /* the bytes never change */
	} * hints;	       /* [1 << PQ_HINT_BITS] */
};

void pq_texts_init(struct pq_texts *texts);
void pq_texts_deinit(struct pq_texts *texts);

/* Frees memory that only serves to find texts. None may be added after it. */
void pq_texts_seal(struct pq_texts *texts);

/* Forgets the tables that its texts were moved to. */
void pq_texts_unmove(struct pq_texts *texts);

/* Returns the text with these bytes, which are copied if they are new; NULL: no memory. */
struct pq_text *pq_texts_add(struct pq_texts *texts, const char *p, uint32_t size);

/*
 * Does what pq_texts_add() does, for bytes that never change, and whose address stands for no
 * other text as long as the table is used.
 */
struct pq_text *pq_texts_add_fixed(struct pq_texts *texts, const char *p, uint32_t size);

/* Does what pq_texts_add() does, for bytes whose address says nothing about them. */
struct pq_text *pq_texts_intern(struct pq_texts *texts, const char *p, uint32_t size);

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
