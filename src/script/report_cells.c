/* The texts of the cells of reports. */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/columns.h"
#include "perfdata/format/print_scalar.h"
#include "machine/machine.h"
#include "result/writer.h"
#include "text.h"

bool px_cells_init(struct px_cells *cells, const struct px_report *report)
{
	*cells = (struct px_cells){ .report = report };
	pd_print_init(&cells->cell, pd_print_to_string, &cells->long_text);
	cells->row = calloc(report->rows->n_columns + 1, sizeof(*cells->row));
	return cells->row;
}

bool px_cells_deinit(struct px_cells *cells)
{
	bool ok = cells->row && !cells->long_text.failed;

	free(cells->row);
	pb_string_deinit(&cells->long_text);
	return ok;
}

/* Ends the text of a cell, and returns it; it is valid until the next cell begins. */
static struct pd_text end_cell(struct px_cells *cells)
{
	struct pd_text text = { .p = cells->cell.buffer, .n = cells->cell.n };

	if (cells->long_text.n) {
		pd_print_flush(&cells->cell);
		text = (struct pd_text){ .p = cells->long_text.p, .n = cells->long_text.n };
		cells->long_text.n = 0;
	}
	cells->cell.n = 0;
	return text;
}

static struct px_cell cell_of(struct pd_text text)
{
	return (struct px_cell){ text, pb_count_columns(text.p, text.n) };
}

static bool is_text(const struct pq_value *cell, const char *name)
{
	return cell->type == PQ_TEXT && cell->size == strlen(name) &&
	       memcmp(cell->p, name, cell->size) == 0;
}

static bool is_true(const struct pq_value *cell)
{
	return cell->type == PQ_BOOL && cell->u;
}

/* Returns the letter of a cpumode or of a kind of code: see thread__find_map, util/event.c. */
static char letter_of(const struct pq_value *mode)
{
	static const struct {
		const char *name;
		char letter;
	} letters[] = { { "user", '.' },
			{ "kernel", 'k' },
			{ "jit", '.' },
			{ "guest_kernel", 'g' },
			{ "guest_user", 'u' } };

	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (is_text(mode, letters[i].name))
			return letters[i].letter;
	return 'H';
}

/* Returns true if a text needs no escape. */
static bool is_printable(const struct pq_value *cell)
{
	for (uint32_t i = 0; i < cell->size; i++)
		if (cell->p[i] < ' ' || cell->p[i] >= 0x7f)
			return false;
	return true;
}

/* Prints a function or an address; perf has the address 0 without 0x. */
static void print_symbol(struct pd_print *out, const struct pq_value *cell,
			 const struct pq_value *mode)
{
	pd_print_char(out, '[');
	pd_print_char(out, letter_of(mode));
	pd_print_const(out, "] ");
	if (cell->type == PQ_INT && !cell->u)
		pd_print_const(out, "0000000000000000");
	else if (cell->type == PQ_INT)
		pr_print_symbol_address(out, cell->u);
	else if (cell->type == PQ_TEXT && is_printable(cell))
		pd_print_bytes(out, cell->p, cell->size);
	else if (cell->type == PQ_TEXT)
		pr_print_escaped(out, cell->p, cell->size, false);
}

/* Returns true if a text begins with a name, and then ends, or a point or `end` follows. */
static bool begins_as(struct pd_text text, const char *name, char end)
{
	size_t n = strlen(name);

	return text.n >= n && memcmp(text.p, name, n) == 0 &&
	       (text.n == n || text.p[n] == '.' || text.p[n] == end);
}

/* Sets *tid to the digits in the path of a perf map. Returns false if it is none. */
static bool find_tid(const struct pq_value *path, struct pd_text *tid)
{
	static const char before[] = "/tmp/perf-", after[] = ".map";
	size_t n = sizeof(before) - 1;

	if (path->size < n || memcmp(path->p, before, n) != 0)
		return false;
	*tid = (struct pd_text){ path->p + n, 0 };
	for (; n < path->size && path->p[n] >= '0' && path->p[n] <= '9'; n++)
		tid->n++;
	return tid->n && path->size - n >= sizeof(after) - 1 &&
	       memcmp(path->p + n, after, sizeof(after) - 1) == 0;
}

/* Returns the length of a module's name in the name of its file; 0: it is none. */
static size_t find_module(struct pd_text base)
{
	for (size_t n = base.n; n-- > 1;)
		if (begins_as((struct pd_text){ base.p + n, base.n - n }, ".ko", '.'))
			return n;
	return 0;
}

/*
 * Prints the short name of a binary: those of a module and of a kernel's file are in brackets,
 * and that of a perf map names the thread whose code it is of (see dso__set_basename,
 * tools/perf/util/dso.c).
 */
