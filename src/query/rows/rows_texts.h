/*
 * Texts of rows. Short texts, which may come again, are interned for as long as the rows exist,
 * and have a number; others are copied into their batch.
 */
#ifndef PERFLUA_QUERY_ROWS_TEXTS_H
#define PERFLUA_QUERY_ROWS_TEXTS_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "query/chains/value.h"

/* Texts of a batch. All zero at first. */
struct pq_row_texts {
	struct pb_arena arena;
	size_t bytes; /* size of the texts in it */
};

#define PQ_RECENT_TEXTS 64

/* Interned texts, numbered from 1 on. All zero at first. */
struct pq_known_texts {
	struct pd_text *list; /* [n] */
	size_t n, capacity;
	struct pb_map map; /* indices in `list` */
	struct pb_secret secret;
	struct pb_arena arena;
	/* The texts found last, by address, as equal names often lie at equal addresses. */
	struct {
		const char *p;
		uint16_t id;
	} recent[PQ_RECENT_TEXTS];
};

/* Makes the text of a value valid as long as its batch. Returns false without memory. */
bool pq_row_texts_add(struct pq_row_texts *texts, struct pq_known_texts *known,
		      struct pq_value *value);

/* Forgets all texts, but keeps some of their memory. */
void pq_row_texts_clear(struct pq_row_texts *texts);

void pq_row_texts_deinit(struct pq_row_texts *texts);
void pq_known_texts_deinit(struct pq_known_texts *known);

#endif
