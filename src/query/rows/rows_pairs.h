/*
 * Rows of pairs: for each record that closes a span, one row with values of that record and of
 * the last record with the same key that opened a span; or such rows for the records inside.
 * Records come in time order. Only open spans are kept, and the records that wait for their
 * ends.
 */
#ifndef PERFLUA_QUERY_ROWS_PAIRS_H
#define PERFLUA_QUERY_ROWS_PAIRS_H

#include "query/expr/scope.h"
#include "rows.h"
#include "rows_texts.h"

struct pq_pairs;

/* Columns of the record that was entered: fields by number, or expressions. */
struct pq_columns {
	struct pq_fields *fields;
	const struct pq_node *const *nodes;
	struct pq_expr *const *exprs;
	const uint32_t *numbers; /* UINT32_MAX: an expression */
	struct pq_items *items;	 /* NULL: rows are not items */
};

/* A row to be filled in, and the store of its texts. */
struct pq_pair_row {
	struct pq_value *values; /* [how->n_values] */
	struct pq_row_texts *texts;
	struct pq_known_texts *known;
	bool made;
};

/*
 * Creates pairs; its arguments must outlive them, and `calls` may be NULL. Returns NULL without
 * memory.
 */
struct pq_pairs *pq_pairs_create(const struct pq_pairing *how, const struct pq_columns *columns,
				 struct pq_calls *calls);
void pq_pairs_destroy(struct pq_pairs *pairs);

/*
 * Handles the record that was entered. Call it only if pq_pairs_has_rows() is false. Returns
 * false without memory, or if too many records wait.
 */
bool pq_pairs_meet(struct pq_pairs *pairs, struct pq_pair_row *row);

/*
 * Returns true if rows may be left: of the last span that ended, for records that waited for
 * its end, or for items; or of unfinished spans.
 */
bool pq_pairs_has_rows(const struct pq_pairs *pairs);

/*
 * Handles the end of the records; call it once. Rows of unfinished spans may be left then.
 * Returns false without memory.
 */
bool pq_pairs_finish(struct pq_pairs *pairs);

/*
 * Makes the next of these rows; row->made says whether there was one. Returns false without
 * memory.
 */
bool pq_pairs_next_row(struct pq_pairs *pairs, struct pq_pair_row *row);

/* Sets *err if a limit was met, which is why a call returned false. Returns whether it was. */
bool pq_pairs_limit(const struct pq_pairs *pairs, const char *path, struct pd_error *err);

struct pq_pair_counts pq_pairs_counts(const struct pq_pairs *pairs);

#endif
