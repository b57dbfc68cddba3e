#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/columns.h"
#include "base/string_builder.h"
#include "cell_internal.h"
#include "perfdata/format/print_scalar.h"
#include "writer.h"

#define LONGEST_BAR 40 /* columns */
#define GAP	    2  /* blanks between columns */
#define SHORTEST    12 /* columns of a name that is shortened */
#define BOLD	    "1"

/* A histogram as lines: "[64, 128)   3  ####". */
struct bars {
	size_t n;
	struct pq_bucket buckets[PQ_MAX_BUCKETS];
	uint64_t greatest;  /* count */
	size_t range_width; /* in bytes, which are terminal columns: all is ASCII */
	int count_width;
};

struct text_column {
	size_t width; /* in terminal columns, of the widest cell */
	bool is_right_aligned;
	struct bars *bars; /* of the histogram in the row; NULL: the column has none */
};

struct text_writer {
	struct pd_print *out;
	const struct pr_source *source;
	struct pr_display form;
	struct text_column *columns;
	struct bars *bars;
	struct pq_value *cells; /* of a row */
	struct pd_print cell; /* text of a cell: here as long as it fits, then in `long_text` */
	struct pb_string long_text;
	size_t blanks; /* that the line gets if anything follows them */
};

/* Ends the text of a cell, and returns it; it is valid until the next cell begins. */
static struct pd_text end_cell(struct text_writer *w)
{
	struct pd_text text = { .p = w->cell.buffer, .n = w->cell.n };

	if (w->long_text.n) {
		pd_print_flush(&w->cell);
		text = (struct pd_text){ .p = w->long_text.p, .n = w->long_text.n };
		w->long_text.n = 0;
	}
	w->cell.n = 0;
	return text;
}

static size_t count_columns(struct pd_text text)
{
	return pb_count_columns(text.p, text.n);
}

static void print_repeated(struct pd_print *out, char c, size_t n)
{
	while (n) {
		size_t now = n < 256 ? n : 256;

		memset(pd_print_room(out, now), c, now);
		out->n += now;
		n -= now;
	}
}

static void print_range(struct pd_print *out, const struct pq_bucket *bucket, enum pr_unit unit)
{
	pd_print_char(out, '[');
	pr_print_bound(out, &bucket->from, unit);
	pd_print_const(out, ", ");
	pr_print_bound(out, &bucket->to, unit);
	pd_print_char(out, ')');
}

static void load_bars(struct text_writer *w, struct bars *bars, const struct pq_sketch *sketch,
		      enum pr_unit unit)
{
	bars->n = pq_histogram(sketch, bars->buckets);
	bars->greatest = 0;
	bars->range_width = 0;
	for (size_t i = 0; i < bars->n; i++) {
		struct pd_text range;

		print_range(&w->cell, &bars->buckets[i], unit);
		range = end_cell(w);
		if (range.n > bars->range_width)
			bars->range_width = range.n;
		if (bars->buckets[i].count > bars->greatest)
			bars->greatest = bars->buckets[i].count;
	}
	pd_print_uint(&w->cell, bars->greatest);
	bars->count_width = (int)end_cell(w).n;
}

static struct pd_text format_bar(struct text_writer *w, const struct bars *bars, size_t i,
				 enum pr_unit unit)
{
	const struct pq_bucket *bucket = &bars->buckets[i];
	double share = (double)bucket->count / (double)bars->greatest;
	struct pd_print *out = &w->cell;
	char *p;

	print_range(out, bucket, unit);
	print_repeated(out, ' ', bars->range_width + 2 - out->n);
	p = pd_print_room(out, 32);
	out->n += (size_t)snprintf(p, 32, "%*" PRIu64 "  ", bars->count_width, bucket->count);
	print_repeated(out, '#', (size_t)ceil(LONGEST_BAR * share));
	return end_cell(w);
}