static void print_dso(struct pd_print *out, const struct pq_value *cell)
{
	struct pd_text base = { cell->p, cell->size };
	size_t from = base.n, module;
	struct pd_text tid;

	if (find_tid(cell, &tid)) {
		pd_print_const(out, "[JIT] tid ");
		pd_print_bytes(out, tid.p, tid.n);
		return;
	}
	while (from && base.p[from - 1] != '/')
		from--;
	if (from < base.n)
		base = (struct pd_text){ base.p + from, base.n - from };
	module = from ? find_module(base) : 0;
	if (from && begins_as(base, "vmlinux", '-')) {
		pd_print_const(out, "[kernel.vmlinux]");
	} else if (module) {
		pd_print_char(out, '[');
		for (size_t i = 0, end; i < module; i = end + 1) {
			for (end = i; end < module && base.p[end] != '-'; end++)
				;
			pr_print_escaped(out, base.p + i, end - i, false);
			if (end < module)
				pd_print_char(out, '_');
		}
		pd_print_char(out, ']');
	} else {
		pr_print_escaped(out, base.p, base.n, false);
	}
}

/* Prints the distance from the start of a function, after its name. */
static void print_offset(struct pd_print *out, const struct pq_value *offset,
			 const char *format)
{
	if (offset->type == PQ_INT)
		out->n += (size_t)snprintf(pd_print_room(out, 40), 40, format, offset->u);
}

static void print_location(struct pd_print *out, const struct pq_value *row,
			   const struct px_report_column *column)
{
	const struct pq_value *cell = &row[column->at], *offset = &row[column->offset];

	print_symbol(out, cell, &row[column->beside]);
	if (cell->type == PQ_TEXT && (offset->u || column->shown == PX_SHOWN_DISTANCE))
		print_offset(out, offset, "+0x%" PRIx64);
}

/* Prints what stands for the source line of an address that has none: see get_srcline. */
static void print_lineless(struct pd_print *out, const struct pq_value *row,
			   const struct px_report_column *column)
{
	const struct pq_value *symbol = &row[column->beside], *dso = &row[column->binary];

	if (symbol->type == PQ_TEXT) {
		pr_print_escaped(out, symbol->p, symbol->size, false);
		print_offset(out, &row[column->offset], "+%" PRIu64);
	} else if (dso->type == PQ_TEXT && !is_text(dso, PM_UNKNOWN)) {
		print_dso(out, dso);
		print_offset(out, &row[column->at], "[%" PRIx64 "]");
	} else {
		pd_print_const(out, "??:0");
	}
}

static void print_time(struct pd_print *out, const struct pq_value *cell, bool is_ns)
{
	char *p = pd_print_room(out, 40);
	uint64_t rest = cell->u % 1000000000;

	out->n += (size_t)snprintf(p, 40, "%" PRIu64 ".%0*" PRIu64, cell->u / 1000000000,
				   is_ns ? 9 : 6, is_ns ? rest : rest / 1000);
}

static void print_exact(struct pd_print *out, const struct pq_value *number)
{
	if (number->type == PQ_INT)
		pd_print_uint(out, number->u);
	else
		out->n += (size_t)snprintf(pd_print_room(out, 40), 40, "%.17g", number->f);
}

static void print_average(struct pd_print *out, const struct pq_value *sum,
			  const struct pq_value *n)
{
	double average = n->u ? (double)sum->u / (double)n->u : 0;

	out->n += (size_t)snprintf(pd_print_room(out, 40), 40, "%.1f", average);
}

static void print_ratio(struct pd_print *out, const struct pq_value *part,
			const struct pq_value *whole)
{
	double percent = whole->u ? 100 * (double)part->u / (double)whole->u : 0;

	out->n += (size_t)snprintf(pd_print_room(out, 40), 40, "%.1f%%", percent);
}

/* Returns the value of a data source, of the number that its level is sorted by. */
static uint64_t level_value(uint64_t number)
{
	return number >> 8 << 5 | (number >> 3 & 31) << 33 | (number & 7) << 43;
}

/* Prints what the value of a data source says. */
static void print_access(struct pd_print *out, enum px_shown shown, uint64_t value)
{
	static const enum pd_data_src_part parts[] = {
		[PX_SHOWN_LEVEL] = PD_SRC_LEVEL, [PX_SHOWN_LEVELS] = PD_SRC_LEVELS,
		[PX_SHOWN_SNOOP] = PD_SRC_SNOOP, [PX_SHOWN_DTLB] = PD_SRC_DTLB,
		[PX_SHOWN_LOCK] = PD_SRC_LOCK,	 [PX_SHOWN_BLK] = PD_SRC_BLK,
	};
	char text[200];

	if (shown == PX_SHOWN_BLK)
		pd_print_char(out, ' ');
	if (shown <= PX_SHOWN_LEVELS)
		value = level_value(value);
	pd_data_src_print_part(parts[shown], value, text, sizeof(text));
	pd_print_name(out, text);
}

