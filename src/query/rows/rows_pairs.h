/*
 * Rows of pairs: for each record that closes a span a row with values of it, and of the record
 * that opened the span, which is the last one with the same key; or such rows of the records
 * inside. Records are met in the order of time. Only open spans are held, and the records that
 * wait for the ends of these.
 */
#ifndef PERFLUA_QUERY_ROWS_PAIRS_H
#define PERFLUA_QUERY_ROWS_PAIRS_H

#include "query/expr/expr.h"
#include "rows.h"
#include "rows_texts.h"

struct pq_pairs;

/*
 * Values of the record that was entered: fields by their numbers, or what else is in their
 * place.
 */
struct pq_columns {
	struct pq_fields *fields;
	const struct pq_node *const *nodes;
	struct pq_expr *const *exprs;
	const uint32_t *numbers; /* UINT32_MAX: an expression */
};

/* A row that may be made, and where its texts go. */
struct pq_pair_row {
	struct pq_value *values; /* [how->n_values] */
	struct pq_row_texts *texts;
	struct pq_known_texts *known;
	bool made;
};

/* NULL: no memory. What it is given must stay; `calls` may be NULL. */
struct pq_pairs *pq_pairs_create(const struct pq_pairing *how, const struct pq_columns *columns,
				 struct pq_calls *calls);
void pq_pairs_destroy(struct pq_pairs *pairs);

/*
 * Takes the record that was entered, when there are no rows of records that waited. False: no
 * memory, or too many records wait.
 */
bool pq_pairs_meet(struct pq_pairs *pairs, struct pq_pair_row *row);

/* Returns true if records waited for the end of the span that ended last. */
bool pq_pairs_has_rows(const struct pq_pairs *pairs);

/* Makes the row of the next of them. False: no memory. */
bool pq_pairs_next_row(struct pq_pairs *pairs, struct pq_pair_row *row);

bool pq_pairs_has_too_many(const struct pq_pairs *pairs);

struct pq_pair_counts pq_pairs_counts(const struct pq_pairs *pairs);

#endif