static void print_escaped_stack(struct text_writer *w, uint32_t number)
{
	size_t n;
	char *text = pr_stack_text(w->source->stacks, number, &n);

	if (text)
		pr_print_escaped(&w->cell, text, n, false);
	else
		w->long_text.failed = true;
	free(text);
}

/* Returns the text of a cell that is not a histogram. */
static struct pd_text format_cell(struct text_writer *w, size_t i)
{
	const struct pq_value *cell = &w->cells[i];

	if (cell->type == PQ_CHAIN)
		print_escaped_stack(w, (uint32_t)cell->u);
	else
		pr_print_cell(&w->cell, cell, &w->source->columns[i]);
	return end_cell(w);
}

static size_t measure_bars(struct text_writer *w, size_t i)
{
	struct bars *bars = w->columns[i].bars;

	load_bars(w, bars, (const struct pq_sketch *)w->cells[i].p, w->source->columns[i].unit);
	return bars->n ? bars->range_width + 2 + (size_t)bars->count_width + 2 + LONGEST_BAR :
			 0;
}

/* Makes columns as wide as the cells of a row need. */
static void widen_columns(struct text_writer *w)
{
	for (size_t i = 0; i < w->source->n_columns; i++) {
		struct text_column *column = &w->columns[i];
		uint8_t type = w->cells[i].type;
		size_t width = type == PQ_HIST ? measure_bars(w, i) :
						 count_columns(format_cell(w, i));

		if (width > column->width)
			column->width = width;
		if (type != PQ_NIL && type != PQ_INT && type != PQ_FLOAT &&
		    w->source->columns[i].kind == PR_ANY)
			column->is_right_aligned = false;
	}
}

/*
 * Prints a text where its column is, shortened if the terminal is too narrow for it. Blanks at
 * its end are due before the next text. `color`: as of pr_print_colored().
 */
static void print_aligned(struct text_writer *w, const struct text_column *column,
			  const char *color, struct pd_text text)
{
	size_t width = count_columns(text), n = text.n;

	if (!w->form.is_colored)
		color = NULL;
	if (column->is_right_aligned && width < column->width)
		w->blanks += column->width - width;
	while (n && text.p[n - 1] == ' ')
		n--;
	if (n) {
		struct pd_text shown = { text.p, n };

		print_repeated(w->out, ' ', w->blanks);
		w->blanks = 0;
		if (width > column->width)
			width = pr_print_shortened(w->out, color, shown, column->width) +
				text.n - n;
		else
			pr_print_colored(w->out, color, shown);
	}
	w->blanks += text.n - n + GAP;
	if (!column->is_right_aligned && width < column->width)
		w->blanks += column->width - width;
}

static void end_line(struct text_writer *w)
{
	w->blanks = 0;
	pd_print_char(w->out, '\n');
}

static void write_heads(struct text_writer *w)
{
	const struct pr_source *source = w->source;

	for (size_t i = 0; i < source->n_columns; i++) {
		pr_print_escaped(&w->cell, source->columns[i].name.p, source->columns[i].name.n,
				 false);
		print_aligned(w, &w->columns[i], BOLD, end_cell(w));
	}
	end_line(w);
}

/* Returns how many lines the row takes, and loads the bars of its histograms. */
static size_t load_row(struct text_writer *w)
{
	size_t height = 1;

	for (size_t i = 0; i < w->source->n_columns; i++) {
		if (w->cells[i].type != PQ_HIST)
			continue;
		measure_bars(w, i);
		if (w->columns[i].bars->n > height)
			height = w->columns[i].bars->n;
	}
	return height;
}

static void write_row(struct text_writer *w)
{
	size_t height = load_row(w);

	for (size_t line = 0; line < height; line++) {
		for (size_t i = 0; i < w->source->n_columns; i++) {
			const struct text_column *column = &w->columns[i];
			struct pd_text text = { 0 };
			const char *color = NULL;

			if (w->cells[i].type != PQ_HIST)
				text = line ? text : format_cell(w, i);
			else if (line < column->bars->n)
				text = format_bar(w, column->bars, line,
						  w->source->columns[i].unit);
			if (!line)
				color = pr_cell_color(&w->cells[i], &w->source->columns[i]);
			print_aligned(w, column, color, text);
		}
		end_line(w);
	}
}

