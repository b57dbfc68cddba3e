/*
 * Rows as perf report --stdio has them: aligned lines, two blanks before each cell.
 */
#ifndef PERFLUA_SCRIPT_REPORT_H
#define PERFLUA_SCRIPT_REPORT_H

#include "base/string_builder.h"
#include "perfdata/format/print.h"
#include "result/column.h"

enum px_shown {
	PX_SHOWN_PLAIN, /* the value as any text of rows shows it */
	PX_SHOWN_TIME,	/* seconds, cut to microseconds */
	PX_SHOWN_TIME_NS,
	/* a function, or its address as 0x and 16 digits, after the letter of its cpumode */
	PX_SHOWN_SYMBOL,
	PX_SHOWN_LOCATION, /* PX_SHOWN_SYMBOL, and the distance from the function's start */
	PX_SHOWN_DISTANCE, /* PX_SHOWN_LOCATION, with a distance of 0, too */
	/*
	 * a source line; without it a function (beside) and the distance from its start, or a
	 * binary and the address in it
	 */
	PX_SHOWN_SRCLINE,
	PX_SHOWN_DSO,	     /* the short name of a path */
	PX_SHOWN_MISPREDICT, /* "Y", "N" or "N/A"; beside: whether it was predicted */
	PX_SHOWN_IN_TX,	     /* "T" or "." */
	PX_SHOWN_ABORT,	     /* "A" or "." */
	PX_SHOWN_CYCLES,     /* a number, "-" for 0 */
	PX_SHOWN_CPU,	     /* a number of at least three digits */
	PX_SHOWN_NONE,	     /* "N/A" */
	PX_SHOWN_EXACT,	     /* a number with all its digits */
	PX_SHOWN_TIMES,	     /* a number times the one beside it */
	PX_SHOWN_AVERAGE,    /* a number divided by the one beside it */
	PX_SHOWN_QUOTIENT,   /* that quotient without its fraction */
	PX_SHOWN_RATIO,	     /* that quotient in percent */
	PX_SHOWN_IPC,	     /* the text for instructions per cycle that are not known */
	PX_SHOWN_LABEL,	     /* the text that `labels` have for a function of a binary */
	PX_SHOWN_TENTHS,     /* a share with one digit after the point */
	PX_SHOWN_PAGE,	     /* the size of a page */
	/*
	 * the memory level of a data source: its mem_lvl, and below that in 5 bits mem_lvl_num
	 * and mem_remote, in 3 bits mem_hops
	 */
	PX_SHOWN_LEVEL,
	PX_SHOWN_LEVELS, /* the memory levels of a data source, by mask and by number */
	/* parts of a data source: see enum pd_data_src_part */
	PX_SHOWN_SNOOP,
	PX_SHOWN_DTLB,
	PX_SHOWN_LOCK,
	PX_SHOWN_BLK, /* a blank precedes it */
};

#define PX_NUMBER_TEXT 32

/* A text of a function, for a column of PX_SHOWN_LABEL. */
struct px_label {
	struct pd_text symbol, binary; /* the function */
	struct pd_text text;
};

/* Texts of functions, which are borrowed. */
struct px_labels {
	struct pd_text none; /* the text of functions that are not in the list */
	size_t n;
	struct px_label list[]; /* [n] */
};

/* Puts the list into the order that px_labels_print() needs. */
void px_labels_sort(struct px_labels *labels);

/* Prints the text of a function; a dash if `symbol` is not a name. */
void px_labels_print(const struct px_labels *labels, const struct pq_value *symbol,
		     const struct pq_value *binary, struct pd_print *out);

/* A column of lines: it shows a cell of a row. */
struct px_report_column {
	enum px_shown shown;
	size_t at; /* index of the cell in its row */
	/* indexes of further cells that it needs: such as a cpumode, a distance, a binary */
	size_t beside, offset, binary;
	size_t room; /* width in terminal columns */
	bool is_right_aligned;
	bool is_last;	/* no blanks pad its cells */
	bool is_fixed;	/* its room is not raised, and texts at the left are cut to it */
	bool is_cut;	/* a text that is longer than `room` is shortened */
	bool is_joined; /* no blanks separate it from the column before */
	const struct px_labels *labels;
	/* the number that was printed last, and its text */
	struct pq_value number;
	char text[PX_NUMBER_TEXT];
	size_t n;
};

struct px_report {
	bool is_colored;
	struct px_report_column *columns; /* [n_columns] */
	size_t n_columns;
	/*
	 * text between cells, which are not padded then; in cells a point replaces its first
	 * character; NULL: two blanks before each cell
	 */
	const char *separator;
	const struct pr_source *rows;
	/* prints what follows the line of row i; NULL: nothing */
	void (*after_row)(void *arg, size_t i, struct pd_print *out);
	void *arg;
};

/*
 * Make the columns as wide as their cells, and write a line for each row. Return false without
 * memory.
 */
bool px_report_measure(const struct px_report *report);
bool px_report_write(const struct px_report *report, struct pd_print *out);

/* The cells of a row as texts: one is made in `cell`, or in `long_text` if it is long. */
struct px_cells {
	const struct px_report *report;
	struct pq_value *row; /* the row that is visited, which the caller sets */
	struct pd_print cell;
	struct pb_string long_text;
};

/* The text of a cell, and the terminal columns that it takes. */
struct px_cell {
	struct pd_text text;
	size_t width;
};

/*
 * Both return false without memory, px_cells_deinit() also if a text was lost because of that.
 * It must be called after a failure, too.
 */
bool px_cells_init(struct px_cells *cells, const struct px_report *report);
bool px_cells_deinit(struct px_cells *cells);

/* Returns the text of a cell of the row; it is valid until the next one is made. */
struct px_cell px_cell_text(struct px_cells *cells, struct px_report_column *column);

void px_print_blanks(struct pd_print *out, size_t n);

#endif
