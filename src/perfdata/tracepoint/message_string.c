/*
 * Prints a node as %s. See print_str_arg, event-parse.c of libtraceevent.
 */
#include "message_internal.h"

#include <stdlib.h>

static const char hex_digits[] = "0123456789abcdef";

static void print_text(struct pd_printed *s, const struct pd_conversion *c, const char *p,
		       size_t n)
{
	size_t width = (size_t)c->width;

	if (c->precision >= 0 && (size_t)c->precision < n)
		n = (size_t)c->precision;
	if (width > n && !c->minus)
		pb_string_fill(s->out, ' ', width - n);
	pb_string_add(s->out, p, n);
	if (width > n && c->minus)
		pb_string_fill(s->out, ' ', width - n);
}

/* Prints raw data up to a NUL. */
static void print_raw(struct pd_printed *s, const struct pd_conversion *c, uint32_t at,
		      uint32_t n)
{
	const char *p = (const char *)s->raw + at;
	const char *end = memchr(p, 0, n);

	print_text(s, c, p, end ? (size_t)(end - p) : n);
}

static int compare_printk_key(const void *key, const void *item)
{
	uint64_t a = *(const uint64_t *)key, b = ((const struct pd_printk *)item)->address;

	return (a > b) - (a < b);
}

/*
 * Prints the string of the kernel at the field's address. An unknown address is printed in hex,
 * as libtraceevent does.
 */
static void print_address(struct pd_printed *s, const struct pd_tracepoint_field *field)
{
	const struct pd_printer *printer = s->printer;
	uint64_t address = pb_load_bytes(s->raw + field->offset, field->size,
					 s->tracepoint->swap);
	const struct pd_printk *found = NULL;

	if (printer->n_printk)
		found = bsearch(&address, printer->printk, printer->n_printk,
				sizeof(*printer->printk), compare_printk_key);
	if (found)
		pb_string_add(s->out, found->text.p, found->text.n);
	else
		pb_string_format(s->out, "%llx",
				 (unsigned long long)pb_load_bytes(s->raw + field->offset,
								   field->size, false));
}

static void print_field(struct pd_printed *s, const struct pd_conversion *c,
			const struct pd_node *x)
{
	const struct pd_tracepoint_field *field = x->field;
	bool is_array = x->n;

	if (!is_array && field->size == s->tracepoint->tracing->long_size)
		print_address(s, field);
	else
		print_raw(s, c, field->offset,
			  field->size ? field->size : s->n - field->offset);
}

static void print_flags(struct pd_printed *s, const struct pd_conversion *c,
			const struct pd_node *x)
{
	uint64_t v = pd_node_number(s, x->left);
	bool printed = false;

	for (uint32_t i = 0; i < x->n; i++) {
		const struct pd_entry *entry = &x->entries[i];
		uint64_t flag = (uint64_t)entry->value;

		if (!v && entry->value < 0) {
			print_text(s, c, entry->text.p, entry->text.n);
			break;
		}
		if (entry->value <= 0 || (v & flag) != flag)
			continue;
		if (printed)
			pb_string_add(s->out, x->text.p, x->text.n);
		print_text(s, c, entry->text.p, entry->text.n);
		printed = true;
		v &= ~flag;
	}
	if (v && printed)
		pb_string_add(s->out, x->text.p, x->text.n);
	if (v)
		pb_string_format(s->out, "0x%llx", (unsigned long long)v);
}

static void print_symbol(struct pd_printed *s, const struct pd_conversion *c,
			 const struct pd_node *x)
{
	int64_t v = (int64_t)pd_node_number(s, x->left);

	for (uint32_t i = 0; i < x->n; i++)
		if (x->entries[i].value == v) {
			print_text(s, c, x->entries[i].text.p, x->entries[i].text.n);
			return;
		}
	pb_string_format(s->out, "0x%llx", (unsigned long long)v);
}

static void print_hex(struct pd_printed *s, const struct pd_node *x)
{
	uint64_t count = pd_node_number(s, x->right);
	uint32_t at, n;
	char *p;

	if (!pd_node_find_bytes(s, x->left, &at, &n))
		return;
	if (count > n) {
		s->failed = true;
		return;
	}
	if (!pb_string_reserve(s->out, 3 * (size_t)count))
		return;
	p = s->out->p + s->out->n;
	for (uint32_t i = 0; i < count; i++) {
		if (i && x->kind == PD_NODE_HEX)
			*p++ = ' ';
		*p++ = hex_digits[s->raw[at + i] >> 4];
		*p++ = hex_digits[s->raw[at + i] & 15];
	}
	s->out->n = (size_t)(p - s->out->p);
}