/*
 * Calls `visit` for each row. Returns how many there were: fewer if goes_on() or a lack of
 * memory ended it.
 */
static size_t visit_rows(struct text_writer *w, void (*visit)(struct text_writer *w),
			 bool (*goes_on)(void *arg), void *arg)
{
	const struct pr_source *source = w->source;
	size_t row;

	for (row = 0; row < source->n_rows && !w->long_text.failed; row++) {
		if (row % PR_ROWS_BETWEEN_CALLS == 0 && goes_on && !goes_on(arg))
			break;
		source->row(source->arg, row, w->cells);
		visit(w);
	}
	return row;
}

/* Prepares the columns, as wide as their names. Returns false without memory. */
static bool init_columns(struct text_writer *w)
{
	const struct pr_column *columns = w->source->columns;
	size_t n = w->source->n_columns, n_bars = 0;

	for (size_t i = 0; i < n; i++)
		n_bars += columns[i].kind == PR_HISTOGRAM;
	w->columns = calloc(n + 1, sizeof(*w->columns));
	w->cells = calloc(n + 1, sizeof(*w->cells));
	w->bars = calloc(n_bars + 1, sizeof(*w->bars));
	if (!w->columns || !w->cells || !w->bars)
		return false;
	for (size_t i = 0; i < n; i++) {
		pr_print_escaped(&w->cell, columns[i].name.p, columns[i].name.n, false);
		w->columns[i].width = count_columns(end_cell(w));
		/* numbers, and what turns out to be numbers */
		w->columns[i].is_right_aligned = columns[i].kind <= PR_PERCENT;
		if (columns[i].kind == PR_HISTOGRAM)
			w->columns[i].bars = &w->bars[--n_bars];
	}
	return !w->long_text.failed;
}

/* Returns true if the texts of a column may be shortened. */
static bool may_shrink(const struct pr_column *column)
{
	return column->kind == PR_STRING || column->kind == PR_SYMBOL ||
	       column->kind == PR_STACK || column->kind == PR_ANY;
}

/* Makes columns of names narrower where lines are longer than the terminal. */
static void fit_columns(struct text_writer *w)
{
	size_t n = w->source->n_columns, gaps = n ? (n - 1) * GAP : 0;
	size_t *widths = calloc(2 * n + 1, sizeof(*widths)), *least = widths + n;

	if (!widths || w->form.columns <= gaps) { /* lines stay as long as they are */
		free(widths);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		bool shrinks = may_shrink(&w->source->columns[i]) &&
			       !w->columns[i].is_right_aligned;

		widths[i] = w->columns[i].width;
		least[i] = shrinks && widths[i] > SHORTEST ? SHORTEST : widths[i];
	}
	pr_fit_columns(widths, least, n, w->form.columns - gaps);
	for (size_t i = 0; i < n; i++)
		w->columns[i].width = widths[i];
	free(widths);
}

size_t pr_write_text(struct pd_print *out, const struct pr_source *source,
		     struct pr_display form, bool (*goes_on)(void *arg), void *arg)
{
	struct text_writer w = { .out = out, .source = source, .form = form };
	size_t n = SIZE_MAX;

	pd_print_init(&w.cell, pd_print_to_string, &w.long_text);
	if (init_columns(&w)) {
		n = visit_rows(&w, widen_columns, goes_on, arg);
		if (n < source->n_rows || w.long_text.failed) {
			n = 0;
		} else {
			if (form.columns)
				fit_columns(&w);
			write_heads(&w);
			n = visit_rows(&w, write_row, goes_on, arg);
		}
	}
	if (w.long_text.failed)
		n = SIZE_MAX;
	pb_string_deinit(&w.long_text);
	free(w.columns);
	free(w.cells);
	free(w.bars);
	return n;
}
