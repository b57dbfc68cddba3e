/* The values of rows of records. One worker at a time uses a row maker. */
#ifndef PERFLUA_QUERY_ROWS_MAKER_H
#define PERFLUA_QUERY_ROWS_MAKER_H

#include "rows.h"
#include "rows_plain.h"
#include "rows_texts.h"

struct pq_row_maker {
	const struct pq_scope *scope;
	const struct pq_node *const *nodes;
	size_t n; /* values read of each record */
	struct pm_resolver *resolver;
	struct pq_fields fields;
	struct pq_expr *filter;
	struct pq_items *items; /* NULL: rows are records */
	struct pq_expr **exprs; /* [n] */
	uint32_t *numbers;	/* [n]: numbers of fields; UINT32_MAX: no field */
	size_t chain_at; /* value that is a number among fields.chains, if that is not NULL */
	struct pq_plain_rows plain;
	struct pq_known_texts known;
};

/*
 * Initializes *maker, which is zero, for rows of those nodes. Returns false without memory: it
 * is to be deinitialized in any case.
 */
bool pq_row_maker_init(struct pq_row_maker *maker, const struct pq_scope *scope,
		       const struct pq_node *const *nodes, size_t n);
void pq_row_maker_deinit(struct pq_row_maker *maker);

/* Does what pq_row_make() does, value by value. */
bool pq_row_make_values(struct pq_row_maker *maker, struct pq_row_texts *texts,
			struct pq_value *row);

/*
 * Sets the n values of `row` to those of the record or item that was entered. Returns false
 * without memory, also if a value or the filter read before had none.
 */
static inline bool pq_row_make(struct pq_row_maker *maker, struct pq_row_texts *texts,
			       struct pq_value *row)
{
	return pq_plain_row(&maker->plain, &maker->fields, maker->numbers, maker->n, row) ||
	       pq_row_make_values(maker, texts, row);
}

/* Creates what makes rows as `maker` does, of single records. Returns NULL without memory. */
struct pq_record_rows *pq_record_rows_create(const struct pq_row_maker *maker);

#endif
