/*
 * Keeps, of the rows that belong together, the first one with each value of an expression. Rows
 * in which the value is absent have equal values.
 */
#ifndef PERFLUA_QUERY_ONCE_H
#define PERFLUA_QUERY_ONCE_H

#include "base/map.h"
#include "query/program/expr.h"
#include "query/chains/strings.h"

/* A value that one of the rows had. */
struct pq_had;

struct pq_once {
	struct pq_expr *expr;  /* NULL: all rows are kept */
	struct pq_texts texts; /* values met so far */
	struct pq_had *had;    /* [n_had]: those of all rounds */
	size_t n_had, capacity;
	struct pb_map by_value; /* indices of `had` */
	uint64_t round;		/* number of the rows that belong together, from 1 */
};

/*
 * Initializes *once. `node`, which may be NULL, must outlive it. Returns false without memory;
 * the caller calls pq_once_deinit() also then.
 */
bool pq_once_init(struct pq_once *once, const struct pq_node *node, struct pq_fields *fields);
void pq_once_deinit(struct pq_once *once);

/* Begins with the next rows that belong together. */
static inline void pq_once_begin(struct pq_once *once)
{
	once->round++;
}

/*
 * Returns true if no row since pq_once_begin() had the value of the row that was entered in
 * `fields`. Without memory it returns false, and sets fields->failed.
 */
bool pq_once_is_first(struct pq_once *once, struct pq_fields *fields);

#endif
