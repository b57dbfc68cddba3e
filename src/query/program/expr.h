/*
 * Expressions as small typed programs, compiled from trees.
 *
 * A program belongs to one worker, as does the pq_fields that it reads.
 */
#ifndef PERFLUA_QUERY_EXPR_H
#define PERFLUA_QUERY_EXPR_H

#include "node.h"

struct pq_expr;

/*
 * Compiles a tree, which must outlive the program, and adds its fields to `fields`. Returns
 * NULL without memory.
 */
struct pq_expr *pq_expr_create(const struct pq_node *node, struct pq_fields *fields);
void pq_expr_destroy(struct pq_expr *expr);

/* Returns true if the condition holds for the record that `fields` entered. */
bool pq_expr_test(const struct pq_expr *expr, struct pq_fields *fields);

/* Sets *out to the value for that record. A text is valid as for pq_fields_get(). */
void pq_expr_value(const struct pq_expr *expr, struct pq_fields *fields, struct pq_value *out);

/* Returns the number of the field if the expression is only that; else UINT32_MAX. */
uint32_t pq_expr_field(const struct pq_expr *expr);

#endif
