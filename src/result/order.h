/*
 * The order of cells and of rows: all rows (order.c), or the first few of each section
 * (order_first.c), for which both share the state of sorting.
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

/* A column that rows are compared by. */
struct pr_level {
	size_t column; /* PR_NONE: the section */
	bool is_unsigned, descending, by_magnitude;
	bool is_symbol; /* addresses, of functions without a name, come after names */
};

/*
 * A row on its way to its place. By most levels rows are in the order of class and key; by
 * others the key is the position of a value to compare.
 */
struct pr_item {
	uint64_t key;
	uint32_t row;
	uint8_t class; /* enum class; of a descending level in reverse */
};

struct pr_sorter {
	struct pr_lines *lines;
	struct pr_level *levels; /* [n_levels] */
	size_t n_levels;
	struct pr_item *items, *spare; /* [n] */
	struct pq_value *values;       /* [n]; NULL: not needed yet */
	size_t n;
	struct pq_text **list; /* [n_list]: different texts of a level */
	size_t n_list, list_room;
	struct pq_texts texts; /* of expressions */
	bool failed;
};

/* Sets *out to the value of a row that a level compares. */
void pr_load_value(struct pr_sorter *s, const struct pr_level *level, uint32_t row,
		   struct pq_value *out);

/* Compares values of a level; absent ones come last, also in descending order. */
int pr_compare_at(const struct pr_sorter *s, const struct pr_level *level,
		  const struct pq_value *a, const struct pq_value *b);

/* Finds the first `top` rows of each section in one pass. Returns false without memory. */
bool pr_select_few(struct pr_sorter *s, uint32_t *rows, size_t *n, size_t top);

/*
 * Keep of sorted rows the first of each section, or of each section and value of column `per`,
 * where those of a value stand together, in the order of the first ones. The latter returns
 * false without memory.
 */
void pr_keep_first(struct pr_sorter *s, uint32_t *rows, size_t *n, size_t top);
bool pr_keep_first_per(struct pr_sorter *s, uint32_t *rows, size_t *n);

#endif