/* Prints the items of an array in the host's byte order, as libtraceevent does. */
static void print_array_items(struct pd_printed *s, const struct pd_node *x)
{
	uint64_t count = pd_node_number(s, x->right), size = pd_node_number(s, x->first);
	bool braces = s->printer->text & PD_TEXT_ARRAY_AS_KERNEL;
	uint32_t at, n;

	if (!pd_node_find_bytes(s, x->left, &at, &n))
		return;
	if ((size != 1 && size != 2 && size != 4 && size != 8) || count > n / size) {
		s->failed = true;
		return;
	}
	pb_string_put(s->out, braces ? "{" : "");
	for (uint32_t i = 0; i < count; i++, at += (uint32_t)size) {
		pb_string_put(s->out, !i ? "" : braces ? "," : " ");
		pb_string_format(s->out, braces ? "0x%llx" : "%llu",
				 (unsigned long long)pb_load_bytes(s->raw + at, (uint32_t)size,
								   false));
	}
	pb_string_put(s->out, braces ? "}" : "");
}

/* Returns byte `i` of a bitmask, from the one with the lowest bits on. */
static uint8_t get_mask_byte(const struct pd_printed *s, uint32_t at, uint32_t n, uint32_t i)
{
	return s->raw[s->tracepoint->tracing->big ? at + n - 1 - i : at + i];
}

/* Pads the text from `start` on, which is already in the line. */
static void pad_text(struct pd_printed *s, const struct pd_conversion *c, size_t start)
{
	struct pb_string *out = s->out;
	size_t n = out->n - start, width = (size_t)c->width;

	if (c->precision >= 0 && (size_t)c->precision < n) {
		n = (size_t)c->precision;
		out->n = start + n;
	}
	if (width <= n)
		return;
	pb_string_fill(out, ' ', width - n);
	if (!c->minus && !out->failed) {
		memmove(out->p + start + width - n, out->p + start, n);
		memset(out->p + start, ' ', width - n);
	}
}

/* Prints a bitmask in hex, with a comma between each 32 bits. */
static void print_bitmask(struct pd_printed *s, const struct pd_conversion *c,
			  const struct pd_node *x)
{
	size_t start = s->out->n;
	uint32_t at, n;

	if (!pd_node_find_bytes(s, x, &at, &n))
		return;
	for (uint32_t i = n; i-- > 0;) {
		uint8_t byte = get_mask_byte(s, at, n, i);
		const char digits[] = { hex_digits[byte >> 4], hex_digits[byte & 15], ',' };

		pb_string_add(s->out, digits, i && i % 4 == 0 ? 3 : 2);
	}
	pad_text(s, c, start);
}

/* Prints ranges of bits: "0,2,4-7". */
static void print_cpumask(struct pd_printed *s, const struct pd_conversion *c,
			  const struct pd_node *x)
{
	size_t start = s->out->n;
	uint32_t at, n, bits, first = UINT32_MAX;

	if (!pd_node_find_bytes(s, x, &at, &n) || !n) {
		s->failed = true;
		return;
	}
	bits = 8 * n;
	for (uint32_t i = 0; i <= bits; i++) {
		bool set = i < bits && (get_mask_byte(s, at, n, i / 8) >> i % 8 & 1);

		if (set && first == UINT32_MAX) {
			first = i;
		} else if (!set && first != UINT32_MAX) {
			pb_string_format(s->out, s->out->n > start ? ",%u" : "%u", first);
			if (i > first + 1)
				pb_string_format(s->out, "-%u", i - 1);
			first = UINT32_MAX;
		}
	}
	pad_text(s, c, start);
}

/* Prints the text that a descriptor refers to; the size in the descriptor does not limit it. */
static void print_dynamic(struct pd_printed *s, const struct pd_conversion *c,
			  const struct pd_node *x)
{
	uint32_t at, n;

	if (pd_node_find_bytes(s, x, &at, &n) && n)
		print_raw(s, c, at, s->n - at);
}

void pd_print_node_string(struct pd_printed *s, const struct pd_conversion *c,
			  const struct pd_node *x)
{
	while (x->kind == PD_NODE_OP && x->op == PD_OP_CONDITION)
		x = pd_node_number(s, x->left) ? x->first : x->right;
	switch ((enum pd_node_kind)x->kind) {
	case PD_NODE_ATOM:
		print_text(s, c, x->text.p, x->text.n);
		break;
	case PD_NODE_FIELD:
		print_field(s, c, x);
		break;
	case PD_NODE_FLAGS:
		print_flags(s, c, x);
		break;
	case PD_NODE_SYMBOL:
		print_symbol(s, c, x);
		break;
	case PD_NODE_HEX:
	case PD_NODE_HEX_STRING:
		print_hex(s, x);
		break;
	case PD_NODE_ARRAY:
		print_array_items(s, x);
		break;
	case PD_NODE_STRING:
		print_dynamic(s, c, x);
		break;
	case PD_NODE_BITMASK:
		print_bitmask(s, c, x);
		break;
	case PD_NODE_CPUMASK:
		print_cpumask(s, c, x);
		break;
	default: /* libtraceevent prints nothing, either */
		break;
	}
}
