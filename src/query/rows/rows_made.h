/*
 * Values computed from rows of pairs: expressions whose fields are values of a row. They run in
 * the caller's thread, so they may call functions of the script.
 */
#ifndef PERFLUA_QUERY_ROWS_MADE_H
#define PERFLUA_QUERY_ROWS_MADE_H

#include "query/scope/once.h"
#include "rows.h"

struct pq_made {
	struct pq_fields fields;
	/* not NULL: functions that see only rows; they are told when the next row begins */
	struct pq_calls *calls;
	size_t n_row;		     /* values of a row */
	uint32_t event;		     /* as in pq_paired */
	struct pq_expr *kept;	     /* NULL: all rows are kept */
	uint32_t index;		     /* as in pq_paired */
	struct pq_expr *item_filter; /* NULL: all items are kept */
	struct pq_once once;
	bool is_kept_span; /* the row is a kept span, and rows of its items follow */
	bool keeps_items;  /* the last span was kept, so its items may be kept */
	size_t n;
	struct pq_expr **exprs; /* [n] */
};

/*
 * Compiles the nodes, which must outlive *made. scope->calls, which may be NULL, has the
 * functions that see records; `calls` has all functions. Returns false without memory; call
 * pq_made_deinit() even then.
 */
bool pq_made_init(struct pq_made *made, const struct pq_scope *scope, struct pq_calls *calls,
		  const struct pq_paired *paired, const struct pq_node *const *nodes, size_t n);
void pq_made_deinit(struct pq_made *made);

/*
 * Makes `row` the current row. Sets *kept to true if it belongs to the result: its conditions
 * hold, and it is not the row of a span that precedes those of its items. Returns false without
 * memory.
 */
bool pq_made_enter(struct pq_made *made, const struct pq_value *row, bool *kept);

/* Computes the n values of the current row. Returns false without memory. */
bool pq_made_values(struct pq_made *made, struct pq_value *values);

#endif
