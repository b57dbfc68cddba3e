/*
 * Parses the operands of a print format into nodes: literals, fields and their items, casts,
 * sizes.
 */
#include "message_internal.h"

#include <stdio.h>
#include <stdlib.h>

static bool skip_token(struct pd_parser *p, const char *token)
{
	if (!pd_token_is(&p->t, token))
		return false;
	pd_token_next(&p->t);
	return true;
}

static const struct pd_tracepoint_field *find_named_field(const struct pd_parser *p)
{
	uint32_t i = PD_NO_ARG;

	if (p->t.type == PD_TOKEN_NAME)
		i = pd_tracepoint_find(p->tracepoint, p->t.p, p->t.n);
	return i == PD_NO_ARG ? NULL : &p->tracepoint->fields[i];
}

bool pd_parse_field(struct pd_parser *p, struct pd_node *x)
{
	x->field = find_named_field(p);
	if (!x->field)
		return pd_parse_refuse(p, "there is no such field");
	x->kind = PD_NODE_FIELD;
	x->n = strchr(x->field->type, '[') != NULL;
	pd_token_next(&p->t);
	return true;
}

/*
 * Returns the bytes of an item of a field, by its declaration. See event_read_fields,
 * event-parse.c.
 */
static uint32_t find_item_size(const struct pd_tracepoint *tracepoint,
			       const struct pd_tracepoint_field *field)
{
	static const char *const sizes[][4] = { { "u8", "s8", "char", "" },
						{ "u16", "s16", "", "" },
						{ "u32", "s32", "", "" },
						{ "u64", "s64", "", "" } };
	const char *brackets = strrchr(field->type, '['), *start = brackets;
	unsigned long n = brackets ? strtoul(brackets + 1, NULL, 10) : 0;

	if (!brackets && !pd_is_dynamic(field))
		return field->size;
	if (n)
		return (uint32_t)(field->size / n);
	if (!pd_is_dynamic(field)) {
		if (strstr(field->type, "char") || strstr(field->type, "u8") ||
		    strstr(field->type, "s8"))
			return 1;
		return strstr(field->type, "long") ? tracepoint->tracing->long_size : 0;
	}
	while (start && start > field->type && start[-1] != ' ')
		start--;
	for (size_t i = 0; start && i < 4; i++)
		for (size_t k = 0; k < 4; k++)
			if (strlen(sizes[i][k]) == (size_t)(brackets - start) &&
			    start < brackets &&
			    memcmp(sizes[i][k], start, (size_t)(brackets - start)) == 0)
				return UINT32_C(1) << i;
	return 0;
}

/* Reads [index] after `x`; both become one operand. */
static bool parse_index(struct pd_parser *p, struct pd_node *x)
{
	struct pd_node *array = pd_parse_get(p, sizeof(*array));
	struct pd_node *index = pd_parse_get(p, sizeof(*index));
	uint64_t pointed = x->kind == PD_NODE_CAST ? x->pointed : UINT64_MAX;

	if (!array || !index)
		return false;
	*array = *x;
	while (array->kind == PD_NODE_CAST)
		array = array->left;
	if (array->kind != PD_NODE_FIELD && array->kind != PD_NODE_DYNAMIC)
		return pd_parse_refuse(p, "only fields have an index");
	pd_token_next(&p->t);
	if (!pd_parse_operand(p, index) || !pd_parse_expect(p, "]"))
		return false;
	*x = (struct pd_node){ .kind = PD_NODE_OP,
			       .op = PD_OP_INDEX,
			       .n = find_item_size(p->tracepoint, array->field),
			       .pointed = pointed,
			       .left = array,
			       .right = index };
	if (array->kind == PD_NODE_DYNAMIC && !x->n)
		x->n = p->tracepoint->tracing->long_size;
	return !pd_token_is(&p->t, "[") || pd_parse_refuse(p, "a second index");
}

/* Reads the name of a C type, or a field, and returns its bytes; 0 if they are not known. */
static uint32_t parse_type_size(struct pd_parser *p)
{
	static const struct {
		const char *name;
		uint32_t size;
	} sizes[] = {
		{ "char", 1 },	{ "bool", 1 },	{ "u8", 1 },	{ "s8", 1 },	{ "__u8", 1 },
		{ "short", 2 }, { "u16", 2 },	{ "s16", 2 },	{ "__u16", 2 }, { "int", 4 },
		{ "u32", 4 },	{ "s32", 4 },	{ "__u32", 4 }, { "u64", 8 },	{ "s64", 8 },
		{ "__u64", 8 }, { "__s64", 8 },
	};
	uint32_t size = 0, longs = 0;

	if (skip_token(p, "REC")) {
		const struct pd_tracepoint_field *field = skip_token(p, "->") ?
								  find_named_field(p) :
								  NULL;

		pd_token_next(&p->t);
		return field ? field->size : 0;
	}
	for (; p->t.type == PD_TOKEN_NAME; pd_token_next(&p->t)) {
		longs += pd_token_is(&p->t, "long");
		if (!size && (pd_token_is(&p->t, "unsigned") || pd_token_is(&p->t, "signed")))
			size = 4;
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			if (pd_token_is(&p->t, sizes[i].name))
				size = sizes[i].size;
	}
	if (longs)
		return longs > 1 ? 8 : p->tracepoint->tracing->long_size;
	return size;
}

