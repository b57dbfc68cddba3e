#include "cell_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/format/print_scalar.h"
#include "writer.h"

/* Bytes of the longest double without an exponent, "-", 309 digits and decimals, and more. */
#define DOUBLE_ROOM 352

static void print_decimals(struct pd_print *out, int decimals, double x)
{
	char *p = pd_print_room(out, DOUBLE_ROOM);

	out->n += (size_t)snprintf(p, DOUBLE_ROOM, "%.*f", decimals, x);
}

static void print_significant(struct pd_print *out, int digits, double x)
{
	char *p = pd_print_room(out, DOUBLE_ROOM);

	out->n += (size_t)snprintf(p, DOUBLE_ROOM, "%.*g", digits, x);
}

/* Prints two decimals, as in 12.35, or three significant digits if they say more: 0.0032. */
static void print_rounded(struct pd_print *out, double x)
{
	char *decimals = pd_print_room(out, DOUBLE_ROOM), digits[32];
	size_t n = (size_t)snprintf(decimals, DOUBLE_ROOM, "%.2f", x), n_digits;

	if (x > -1 && x < 1) {
		n_digits = (size_t)snprintf(digits, sizeof(digits), "%.3g", x);
		if (strtod(digits, NULL) != strtod(decimals, NULL)) {
			memcpy(decimals, digits, n_digits);
			n = n_digits;
		}
	}
	out->n += n;
}

struct step {
	int64_t size; /* in base units; a double holds it exactly */
	const char *suffix;
};

/* Steps of each unit, from the smallest on; a size of 0 ends them. */
static const struct step steps[][8] = {
	[PR_DURATION] = { { 1, "ns" }, { 1000, "us" }, { 1000000, "ms" }, { 1000000000, "s" } },
	[PR_BYTES] = { { 1, "B" },
		       { 1LL << 10, "KiB" },
		       { 1LL << 20, "MiB" },
		       { 1LL << 30, "GiB" },
		       { 1LL << 40, "TiB" },
		       { 1LL << 50, "PiB" },
		       { 1LL << 60, "EiB" } },
	[PR_SI] = { { 1, "" },
		    { 1000, "k" },
		    { 1000000, "M" },
		    { 1000000000, "G" },
		    { 1000000000000, "T" },
		    { 1000000000000000, "P" },
		    { 1000000000000000000, "E" } },
};

/* Prints all decimals of n / step, where step is a power of ten. */
static void print_quotient(struct pd_print *out, int64_t n, int64_t step)
{
	int64_t fraction = n % step;

	pd_print_int(out, n / step);
	if (!fraction)
		return;
	pd_print_char(out, '.');
	while (fraction) {
		step /= 10;
		pd_print_char(out, (char)('0' + fraction / step));
		fraction %= step;
	}
}

/* A number of base units, 0 or more. `x` is the double that is nearest to `n`. */
struct magnitude {
	bool is_integer; /* false: there is no `n` */
	int64_t n;
	double x;
};

/* Returns the largest step that a number reaches once it is rounded: 999.6us is 1.00ms. */
static const struct step *find_step(const struct magnitude *m, enum pr_unit unit, bool is_exact)
{
	const struct step *step = steps[unit];

	for (; step[1].size; step++) {
		double next = (double)step[1].size;

		if (is_exact && m->is_integer ? m->n < step[1].size :
						(is_exact ? m->x : m->x + next / 2000) < next)
			break;
	}
	return step;
}

/* Prints three significant digits, but all of an integer part. */
static void print_three_digits(struct pd_print *out, double x)
{
	if (x < 0.995)
		print_significant(out, 3, x);
	else
		print_decimals(out, x < 9.995 ? 2 : x < 99.95 ? 1 : 0, x);
}

static void print_with_unit(struct pd_print *out, const struct pq_value *value,
			    enum pr_unit unit, bool is_unsigned, bool is_exact)
{
	bool is_integer = value->type == PQ_INT;
	double x = !is_integer ? value->f : is_unsigned ? (double)value->u : (double)value->i;
	struct magnitude m = { is_integer, is_integer ? value->i : 0, x };
	const struct step *step;

	if (!isfinite(x)) {
		print_significant(out, 3, x);
		return;
	}
	if (x < 0) {
		pd_print_char(out, '-');
		m.x = -x;
		m.n = (int64_t)(0 - (uint64_t)m.n);
	}
	if (m.n < 0) /* an unsigned integer, or a magnitude of 2^63 */
		m.is_integer = false;
	step = find_step(&m, unit, is_exact);
	x = m.x / (double)step->size;
	if (is_exact && m.is_integer && unit != PR_BYTES)
		print_quotient(out, m.n, step->size);
	else if (is_exact)
		print_significant(out, unit == PR_BYTES ? 17 : 15, x);
	else if (m.is_integer && step->size == 1)
		pd_print_int(out, m.n);
	else
		print_three_digits(out, x);
	pd_print_name(out, step->suffix);
}

