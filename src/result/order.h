/*
 * The order of values, and of rows.
 */
#ifndef PERFLUA_RESULT_ORDER_H
#define PERFLUA_RESULT_ORDER_H

#include "lines.h"

/*
 * Compares two values: booleans, numbers, texts by their bytes, stacks by the names of their
 * callers; absent ones and NaN come after all others. Numbers are compared exactly. Returns a
 * number below 0 if a comes first, 0 if they are equal.
 */
int pr_compare(const struct pq_value *a, const struct pq_value *b, bool is_unsigned,
	       const struct pq_stacks *stacks);

/* Returns true if a value comes after all others, in either direction. */
bool pr_is_absent(const struct pq_value *value);

/*
 * Sorts rows[n], numbers of groups: by section, by column show->by, then by all keys, and keeps
 * the first show->top of each section, or of each value of show->per, whose rows then stand
 * together. Sets *n to their number. Returns false without memory.
 */
bool pr_order_rows(struct pr_lines *lines, uint32_t *rows, size_t *n);

#endif
