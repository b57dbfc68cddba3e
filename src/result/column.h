/*
 * Columns of answers, and the rows that writers take: what a result (result.h) or a batch of
 * values has in common for those who show it.
 */
#ifndef PERFLUA_RESULT_COLUMN_H
#define PERFLUA_RESULT_COLUMN_H

#include "query/query.h"

/* Says how values of a column are shown, and in what order they are. */
enum pr_kind {
	PR_ANY, /* also what a Lua function gave */
	PR_SIGNED,
	PR_UNSIGNED,
	PR_ADDRESS,
	PR_FLOAT,
	PR_PERCENT,
	PR_STRING, /* text or bytes, and names of events */
	PR_SYMBOL, /* name of a function, or a number: its address in its binary */
	PR_BOOLEAN,
	PR_STACK,
	PR_HISTOGRAM,
};

/* Units of numbers, for people: nanoseconds, bytes, and powers of 1000. */
enum pr_unit {
	PR_NO_UNIT,
	PR_DURATION,
	PR_BYTES,
	PR_SI
};

/* Says how CSV and JSON have the texts of a column. */
enum pr_text_form {
	PR_AS_TEXT,	/* in JSON U+FFFD stands for what is not UTF-8 */
	PR_AS_RECORDED, /* in JSON a byte that is not UTF-8 is the character of that number */
	PR_AS_DIGITS,	/* two hex digits for each byte */
};

struct pr_column {
	struct pd_text name;
	enum pr_kind kind;
	enum pr_unit unit;
	enum pr_text_form text_form;
	bool is_verdict;  /* of a comparison: slower, faster … */
	bool is_measured; /* false: it is a key; with a unit its values are not rounded */
};

/* Returns true if integers of that kind are unsigned. */
static inline bool pr_is_unsigned(enum pr_kind kind)
{
	return kind == PR_UNSIGNED || kind == PR_ADDRESS || kind == PR_SYMBOL;
}

/*
 * Rows that can be read more than once, in any order. `row` sets cells[n_columns] to row i,
 * from 0 on; their texts are valid until it is called again. A cell is PQ_NIL, PQ_BOOL, PQ_INT,
 * PQ_FLOAT, PQ_TEXT, PQ_CHAIN (the number of a stack) or, in columns of PR_HISTOGRAM only,
 * PQ_HIST.
 */
struct pr_source {
	const struct pr_column *columns;
	size_t n_columns, n_rows;
	const struct pq_stacks *stacks; /* of PQ_CHAIN; NULL: no cell is one */
	void (*row)(void *arg, size_t i, struct pq_value *cells);
	void *arg;
};

#endif
