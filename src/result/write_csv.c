#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cell_internal.h"
#include "perfdata/format/print_scalar.h"
#include "writer.h"

/* Texts that a spreadsheet takes for formulas begin with one of these. */
static bool opens_formula(char c)
{
	return c == '=' || c == '+' || c == '-' || c == '@' || c == '\t' || c == '\r';
}

static const char *skip_digits(const char *p, const char *end, bool is_hex)
{
	while (p < end && ((*p >= '0' && *p <= '9') ||
			   (is_hex && (*p | 0x20) >= 'a' && (*p | 0x20) <= 'f')))
		p++;
	return p;
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || (*p >= '\t' && *p <= '\r')))
		p++;
	return p;
}

static const char *skip_sign(const char *p, const char *end)
{
	return p < end && (*p == '-' || *p == '+') ? p + 1 : p;
}

/* Returns true if Lua's tonumber() takes the text for a number. */
static bool is_lua_number(const char *p, size_t n)
{
	const char *end = p + n, *digits, *after;
	bool is_hex;

	p = skip_sign(skip_blanks(p, end), end);
	is_hex = end - p > 2 && p[0] == '0' && (p[1] | 0x20) == 'x';
	digits = is_hex ? p + 2 : p;
	p = skip_digits(digits, end, is_hex);
	after = p;
	if (p < end && *p == '.')
		after = skip_digits(p + 1, end, is_hex);
	if (p == digits && after - p < 2)
		return false;
	p = after;
	if (p < end && (*p | 0x20) == (is_hex ? 'p' : 'e')) {
		digits = skip_sign(p + 1, end);
		after = skip_digits(digits, end, false);
		if (after == digits)
			return false;
		p = after;
	}
	return skip_blanks(p, end) == end;
}

static void print_csv_text(struct pd_print *out, const char *p, size_t n, bool is_safe)
{
	if (is_safe && n && opens_formula(*p) && !is_lua_number(p, n))
		pd_print_formula(out, p, n);
	else
		pd_print_cell(out, p, n);
}

void pr_write_csv_heads(struct pd_print *out, const struct pr_column *columns, size_t n,
			bool is_safe)
{
	for (size_t i = 0; i < n; i++) {
		if (i)
			pd_print_char(out, ',');
		print_csv_text(out, columns[i].name.p, columns[i].name.n, is_safe);
	}
	pd_print_const(out, "\r\n");
}

static bool print_csv_stack(struct pd_print *out, const struct pq_stacks *stacks,
			    uint32_t number, bool is_safe)
{
	size_t n;
	char *text = pr_stack_text(stacks, number, &n);

	if (!text)
		return false;
	print_csv_text(out, text, n, is_safe);
	free(text);
	return true;
}

/* Returns true if a cell that is no text is none for a spreadsheet: -inf, -8--4:1. */
static bool is_like_formula(const struct pq_value *cell)
{
	struct pq_bucket buckets[PQ_MAX_BUCKETS];

	if (cell->type == PQ_HIST) /* bounds that are floats are positive */
		return pq_histogram((const struct pq_sketch *)cell->p, buckets) &&
		       buckets[0].from.i < 0;
	return cell->type == PQ_FLOAT && !isfinite(cell->f) && signbit(cell->f);
}

bool pr_write_csv_row(struct pd_print *out, const struct pr_column *columns, size_t n,
		      const struct pq_value *cells, const struct pq_stacks *stacks,
		      bool is_safe)
{
	bool ok = true;

	for (size_t i = 0; i < n; i++) {
		const struct pq_value *cell = &cells[i];

		if (i)
			pd_print_char(out, ',');
		if (cell->type == PQ_TEXT && columns[i].text_form == PR_AS_DIGITS) {
			pd_print_digits(out, cell->p, cell->size);
		} else if (cell->type == PQ_TEXT) {
			print_csv_text(out, cell->p, cell->size, is_safe);
		} else if (cell->type == PQ_EVENT) {
			print_csv_text(out, cell->event->name, strlen(cell->event->name),
				       is_safe);
		} else if (cell->type == PQ_CHAIN) {
			ok &= print_csv_stack(out, stacks, (uint32_t)cell->u, is_safe);
		} else {
			if (is_safe && is_like_formula(cell))
				pd_print_char(out, '\'');
			pr_print_exact(out, cell, columns[i].kind);
		}
	}
	pd_print_const(out, "\r\n");
	return ok;
}
