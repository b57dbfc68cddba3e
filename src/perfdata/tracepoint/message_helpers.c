/*
 * Parses the arguments of the kernel's helpers in a print format, as __print_flags().
 */
#include "message_internal.h"

#include <stdio.h>

/* Constants that the kernel does not replace by their numbers. See eval_flag, event-parse.c. */
static const char *const softirqs[] = { "HI_SOFTIRQ",	   "TIMER_SOFTIRQ", "NET_TX_SOFTIRQ",
					"NET_RX_SOFTIRQ",  "BLOCK_SOFTIRQ", "IRQ_POLL_SOFTIRQ",
					"TASKLET_SOFTIRQ", "SCHED_SOFTIRQ", "HRTIMER_SOFTIRQ",
					"RCU_SOFTIRQ" };
static const char *const restarts[] = { "HRTIMER_NORESTART", "HRTIMER_RESTART" };

static int64_t find_constant_name(struct pd_text name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(names[i]) == name.n && memcmp(names[i], name.p, name.n) == 0)
			return (int64_t)i;
	return -1;
}

/* Computes constants with operators between them. See arg_num_eval, event-parse.c. */
static bool evaluate_constant(struct pd_parser *p, const struct pd_node *x, int64_t *v)
{
	int64_t left = 0, right;
	uint64_t u;

	switch ((enum pd_node_kind)x->kind) {
	case PD_NODE_ATOM:
		*v = (int64_t)x->value;
		return true;
	case PD_NODE_CAST:
		if (!evaluate_constant(p, x->left, v))
			return false;
		*v = (int64_t)((uint64_t)*v & x->value);
		return true;
	case PD_NODE_OP:
		break;
	default:
		return pd_parse_refuse(p, "a constant is expected");
	}
	if ((x->left->kind != PD_NODE_NULL && !evaluate_constant(p, x->left, &left)) ||
	    !x->right || !evaluate_constant(p, x->right, &right))
		return pd_parse_refuse(p, "a constant is expected");
	switch ((enum pd_op)x->op) {
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
	case PD_OP_NOT:
	case PD_OP_MULTIPLY:
	case PD_OP_DIVIDE:
	case PD_OP_MODULO:
	case PD_OP_XOR:
	case PD_OP_CONDITION:
	case PD_OP_INDEX:
		return pd_parse_refuse(p, "an operator that constants cannot have");
	default:
		if (!pd_op_apply(x->op, (uint64_t)left, (uint64_t)right, &u))
			return false;
		*v = (int64_t)u;
		return true;
	}
}

/*
 * Reads the value of an entry. Names and negative numbers are -1, as they do not start with a
 * digit.
 */
static bool parse_value(struct pd_parser *p, int64_t *v)
{
	struct pd_node *x = pd_parse_get(p, sizeof(*x));

	if (!x || !pd_parse_expression(p, x))
		return false;
	while (x->kind == PD_NODE_CAST)
		x = x->left;
	if (x->kind != PD_NODE_ATOM) {
		if (!evaluate_constant(p, x, v))
			return false;
		*v = *v < 0 ? -1 : *v;
		return true;
	}
	*v = (int64_t)x->value;
	if (!x->text.n || x->text.p[0] < '0' || x->text.p[0] > '9') {
		*v = find_constant_name(x->text, softirqs,
					sizeof(softirqs) / sizeof(softirqs[0]));
		if (*v < 0)
			*v = find_constant_name(x->text, restarts,
						sizeof(restarts) / sizeof(restarts[0]));
	}
	return true;
}

/*
 * Reads the text of an entry: strings, or a constant as written. That of the last entry may be
 * ((void *)0).
 */
static bool parse_text(struct pd_parser *p, struct pd_text *text)
{
	struct pd_node *x = pd_parse_get(p, sizeof(*x));
	char digits[24];
	int64_t v;

	if (!x || !pd_parse_operand(p, x))
		return false;
	while (x->kind == PD_NODE_CAST)
		x = x->left;
	if (x->kind == PD_NODE_ATOM) {
		*text = x->text;
		return true;
	}
	if (!evaluate_constant(p, x, &v))
		return false;
	text->n = (size_t)snprintf(digits, sizeof(digits), "%lld", (long long)v);
	text->p = pb_arena_text(p->arena, digits, text->n);
	return text->p || pd_parse_refuse(p, "no memory");
}

/* Returns the number of { up to the end of the arguments, which is at least that of entries. */
static uint32_t count_entries(const struct pd_parser *p)
{
	uint32_t n = 0;
	unsigned open = 0;
	struct pd_tokens ahead = p->t;

	for (; ahead.type != PD_TOKEN_END && ahead.type != PD_TOKEN_BAD;
	     pd_token_next(&ahead)) {
		if (pd_token_is(&ahead, ")") && !open)
			break;
		open += pd_token_is(&ahead, "(");
		open -= pd_token_is(&ahead, ")");
		n += pd_token_is(&ahead, "{");
	}
	return n;
}

