/*
 * Rows of the time that spans cover, by key: the union of the spans of one kind, or the
 * intersection of the unions of two kinds. Rows are produced at the end of the records, ordered
 * by start. A row is start, stop, and the parts of the key.
 */
#ifndef PERFLUA_QUERY_ROWS_COVER_H
#define PERFLUA_QUERY_ROWS_COVER_H

#include "rows_pairs.h"

struct pq_cover;

/*
 * Creates a cover; its arguments must outlive it, and scope->calls may be NULL. Returns NULL
 * without memory.
 */
struct pq_cover *pq_cover_create(const struct pq_covering *how, const struct pq_scope *scope,
				 const struct pq_columns *columns);
void pq_cover_destroy(struct pq_cover *cover);

/*
 * Handles the current record. `known` holds the texts of all rows. Returns false without
 * memory, or if a limit was reached.
 */
bool pq_cover_meet(struct pq_cover *cover, struct pq_known_texts *known);

/* Handles the end of the records; call it once. Fails as pq_cover_meet() does. */
bool pq_cover_finish(struct pq_cover *cover, struct pq_known_texts *known);

bool pq_cover_has_rows(const struct pq_cover *cover);

/* Fills in the next row. Returns false without memory. */
bool pq_cover_next_row(struct pq_cover *cover, struct pq_pair_row *row);

/* Returns true, and sets *err, if a limit was reached. */
bool pq_cover_limit(const struct pq_cover *cover, const char *path, struct pd_error *err);

/* Returns the counts of the first kind of spans. */
struct pq_pair_counts pq_cover_counts(const struct pq_cover *cover);

#endif
