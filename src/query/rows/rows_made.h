/*
 * Values computed from rows of pairs: expressions whose fields are places in a row. They run in
 * the caller's thread, which may call functions in them.
 */
#ifndef PERFLUA_QUERY_ROWS_MADE_H
#define PERFLUA_QUERY_ROWS_MADE_H

#include "query/expr/once.h"
#include "rows.h"

struct pq_made {
	struct pq_fields fields;
	/*
	 * NULL, or the functions, if they see only rows: they are told when the next row begins
	 */
	struct pq_calls *calls;
	size_t n_row;		     /* values of a row */
	uint32_t event;		     /* place of its event, from 1 on; 0: none */
	struct pq_expr *kept;	     /* NULL: all rows are kept */
	uint32_t index;		     /* as in pq_paired */
	struct pq_expr *item_filter; /* NULL: all items are kept */
	struct pq_once once;
	bool is_kept_span; /* the row is a span ahead of its items, and is kept */
	bool keeps_items;  /* that span was kept, so its items may be */
	size_t n;
	struct pq_expr **exprs; /* [n] */
};

/*
 * Compiles the nodes, which must outlive *made. scope->calls, which may be NULL, knows the
 * functions that see records; `calls` knows all of them. Returns false without memory; the
 * caller calls pq_made_deinit() also then.
 */
bool pq_made_init(struct pq_made *made, const struct pq_scope *scope, struct pq_calls *calls,
		  const struct pq_paired *paired, const struct pq_node *const *nodes, size_t n);
void pq_made_deinit(struct pq_made *made);

/*
 * Enters a row, and sets *kept to whether it is one of the result: the conditions hold, and it
 * is not a span ahead of its items. Returns false without memory.
 */
bool pq_made_enter(struct pq_made *made, const struct pq_value *row, bool *kept);

/* Writes the values of the row that was entered. Returns false without memory. */
bool pq_made_values(struct pq_made *made, struct pq_value *values);

#endif
