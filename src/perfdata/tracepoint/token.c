#include "token.h"

#include <string.h>

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
