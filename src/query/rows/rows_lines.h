/* Rows of values as lines: of CSV (RFC 4180), or objects of JSON. */
#ifndef PERFLUA_QUERY_ROWS_LINES_H
#define PERFLUA_QUERY_ROWS_LINES_H

#include "perfdata/format/print.h"
#include "query/expr/value.h"

enum pq_line_kind {
	PQ_LINE_PLAIN,
	PQ_LINE_UNSIGNED,
	PQ_LINE_ADDRESS, /* 0x…, in JSON a string */
	PQ_LINE_BYTES,	 /* a text of any bytes: in hex digits */
};

struct pq_line_column {
	struct pd_text head; /* what is printed before each value: {"time": */
	enum pq_line_kind kind;
};

/*
 * Prints rows of n values. An absent value is nothing in CSV and null in JSON. Values of type
 * PQ_OBJECT or PQ_CHAIN are printed as if they were absent.
 */
void pq_print_rows(struct pd_print *out, const struct pq_line_column *columns, size_t n,
		   const struct pq_value *values, size_t n_rows, bool json);

#endif
