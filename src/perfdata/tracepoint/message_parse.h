/*
 * The parser of print formats. Each function reads what its name says into a node, and returns
 * false, after pd_parse_refuse(), if the tokens at hand are none.
 */
#ifndef PERFLUA_PERFDATA_MESSAGE_PARSE_H
#define PERFLUA_PERFDATA_MESSAGE_PARSE_H

#include "message_internal.h"

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

struct pd_parser {
	struct pb_arena *arena;
	const struct pd_tracepoint *tracepoint;
	unsigned text; /* enum pd_perf_text */
	struct pd_tokens t;
	unsigned depth;	 /* nesting of the functions that read operands and operators */
	const char *why; /* the error; NULL: none so far */
	size_t why_at;	 /* offset of a token in the print format */
};

/* Notes `why` the token at hand is refused, unless an error was noted before. Returns false. */
bool pd_parse_refuse(struct pd_parser *p, const char *why);

/* Steps over a token; refuses any other. */
bool pd_parse_expect(struct pd_parser *p, const char *token);

/* Returns zeroed memory of the arena, or NULL, after refusing, without memory. */
void *pd_parse_get(struct pd_parser *p, size_t size);

/* Reads consecutive string literals, as written, without quotes. */
bool pd_parse_strings(struct pd_parser *p, struct pd_text *text);

/* Reads REC->field, from the field's name on. */
bool pd_parse_field(struct pd_parser *p, struct pd_node *x);

#define PD_MAX_NESTING 500 /* of operands and operators */

/* Read an operand; the operators that follow operand `x`, with their other operands; both. */
bool pd_parse_operand(struct pd_parser *p, struct pd_node *x);
bool pd_parse_operators(struct pd_parser *p, struct pd_node *x);
bool pd_parse_expression(struct pd_parser *p, struct pd_node *x);

/* Makes `x` an atom of a number, whose text is its digits. */
bool pd_parse_number(struct pd_parser *p, struct pd_node *x, uint64_t v);

/* Reads a call of one of the kernel's helpers, from its name on. */
bool pd_parse_helper(struct pd_parser *p, struct pd_node *x);

/* Returns whether the raw data holds a descriptor of the field's bytes. */
static inline bool pd_is_dynamic(const struct pd_tracepoint_field *field)
{
	return field->storage == PD_ARG_DATA || field->storage == PD_ARG_REL ||
	       field->storage == PD_ARG_SHORT;
}

#endif
