#include <string.h>

#include "cell_internal.h"
#include "perfdata/format/print_scalar.h"
#include "writer.h"

static void print_json_text(struct pd_print *out, const char *p, size_t n,
			    enum pr_text_form form)
{
	if (form == PR_AS_RECORDED) {
		pd_print_json_string(out, p, n);
		return;
	}
	pd_print_char(out, '"');
	if (form == PR_AS_DIGITS)
		pd_print_digits(out, p, n);
	else
		pr_print_escaped(out, p, n, true);
	pd_print_char(out, '"');
}

/* Prints a float that is told from an integer. */
static void print_json_float(struct pd_print *out, double value)
{
	const char *text = pd_print_room(out, 34); /* so that the text stays in one piece */
	size_t n;

	pd_print_float(out, value, true);
	n = (size_t)(out->buffer + out->n - text);
	if (strspn(text, "-0123456789") == n)
		pd_print_const(out, ".0");
}

static void print_json_bound(struct pd_print *out, const struct pq_value *bound)
{
	if (bound->type == PQ_INT)
		pd_print_int(out, bound->i);
	else
		print_json_float(out, bound->f);
}

static void print_json_histogram(struct pd_print *out, const struct pq_sketch *sketch)
{
	struct pq_bucket buckets[PQ_MAX_BUCKETS];
	size_t n = pq_histogram(sketch, buckets);

	pd_print_char(out, '[');
	for (size_t i = 0; i < n; i++) {
		if (i)
			pd_print_char(out, ',');
		pd_print_const(out, "{\"count\":");
		pd_print_uint(out, buckets[i].count);
		pd_print_const(out, ",\"from\":");
		print_json_bound(out, &buckets[i].from);
		pd_print_const(out, ",\"to\":");
		print_json_bound(out, &buckets[i].to);
		pd_print_char(out, '}');
	}
	pd_print_char(out, ']');
}

static void print_json_cell(struct pd_print *out, const struct pq_value *cell,
			    const struct pr_column *column)
{
	bool is_quoted = column->kind == PR_ADDRESS || column->kind == PR_SYMBOL;

	switch (cell->type) {
	case PQ_NIL:
		pd_print_const(out, "null");
		break;
	case PQ_INT:
		if (is_quoted)
			pd_print_char(out, '"');
		pr_print_integer(out, cell, column->kind);
		if (is_quoted)
			pd_print_char(out, '"');
		break;
	case PQ_FLOAT:
		print_json_float(out, cell->f);
		break;
	case PQ_TEXT:
		print_json_text(out, cell->p, cell->size, column->text_form);
		break;
	case PQ_EVENT:
		print_json_text(out, cell->event->name, strlen(cell->event->name),
				column->text_form);
		break;
	case PQ_HIST:
		print_json_histogram(out, (const struct pq_sketch *)cell->p);
		break;
	default:
		pr_print_exact(out, cell, column->kind);
	}
}

void pr_print_json_names(struct pd_print *out, const struct pr_column *columns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		pd_print_char(out, i ? ',' : '{');
		print_json_text(out, columns[i].name.p, columns[i].name.n, PR_AS_TEXT);
		pd_print_bytes(out, ":", 2); /* with the NUL */
	}
}

void pr_write_json_row(struct pd_print *out, const struct pr_column *columns,
		       const struct pd_text *names, size_t n, const struct pq_value *cells,
		       void (*stack)(void *arg, struct pd_print *out, uint32_t number),
		       void *arg)
{
	if (!n)
		pd_print_char(out, '{');
	for (size_t i = 0; i < n; i++) {
		pd_print_bytes(out, names[i].p, names[i].n);
		if (cells[i].type == PQ_CHAIN)
			stack(arg, out, (uint32_t)cells[i].u);
		else
			print_json_cell(out, &cells[i], &columns[i]);
	}
	pd_print_char(out, '}');
}
