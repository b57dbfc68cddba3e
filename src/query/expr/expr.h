/*
 * Expressions as small typed programs: what a tree says, in the order in which it is done.
 *
 * A program is of one thread, as is the pq_fields that it reads.
 */
#ifndef PERFLUA_QUERY_EXPR_H
#define PERFLUA_QUERY_EXPR_H

#include "fields.h"

struct pq_expr;

/* Adds the fields of a tree to `fields`; NULL: no memory. The tree must stay. */
struct pq_expr *pq_expr_create(const struct pq_node *node, struct pq_fields *fields);
void pq_expr_destroy(struct pq_expr *expr);

/* Of the record that was entered: is the condition true? */
bool pq_expr_test(const struct pq_expr *expr, struct pq_fields *fields);

/* Its value. Text is valid as pq_fields_get says. */
void pq_expr_value(const struct pq_expr *expr, struct pq_fields *fields, struct pq_value *out);

/* The number of the field that it is, alone; UINT32_MAX: it is more than that. */
uint32_t pq_expr_field(const struct pq_expr *expr);

#endif
