/*
 * The order of values, and of rows.
 */
#ifndef PERFLUA_RESULT_ORDER_H
#define PERFLUA_RESULT_ORDER_H

#include "lines.h"

/* Compares two cells as pq_compare() does, but stacks by the names of their callers. */
int pr_compare(const struct pq_value *a, const struct pq_value *b, bool is_unsigned,
	       const struct pq_stacks *stacks);

/*
 * Sorts rows[n], numbers of groups: by section, by column show->by, by show->ties, then by all
 * keys, and keeps the first show->top of each section, or of each value of show->per, whose
 * rows then stand together. Sets *n to their number. Returns false without memory.
 */
bool pr_order_rows(struct pr_lines *lines, uint32_t *rows, size_t *n);

#endif
