/*
 * The numbers of nodes, and numbers as text. See eval_num_arg, event-parse.c of libtraceevent.
 */
#include "message_internal.h"

static uint64_t fail_number(struct pd_printed *s)
{
	s->failed = true;
	return 0;
}

static inline bool apply_operator(unsigned op, uint64_t left, uint64_t right, uint64_t *v)
{
	switch ((enum pd_op)op) {
	case PD_OP_NOT:
		*v = !right;
		return true;
	case PD_OP_COMPLEMENT:
		*v = ~right;
		return true;
	case PD_OP_MULTIPLY:
		*v = left * right;
		return true;
	case PD_OP_DIVIDE:
		*v = right ? left / right : 0;
		return right != 0;
	case PD_OP_MODULO:
		*v = right ? left % right : 0;
		return right != 0;
	case PD_OP_ADD:
		*v = left + right;
		return true;
	case PD_OP_SUBTRACT:
		*v = left - right;
		return true;
	case PD_OP_LEFT:
		*v = left << (right & 63);
		return true;
	case PD_OP_RIGHT:
		*v = left >> (right & 63);
		return true;
	case PD_OP_LESS:
		*v = left < right;
		return true;
	case PD_OP_MORE:
		*v = left > right;
		return true;
	case PD_OP_AT_MOST:
		*v = left <= right;
		return true;
	case PD_OP_AT_LEAST:
		*v = left >= right;
		return true;
	case PD_OP_EQUAL:
		*v = left == right;
		return true;
	case PD_OP_UNEQUAL:
		*v = left != right;
		return true;
	case PD_OP_AND:
		*v = left & right;
		return true;
	case PD_OP_XOR:
		*v = left ^ right;
		return true;
	case PD_OP_OR:
		*v = left | right;
		return true;
	case PD_OP_BOTH:
		*v = left && right;
		return true;
	case PD_OP_EITHER:
		*v = left || right;
		return true;
	case PD_OP_NONE:
	case PD_OP_CONDITION:
	case PD_OP_INDEX:
		break;
	}
	return false;
}

bool pd_op_apply(unsigned op, uint64_t left, uint64_t right, uint64_t *v)
{
	return apply_operator(op, left, right, v);
}

/* Returns a number of 1, 2, 4 or 8 bytes in the raw data, or 0 if it is not there. */
static inline uint64_t load_number(const struct pd_printed *s, uint64_t at, uint32_t size)
{
	if (at > s->n || size > s->n - at)
		return 0;
	return pb_load_bytes(s->raw + at, size, s->tracepoint->swap);
}

bool pd_node_find_bytes(struct pd_printed *s, const struct pd_node *node, uint32_t *at,
			uint32_t *n)
{
	if (pd_args_find(s->tracepoint, node->field, s->raw, s->n, at, n))
		return true;
	s->failed = true;
	return false;
}

/*
 * Returns an item of an array. The index of a dynamic array counts bytes, as in libtraceevent.
 */
static uint64_t evaluate_index(struct pd_printed *s, const struct pd_node *x)
{
	uint64_t index = pd_node_number(s, x->right), at = x->left->field->offset;
	uint32_t start, n;

	if (index > PD_MAX_INDEX)
		return fail_number(s);
	if (x->left->kind == PD_NODE_DYNAMIC) {
		if (!pd_node_find_bytes(s, x->left, &start, &n))
			return 0;
		at = start + index;
	} else {
		at += index * x->n;
	}
	return load_number(s, at, x->n) & x->pointed;
}

static uint64_t evaluate_operator(struct pd_printed *s, const struct pd_node *x)
{
	uint64_t left, right, v;

	if (x->op == PD_OP_INDEX)
		return evaluate_index(s, x);
	left = pd_node_number(s, x->left);
	if (x->op == PD_OP_CONDITION)
		return pd_node_number(s, left ? x->first : x->right);
	right = pd_node_number(s, x->right);
	if (x->op == PD_OP_XOR) /* libtraceevent does not know XOR */
		return 0;
	return apply_operator(x->op, left, right, &v) ? v : fail_number(s);
}

