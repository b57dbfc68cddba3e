/*
 * The tokens of a print format.
 */
#ifndef PERFLUA_PERFDATA_TOKEN_H
#define PERFLUA_PERFDATA_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

enum pd_token {
	PD_TOKEN_END,
	PD_TOKEN_BAD, /* a character or literal that the kernel does not write */
	PD_TOKEN_NUMBER,
	PD_TOKEN_NAME,
	PD_TOKEN_STRING, /* with its quotes */
	PD_TOKEN_CHAR,
	PD_TOKEN_OP, /* one or two characters */
};

struct pd_tokens {
	const char *next, *end;
	enum pd_token type; /* the token at hand: `n` characters at `p` */
	const char *p;
	size_t n;
};

/* Steps to the next token. The caller sets next and end at first. */
void pd_token_next(struct pd_tokens *t);

/* Returns whether the token at hand is written as `what`. */
bool pd_token_is(const struct pd_tokens *t, const char *what);

#endif
