/*
 * Rows as text for people, as CSV and as JSON: one file each, write_text.c, write_csv.c and
 * write_json.c.
 */
#ifndef PERFLUA_RESULT_WRITER_H
#define PERFLUA_RESULT_WRITER_H

#include "column.h"
#include "perfdata/format/print.h"

#define PR_ROWS_BETWEEN_CALLS 1024 /* rows that are written between calls of goes_on() */

/* How rows are shown to people. Zero-initialised: in full, without colours. */
struct pr_display {
	size_t columns; /* of the terminal, to which names are shortened; 0: they are not */
	bool is_colored;
};

/*
 * Returns the SGR parameters of the colour that perf gives a share: red from 5 % on, green
 * above 0.5 % (see get_percent_color, tools/perf/util/color.c); NULL: none.
 */
const char *pr_share_color(double percent);

/* Prints a text, of which no byte is an escape, in a colour; NULL: in none. */
void pr_print_colored(struct pd_print *out, const char *color, struct pd_text text);

/*
 * Makes the widest of the columns that may shrink narrower until all have room in `room`, or
 * they are as narrow as is allowed: least[i], which is the width of one that may not shrink.
 */
void pr_fit_columns(size_t *widths, const size_t *least, size_t n, size_t room);

/*
 * Prints a text in at most `columns` columns: see pb_shorten(). Returns how many it takes.
 * It is printed in a colour, unless that is NULL.
 */
size_t pr_print_shortened(struct pd_print *out, const char *color, struct pd_text text,
			  size_t columns);

/*
 * Writes the rows aligned in terminal columns, below the names of the columns. Control
 * characters, and what is not UTF-8, are escaped. A histogram takes a line for each bucket.
 * Each line ends with a newline.
 *
 * Reads all rows twice: for the widths of the columns, and for the lines. `goes_on` is called
 * every PR_ROWS_BETWEEN_CALLS rows; when it returns false, writing ends after a whole row, or
 * before the first line if the widths are not known yet. NULL: writing goes on. Returns the
 * number of rows that were written; SIZE_MAX: no memory, and the last line may be cut. The
 * functions that it calls must return.
 */
size_t pr_write_text(struct pd_print *out, const struct pr_source *source,
		     struct pr_display form, bool (*goes_on)(void *arg), void *arg);

/*
 * Prints the text of a cell that is neither a stack nor a histogram, as pr_write_text() has it.
 */
void pr_print_cell(struct pd_print *out, const struct pq_value *cell,
		   const struct pr_column *column);

/*
 * Prints a text as it may go to a terminal: control characters and what is not UTF-8 become
 * \x1b, or \u{9b} if they take two bytes. In JSON they become \n, \u001b and U+FFFD, quotes
 * and backslashes are escaped, too.
 */
void pr_print_escaped(struct pd_print *out, const char *p, size_t n, bool json);

/* Prints an address in its binary, which stands for a function: 0x0000000000401136. */
void pr_print_symbol_address(struct pd_print *out, uint64_t address);

/* A form of CSV (RFC 4180). */
struct pr_csv_form {
	bool is_safe;  /* a ' comes before a text that a spreadsheet would take for a formula */
	bool has_crlf; /* lines end with CR LF; false: with LF */
};

/*
 * Write a line of CSV: the names of columns; the cells of a row. pr_write_csv_row() returns
 * false if it left stacks out because there was no memory. `stacks` may be NULL if no cell is a
 * stack.
 */
void pr_write_csv_heads(struct pd_print *out, const struct pr_column *columns, size_t n,
			struct pr_csv_form form);
bool pr_write_csv_row(struct pd_print *out, const struct pr_column *columns, size_t n,
		      const struct pq_value *cells, const struct pq_stacks *stacks,
		      struct pr_csv_form form);

/*
 * Prints what stands before each value of a row of JSON, {"a": and ,"b": and so on, with a NUL
 * after each.
 */
void pr_print_json_names(struct pd_print *out, const struct pr_column *columns, size_t n);

/*
 * Writes a row as an object of JSON: addresses are strings "0x…", histograms arrays of
 * {"count", "from", "to"}; absent values, infinities and NaN are null. `stack` writes a cell
 * of type PQ_CHAIN. `names` are the n texts that pr_print_json_names() printed.
 */
void pr_write_json_row(struct pd_print *out, const struct pr_column *columns,
		       const struct pd_text *names, size_t n, const struct pq_value *cells,
		       void (*stack)(void *arg, struct pd_print *out, uint32_t number),
		       void *arg);

#endif
