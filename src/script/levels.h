/*
 * Rows that stand below those which have the same first fields, as perf report --hierarchy has
 * them: a row of each value of the first field, below it one of each value of the second field
 * with it …. Fields are equal if they are shown alike.
 *
 *	levels = px_levels_create(columns, n_columns, measures, n_measures);
 *	ok = px_levels_add(levels, &rows, first) && px_levels_write(levels, &how, &out);
 */
#ifndef PERFLUA_SCRIPT_LEVELS_H
#define PERFLUA_SCRIPT_LEVELS_H

#include "report.h"

/* A measure that is added up. */
struct px_level_measure {
	size_t at;	/* the place of the cell in its row */
	bool is_share;	/* cells are shares, of which the sum is shown; else integers */
	bool is_number; /* the sum of integers is shown; else its share of `total` */
	bool is_joined; /* no blanks separate it from the measure before */
	size_t room;	/* terminal columns */
	double total;
};

struct px_levels;

/* Creates levels without rows, one for each of the columns. Returns NULL without memory. */
struct px_levels *px_levels_create(const struct px_report_column *columns, size_t n_columns,
				   const struct px_level_measure *measures, size_t n_measures);
void px_levels_destroy(struct px_levels *levels);

/* Adds rows, of which the first one has that number. Returns false without memory. */
bool px_levels_add(struct px_levels *levels, const struct pr_source *rows, size_t first);

/* Returns the terminal columns that the texts of a column take. */
size_t px_levels_room(const struct px_levels *levels, size_t column);

struct px_levels_how {
	const size_t *order; /* [n_order]: measures that rows are sorted by, greatest first */
	size_t n_order;
	size_t limited;	 /* the measure that decides whether a row is written: */
	double limit;	 /* at least so many percent */
	double total;	 /* of this */
	bool is_colored; /* shares have the colours of their size */
	/* prints what follows a row of the last level, whose number it gets; NULL: nothing */
	void (*after_row)(void *arg, size_t row, struct pd_print *out);
	void *arg;
};

/* Writes all rows. Returns false without memory. */
bool px_levels_write(struct px_levels *levels, const struct px_levels_how *how,
		     struct pd_print *out);

#endif
