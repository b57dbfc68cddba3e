/*
 * Texts of rows. Short ones that may come again are kept once as long as the rows, with a
 * number; others are copied into their value batch.
 */
#ifndef PERFLUA_QUERY_ROWS_TEXTS_H
#define PERFLUA_QUERY_ROWS_TEXTS_H

#include "query/expr/value.h"

/* Texts of a batch, in memory blocks that do not move. All zero at first. */
struct pq_row_texts {
	struct pq_row_block *blocks; /* the one being filled; behind it the full ones */
	size_t bytes;		     /* size of the texts in them */
};

/* Texts that are kept. All zero at first. */
struct pq_known_texts {
	struct pq_known *known; /* NULL: none yet */
	struct pq_row_texts texts;
};

/* Makes the text of a value valid as long as its batch. Returns false without memory. */
bool pq_row_texts_add(struct pq_row_texts *texts, struct pq_known_texts *known,
		      struct pq_value *value);

/* Forgets all texts, but keeps their memory. */
void pq_row_texts_clear(struct pq_row_texts *texts);

void pq_row_texts_deinit(struct pq_row_texts *texts);
void pq_known_texts_deinit(struct pq_known_texts *known);

#endif
