/* The lines of reports: cells beside each other, aligned or separated. */
#include "report.h"

#include "perfdata/format/print_scalar.h"
#include "result/writer.h"

void px_print_blanks(struct pd_print *out, size_t n)
{
	static const char blanks[] = "                                ";

	for (; n >= sizeof(blanks); n -= sizeof(blanks) - 1)
		pd_print_bytes(out, blanks, sizeof(blanks) - 1);
	pd_print_bytes(out, blanks, n);
}

/* Returns the bytes of the first `width` characters of a text. */
static size_t length_of(struct pd_text text, size_t width)
{
	size_t n = 0;

	for (; n < text.n; n++)
		if (((unsigned char)text.p[n] & 0xc0) != 0x80 && !width--)
			break;
	return n;
}

/* Prints a cell and before it, unless it is the first, a separator. */
static void print_separated_cell(struct pd_print *out, const char *separator, bool is_first,
				 const struct pd_text *text)
{
	if (!is_first)
		pd_print_name(out, separator);
	for (size_t i = 0; i < text->n; i++)
		pd_print_char(out, text->p[i] == *separator ? '.' : text->p[i]);
}

#define KERNEL_COLOR "33"

/* Prints the text of a cell: a share in its colour, and the letter of the kernel. */
static void print_text(struct pd_print *out, const struct px_report *report,
		       const struct px_report_column *column, const struct pq_value *value,
		       struct px_cell *cell)
{
	const char *color = NULL;
	struct pd_text text = cell->text;
	size_t room = column->is_cut ? column->room : 0;

	if (report->is_colored && column->shown == PX_SHOWN_SYMBOL && text.n > 3 &&
	    (text.p[1] == 'k' || text.p[1] == 'g')) {
		pr_print_colored(out, KERNEL_COLOR, (struct pd_text){ text.p, 3 });
		text = (struct pd_text){ text.p + 3, text.n - 3 };
		room -= room > 3 ? 3 : 0;
		cell->width = 3 + pr_print_shortened(out, NULL, text, room);
		return;
	}
	if (report->is_colored && value->type == PQ_FLOAT &&
	    report->rows->columns[column->at].kind == PR_PERCENT)
		color = pr_share_color(value->f);
	if (room && cell->width > room)
		cell->width = pr_print_shortened(out, color, text, room);
	else
		pr_print_colored(out, color, text);
}

static void print_line_cell(struct pd_print *out, const struct px_report *report,
			    const struct px_report_column *column, const struct pq_value *value,
			    struct px_cell cell)
{
	if (column->is_fixed && !column->is_right_aligned && cell.width > column->room) {
		cell.text.n = length_of(cell.text, column->room);
		cell.width = column->room;
	}
	if (!column->is_joined)
		pd_print_const(out, "  ");
	if (column->is_right_aligned && column->room > cell.width)
		px_print_blanks(out, column->room - cell.width);
	print_text(out, report, column, value, &cell);
	if (!column->is_right_aligned && !column->is_last && column->room > cell.width)
		px_print_blanks(out, column->room - cell.width);
}

/* Visits the cells of all rows; `out` is NULL: to measure them. */
static bool visit_rows(const struct px_report *report, struct pd_print *out)
{
	const struct pr_source *rows = report->rows;
	struct px_cells cells;
	bool ok = px_cells_init(&cells, report);

	for (size_t i = 0; ok && !cells.long_text.failed && i < rows->n_rows; i++) {
		rows->row(rows->arg, i, cells.row);
		for (size_t c = 0; c < report->n_columns; c++) {
			struct px_report_column *column = &report->columns[c];
			struct px_cell cell = px_cell_text(&cells, column);

			if (out && report->separator)
				print_separated_cell(out, report->separator, !c, &cell.text);
			else if (out)
				print_line_cell(out, report, column, &cells.row[column->at],
						cell);
			else if (cell.width > column->room && !column->is_fixed)
				column->room = cell.width;
		}
		if (out)
			pd_print_char(out, '\n');
		if (out && report->after_row)
			report->after_row(report->arg, i, out);
	}
	return px_cells_deinit(&cells);
}

bool px_report_measure(const struct px_report *report)
{
	return visit_rows(report, NULL);
}

bool px_report_write(const struct px_report *report, struct pd_print *out)
{
	return visit_rows(report, out);
}
