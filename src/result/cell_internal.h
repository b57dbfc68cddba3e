/* The text of one cell, which the writers of text and of CSV share. */
#ifndef PERFLUA_RESULT_CELL_INTERNAL_H
#define PERFLUA_RESULT_CELL_INTERNAL_H

#include "column.h"
#include "perfdata/format/print_scalar.h"
#include "writer.h"

/*
 * Prints a number, a boolean or a histogram with all that it has: a float in the fewest digits
 * that read back as the same number, a histogram as FROM-TO:COUNT of the buckets that are not
 * empty. Prints nothing for other types of cells.
 */
void pr_print_exact(struct pd_print *out, const struct pq_value *value, enum pr_kind kind);

/*
 * Prints a number or a boolean for people: integers with all digits, floats with two decimals,
 * or three significant digits if they say more. Numbers of a column with a unit are shown in
 * it: with three significant digits, or exactly if the column is a key. PQ_NIL is "-"; nothing
 * is printed for other types of cells.
 */
void pr_print_shown(struct pd_print *out, const struct pq_value *value,
		    const struct pr_column *column);

/* Prints the bound of a bucket with all its digits. */
void pr_print_bound(struct pd_print *out, const struct pq_value *bound, enum pr_unit unit);

/*
 * Returns a stack as the field `stack` has it, of *n bytes, which the caller frees; NULL: no
 * memory.
 */
char *pr_stack_text(const struct pq_stacks *stacks, uint32_t number, size_t *n);

/* Prints an integer in full. */
static inline void pr_print_integer(struct pd_print *out, const struct pq_value *value,
				    enum pr_kind kind)
{
	if (kind == PR_ADDRESS)
		pd_print_hex(out, value->u);
	else if (kind == PR_SYMBOL)
		pr_print_symbol_address(out, value->u);
	else if (kind == PR_UNSIGNED)
		pd_print_uint(out, value->u);
	else
		pd_print_int(out, value->i);
}

/* Returns the SGR parameters of a cell's colour; NULL: it has none. */
const char *pr_cell_color(const struct pq_value *cell, const struct pr_column *column);

#endif
