#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cell_internal.h"
#include "perfdata/format/print_scalar.h"
#include "writer.h"

/*
 * Returns true if a spreadsheet may take a text for a formula because of its first character.
 * It drops blanks, and some editions take full-width signs for plain ones.
 */
static bool opens_formula(const char *p, size_t n)
{
	static const char full_width[] = "\x9d\x8b\x8d\xa0"; /* = + - @: U+FF1D … */

	if (n >= 3 && memcmp(p, "\xef\xbc", 2) == 0)
		return memchr(full_width, p[2], sizeof(full_width) - 1);
	return n && memchr("=+-@\t\r\n", *p, 7);
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

/* Returns true if Lua's tonumber() takes the text, without blanks before it, for a number. */
static bool is_lua_number(const char *p, size_t n)
{
	const char *end = p + n, *digits, *after;
	bool is_hex;

	p = skip_sign(p, end);
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
	if (is_safe && opens_formula(p, n) && !is_lua_number(p, n))
		pd_print_formula(out, p, n);
	else
		pd_print_cell(out, p, n);
}

static void end_csv_line(struct pd_print *out, struct pr_csv_form form)
{
	if (form.has_crlf)
		pd_print_char(out, '\r');
	pd_print_char(out, '\n');
}

void pr_write_csv_heads(struct pd_print *out, const struct pr_column *columns, size_t n,
			struct pr_csv_form form)
{
	for (size_t i = 0; i < n; i++) {
		if (i)
			pd_print_char(out, ',');
		print_csv_text(out, columns[i].name.p, columns[i].name.n, form.is_safe);
	}
	end_csv_line(out, form);
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

/* Returns true if a spreadsheet takes a cell that is not text for a formula: -inf, -8--4:1. */
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
		      struct pr_csv_form form)
{
	bool ok = true, is_safe = form.is_safe;

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
	end_csv_line(out, form);
	return ok;
}