void pr_print_symbol_address(struct pd_print *out, uint64_t address)
{
	char *p = pd_print_room(out, 18);

	p[0] = '0';
	p[1] = 'x';
	for (unsigned i = 0; i < 16; i++)
		p[2 + i] = "0123456789abcdef"[address >> (60 - 4 * i) & 15];
	out->n += 18;
}

void pr_print_bound(struct pd_print *out, const struct pq_value *bound, enum pr_unit unit)
{
	if (unit)
		print_with_unit(out, bound, unit, false, true);
	else if (bound->type == PQ_INT)
		pd_print_int(out, bound->i);
	else
		print_decimals(out, 0, bound->f);
}

static void print_buckets(struct pd_print *out, const struct pq_sketch *sketch)
{
	struct pq_bucket buckets[PQ_MAX_BUCKETS];
	size_t n = pq_histogram(sketch, buckets);

	for (size_t i = 0; i < n; i++) {
		if (!buckets[i].count)
			continue;
		if (i) /* the first one is never empty */
			pd_print_char(out, ' ');
		pr_print_bound(out, &buckets[i].from, PR_NO_UNIT);
		pd_print_char(out, '-');
		pr_print_bound(out, &buckets[i].to, PR_NO_UNIT);
		pd_print_char(out, ':');
		pd_print_uint(out, buckets[i].count);
	}
}

void pr_print_exact(struct pd_print *out, const struct pq_value *value, enum pr_kind kind)
{
	switch (value->type) {
	case PQ_BOOL:
		pd_print_name(out, value->u ? "true" : "false");
		break;
	case PQ_INT:
		pr_print_integer(out, value, kind);
		break;
	case PQ_FLOAT:
		pd_print_float(out, value->f, false);
		break;
	case PQ_HIST:
		print_buckets(out, (const struct pq_sketch *)value->p);
		break;
	}
}

void pr_print_shown(struct pd_print *out, const struct pq_value *value,
		    const struct pr_column *column)
{
	bool is_number = value->type == PQ_INT || value->type == PQ_FLOAT;

	if (value->type == PQ_NIL) {
		pd_print_char(out, '-');
	} else if (is_number && column->unit) {
		print_with_unit(out, value, column->unit, pr_is_unsigned(column->kind),
				!column->is_measured);
	} else if (value->type == PQ_FLOAT && column->kind == PR_PERCENT) {
		print_decimals(out, 2, value->f);
		pd_print_char(out, '%');
	} else if (value->type == PQ_FLOAT) {
		print_rounded(out, value->f);
	} else {
		pr_print_exact(out, value, column->kind);
	}
}

static void print_escape(struct pd_print *out, uint32_t code, bool json)
{
	static const char names[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* of JSON */
	char *p = pd_print_room(out, 10);		       /* \u{e0001} and its NUL */

	for (const char *s = names; json && *s; s += 2) {
		if (code != (uint8_t)s[0])
			continue;
		p[0] = '\\';
		p[1] = s[1];
		out->n += 2;
		return;
	}
	out->n += (size_t)snprintf(p, 10,
				   json	       ? "\\u%04x" :
				   code < 0x80 ? "\\x%02x" :
						 "\\u{%x}",
				   code);
}

/* Returns the end of the bytes from `p` on that need no escape. */
static const char *skip_clean(const char *p, const char *end, bool json)
{
	uint32_t code;

	while (p < end) {
		uint8_t c = (uint8_t)*p;
		size_t utf8 = 1;

		if (c >= 0x80)
			utf8 = pd_utf8_length(p, (size_t)(end - p));
		else if (c < ' ' || c == 0x7f || (json && (c == '"' || c == '\\')))
			break;
		if (!utf8)
			break;
		code = pd_hidden_character(p, utf8);
		if (code && (!json || code < 0xa0))
			break;
		p += utf8;
	}
	return p;
}

void pr_print_cell(struct pd_print *out, const struct pq_value *cell,
		   const struct pr_column *column)
{
	if (cell->type == PQ_TEXT)
		pr_print_escaped(out, cell->p, cell->size, false);
	else
		pr_print_shown(out, cell, column);
}

void pr_print_escaped(struct pd_print *out, const char *p, size_t n, bool json)
{
	const char *end = p + n;

	while (p < end) {
		const char *clean = skip_clean(p, end, json);
		size_t utf8;
		uint8_t c;

		pd_print_bytes(out, p, (size_t)(clean - p));
		p = clean;
		if (p == end)
			break;
		c = (uint8_t)*p;
		utf8 = pd_utf8_length(p, (size_t)(end - p));
		if (utf8) {
			print_escape(out, c < 0x80 ? c : pd_hidden_character(p, utf8), json);
		} else if (json) {
			pd_print_const(out, "\xef\xbf\xbd");
		} else {
			pd_print_const(out, "\\x");
			pd_print_digits(out, p, 1);
		}
		p += utf8 ? utf8 : 1;
	}
}

char *pr_stack_text(const struct pq_stacks *stacks, uint32_t number, size_t *n)
{
	char *text = malloc(pq_stacks_text(stacks, number, NULL) + 1);

	if (text)
		*n = pq_stacks_text(stacks, number, text);
	return text;
}
