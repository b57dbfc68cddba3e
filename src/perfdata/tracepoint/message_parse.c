/*
 * Parses the expressions of a print format into nodes. Operators are grouped as libtraceevent
 * does it (process_op, event-parse.c), which is not C: those of one priority from the right,
 * and parentheses on the right of an operator may be regrouped.
 */
#include "message_internal.h"

#include <string.h>

bool pd_parse_refuse(struct pd_parser *p, const char *why)
{
	if (!p->why) {
		p->why = why;
		p->why_at = (size_t)(p->t.p - p->tracepoint->print_fmt);
	}
	return false;
}

bool pd_parse_expect(struct pd_parser *p, const char *token)
{
	if (!pd_token_is(&p->t, token))
		return pd_parse_refuse(p, "another token is expected");
	pd_token_next(&p->t);
	return true;
}

void *pd_parse_get(struct pd_parser *p, size_t size)
{
	void *got = pb_arena_get(p->arena, size);

	if (!got)
		pd_parse_refuse(p, "no memory");
	else
		memset(got, 0, size);
	return got;
}

bool pd_parse_strings(struct pd_parser *p, struct pd_text *text)
{
	struct pd_tokens ahead = p->t;
	size_t n = 0;
	char *made;

	if (p->t.type != PD_TOKEN_STRING)
		return pd_parse_refuse(p, "a string is expected");
	for (; ahead.type == PD_TOKEN_STRING; pd_token_next(&ahead))
		n += ahead.n - 2;
	made = pd_parse_get(p, n + 1);
	if (!made)
		return false;
	*text = (struct pd_text){ made, n };
	for (; p->t.type == PD_TOKEN_STRING; pd_token_next(&p->t)) {
		memcpy(made, p->t.p + 1, p->t.n - 2);
		made += p->t.n - 2;
	}
	return true;
}

static const struct operator
{
	const char *token;
	uint8_t op, priority;
}
operators[] = {
	{ "*", PD_OP_MULTIPLY, 6 },   { "/", PD_OP_DIVIDE, 6 },	   { "%", PD_OP_MODULO, 6 },
	{ "+", PD_OP_ADD, 7 },	      { "-", PD_OP_SUBTRACT, 7 },  { "<<", PD_OP_LEFT, 8 },
	{ ">>", PD_OP_RIGHT, 8 },     { "<", PD_OP_LESS, 9 },	   { ">", PD_OP_MORE, 9 },
	{ "<=", PD_OP_AT_MOST, 9 },   { ">=", PD_OP_AT_LEAST, 9 }, { "==", PD_OP_EQUAL, 10 },
	{ "!=", PD_OP_UNEQUAL, 10 },  { "&", PD_OP_AND, 11 },	   { "^", PD_OP_XOR, 12 },
	{ "|", PD_OP_OR, 13 },	      { "&&", PD_OP_BOTH, 14 },	   { "||", PD_OP_EITHER, 15 },
	{ "?", PD_OP_CONDITION, 16 },
};

#define N_OPERATORS (sizeof(operators) / sizeof(operators[0]))

/* Returns the operator at hand, between two operands; NULL if there is none. */
static const struct operator* find_operator(const struct pd_parser *p)
{
	if (p->t.type == PD_TOKEN_OP)
		for (size_t i = 0; i < N_OPERATORS; i++)
			if (pd_token_is(&p->t, operators[i].token))
				return &operators[i];
	return NULL;
}

/* Returns the priority of an operator's sign, even if it is unary. */
static int get_sign_priority(unsigned op)
{
	for (size_t i = 0; i < N_OPERATORS; i++)
		if (operators[i].op == op)
			return operators[i].priority;
	return op == PD_OP_INDEX ? -1 : 4;
}

static bool parse_operator(struct pd_parser *p, struct pd_node *x);

/* Reads "first : second" of a condition; the second is a single operand. */
static bool parse_choices(struct pd_parser *p, struct pd_node *x)
{
	x->first = pd_parse_get(p, sizeof(*x));
	x->right = pd_parse_get(p, sizeof(*x));
	if (!x->first || !x->right)
		return false;
	return pd_parse_expression(p, x->first) && pd_parse_expect(p, ":") &&
	       pd_parse_operand(p, x->right);
}

/*
 * Reads "left op right". The right operand may be regrouped so that `x` is the operator nearer
 * to the root.
 */
static bool parse_right(struct pd_parser *p, struct pd_node *x, struct pd_node **right)
{
	struct pd_node *r = pd_parse_get(p, sizeof(*r));

	if (!r || !pd_parse_operand(p, r))
		return false;
	*right = r;
	if (r->kind == PD_NODE_OP && x->priority < get_sign_priority(r->op)) {
		struct pd_node left = *x;

		left.right = r->left;
		*x = *r;
		*r = left;
		x->left = r;
	} else {
		x->right = r;
	}
	return true;
}

static bool continue_operators(struct pd_parser *p, struct pd_node *x, struct pd_node *right)
{
	const struct operator* next = find_operator(p);

	if (!next)
		return true;
	return parse_operator(p, next->priority > x->priority ? x : right);
}