/* Reads {value, "string"}, … up to ). */
static bool parse_table(struct pd_parser *p, struct pd_node *x)
{
	uint32_t n = count_entries(p);
	struct pd_entry *entries = pd_parse_get(p, (n + 1) * sizeof(*entries));

	if (!entries)
		return false;
	do {
		if (x->n == n || !pd_parse_expect(p, "{") ||
		    !parse_value(p, &entries[x->n].value) || !pd_parse_expect(p, ",") ||
		    !parse_text(p, &entries[x->n].text) || !pd_parse_expect(p, "}"))
			return pd_parse_refuse(p, "a value and its text are expected");
		x->n++;
		if (!pd_token_is(&p->t, ","))
			break;
		pd_token_next(&p->t);
	} while (true);
	x->entries = entries;
	return pd_parse_expect(p, ")");
}

static bool parse_part(struct pd_parser *p, struct pd_node **part, const char *end)
{
	*part = pd_parse_get(p, sizeof(**part));
	return *part && pd_parse_expression(p, *part) && pd_parse_expect(p, end);
}

static bool parse_flags(struct pd_parser *p, struct pd_node *x)
{
	return parse_part(p, &x->left, ",") && pd_parse_strings(p, &x->text) &&
	       pd_parse_expect(p, ",") && parse_table(p, x);
}

static bool parse_symbolic(struct pd_parser *p, struct pd_node *x)
{
	return parse_part(p, &x->left, ",") && parse_table(p, x);
}

/* Reads the array that is printed item by item: a field, or __get_dynamic_array(field). */
static bool parse_array(struct pd_parser *p, struct pd_node *x)
{
	if (!parse_part(p, &x->left, ","))
		return false;
	if (x->left->kind == PD_NODE_DYNAMIC ||
	    (x->left->kind == PD_NODE_FIELD && !pd_is_dynamic(x->left->field)))
		return true;
	return pd_parse_refuse(p, "an array is expected");
}

static bool parse_hex(struct pd_parser *p, struct pd_node *x)
{
	return parse_array(p, x) && parse_part(p, &x->right, ")");
}

static bool parse_print_array(struct pd_parser *p, struct pd_node *x)
{
	return parse_array(p, x) && parse_part(p, &x->right, ",") &&
	       parse_part(p, &x->first, ")");
}

/* Reads (field) for a field with a descriptor. */
static bool parse_dynamic(struct pd_parser *p, struct pd_node *x)
{
	uint8_t kind = x->kind;

	if (!pd_parse_field(p, x))
		return false;
	if (x->field->common || !pd_is_dynamic(x->field))
		return pd_parse_refuse(p, "the field is not a dynamic array");
	x->kind = kind;
	return pd_parse_expect(p, ")");
}

static const struct {
	const char *name;
	enum pd_node_kind kind;
	bool (*parse)(struct pd_parser *p, struct pd_node *x);
} helpers[] = {
	{ "__print_flags", PD_NODE_FLAGS, parse_flags },
	{ "__print_flags_u64", PD_NODE_FLAGS, parse_flags },
	{ "__print_symbolic", PD_NODE_SYMBOL, parse_symbolic },
	{ "__print_symbolic_u64", PD_NODE_SYMBOL, parse_symbolic },
	{ "__print_hex", PD_NODE_HEX, parse_hex },
	{ "__print_hex_str", PD_NODE_HEX_STRING, parse_hex },
	{ "__print_array", PD_NODE_ARRAY, parse_print_array },
	{ "__get_str", PD_NODE_STRING, parse_dynamic },
	{ "__get_rel_str", PD_NODE_STRING, parse_dynamic },
	{ "__get_bitmask", PD_NODE_BITMASK, parse_dynamic },
	{ "__get_rel_bitmask", PD_NODE_BITMASK, parse_dynamic },
	{ "__get_cpumask", PD_NODE_CPUMASK, parse_dynamic },
	{ "__get_rel_cpumask", PD_NODE_CPUMASK, parse_dynamic },
	{ "__get_dynamic_array", PD_NODE_DYNAMIC, parse_dynamic },
	{ "__get_rel_dynamic_array", PD_NODE_DYNAMIC, parse_dynamic },
	{ "__get_sockaddr", PD_NODE_DYNAMIC, parse_dynamic },
	{ "__get_rel_sockaddr", PD_NODE_DYNAMIC, parse_dynamic },
	{ "__get_sockaddr_rel", PD_NODE_DYNAMIC, parse_dynamic },
	{ "__get_dynamic_array_len", PD_NODE_DYNAMIC_LENGTH, parse_dynamic },
	{ "__get_rel_dynamic_array_len", PD_NODE_DYNAMIC_LENGTH, parse_dynamic },
};

bool pd_parse_helper(struct pd_parser *p, struct pd_node *x)
{
	for (size_t i = 0; i < sizeof(helpers) / sizeof(helpers[0]); i++) {
		if (!pd_token_is(&p->t, helpers[i].name))
			continue;
		pd_token_next(&p->t);
		*x = (struct pd_node){ .kind = (uint8_t)helpers[i].kind };
		return pd_parse_expect(p, "(") && helpers[i].parse(p, x);
	}
	return pd_parse_refuse(p, "an unknown function");
}