uint64_t pd_node_number(struct pd_printed *s, const struct pd_node *x)
{
	uint32_t at, n;

	switch ((enum pd_node_kind)x->kind) {
	case PD_NODE_ATOM:
		return x->value;
	case PD_NODE_FIELD:
		return load_number(s, x->field->offset, x->field->size);
	case PD_NODE_CAST:
		return pd_node_number(s, x->left) & x->value;
	case PD_NODE_OP:
		return evaluate_operator(s, x);
	case PD_NODE_DYNAMIC:
		return pd_node_find_bytes(s, x, &at, &n) ? at : 0;
	case PD_NODE_DYNAMIC_LENGTH:
		return pd_node_find_bytes(s, x, &at, &n) ? n : 0;
	default:
		return 0;
	}
}

/* Writes the digits of `v` in front of `end`; returns their start. */
static char *put_digits(char *end, uint64_t v, const struct pd_conversion *c)
{
	const char *digits = c->type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	unsigned bits = c->type == 'o' ? 3 : 4;

	if (c->type == 'd' || c->type == 'u') {
		for (; v; v /= 10)
			*--end = (char)('0' + v % 10);
	} else {
		for (; v; v >>= bits)
			*--end = digits[v & (bits == 3 ? 7 : 15)];
	}
	return end;
}

static void print_padded(struct pb_string *out, const struct pd_conversion *c, const char *p,
			 size_t n)
{
	size_t width = (size_t)c->width, pad = width > n ? width - n : 0;

	if (!c->minus)
		pb_string_fill(out, ' ', pad);
	pb_string_add(out, p, n);
	if (c->minus)
		pb_string_fill(out, ' ', pad);
}

/* Returns the characters in front of a number's digits. */
static const char *find_prefix(const struct pd_conversion *c, uint64_t v, bool negative)
{
	if (c->type == 'd')
		return negative ? "-" : c->plus ? "+" : "";
	if (c->alternative && v && c->type != 'u' && c->type != 'o')
		return c->type == 'X' ? "0X" : "0x";
	return "";
}

void pd_print_node_number(struct pd_printed *s, const struct pd_conversion *c, uint64_t v)
{
	char text[24], *end = text + sizeof(text), *p;
	unsigned unused = 64 - 8u * c->size;
	bool negative = false;
	const char *prefix;
	size_t n, n_prefix, zeros = 0, width = (size_t)c->width;

	if (c->type == 'c') {
		*text = (char)v;
		print_padded(s->out, c, text, 1);
		return;
	}
	v = v << unused >> unused;
	if (c->type == 'd' && v >> (63 - unused)) {
		negative = true;
		v = (0 - v) << unused >> unused;
	}
	p = put_digits(end, v, c);
	if (p == end && c->precision)
		*--p = '0';
	n = (size_t)(end - p);
	if (!width && c->precision < 0 && !c->alternative && !c->plus) {
		if (negative)
			*--p = '-';
		pb_string_add(s->out, p, (size_t)(end - p));
		return;
	}
	prefix = find_prefix(c, v, negative);
	n_prefix = strlen(prefix);
	if (c->precision > 0 && (size_t)c->precision > n)
		zeros = (size_t)c->precision - n;
	if (c->type == 'o' && c->alternative && !zeros && (!n || *p != '0'))
		zeros = 1;
	if (c->zero && !c->minus && c->precision < 0 && width > n_prefix + zeros + n)
		zeros = width - n_prefix - n;
	width = width > n_prefix + zeros + n ? width - n_prefix - zeros - n : 0;
	if (!c->minus)
		pb_string_fill(s->out, ' ', width);
	pb_string_add(s->out, prefix, n_prefix);
	pb_string_fill(s->out, '0', zeros);
	pb_string_add(s->out, p, n);
	if (c->minus)
		pb_string_fill(s->out, ' ', width);
}