static bool parse_one_operator(struct pd_parser *p, struct pd_node *x)
{
	const struct operator* op = find_operator(p);
	struct pd_node *left = pd_parse_get(p, sizeof(*left)), *right = NULL;

	if (!op || !left)
		return pd_parse_refuse(p, "an operator is expected");
	pd_token_next(&p->t);
	*left = *x;
	*x = (struct pd_node){ .kind = PD_NODE_OP, .op = op->op, .left = left };
	if (op->op == PD_OP_CONDITION) {
		if (!parse_choices(p, x))
			return false;
	} else {
		x->priority = op->priority;
		if (!parse_right(p, x, &right))
			return false;
	}
	return continue_operators(p, x, right);
}

/* Reads the operator at hand, whose left operand is `x`, and all that follow it. */
static bool parse_operator(struct pd_parser *p, struct pd_node *x)
{
	bool ok;

	if (++p->depth > PD_MAX_NESTING)
		return pd_parse_refuse(p, "operators are nested too deeply");
	ok = parse_one_operator(p, x);
	p->depth--;
	return ok;
}

bool pd_parse_operators(struct pd_parser *p, struct pd_node *x)
{
	while (find_operator(p))
		if (!parse_operator(p, x))
			return false;
	return true;
}

bool pd_parse_expression(struct pd_parser *p, struct pd_node *x)
{
	return pd_parse_operand(p, x) && pd_parse_operators(p, x);
}

#define DIGITS "0123456789"
#define OCTAL  "01234567"
#define HEX    DIGITS "abcdefABCDEF"
#define WORD   HEX "ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ_"

static size_t count_chars_in(const char *p, const char *end, const char *set)
{
	const char *start = p;

	while (p < end && *p && strchr(set, *p))
		p++;
	return (size_t)(p - start);
}

/*
 * Returns whether the token is a literal in quotes, of printable characters, tabs and line
 * feeds. Two backslashes are refused, as libtraceevent takes the character after them as
 * escaped.
 */
static bool is_quoted(struct pd_tokens *t, char quote)
{
	const char *p = t->p + 1;

	for (; p < t->end && *p != quote; p++) {
		if (*p == '\\' && (++p == t->end || *p == '\\'))
			return false;
		if ((*p < ' ' && *p != '\t' && *p != '\n') || *p > '~')
			return false;
	}
	t->n = (size_t)(p - t->p) + 1;
	return p < t->end;
}

static bool is_number(struct pd_tokens *t)
{
	size_t n = count_chars_in(t->p, t->end, WORD), digits;
	bool octal = t->p[0] == '0';
	bool hex = octal && n > 2 && (t->p[1] == 'x' || t->p[1] == 'X');

	/* in 08 strtoull() reads only the 0, so such a number is refused */
	digits = hex ? 2 + count_chars_in(t->p + 2, t->p + n, HEX) :
		       count_chars_in(t->p, t->p + n, octal ? OCTAL : DIGITS);
	t->n = n;
	return digits > (hex ? 2 : 0) && n - digits <= 3 &&
	       count_chars_in(t->p + digits, t->p + n, "uUlL") == n - digits;
}

static size_t count_operator_chars(const char *p, const char *end)
{
	static const char two[][3] = { "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||" };
	/* operators of three characters, and those that a print format cannot have */
	static const char *const not [] = { "<<=", ">>=", "++", "--", "+=", "-=",
					    "&=",  "|=",  "*=", "/=", "%=", "^=" };

	for (size_t i = 0; i < sizeof(not ) / sizeof(not [0]); i++)
		if ((size_t)(end - p) >= strlen(not [i]) &&
		    memcmp(p, not [i], strlen(not [i])) == 0)
			return 0;
	for (size_t i = 0; i < sizeof(two) / sizeof(two[0]); i++)
		if (end - p >= 2 && memcmp(p, two[i], 2) == 0)
			return 2;
	return count_chars_in(p, p + 1, "+-*/%<>!~&|^?:()[]{},");
}

void pd_token_next(struct pd_tokens *t)
{
	bool ok;

	t->next += count_chars_in(t->next, t->end, " \t\n");
	t->p = t->next;
	t->n = 0;
	if (t->p == t->end) {
		t->type = PD_TOKEN_END;
		return;
	}
	if (*t->p == '"' || *t->p == '\'') {
		t->type = *t->p == '"' ? PD_TOKEN_STRING : PD_TOKEN_CHAR;
		ok = is_quoted(t, *t->p) && (t->type == PD_TOKEN_STRING || t->n == 3);
	} else if (*t->p >= '0' && *t->p <= '9') {
		t->type = PD_TOKEN_NUMBER;
		ok = is_number(t);
	} else if ((t->n = count_chars_in(t->p, t->end, WORD))) {
		t->type = PD_TOKEN_NAME;
		ok = true;
	} else {
		t->type = PD_TOKEN_OP;
		t->n = count_operator_chars(t->p, t->end);
		ok = t->n;
	}
	if (!ok)
		t->type = PD_TOKEN_BAD;
	t->next += t->n;
}

bool pd_token_is(const struct pd_tokens *t, const char *what)
{
	return (t->type == PD_TOKEN_OP || t->type == PD_TOKEN_NAME) && t->n == strlen(what) &&
	       memcmp(t->p, what, t->n) == 0;
}
