/*
 * Rows of pairs. Each record that closes a span produces one row, with values of that record
 * and of the last record that opened a span with the same key; or one row for each record
 * inside the span. Records come in time order. Only open spans, and the records that wait for
 * the ends of these, are held in memory.
 */
#ifndef PERFLUA_QUERY_ROWS_PAIRS_H
#define PERFLUA_QUERY_ROWS_PAIRS_H

#include "query/scope/scope.h"
#include "rows.h"
#include "rows_maker.h"

struct pq_pairs;

/* Columns of the current record: fields by number, or expressions. */
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
 * Sets *choice to the events whose samples open, change or close spans, or lie inside; leaves
 * it if all do. Of other samples only the latest time matters: see pq_pairs_finish(). Call it
 * before the first record: the pairs own the lists. Returns false without memory.
 */
bool pq_pairs_choose(struct pq_pairs *pairs, struct pd_sample_choice *choice);

/*
 * Handles the current record, and may fill in *row. Call it only if pq_pairs_has_rows() is
 * false. Returns false without memory, or if too many records wait.
 */
bool pq_pairs_meet(struct pq_pairs *pairs, struct pq_pair_row *row);

/*
 * Returns true if rows may be left: of records that waited for the end of the last span, of its
 * items, or of unfinished spans.
 */
bool pq_pairs_has_rows(const struct pq_pairs *pairs);

/*
 * Handles the end of the records; call it once. Afterwards rows of unfinished spans may be
 * left. Returns false without memory.
 */
bool pq_pairs_finish(struct pq_pairs *pairs);

/* Fills in the next row that is left, and sets row->made. Returns false without memory. */
bool pq_pairs_next_row(struct pq_pairs *pairs, struct pq_pair_row *row);

/* Returns true, and sets *err, if a call failed because a limit was reached. */
bool pq_pairs_limit(const struct pq_pairs *pairs, const char *path, struct pd_error *err);

struct pq_pair_counts pq_pairs_counts(const struct pq_pairs *pairs);

#endif
