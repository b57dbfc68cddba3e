/*
 * Texts of rows. Short ones that may come again are kept as long as the rows, once each, and
 * have a number; others are copied into their batch.
 */
#ifndef PERFLUA_QUERY_ROWS_TEXTS_H
#define PERFLUA_QUERY_ROWS_TEXTS_H

#include "query/expr/value.h"

/* Those of a batch: memory in blocks, which stay where they are. All zero at first. */
struct pq_row_texts {
	struct pq_row_block *blocks; /* that is being filled; behind it those that are full */
	size_t bytes;		     /* of texts in them */
};

/* Those that are kept. All zero at first. */
struct pq_known_texts {
	struct pq_known *known; /* NULL: there are none yet */
	struct pq_row_texts texts;
};

/* Makes the text of a value valid as long as the batch. False: no memory. */
bool pq_row_texts_add(struct pq_row_texts *texts, struct pq_known_texts *known,
		      struct pq_value *value);

/* Forgets all texts but not their memory. */
void pq_row_texts_clear(struct pq_row_texts *texts);

void pq_row_texts_deinit(struct pq_row_texts *texts);
void pq_known_texts_deinit(struct pq_known_texts *known);

#endif
