#include <stdio.h>

#include "perfdata/format/print_scalar.h"
#include "statement.h"

#define LINE_BYTES 1024 /* of a long value on a line, at most */

/* Prints a float so that the same bits are read; an infinity and a NaN have no literal. */
static void print_float(struct pd_print *out, double value)
{
	char *p = pd_print_room(out, 32);
	int n = snprintf(p, 32, "%.17g", value);

	if (!strpbrk(p, ".en"))
		n += snprintf(p + n, 32 - (size_t)n, ".0");
	out->n += (size_t)n;
}

/* Returns how many bytes of a string need an escape of four. */
static size_t count_escapes(const char *p, size_t n)
{
	size_t escapes = 0;

	for (size_t i = 0; i < n; i++)
		escapes += (p[i] < ' ' || p[i] == 0x7f) && !(p[i] == '\n' || p[i] == '\t');
	return escapes;
}

static bool is_utf8(const char *p, size_t n)
{
	for (size_t i = 0, length; i < n; i += length) {
		length = pd_utf8_length(p + i, n - i);
		if (!length || pd_hidden_character(p + i, length))
			return false;
	}
	return true;
}

static void print_quoted(struct pd_print *out, const char *p, size_t n)
{
	bool utf8 = is_utf8(p, n);

	pd_print_char(out, '"');
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];
		char *room = pd_print_room(out, 8);

		if (c == '\n' || c == '\t' || c == '"' || c == '\\') {
			room[0] = '\\';
			room[1] = c == '\n' ? 'n' : c == '\t' ? 't' : (char)c;
			out->n += 2;
		} else if (c < ' ' || c == 0x7f || (c >= 0x80 && !utf8)) {
			out->n += (size_t)snprintf(room, 8, "\\x%02x", c);
		} else {
			pd_print_char(out, (char)c);
		}
	}
	pd_print_char(out, '"');
}

/* Prints a string: as hex digits if more than a quarter of it has to be escaped. */
static void print_string(struct pd_print *out, const char *p, size_t n)
{
	if (count_escapes(p, n) * 4 > n || (n && !is_utf8(p, n) && n > 8)) {
		pd_print_const(out, "hex \"");
		pd_print_digits(out, p, n);
		pd_print_char(out, '"');
	} else {
		print_quoted(out, p, n);
	}
}

/* Returns the size of the next part of a long string: a line, if it is text. */
static size_t find_part(const char *p, size_t n)
{
	const char *end;

	if (n > LINE_BYTES)
		n = LINE_BYTES;
	end = memchr(p, '\n', n);
	return end && count_escapes(p, n) * 4 <= n ? (size_t)(end - p) + 1 : n;
}

static void print_long(struct pd_print *out, const char *p, size_t n)
{
	pd_print_char(out, '{');
	while (n) {
		size_t part = find_part(p, n);

		pd_print_const(out, "\n    ");
		print_string(out, p, part);
		pd_print_char(out, ',');
		p += part;
		n -= part;
	}
	pd_print_const(out, "\n  }");
}

static void print_table(struct pd_print *out, const struct pd_node *table);

static void print_node(struct pd_print *out, const struct pd_node *node)
{
	switch ((enum pd_node_kind)node->kind) {
	case PD_N_INT:
		/* Lua reads larger decimal numbers as floats */
		if (node->negative)
			pd_print_int(out, (int64_t)node->u);
		else if (node->shown == PD_AS_HEX || node->u > INT64_MAX)
			pd_print_hex(out, node->u);
		else
			pd_print_uint(out, node->u);
		break;
	case PD_N_FLOAT:
		print_float(out, node->f);
		break;
	case PD_N_BOOL:
		pd_print_name(out, node->u ? "true" : "false");
		break;
	case PD_N_BYTES:
		if (node->s.n > LINE_BYTES)
			print_long(out, node->s.p, node->s.n);
		else
			print_string(out, node->s.p, node->s.n);
		break;
	case PD_N_TABLE:
		print_table(out, node);
		break;
	}
}

static void print_table(struct pd_print *out, const struct pd_node *table)
{
	if (!table->t.first) {
		pd_print_const(out, "{}");
		return;
	}
	pd_print_const(out, "{ ");
	for (const struct pd_node *node = table->t.first; node; node = node->next) {
		if (node->key) {
			pd_print_name(out, node->key);
			pd_print_const(out, " = ");
		}
		print_node(out, node);
		if (node->next)
			pd_print_const(out, ", ");
	}
	pd_print_const(out, " }");
}

void pw_print_statement(struct pd_print *out, const char *name, const struct pd_node *root)
{
	pd_print_name(out, name);
	pd_print_char(out, ' ');
	print_table(out, root);
	pd_print_char(out, '\n');
}
