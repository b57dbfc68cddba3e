#include "rows_lines.h"

#include <string.h>

#include "perfdata/format/print_scalar.h"

static void print_string(struct pd_print *out, const char *p, size_t n, bool json)
{
	if (json)
		pd_print_json_string(out, p, n);
	else
		pd_print_cell(out, p, n);
}

static void print_integer(struct pd_print *out, enum pq_line_kind kind, uint64_t value,
			  bool json)
{
	bool quoted = json && kind == PQ_LINE_ADDRESS;

	if (quoted)
		pd_print_char(out, '"');
	if (kind == PQ_LINE_ADDRESS)
		pd_print_hex(out, value);
	else if (kind == PQ_LINE_UNSIGNED)
		pd_print_uint(out, value);
	else
		pd_print_int(out, (int64_t)value);
	if (quoted)
		pd_print_char(out, '"');
}

/* In JSON a float is told from an integer. */
static void print_float(struct pd_print *out, double value, bool json)
{
	const char *text = pd_print_room(out, 34); /* so that the text stays in one piece */
	size_t n;

	pd_print_float(out, value, json);
	n = (size_t)(out->buffer + out->n - text);
	if (json && strspn(text, "-0123456789") == n)
		pd_print_const(out, ".0");
}

static void print_bytes(struct pd_print *out, const struct pq_value *value, bool json)
{
	if (json)
		pd_print_char(out, '"');
	pd_print_digits(out, value->p, value->size);
	if (json)
		pd_print_char(out, '"');
}

static void print_row_value(struct pd_print *out, enum pq_line_kind kind,
			    const struct pq_value *value, bool json)
{
	switch (value->type) {
	case PQ_INT:
		print_integer(out, kind, value->u, json);
		break;
	case PQ_BOOL:
		pd_print_name(out, value->u ? "true" : "false");
		break;
	case PQ_FLOAT:
		print_float(out, value->f, json);
		break;
	case PQ_TEXT:
		if (kind == PQ_LINE_BYTES)
			print_bytes(out, value, json);
		else
			print_string(out, value->p, value->size, json);
		break;
	case PQ_EVENT:
		print_string(out, value->event->name, strlen(value->event->name), json);
		break;
	default:
		if (json)
			pd_print_const(out, "null");
	}
}

void pq_print_rows(struct pd_print *out, const struct pq_line_column *columns, size_t n,
		   const struct pq_value *values, size_t n_rows, bool json)
{
	for (size_t row = 0; row < n_rows; row++, values += n) {
		for (size_t i = 0; i < n; i++) {
			pd_print_bytes(out, columns[i].head.p, columns[i].head.n);
			print_row_value(out, columns[i].kind, &values[i], json);
		}
		if (json)
			pd_print_const(out, "}\n");
		else
			pd_print_const(out, "\r\n");
	}
}
