/*
 * The words of a print fmt.
 */
#ifndef PERFLUA_TRACE_TOKEN_H
#define PERFLUA_TRACE_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

enum pt_token {
	PT_END,
	PT_BAD, /* a character or a literal that the kernel does not write */
	PT_NUMBER,
	PT_NAME,
	PT_STRING, /* with its quotes */
	PT_CHAR,
	PT_OP, /* of one or two characters */
};

struct pt_tokens {
	const char *next, *end;
	enum pt_token type; /* the token at hand: n characters at p */
	const char *p;
	size_t n;
};

/* On to the next one. */
void pt_token_next(struct pt_tokens *t);

bool pt_token_is(const struct pt_tokens *t, const char *what);

/* A literal that is a number other than 0. */
bool pt_token_is_nonzero(const struct pt_tokens *t);

#endif