bool pd_parse_number(struct pd_parser *p, struct pd_node *x, uint64_t v)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%lld", (long long)v);
	char *text = pb_arena_text(p->arena, digits, (size_t)n);

	if (!text)
		return pd_parse_refuse(p, "no memory");
	*x = (struct pd_node){ .kind = PD_NODE_ATOM, .value = v, .text = { text, (size_t)n } };
	return true;
}

static bool parse_sizeof(struct pd_parser *p, struct pd_node *x)
{
	uint32_t size;

	pd_token_next(&p->t);
	if (!pd_parse_expect(p, "("))
		return false;
	size = parse_type_size(p);
	if (!size)
		return pd_parse_refuse(p, "an unknown size");
	return pd_parse_expect(p, ")") && pd_parse_number(p, x, size);
}

/* Reads __builtin_expect(expression, number). */
static bool parse_expect(struct pd_parser *p, struct pd_node *x)
{
	pd_token_next(&p->t);
	if (!pd_parse_expect(p, "(") || !pd_parse_expression(p, x) || !pd_parse_expect(p, ","))
		return false;
	if (p->t.type != PD_TOKEN_NUMBER)
		return pd_parse_refuse(p, "a number is expected");
	pd_token_next(&p->t);
	return pd_parse_expect(p, ")");
}

static bool starts_operand(const struct pd_parser *p)
{
	return p->t.type == PD_TOKEN_NAME || p->t.type == PD_TOKEN_NUMBER ||
	       p->t.type == PD_TOKEN_STRING || p->t.type == PD_TOKEN_CHAR ||
	       pd_token_is(&p->t, "(");
}

/*
 * Returns the bits that a cast to a type keeps. See eval_type_str, event-parse.c: it knows few
 * types, and extends no sign.
 */
static uint64_t find_mask(const char *type, size_t n)
{
	static const struct {
		const char *name;
		uint64_t mask;
	} masks[] = {
		{ "u8", UINT8_MAX },
		{ "s8", UINT8_MAX },
		{ "char", UINT8_MAX },
		{ "u16", UINT16_MAX },
		{ "s16", UINT16_MAX },
		{ "short", UINT16_MAX },
		{ "u32", UINT32_MAX },
		{ "s32", UINT32_MAX },
		{ "int", UINT32_MAX },
		{ "unsigned char", UINT8_MAX },
		{ "unsigned short", UINT16_MAX },
		{ "unsigned int", UINT32_MAX },
	};

	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++)
		if (strlen(masks[i].name) == n && memcmp(masks[i].name, type, n) == 0)
			return masks[i].mask;
	return UINT64_MAX;
}

/*
 * Reads "names)" or "names *)" after a parenthesis: a type, or a constant by its name. Returns
 * false, with the tokens unchanged, if it is none.
 */
static bool parse_type(struct pd_parser *p, struct pd_text *type)
{
	struct pd_tokens ahead = p->t;
	size_t n = 0;
	char *text;

	for (; ahead.type == PD_TOKEN_NAME; pd_token_next(&ahead)) {
		if (pd_token_is(&ahead, "REC"))
			return false;
		n += ahead.n + 1;
	}
	if (n && pd_token_is(&ahead, "*")) {
		n += 2;
		pd_token_next(&ahead);
	}
	if (!n || !pd_token_is(&ahead, ")"))
		return false;
	text = pd_parse_get(p, n);
	*type = (struct pd_text){ text, n - 1 };
	for (; text && !pd_token_is(&p->t, ")"); pd_token_next(&p->t)) {
		memcpy(text, p->t.p, p->t.n);
		text[p->t.n] = ' ';
		text += p->t.n + 1;
	}
	pd_token_next(&p->t);
	return true;
}

/* Steps over the rest of (REC). Returns false if it is something else. */
static bool skip_bare_rec(struct pd_parser *p)
{
	struct pd_tokens ahead = p->t;

	pd_token_next(&ahead);
	if (!pd_token_is(&ahead, ")"))
		return false;
	pd_token_next(&ahead);
	p->t = ahead;
	return true;
}

