#include "token.h"

#include <string.h>

#define DIGITS "0123456789"
#define OCTAL  "01234567"
#define HEX    DIGITS "abcdefABCDEF"
#define WORD   HEX "ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ_"

static size_t span(const char *p, const char *end, const char *set)
{
	const char *start = p;

	while (p < end && *p && strchr(set, *p))
		p++;
	return (size_t)(p - start);
}

/*
 * A literal in quotes, of printable characters, tabs and line feeds. libtraceevent takes what
 * follows two backslashes for escaped, which is why there must be none.
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
	size_t n = span(t->p, t->end, WORD), digits;
	bool octal = t->p[0] == '0';
	bool hex = octal && n > 2 && (t->p[1] == 'x' || t->p[1] == 'X');

	/* of 08 strtoull takes the 0, so such a number must not come there */
	digits = hex ? 2 + span(t->p + 2, t->p + n, HEX) :
		       span(t->p, t->p + n, octal ? OCTAL : DIGITS);
	t->n = n;
	return digits > (hex ? 2 : 0) && n - digits <= 3 &&
	       span(t->p + digits, t->p + n, "uUlL") == n - digits;
}

static size_t operator_size(const char *p, const char *end)
{
	static const char two[][3] = { "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||" };
	/* what would be one of three or has a meaning of its own */
	static const char *const not [] = { "<<=", ">>=", "++", "--", "+=", "-=",
					    "&=",  "|=",  "*=", "/=", "%=", "^=" };

	for (size_t i = 0; i < sizeof(not ) / sizeof(not [0]); i++)
		if ((size_t)(end - p) >= strlen(not [i]) &&
		    memcmp(p, not [i], strlen(not [i])) == 0)
			return 0;
	for (size_t i = 0; i < sizeof(two) / sizeof(two[0]); i++)
		if (end - p >= 2 && memcmp(p, two[i], 2) == 0)
			return 2;
	return span(p, p + 1, "+-*/%<>!~&|^?:()[]{},");
}

void pd_token_next(struct pd_tokens *t)
{
	bool ok;

	t->next += span(t->next, t->end, " \t\n");
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
	} else if ((t->n = span(t->p, t->end, WORD))) {
		t->type = PD_TOKEN_NAME;
		ok = true;
	} else {
		t->type = PD_TOKEN_OP;
		t->n = operator_size(t->p, t->end);
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

bool pd_token_is_nonzero(const struct pd_tokens *t)
{
	return t->type == PD_TOKEN_NUMBER && span(t->p, t->p + t->n, "0xXuUlL") < t->n;
}