/* Prints what is known of a branch. */
static void print_branch(struct pd_print *out, enum px_shown shown, const struct pq_value *cell,
			 const struct pq_value *beside)
{
	if (shown == PX_SHOWN_MISPREDICT)
		pd_print_name(out, is_true(beside) ? "N" : is_true(cell) ? "Y" : "N/A");
	else if (shown == PX_SHOWN_IN_TX)
		pd_print_char(out, is_true(cell) ? 'T' : '.');
	else if (shown == PX_SHOWN_ABORT)
		pd_print_char(out, is_true(cell) ? 'A' : '.');
	else if (cell->u)
		pd_print_uint(out, cell->u);
	else
		pd_print_char(out, '-');
}

/* Returns the text of a number, which is most often that of the row before. */
static struct px_cell format_number(struct px_cells *cells, struct px_report_column *column,
				    const struct pq_value *cell)
{
	struct pd_text text;

	if (column->n && column->number.type == cell->type && column->number.u == cell->u)
		return (struct px_cell){ { column->text, column->n }, column->n };
	pr_print_cell(&cells->cell, cell, &cells->report->rows->columns[column->at]);
	text = end_cell(cells);
	if (text.n < sizeof(column->text)) {
		memcpy(column->text, text.p, text.n);
		column->n = text.n;
		column->number = *cell;
	}
	return (struct px_cell){ text, text.n };
}

/* Returns the text that a cell has in any text of rows. */
static struct px_cell print_plain(struct px_cells *cells, struct px_report_column *column,
				  const struct pq_value *cell)
{
	if (cell->type == PQ_INT || cell->type == PQ_FLOAT)
		return format_number(cells, column, cell);
	if (cell->type == PQ_TEXT && is_printable(cell))
		return (struct px_cell){ { cell->p, cell->size }, cell->size };
	pr_print_cell(&cells->cell, cell, &cells->report->rows->columns[column->at]);
	return cell_of(end_cell(cells));
}

struct px_cell px_cell_text(struct px_cells *cells, struct px_report_column *column)
{
	const struct pq_value *cell = &cells->row[column->at];
	const struct pq_value *beside = &cells->row[column->beside];
	struct pd_print *out = &cells->cell;

	if (cell->type == PQ_NIL)
		return (struct px_cell){ { "-", 1 }, 1 };
	switch (column->shown) {
	case PX_SHOWN_LOCATION:
	case PX_SHOWN_DISTANCE:
		print_location(out, cells->row, column);
		break;
	case PX_SHOWN_SRCLINE:
		if (cell->type != PQ_INT)
			return print_plain(cells, column, cell);
		print_lineless(out, cells->row, column);
		break;
	case PX_SHOWN_TIME:
	case PX_SHOWN_TIME_NS:
		print_time(out, cell, column->shown == PX_SHOWN_TIME_NS);
		break;
	case PX_SHOWN_SYMBOL:
		print_symbol(out, cell, beside);
		break;
	case PX_SHOWN_DSO:
		if (cell->type == PQ_TEXT)
			print_dso(out, cell);
		break;
	case PX_SHOWN_MISPREDICT:
	case PX_SHOWN_IN_TX:
	case PX_SHOWN_ABORT:
	case PX_SHOWN_CYCLES:
		print_branch(out, column->shown, cell, beside);
		break;
	case PX_SHOWN_CPU:
		out->n += (size_t)snprintf(pd_print_room(out, 40), 40, "%03" PRIu64, cell->u);
		break;
	case PX_SHOWN_NONE:
		pd_print_const(out, "N/A");
		break;
	case PX_SHOWN_EXACT:
		print_exact(out, cell);
		break;
	case PX_SHOWN_TIMES:
		pd_print_uint(out, cell->u * beside->u);
		break;
	case PX_SHOWN_AVERAGE:
		print_average(out, cell, beside);
		break;
	case PX_SHOWN_QUOTIENT:
		pd_print_uint(out, beside->u ? cell->u / beside->u : 0);
		break;
	case PX_SHOWN_RATIO:
		print_ratio(out, cell, beside);
		break;
	case PX_SHOWN_IPC:
		pd_print_const(out, "-      -");
		break;
	case PX_SHOWN_LABEL:
		px_labels_print(column->labels, cell, &cells->row[column->binary], out);
		break;
	case PX_SHOWN_TENTHS:
		out->n += (size_t)snprintf(pd_print_room(out, 40), 40, "%.1f%%", cell->f);
		break;
	case PX_SHOWN_PAGE:
		px_print_page_size(out, cell->u);
		break;
	case PX_SHOWN_LEVEL:
	case PX_SHOWN_LEVELS:
	case PX_SHOWN_SNOOP:
	case PX_SHOWN_DTLB:
	case PX_SHOWN_LOCK:
	case PX_SHOWN_BLK:
		print_access(out, column->shown, cell->u);
		break;
	default:
		return print_plain(cells, column, cell);
	}
	return cell_of(end_cell(cells));
}