static bool parse_parenthesis(struct pd_parser *p, struct pd_node *x)
{
	struct pd_text type = { NULL, 0 };

	pd_token_next(&p->t);
	if (pd_token_is(&p->t, "REC") && skip_bare_rec(p))
		return pd_parse_expect(p, "->") && pd_parse_field(p, x);
	if (!parse_type(p, &type))
		return pd_parse_expression(p, x) && pd_parse_expect(p, ")") &&
		       (!starts_operand(p) || pd_parse_refuse(p, "an operator is expected"));
	if (!type.p)
		return false;
	if (!starts_operand(p)) {
		*x = (struct pd_node){ .kind = PD_NODE_ATOM, .text = type };
		return true;
	}
	*x = (struct pd_node){ .kind = PD_NODE_CAST,
			       .value = find_mask(type.p, type.n),
			       .pointed = UINT64_MAX,
			       .left = pd_parse_get(p, sizeof(*x)) };
	if (type.n > 2 && type.p[type.n - 1] == '*')
		x->pointed = find_mask(type.p, type.n - 2);
	return x->left && pd_parse_operand(p, x->left);
}

static bool parse_unary(struct pd_parser *p, struct pd_node *x, unsigned op)
{
	pd_token_next(&p->t);
	*x = (struct pd_node){ .kind = PD_NODE_OP, .op = (uint8_t)op };
	x->left = pd_parse_get(p, sizeof(*x));
	x->right = pd_parse_get(p, sizeof(*x));
	if (!x->left || !x->right || !pd_parse_operand(p, x->right))
		return false;
	return pd_parse_operators(p, x);
}

static bool parse_literal(struct pd_parser *p, struct pd_node *x)
{
	*x = (struct pd_node){ .kind = PD_NODE_ATOM,
			       .value = strtoull(p->t.p, NULL, 0),
			       .text = { p->t.p, p->t.n } };
	pd_token_next(&p->t);
	return true;
}

/* Reads a character literal: its code, or for versions of libtraceevent without %c its text. */
static bool parse_character(struct pd_parser *p, struct pd_node *x)
{
	const char *c = p->t.p + 1;

	pd_token_next(&p->t);
	if (p->text & PD_TEXT_CONVERSIONS)
		return pd_parse_number(p, x, (unsigned char)*c);
	*x = (struct pd_node){ .kind = PD_NODE_ATOM,
			       .value = *c >= '0' && *c <= '9' ? (uint64_t)(*c - '0') : 0,
			       .text = { c, 1 } };
	return true;
}

static bool parse_name(struct pd_parser *p, struct pd_node *x)
{
	struct pd_tokens ahead = p->t;

	pd_token_next(&ahead);
	if (pd_token_is(&p->t, "__builtin_expect"))
		return parse_expect(p, x);
	if (pd_token_is(&p->t, "sizeof"))
		return parse_sizeof(p, x);
	if (pd_token_is(&ahead, "("))
		return pd_parse_helper(p, x);
	if (pd_token_is(&p->t, "LOCAL_PR_FMT") || pd_token_is(&p->t, "STA_PR_FMT") ||
	    pd_token_is(&p->t, "VIF_PR_FMT"))
		return pd_parse_refuse(p, "a macro that the kernel did not replace");
	*x = (struct pd_node){ .kind = PD_NODE_ATOM, .text = { p->t.p, p->t.n } };
	p->t = ahead;
	return p->t.type != PD_TOKEN_NAME || pd_parse_refuse(p, "an operator is expected");
}

static bool parse_one_operand(struct pd_parser *p, struct pd_node *x)
{
	static const struct {
		const char *token;
		uint8_t op;
	} unary[] = { { "-", PD_OP_SUBTRACT },
		      { "+", PD_OP_ADD },
		      { "!", PD_OP_NOT },
		      { "~", PD_OP_COMPLEMENT } };
	bool indexable = pd_token_is(&p->t, "REC") || pd_token_is(&p->t, "(");
	bool ok;

	for (size_t i = 0; i < sizeof(unary) / sizeof(unary[0]); i++)
		if (pd_token_is(&p->t, unary[i].token))
			return parse_unary(p, x, unary[i].op);
	if (pd_token_is(&p->t, "REC"))
		ok = pd_parse_expect(p, "REC") && pd_parse_expect(p, "->") &&
		     pd_parse_field(p, x);
	else if (pd_token_is(&p->t, "("))
		ok = parse_parenthesis(p, x);
	else if (p->t.type == PD_TOKEN_NUMBER)
		return parse_literal(p, x);
	else if (p->t.type == PD_TOKEN_NAME)
		return parse_name(p, x);
	else if (p->t.type == PD_TOKEN_STRING) {
		*x = (struct pd_node){ .kind = PD_NODE_ATOM };
		ok = pd_parse_strings(p, &x->text);
		if (ok)
			x->value = strtoull(x->text.p, NULL, 0);
		return ok;
	} else if (p->t.type == PD_TOKEN_CHAR) {
		return parse_character(p, x);
	} else {
		return pd_parse_refuse(p, "an operand is expected");
	}
	return ok && (!indexable || !pd_token_is(&p->t, "[") || parse_index(p, x));
}

bool pd_parse_operand(struct pd_parser *p, struct pd_node *x)
{
	bool ok;

	if (++p->depth > PD_MAX_NESTING)
		return pd_parse_refuse(p, "operands are nested too deeply");
	ok = parse_one_operand(p, x);
	p->depth--;
	return ok;
}
